"""Averages, covariances, correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, values

X = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0], [1.0, 1.0, 3.0, 0.5]])
STRIDED = np.arange(24.0).reshape(4, 6)[:, ::2].T
W = np.array([1.0, 2.0, 0.5, 3.0])
average: Any = vnp.average

AVERAGES: list[Call] = [
    call(),
    call(0),
    call(-1, returned=True),
    call(returned=True),
    call((0, 1), keepdims=True, returned=True),
    call(1, W),
    call(1, W, True),
    call(-1, W, True, keepdims=True),
    call(None, np.abs(X), True),
    call(0, [1, 2, 3]),
    call((1, 0), np.ones((4, 3)), True),
    call(None, W),
    call(0, W),
    call(1, W * 0),
    call(3),
]


def test_average() -> None:
    for x in (X, STRIDED, np.array([1.0, 2.0]), np.array(3.0), np.array([])):
        for args, options in AVERAGES:
            check("average", (x, *args), options)
    for dtype in DTYPES:
        for other in "lfdD":
            check("average", (values(dtype, (3,)),), {"weights": values(other, (3,))})
    check("average", ([np.array([1.0, 4.0]), 2 * np.ones(2)],), {"axis": 0, "weights": [1, 3]})


COVARIANCES: list[Call] = [
    call(),
    call(rowvar=False),
    call(bias=True),
    call(ddof=0),
    call(ddof=3),
    call(ddof=9),
    call(ddof=1.5),
    call(X * 2),
    call(X[0]),
    call(X.T),
    call(fweights=[1, 2, 1, 3]),
    call(fweights=[1, 2, 1, 2.5]),
    call(fweights=[1, 2]),
    call(aweights=W),
    call(aweights=W, ddof=0),
    call(aweights=W, fweights=np.array([1, 0, 2, 1])),
    call(aweights=-W),
    call(aweights=W * 0),
    call(dtype="f"),
]


def test_cov() -> None:
    for x in (X, STRIDED, X[:1], X[0], X[:, :1], np.array(3.0), np.zeros((0, 2)), X[None]):
        for args, options in COVARIANCES:
            check("cov", (x, *args), options)
    for dtype in DTYPES:
        check("cov", (values(dtype, (3, 4)),), {})
        check("cov", (values(dtype, (4,)), values("D", (4,), 1)), {})
    check("cov", ([np.array([1.0, 4.0]), np.array([2.0, 2.5])],), {})


def test_corrcoef() -> None:
    for x in (X, STRIDED, X[:1], X[0], np.array(3.0)):
        for args, options in (call(), call(rowvar=False), call(X[0]), call(X), call(dtype="f")):
            check("corrcoef", (x, *args), options)
    for dtype in "bBhilfdFD":
        check("corrcoef", (values(dtype, (2, 4)), values("f", (4,), 1)), {})


def test_cumulative() -> None:
    for name in ("cumulative_sum", "cumulative_prod"):
        for x in (X, STRIDED, np.array([1.0, 2.0]), np.array(3.0), np.array([])):
            for options in (
                {},
                {"axis": 0},
                {"axis": -1, "include_initial": True},
                {"include_initial": True, "dtype": "f"},
                {"axis": 4},
            ):
                check(name, (x,), options)
        for dtype in DTYPES:
            check(name, (values(dtype, (3,)),), {"include_initial": True})


def test_derivatives() -> None:
    check_derivatives(lambda x, w: average(x, 1, w, returned=True), X, W)
    check_derivatives(lambda x: average(x, (0, 1), keepdims=True) ** 2, X)
    check_derivatives(lambda x, y: vnp.cov(x, y), X[:2, :3], X[2, :3])
    check_derivatives(lambda x, w: vnp.cov(x, aweights=w), X[:2], W)
    check_derivatives(lambda x: vnp.cov(x, rowvar=False, bias=True), X[:2])
    check_derivatives(lambda x: vnp.cov(x).real, X[:2] * (1 + 2j) + [1, 1j, 0, 0])
    check_derivatives(lambda x: vnp.corrcoef(x)[0, 1:], X)
    for name in ("sum", "prod"):
        function: Any = getattr(vnp, f"cumulative_{name}")
        check_derivatives(lambda x, f=function: f(x, axis=1, include_initial=True) ** 2, X)


def test_samples() -> None:
    rows = np.stack([X, X[::-1]])
    check_samples(average, rows, axis=0, weights=[1.0, 2.0, 3.0])
    check_samples(lambda row: average(X, 1, row[0] + 3.0), rows)
    check_samples(vnp.cov, rows)
    check_samples(lambda row: vnp.cov(X, aweights=row[0]), rows)
    check_samples(vnp.corrcoef, rows)
    check_samples(vnp.cumulative_sum, rows, axis=1, include_initial=True)
    check_samples(vnp.cumulative_prod, rows, axis=0)

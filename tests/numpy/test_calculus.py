"""Differences, gradients of samples, integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, values

X = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0], [1.0, 1.0, np.inf, 0.5]])
# Of one axis it is an array, of several a tuple, which the type does not tell.
gradient: Any = vnp.gradient
STRIDED = np.arange(24.0).reshape(4, 6)[:, ::2].T

DIFFS: list[Call] = [
    call(),
    call(2),
    call(1, 0),
    call(n=3),
    call(n=5),
    call(n=0),
    call(n=-1),
    call(axis=2),
    call(prepend=0),
    call(append=1.5),
    call(prepend=np.float32(2), append=[[1, 2], [3, 4], [5, 6]]),
    call(axis=0, prepend=np.ones((2, 4))),
    call(axis=0, append=np.ones((2, 3))),
    call(axis=0, append=np.array(3.0), n=2),
]


def test_diff() -> None:
    for x in (X, STRIDED, np.array([1.0]), np.zeros((0, 3)), np.array(2.0), X[0, ::-2]):
        for args, options in DIFFS:
            check("diff", (x, *args), options)
    for dtype in DTYPES:
        check("diff", (values(dtype, (3, 4)),), {})
        check("diff", (values(dtype, (3, 4)), 2, 0), {"prepend": values("f", (1, 4))})
    check("diff", ([np.array([1.0, 3.0]), np.array([2.0, 9.0])],), {"axis": 0})
    check("diff", ([1, 2, 4],), {"append": np.array([2.5])})


def test_ediff1d() -> None:
    for x in (X, STRIDED, np.array([1.0]), np.zeros((0, 3)), np.array(2.0)):
        for options in ({}, {"to_end": 1}, {"to_begin": np.ones((2, 2)), "to_end": [3.0]}):
            check("ediff1d", (x,), options)
    for dtype in DTYPES:
        check("ediff1d", (values(dtype, (5,)),), {"to_end": values("f", (2,))})
        check("ediff1d", (values(dtype, (5,)),), {"to_begin": 1})


GRADIENTS: list[Call] = [
    call(),
    call(2.0),
    call(axis=0),
    call(axis=-1),
    call(axis=(1, 0)),
    call(axis=()),
    call(0.5, 2),
    call([1.0, 2.0, 4.0], 1),
    call(np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 2.5, 3.0])),
    call(np.array([1, 2, 3]), np.array([0, 2, 4, 6])),
    call(np.array([0.0, 1.0, 2.5, 3.0]), axis=1),
    call(np.array([0.0, 1.0, 2.5, 3.0]), axis=0),
    call(np.ones((2, 2)), 1),
    call(1, 2, 3),
    call(np.array(0.5)),
    call(axis=3),
]


def test_gradient() -> None:
    finite = np.where(np.isinf(X), 9.0, X)
    for x in (finite, STRIDED, np.ones((1, 4)), np.ones((2, 3)), np.array(1.0), np.zeros((0,))):
        for edge_order in (1, 2, 3):
            for args, options in GRADIENTS:
                check("gradient", (x, *args), {"edge_order": edge_order, **options})
    for dtype in DTYPES:
        check("gradient", (values(dtype, (3, 4)), 0.5), {})
        check("gradient", (values(dtype, (4,)), np.array([0.0, 1.0, 3.0, 4.0])), {})
    check("gradient", ([np.array([1.0, 3.0]), np.array([2.0, 9.0])], np.float32(2)), {})


def test_trapezoid() -> None:
    for x in (X, STRIDED, np.array([1.0]), np.zeros((0, 3)), np.array(2.0)):
        for args, options in (
            call(),
            call(axis=0),
            call(dx=0.5),
            call(None, 2),
            call([0.0, 1.0, 3.0], axis=0),
            call(np.array([0.0, 1.0, 3.0, 3.5])),
            call(np.array([0.0, 1.0])),
            call(np.cumsum(np.ones((3, 4)), 1), axis=1),
            call(dx=np.array([[1.0], [2.0], [3.0]])),
            call(axis=4),
        ):
            check("trapezoid", (x, *args), options)
    for dtype in DTYPES:
        check("trapezoid", (values(dtype, (3, 4)),), {})
        check("trapezoid", (values(dtype, (3,)), values("f", (3,))), {})
    check("trapezoid", ([np.array([1.0, 3.0]), 2.0],), {"axis": 0})


def test_derivatives() -> None:
    x = np.array([[3.0, 1.0, 2.0, 5.5], [0.25, -1.0, 2.125, 4.0], [1.0, 1.0, 3.0, 0.5]])
    at = [0.0, 1.0, 2.5, 3.0]
    functions: list[Any] = [
        lambda x, at: vnp.diff(x, 2, prepend=at[:1].sum(), append=x[:, :1]) ** 2,
        lambda x, at: vnp.ediff1d(x, to_begin=at) ** 2,
        lambda x, at: gradient(x, 2.0, at)[1] ** 2,
        lambda x, at: gradient(x, at, axis=1, edge_order=2) ** 2,
        lambda x, at: gradient(x, at[1] * 2, axis=0, edge_order=2) ** 2,
        lambda x, at: vnp.trapezoid(x**2, at),
        lambda x, at: vnp.trapezoid(x**2, dx=at[1], axis=0),
    ]
    for f in functions:
        check_derivatives(f, x, at)
    # Coordinates at equal distances have each a gradient of its own.
    check_derivatives(lambda at: gradient(x[0], at, edge_order=2), [0.0, 1.0, 2.0, 3.0])
    check_derivatives(lambda z: gradient(z * (1 + 2j)).real, x[0])


def test_samples() -> None:
    rows = np.array([[[3.0, 1.0, 2.0], [2.0, 4.0, 0.5]], [[0.0, 4.0, 1.0], [1.0, 1.0, 5.0]]])
    check_samples(vnp.diff, rows, n=2, prepend=1.0)
    check_samples(vnp.ediff1d, rows, to_end=2.0)
    check_samples(gradient, rows)
    check_samples(vnp.trapezoid, rows, axis=0)
    check_samples(lambda row: gradient(vnp.array([1.0, 2.0, 4.0]), row[1]), rows)
    check_samples(lambda row: vnp.trapezoid([1.0, 2.0, 4.0], row[0]), rows)


def test_lists_of_tensors() -> None:
    a, b = array(2.0, grad=True), array(5.0, grad=True)
    vnp.diff([a, b, 1.0])[0].backward()
    assert (a.grad, b.grad) == (-1, 1)

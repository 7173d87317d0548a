"""Interpolation on a line."""

from __future__ import annotations

import numpy as np

import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import Call, call, check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, values

NAN, INF = np.nan, np.inf
XP = np.array([-1.0, 0.0, 0.5, 2.0, 3.5])
FP = np.array([2.0, -1.0, 4.0, 4.0, 0.25])
X = np.array([-2.0, -1.0, -0.25, 0.0, 0.3, 0.5, 1.9, 3.5, 3.0, 7.0, NAN, INF, -INF])

CALLS: list[Call] = [
    call(X, XP, FP),
    call(X[:10].reshape(5, 2).T, XP, FP),
    call(X, XP, FP, left=-7),
    call(X, XP, FP, right=np.array(9.0), left=NAN),
    call(X, XP, FP, -1.0, 1.0),
    call(0.3, XP, FP),
    call(np.array(0.3), XP, FP),
    call([0.1, np.array(0.2)], XP, FP),
    call(np.zeros((0, 2)), XP, FP),
    call(X[:10], XP, FP, period=2.5),
    call(X[:10], XP[::-1], FP, period=-4.0),
    call(X[:10], XP, FP, left=3.0, period=360),
    call(X[:10], XP, FP, period=0),
    call(X, XP, FP * (1 + 2j)),
    call(X, XP, FP * (1 + 2j), left=1j),
    call(X, XP[::2], FP[::2]),
    call(X, XP[:1], FP[:1]),
    call(X, XP[:2], FP[:2]),
    call(X, [0.0, 1.0, 1.0, 2.0, 2.0], np.array([1.0, 2.0, 3.0, 5.0, 7.0])),
    call([0.0, 0.5, 1.0, 1.5, 2.0, 3.0], np.arange(5.0), np.array([0.0, INF, INF, 1.0, NAN])),
    call(X, np.array([-INF, 0.0, INF]), np.array([1.0, 2.0, 3.0])),
    call(X, XP, FP[:2]),
    call(X, XP[:0], FP[:0]),
    call(X, XP.reshape(5, 1), FP.reshape(5, 1)),
    call(X[:3] * 1j, XP, FP),
    call(X, XP * 1j, FP),
]


def test_interp() -> None:
    for args, options in CALLS:
        check("interp", args, options)
    for dtype in DTYPES:
        check("interp", (values(dtype, (3,)), XP, FP), {})
        check("interp", (values("f", (3,)), XP, values(dtype, (5,))), {})
        check("interp", (X, np.arange(3, dtype=dtype if dtype != "?" else "b"), FP[:3]), {})


def test_derivatives() -> None:
    x = np.array([[-0.4, 0.1], [1.2, 3.1], [-3.0, 4.0]])
    check_derivatives(lambda x, xp, fp: vnp.interp(x, xp, fp) ** 2, x, XP, FP)
    check_derivatives(lambda x, a, b: vnp.interp(x, XP, FP, a, b) ** 2, x, 2.0, 3.0)
    check_derivatives(lambda x, xp, fp: vnp.interp(x, xp, fp, period=5.2) ** 2, x, XP, FP)
    check_derivatives(lambda x, p: vnp.interp(x, XP, FP, period=p) ** 2, x, 6.3)
    check_derivatives(lambda x, fp: vnp.interp(x, XP, fp).imag, x, FP * (1 - 2j))


def test_gradient_at_points_and_at_ends() -> None:
    x = array([-1.0, 0.0, 3.5, -INF, INF, NAN], grad=True)
    fp = array([*FP[:-1].tolist(), INF], grad=True)
    found = vnp.interp(x, XP, FP)
    found.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [-3.0, 10.0, -2.5, 0, 0, 0]
    vnp.interp(array([-1.0, 2.0, 3.5], grad=True), XP, fp).sum().backward()
    assert fp.grad is not None
    assert fp.grad.tolist() == [1, 0, 0, 1, 1]


def test_samples() -> None:
    rows = np.array([[0.1, 0.5, NAN, 3.0], [-2.0, 3.5, 9.0, 0.0]])
    check_samples(vnp.interp, np.where(np.isnan(rows), 1.0, rows), xp=XP, fp=FP)
    check_samples(
        lambda row: vnp.interp([0.1, 1.7], row, [1.0, 2.0, 3.0, 5.0]),
        np.sort(rows + [[1.0, 2.0, 3.0, 4.0]])[1:],
    )
    check_samples(lambda row: vnp.interp([0.1, 1.7], [0, 1, 2, 3], row), rows[1:])

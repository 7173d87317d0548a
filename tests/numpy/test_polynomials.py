"""Polynomials as arrays of coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.calls_with_options import check
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import DTYPES, array, values
from vtgrad.errors import NotSupportedError

P = np.array([1.0, -2.0, 0.5, 3.0])
X = np.array([[0.0, 1.0, -2.0], [0.5, np.inf, np.nan]])
POLYNOMIALS: list[Any] = [
    P,
    P[::-1],
    P[::2],
    P[:1],
    [1, 2],
    [0.0, 0.0, 2.0, np.array(1.0)],
    np.array([0.0, 2.0, 1.0]),
    np.zeros(2),
    np.array([]),
    2.5,
    np.array(1.5),
    np.array([1j, 2.0]),
    P.reshape(2, 2),
]


def test_polyval() -> None:
    for p in POLYNOMIALS[:-1]:
        for x in (X, X.T, 2, 1.5, np.array(0.25), [1.0, np.array(2.0)], np.array([]), 1j):
            check("polyval", (p, x), {})
    check("polyval", (P.reshape(2, 2), np.array([1.0, 2.0])), {})
    for dtype in DTYPES:
        for other in DTYPES:
            check("polyval", (values(dtype, (3,)), values(other, (2,))), {})


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv"])
def test_arithmetic(name: str) -> None:
    for a in POLYNOMIALS:
        for b in POLYNOMIALS:
            if name == "polydiv" and (np.ndim(a) > 1 or np.ndim(b) > 1):
                continue
            check(name, (a, b), {})
    for dtype in DTYPES:
        if name != "polysub" or dtype != "?":
            check(name, (values(dtype, (3,)), values("f", (2,))), {})


def test_calculus() -> None:
    for p in POLYNOMIALS:
        for m in (0, 1, 2, 5, -1):
            if np.ndim(p) < 2:
                check("polyder", (p, m), {})
            if np.ndim(p) == 1:
                check("polyint", (p, m), {})
                for k in (2.0, [1.0], np.array([1.0, 2.0]), [1, 1j]):
                    # NumPy does not look at the class of `k`.
                    check("polyint", (p, m, k), {}, by_name=isinstance(p, np.ndarray))
    for dtype in DTYPES:
        check("polyder", (values(dtype, (3,)),), {})
        check("polyint", (values(dtype, (3,)),), {})


def test_poly() -> None:
    # NumPy looks at the classes of the roots, not at that of their array.
    for p in (P, P[:1], [1, 2], np.array([]), np.array([1j, -1j, 2]), np.array([1j, 2])):
        check("poly", (p,), {}, by_name=False)
    check("poly", (np.array([[1.0, 2.0], [3.0, 4.0]]),), {}, by_name=False)
    check("poly", (np.ones((1, 2)),), {}, by_name=False)
    for dtype in DTYPES:
        check("poly", (values(dtype, (3,)),), {}, by_name=False)
    with pytest.raises(np.linalg.LinAlgError, match="no basis"):
        vnp.poly(array([[1.0, 1.0], [0.0, 1.0]], grad=True))


def test_roots() -> None:
    tables: list[Any] = [P, P[:1], [1, -3, 2], np.array([0.0, 0.0, 1.0, -3.0, 2.0, 0.0])]
    tables += [np.array([]), np.zeros(3), np.ones((2, 2)), np.array([1, 0, 1.0]), [1.0, 1j]]
    tables += [np.array([1.0, np.nan]), np.array([2.0, 1j, -1.0])]
    for p in tables:
        check("roots", (p,), {}, by_name=False)
    for dtype in "bilfdFD":
        check("roots", (np.array([2, -6, 3], dtype),), {}, by_name=False)
    for p in ([1.0, -2.0, 1.0], [1.0, 0.0, 0.0], [1.0, -3.0, 3.0, -1.0]):
        check("roots", (np.array(p),), {}, grad=False, by_name=False)
        with pytest.raises(NotSupportedError, match="multiple"):
            vnp.roots(array(p, grad=True))


def test_derivatives() -> None:
    functions: list[Any] = [
        lambda p, x: vnp.polyval(p, x),
        lambda p, x: vnp.polyadd(p, x) ** 2,
        lambda p, x: vnp.polysub(x, p) ** 2,
        lambda p, x: vnp.polymul(p, x),
        lambda p, x: vnp.polyder(p, 2) * vnp.polyint(x, 2, p[:2])[:2],
        lambda p, x: vnp.polydiv(p, x),
        lambda p, x: vnp.poly(p) * x[0],
    ]
    for f in functions:
        check_derivatives(f, P, np.array([0.5, 2.0, -1.0]))
    # Zeros in front have a gradient.
    check_derivatives(lambda p: vnp.polymul([0.0, 1.0, 2.0], p), P)
    p = array([0.0, 1.0], grad=True)
    vnp.polymul(p, [1.0, 3.0])[0].backward()
    assert p.grad is not None
    assert p.grad.tolist() == [3, 1]


def test_derivatives_of_roots() -> None:
    check_derivatives(lambda p: vnp.roots(p) ** 2, [2.0, -3.0, -4.0, 1.0])
    check_derivatives(lambda p: vnp.roots(p).imag, [2.0, 1.0, 4.0])
    check_derivatives(lambda p: vnp.roots(p).real, [2.0, 1.0 + 1j, 4.0])
    # At a trailing zero the root is zero.
    check_derivatives(lambda p: vnp.roots(p), [2.0, 1.0, 0.0])
    # A zero in front is a coefficient too: here the number of roots is that of NumPy.
    p = array([0.0, 1.0, -2.0], grad=True)
    found: Any = np.roots
    found(p)[0].backward()
    assert p.grad is not None
    assert p.grad.tolist() == [-4, -2, -1]


def test_roots_have_derivatives_of_all_orders() -> None:
    """The roots of x**2 - s are the square roots of s, whose derivatives are known."""

    def root(s: Any) -> Any:
        return vnp.roots(vnp.array([1.0, 0.0, -s])).max()

    def square_root(s: Any) -> Any:
        return vnp.sqrt(s)

    at = vnp.array(2.0)
    for _ in range(6):
        root, square_root = vt.func.grad(root), vt.func.grad(square_root)
        np.testing.assert_allclose(float(root(at)), float(square_root(at)), rtol=1e-10)
    root, square_root = vt.func.jacfwd(root), vt.func.jacfwd(square_root)
    np.testing.assert_allclose(float(root(at)), float(square_root(at)), rtol=1e-10)


def test_samples() -> None:
    rows = np.array([P, P[::-1]])
    check_samples(vnp.polyval, rows, x=X[0])
    check_samples(lambda row: vnp.polyval(P, row), rows)
    check_samples(vnp.polyadd, rows, a2=[1.0, 2.0])
    check_samples(vnp.polysub, rows, a2=[1.0, 2.0])
    check_samples(vnp.polymul, rows, a2=[1.0, 2.0])
    check_samples(vnp.polyder, rows)
    check_samples(vnp.polyint, rows)
    check_samples(vnp.poly, rows)
    check_samples(lambda row: vnp.polydiv(row, [1.0, 2.0])[0], rows)

"""The class of polynomials of NumPy's old interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.derivatives import check_derivatives, check_samples
from tests.numpy.support import array, compare

P = np.array([0.0, 1.0, -2.0, 0.5, 3.0])
Q = np.array([2.0, 1.0])


def shown(x: Any) -> Any:
    """A result with the coefficients of polynomials in place of them."""
    if isinstance(x, (np.poly1d, vnp.poly1d)):
        return x.coeffs
    return tuple([shown(part) for part in x]) if isinstance(x, tuple) else x


EXPRESSIONS: dict[str, Any] = {
    "coeffs": lambda p, q: (p.c, p.coef, p.coefficients, p.order, p.o, len(p)),
    "call": lambda p, q: (p(2.0), p([1.0, 2.0]), p(np.array(3)), p(q), q(p)),
    "add": lambda p, q: (p + q, p + 2, 2.5 + p, p + [1, 2]),
    "subtract": lambda p, q: (p - q, p - 2, 2.5 - p, p - p, [1, 2] - p),
    "multiply": lambda p, q: (p * q, p * 2, 2.5 * p, p * [1, 2]),
    "power": lambda p, q: (q**0, q**1, q**3),
    "wrong power": lambda p, q: q**-1,
    "divide": lambda p, q: (p / q, q / p, p / 2, p / [1.0, 2.0], [1.0, 2.0, 3.0] / q),
    "signs": lambda p, q: (-p, +p),
    "equality": lambda p, q: (p == p, p == q, p != q, p == 2),
    "items": lambda p, q: (p[0], p[3], p[7], p[-1], tuple(p)),
    "calculus": lambda p, q: (p.deriv(), p.deriv(2), p.integ(), p.integ(2, [1, 2]), p.integ(k=3)),
    "roots": lambda p, q: (p.r, p.roots, q.roots),
    "text": lambda p, q: (str(p), repr(p), str(q)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name: str) -> None:
    expression = EXPRESSIONS[name]
    for grad in (False, True):
        compare(
            lambda grad=grad: shown(  # type: ignore[misc]  # of any kind
                expression(vnp.poly1d(array(P, grad)), vnp.poly1d(array(Q, grad)))
            ),
            lambda: shown(expression(np.poly1d(P), np.poly1d(Q))),
            f"{name} {grad}",
        )


def test_functions_take_and_return_it() -> None:
    for grad in (False, True):
        p, q = vnp.poly1d(array(P, grad)), vnp.poly1d(array(Q, grad))
        n, m = np.poly1d(P), np.poly1d(Q)
        for name in ("polyadd", "polysub", "polymul", "polydiv"):
            mine: Any = getattr(vnp, name)
            theirs: Any = getattr(np, name)
            for args, others in (((p, q), (n, m)), ((p, Q), (n, Q)), ((P[1:], q), (P[1:], m))):
                found = mine(*args)
                for one in found if isinstance(found, tuple) else [found]:
                    assert isinstance(one, vnp.poly1d)
                wanted, results = theirs(*others), found
                if name != "polydiv":
                    wanted, results = (wanted,), (found,)
                for a, b in zip(results, wanted, strict=True):
                    np.testing.assert_allclose(a.coeffs.tolist(), b.coeffs)
        anything: Any = vnp
        np.testing.assert_allclose(anything.polyder(p, 2).coeffs.tolist(), np.polyder(n, 2).coeffs)
        np.testing.assert_allclose(anything.polyint(p).coeffs.tolist(), np.polyint(n).coeffs)
        np.testing.assert_allclose(float(anything.polyval(p, 2.0).item()), np.polyval(n, 2.0))
        np.testing.assert_allclose(anything.roots(p).tolist(), np.roots(n), rtol=1e-10)


def test_construction_and_items() -> None:
    for make, cls in ((array, vnp.poly1d), (np.array, np.poly1d)):
        kind: Any = cls
        assert kind(make([1.0, 2.0]), True).coeffs.tolist() == [1, -3, 2]
        assert kind(make([])).coeffs.tolist() == [0]
        assert kind(3).order == 0
        p = kind(kind(make([1.0, 2.0]), variable="z"))
        assert p.variable == "z"
        p[3] = 5.0
        assert p.coeffs.tolist() == [5, 0, 1, 2]
        p[0] = 7
        assert p.coeffs.tolist() == [5, 0, 1, 7]
        with pytest.raises(ValueError, match="negative"):
            p[-1] = 1
        with pytest.raises(ValueError, match="1d only"):
            kind(make([[1.0]]))
        with pytest.raises(AttributeError):
            p.coeffs = make([1.0])
        with pytest.raises(TypeError):
            hash(p)


def test_derivatives() -> None:
    def function(c: Any, d: Any, x: Any) -> Any:
        p: Any = vnp.poly1d(c)
        q: Any = vnp.poly1d(d)
        found: Any = (p * q - 2 * p + q**2)(x) * p(q).deriv()(x)
        return found + (p / q)[0](x) + p.integ()(x) * p[1]

    check_derivatives(function, P[1:], Q, [0.5, 2.0])
    # Zeros in front have a gradient.
    check_derivatives(lambda c: (vnp.poly1d(c) * 2 + 1)(3.0), P)


def test_a_coefficient_is_written_with_its_gradient() -> None:
    a = array(2.0, grad=True)
    p = vnp.poly1d([1.0, 1.0])
    p[2] = a
    p(3.0).backward()
    assert a.grad == 9


def test_samples() -> None:
    check_samples(lambda c: (vnp.poly1d(c) * [1.0, 2.0])(2.0), np.stack([P[1:], P[:0:-1]]))

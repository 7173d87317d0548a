"""`emath`: functions that give complex numbers where real ones do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vtgrad.numpy as vnp
from tests.numpy.support import array, assert_same
from vtgrad.func import grad, jacfwd

ONE = ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"]
INPUTS: list[Any] = [
    0.5,
    -0.5,
    2.5,
    -2.5,
    [0.5, 0.25],
    [0.5, -2.5],
    [[0.5, 2.5]],
    0.5 + 2j,
    [0.5j, -2.0],
]


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str) -> None:
    mine, theirs = getattr(vnp.emath, name), getattr(np.emath, name)
    for value in INPUTS:
        x = np.array(value)
        expected = theirs(x)
        assert_same(mine(array(x)), expected, what=f"{name}({x!r})")
        assert_same(mine(value), theirs(value), what=f"{name}({value!r})")
        # NumPy's own function, given an array of the namespace.
        assert_same(theirs(array(x)), expected, what=f"numpy's {name}({x!r})")
    for small in (np.array([-2.0, 0.5], "f"), np.array([-2, 0], "h"), np.array([-2, 0])):
        with np.errstate(all="ignore"):
            assert_same(mine(array(small)), theirs(small), what=f"{name}({small!r})")


def test_unsigned_numbers_and_sequences_of_arrays() -> None:
    for name in ONE:
        mine, theirs = getattr(vnp.emath, name), getattr(np.emath, name)
        for values in ([2, 3], [[2], [40]]):
            for dtype in ("H", "I", "Q"):
                x = np.array(values, dtype)
                with np.errstate(all="ignore"):
                    assert_same(mine(x), theirs(x), what=f"{name}({x!r})")
        for pair in ([2.5, 0.5], [-0.5, -2.5]):
            a, b = array(pair[0], grad=True), array(pair[1], grad=True)
            found = mine([a, b])
            assert_same(found.detach(), theirs(pair), what=f"{name}({pair!r})")
            vnp.real(found).sum().backward()
            c = array(pair, grad=True)
            vnp.real(mine(c)).sum().backward()
            assert a.grad is not None
            assert b.grad is not None
            assert c.grad is not None
            assert [a.grad.item(), b.grad.item()] == c.grad.tolist()
    exponents = array([0.5, 2.0], grad=True)
    assert vnp.emath.power([-2.0, exponents[1]], exponents).requires_grad
    assert vnp.emath.logn(exponents[1], [exponents[0], 3.0]).requires_grad


def test_two_operands() -> None:
    powers: list[tuple[Any, Any]] = [
        (2, -2),
        ([2, 4], 2),
        ([-2.0, 4.0], 0.5),
        (-2.0, [0.5, 2.0]),
        (2j, 2),
    ]
    for x, p in powers:
        assert_same(vnp.emath.power(x, p), np.emath.power(x, p))
        assert_same(vnp.emath.power(array(x), p), np.emath.power(np.array(x), p))
        assert_same(vnp.emath.power(x, array(p)), np.emath.power(x, np.array(p)))
    logarithms: list[tuple[Any, Any]] = [(2.0, [4.0, 8.0]), (2.0, [-4.0, 8.0]), (-2.0, 3.0)]
    for n, x in logarithms:
        assert_same(vnp.emath.logn(n, x), np.emath.logn(n, x))
        assert_same(vnp.emath.logn(array(n), array(x)), np.emath.logn(np.array(n), np.array(x)))


def _slope(f: Any, x: float) -> float:
    step = 1e-6
    return float((f(x + step) - f(x - step)) / (2 * step))


@pytest.mark.parametrize("name", ONE)
def test_derivatives(name: str) -> None:
    for x in (0.5, -0.5, 2.5, -2.5):

        def of(part: str, m: Any) -> Any:
            return lambda at: getattr(getattr(m.emath, name)(at), part)

        for part in ("real", "imag"):
            expected = _slope(of(part, np), x)
            there = np.iscomplexobj(getattr(np.emath, name)(x))
            if part == "imag" and not there:
                continue
            for derivative in (grad, jacfwd):
                found = derivative(of(part, vnp))(vnp.array(x))
                np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-6, atol=1e-8)


def test_derivatives_of_powers() -> None:
    def imag(x: Any, p: Any, m: Any = vnp) -> Any:
        return m.emath.power(x, p).imag

    for where in (0, 1):
        at = [-2.0, 0.7]
        step = np.eye(2)[where] * 1e-6
        expected = (
            imag(at[0] + step[0], at[1] + step[1], np) - imag(at[0] - step[0], at[1] - step[1], np)
        ) / 2e-6
        found: Any = grad(imag, argnums=where)(vnp.array(at[0]), vnp.array(at[1]))
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-6)


def test_the_module() -> None:
    assert vnp.emath is vnp.lib.scimath
    for name in vnp.emath.__all__:
        assert getattr(vnp.emath, name).__name__ == getattr(np.emath, name).__name__

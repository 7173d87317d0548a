"""Kernels of modified Bessel functions, and of these without their exponential.

Note [How modified Bessel functions are computed]

Those of the first kind, of order 0 and 1, are the operators `i0` and `special_i1` up to 20, times
an exponential where they are scaled; beyond, the asymptotic expansion (DLMF 10.40.1) needs no
exponential. Those of the second kind are ``exp(x) * K(x)``: power series below 1 (DLMF 10.31.1 and
10.31.2), piecewise polynomials from 1 to 20, made from the differential equation (DLMF 10.25.1;
Note [Solutions as tables]), and the asymptotic expansion beyond (DLMF 10.40.2).

The derivatives of the scaled functions of order 0 are differences of two that are nearly the same
for large arguments. Their expansions are subtracted term by term there. That of the second kind has
a table of its own; that of the first kind is Kummer's function from 2 to 20, which has its
exponential from DLMF 13.2.39 (DLMF 10.39.5).

The first kind of higher order is what derivatives need: its power series (DLMF 10.25.2), whose
terms are all positive, and the asymptotic expansion.
"""

from __future__ import annotations

from itertools import zip_longest
from math import log as log_of
from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.bessel import i0, special_i1
from vtgrad.ops.kernels.special.fixed_point import ONE, exponential, logarithm, times
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import fill_at, polynomial
from vtgrad.special.kernels.bessel import EULER, expansion, orders
from vtgrad.special.kernels.equations import derivative, solution
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = [
    "scaled_i0_slope",
    "scaled_i1_slope",
    "scaled_in",
    "scaled_k0",
    "scaled_k0_slope",
    "scaled_k1",
]

LARGE: Final = 20
_BITS: Final = 6
_TERMS: Final = 60
# From here on more than one digit of the difference of order 1 and 0 would cancel.
_CLOSE: Final = 2
_TERMS_OF_DIFFERENCE: Final = 125


def scaled_in(x: Array, n: Array) -> Array:
    """``exp(-abs(x)) * I(x)`` of order n, a whole number."""
    result = orders(n, np.abs(x), _scaled_i)
    return np.where(np.signbit(x) & (n % 2 == 1), -result, result)


def _scaled_i(order: int, x: Array) -> Array:
    small = np.minimum(x, LARGE)
    value = i0(small) if order == 0 else special_i1(small) if order == 1 else _series(order, small)
    result: Array = value * np.exp(-small)
    fill_at(x > LARGE, result, lambda part: _i_of_large(order, part), x)
    return result


def _series(order: int, x: Array) -> Array:
    half = x / 2
    square = half * half
    total: Array = making.ones_like(x)
    for k in range(_TERMS, 0, -1):
        total = 1 + square / (k * (order + k)) * total
    for k in range(1, order + 1):
        total = total * (half / k)
    return total


def _i_of_large(order: int, x: Array) -> Array:
    inverse = LARGE / x
    if order < 2:
        even, odd = expansion(order)
        square = inverse * inverse
        total = polynomial(even, square) - polynomial(odd, square) * inverse
    else:
        total = polynomial(_expansion_of_high(order), inverse)
    found: Array = total / np.sqrt(x) * (1 / sqrt(2 * pi))
    return found


def _expansion_of_high(order: int) -> list[float]:
    """DLMF 10.40.1 up to its smallest term."""
    c = [1.0]
    while len(c) <= LARGE + order:
        k = len(c)
        c.append(-c[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * LARGE))
    return c


def scaled_i0_slope(x: Array) -> Array:
    """The derivative of the scaled function of order 0; 0 at 0, where it jumps."""
    found: Array = np.sign(x) * _i_difference(np.abs(x))
    return found


def scaled_i1_slope(x: Array) -> Array:
    """The derivative of the scaled function of order 1: 1/2 at 0."""
    size = np.abs(x)
    divisor = np.where(size == 0, 1, size)
    quotient = np.where(size == 0, 0.5, _scaled_i(1, size) / divisor)
    found: Array = -_i_difference(size) - quotient
    return np.where(size == 0, 0.5, found)


def _i_difference(x: Array) -> Array:
    """Order 1 less order 0, both scaled, of x from 0 on."""
    small = np.minimum(x, LARGE)
    result = (special_i1(small) - i0(small)) * np.exp(-small)
    fill_at((x > _CLOSE) & (x <= LARGE), result, _difference_by_series, x)
    fill_at(x > LARGE, result, _difference_of_large, x)
    return result


def _difference_by_series(x: Array) -> Array:
    """Order 1 less order 0 as ``-exp(-2 * x) * M(1/2, 2, 2 * x)``, whose terms are all positive."""
    double = 2 * x
    total: Array = making.ones_like(x)
    for k in range(_TERMS_OF_DIFFERENCE, 0, -1):
        total = 1 + double * ((k - 0.5) / (k * (k + 1))) * total
    found: Array = -np.exp(-double) * total
    return found


def _difference_of_large(x: Array) -> Array:
    """Order 1 less order 0, whose leading terms are the same."""
    inverse = LARGE / x
    found: Array = polynomial(_differences(), -inverse) / np.sqrt(x) * (1 / sqrt(2 * pi))
    return found


def scaled_k0_slope(x: Array) -> Array:
    """The derivative of the scaled function of order 0: that less the one of order 1."""
    result = _tables()[2](np.maximum(np.minimum(x, LARGE), 1))
    fill_at(x > LARGE, result, _k_difference_of_large, x)
    fill_at(x < 1, result, _k_difference_of_small, x)
    return np.where(x >= 0, np.where(x == 0, -np.inf, result), np.nan)


def _k_difference_of_large(x: Array) -> Array:
    found: Array = polynomial(_differences(), LARGE / x) / np.sqrt(x) * -sqrt(pi / 2)
    return found


def _k_difference_of_small(x: Array) -> Array:
    return _k_of_small(0, x) - _k_of_small(1, x)


def scaled_k0(x: Array) -> Array:
    """``exp(x) * K(x)`` of order 0."""
    return _scaled_k(0, x)


def scaled_k1(x: Array) -> Array:
    """``exp(x) * K(x)`` of order 1."""
    return _scaled_k(1, x)


def _scaled_k(order: int, x: Array) -> Array:
    result = _tables()[order](np.maximum(np.minimum(x, LARGE), 1))
    fill_at(x > LARGE, result, lambda part: _k_of_large(order, part), x)
    fill_at(x < 1, result, lambda part: _k_of_small(order, part), x)
    return np.where(x >= 0, np.where(x == 0, np.inf, result), np.nan)


def _k_of_large(order: int, x: Array) -> Array:
    inverse = LARGE / x
    even, odd = expansion(order)
    square = inverse * inverse
    total = polynomial(even, square) + polynomial(odd, square) * inverse
    found: Array = total / np.sqrt(x) * sqrt(pi / 2)
    return found


def _k_of_small(order: int, x: Array) -> Array:
    zero, one = _small_series()
    half = x / 2
    square = half * half
    log = np.log(x) - log_of(2)
    if order == 0:
        found = polynomial(zero, square) - (log + EULER / ONE) * i0(x)
    else:
        found = 1 / x - polynomial(one, square) * half / 2 + log * special_i1(x)
    value: Array = found * np.exp(x)
    return value


# -- tables ---------------------------------------------------------------------------------


@made_once
def _differences() -> list[Array]:
    """The coefficients of order 1 less those of order 0, for powers of ``LARGE / x``."""
    zero, one = (
        [c for pair in zip_longest(*expansion(order), fillvalue=0.0) for c in pair]
        for order in (0, 1)
    )
    return [making.asarray(b - a) for a, b in zip_longest(zero, one, fillvalue=0.0)]


@made_once
def _tables() -> tuple[Piecewise, Piecewise, Piecewise]:
    """The scaled functions from 1 to `LARGE`, and the derivative of the first one."""
    first = 1 << _BITS
    rows = solution(_recurrence, _second_kind_at_one(), first, LARGE << _BITS, _BITS)
    # The derivative of exp(x) * K0 is exp(x) * (K0 - K1).
    slopes = derivative(rows)
    one = [row - slope for row, slope in zip(rows, slopes, strict=False)]
    found = [Piecewise(first, _BITS, table) for table in (rows[:8], one, slopes)]
    return found[0], found[1], found[2]


def _recurrence(n: int, c: list[int], count: int) -> int:
    """Of ``x * x * y'' + (x - 2 * x * x) * y' - x * y = 0``, which has ``exp(x) * K0(x)``."""
    k = count - 2
    double = n * n << 1
    rest = ((2 * k + 1) * n * (k + 1) * c[k + 1] >> _BITS) - (
        double * (k + 1) * c[k + 1] >> 2 * _BITS
    )
    rest += k * k * c[k] - ((4 * k + 1) * n * c[k] >> _BITS)
    if k >= 1:
        rest -= (2 * k - 1) * c[k - 1]
    return -(rest << 2 * _BITS) // (n * n * (k + 1) * (k + 2))


def _second_kind_at_one() -> list[int]:
    """``exp(x) * K0(x)`` at 1, and its derivative, by the power series."""
    log = logarithm(ONE // 2)
    i_0 = i_1 = k_0 = k_1 = 0
    term, harmonic = ONE, 0
    for k in range(60):
        # ``(1 / 4) ** k / k! ** 2``, and the sum of 1 / 1 to 1 / k.
        i_0 += term
        i_1 += term // (2 * (k + 1))
        k_0 += times(harmonic, term)
        k_1 -= times(2 * harmonic + ONE // (k + 1) - 2 * EULER, term) // (4 * (k + 1))
        harmonic += ONE // (k + 1)
        term = term // (4 * (k + 1) ** 2)
    k_0 -= times(log + EULER, i_0)
    k_1 += times(log, i_1) + ONE
    factor = exponential(ONE)
    return [times(factor, k_0), times(factor, k_0 - k_1)]


@made_once
def _small_series() -> tuple[list[Array], list[Array]]:
    """The power series of the second kind, without the logarithms, in powers of ``x * x / 4``."""
    zero, one = [], []
    factor, harmonic = 1.0, 0.0
    for k in range(16):
        zero.append(factor * harmonic)
        later = harmonic + 1 / (k + 1)
        one.append(factor / (k + 1) * (harmonic + later - 2 * EULER / ONE))
        harmonic, factor = later, factor / (k + 1) ** 2
    return [making.asarray(c) for c in zero], [making.asarray(c) for c in one]

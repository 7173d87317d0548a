"""Kernels of Bessel functions of whole order, of the first and the second kind.

Note [How Bessel functions of the first and second kind are computed]

Orders 0 and 1, up to 20, are piecewise polynomials: the function of order 0 solves Bessel's
equation (DLMF 10.2.1; Note [Solutions as tables]), and that of order 1 is its derivative with the
other sign. Those of the second kind have a logarithm in them at 0, and so their tables begin at 1;
below, they are their power series (DLMF 10.8.1). Beyond 20 all four follow from Hankel's expansions
(DLMF 10.17.3 and 10.17.4), in which the angle ``x - pi / 4`` is not rounded: its sine and cosine
are sums of those of x.

Higher orders are what derivatives need. They follow from the recurrence of three orders (DLMF
10.6.1): upwards it is stable for the second kind, and for the first kind where x is larger than the
order. Elsewhere the first kind is its power series (DLMF 10.2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log as log_of
from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.fixed_point import ONE, logarithm, times
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import fill_at, polynomial
from vtgrad.special.kernels.equations import decimal, derivative, solution
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["EULER", "PI", "expansion", "jn", "orders", "yn"]

LARGE: Final = 20
EULER: Final = decimal(
    "0.57721566490153286060651209008240243104215933593992359880576723488486772678"
)
PI: Final = decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640629")
_FIRST_BITS: Final = 5
_SECOND_BITS: Final = 6
_TERMS: Final = 34


def jn(x: Array, n: Array) -> Array:
    """The function of the first kind of order n, a whole number."""
    result = orders(n, np.abs(x), _j_of_order)
    # The signs of DLMF 10.4.1 and 10.11.1.
    return np.where((np.signbit(x) ^ (n < 0)) & (n % 2 == 1), -result, result)


def yn(x: Array, n: Array) -> Array:
    """The function of the second kind of order n; nan below 0, and infinite there."""
    result = orders(n, np.abs(x), _y_of_order)
    result = np.where(x >= 0, np.where(x == 0, -np.inf, result), np.nan)
    return np.where((n < 0) & (n % 2 == 1), -result, result)


def orders(n: Array, x: Array, of_order: Callable[[int, Array], Array]) -> Array:
    """A function of the magnitude of each order, where an array has it."""
    result: Array = making.full(x.shape, np.nan)
    size = np.abs(n)
    for order in np.unique(size).tolist():
        fill_at(size == order, result, partial(of_order, int(order)), x)
    return result


def _j_of_order(order: int, x: Array) -> Array:
    if order < 2:
        return _low_order(order, x, _j_tables, True)
    near = x <= max(order, 2)
    result: Array = making.full(x.shape, np.nan)
    fill_at(near, result, lambda part: _power_series(order, part), x)
    fill_at(x > max(order, 2), result, lambda part: _upwards(order, part, _j_of_order), x)
    return result


def _y_of_order(order: int, x: Array) -> Array:
    if order >= 2:
        return np.where(x == np.inf, 0.0, _upwards(order, x, _y_of_order))
    result = _low_order(order, np.maximum(x, 1), _y_tables, False)
    fill_at(x < 1, result, _SMALL[order], x)
    result[np.isnan(x)] = np.nan
    return result


def _low_order(
    order: int, x: Array, tables: Callable[[], tuple[Piecewise, Piecewise]], is_first: bool
) -> Array:
    result = tables()[order](np.minimum(x, LARGE))
    fill_at(x > LARGE, result, lambda part: _of_large(order, part, is_first), x)
    return result


def _of_large(order: int, x: Array, is_first: bool) -> Array:
    """Hankel's expansions; 0 at infinity."""
    infinite = np.isinf(x)
    x = np.where(infinite, LARGE, x)
    inverse = LARGE / x
    even, odd = expansion(order)
    squared = -inverse * inverse
    p, q = polynomial(even, squared), polynomial(odd, squared) * inverse
    sine, cosine = np.sin(x), np.cos(x)
    # The cosine and the sine of the angle, times the root of 2. An order more turns it back by a
    # quarter.
    c, s = cosine + sine, sine - cosine
    if order == 1:
        c, s = s, -c
    found: Array = (p * c - q * s) if is_first else (p * s + q * c)
    return np.where(infinite, 0.0, found / np.sqrt(x) * (1 / sqrt(pi)))


def _upwards(order: int, x: Array, of_order: Callable[[int, Array], Array]) -> Array:
    before, now = of_order(0, x), of_order(1, x)
    for k in range(1, order):
        before, now = now, 2 * k / x * now - before
    return np.where(x == np.inf, 0.0, now)


def _power_series(order: int, x: Array) -> Array:
    half = x / 2
    square = half * half
    total: Array = making.ones_like(x)
    for k in range(_TERMS, 0, -1):
        total = 1 - square / (k * (order + k)) * total
    for k in range(1, order + 1):
        total = total * (half / k)
    return total


def _y0_of_small(x: Array) -> Array:
    series, _ = _second_series()
    square = x * x / 4
    log = np.log(x) + (EULER / ONE - log_of(2))
    return (log * _j_of_order(0, x) + polynomial(series, square)) * (2 / pi)


def _y1_of_small(x: Array) -> Array:
    _, series = _second_series()
    half = x / 2
    rest = polynomial(series, half * half) * half
    log = np.log(x) - log_of(2)
    # The pole apart: it is finite for nearly all subnormal numbers.
    found: Array = (2 * log * _j_of_order(1, x) - rest) / pi - (2 / pi) / x
    return found


_SMALL: Final = (_y0_of_small, _y1_of_small)


# -- tables ---------------------------------------------------------------------------------


@made_once
def _j_tables() -> tuple[Piecewise, Piecewise]:
    """The functions of the first kind up to `LARGE`."""
    at_zero = [ONE, 0]
    for k in range(2, 42):
        at_zero.append(-at_zero[k - 2] // k**2)
    rows = solution(_recurrence(_FIRST_BITS), at_zero, 0, LARGE << _FIRST_BITS, _FIRST_BITS)
    one = [-row for row in derivative(rows)]
    return Piecewise(0, _FIRST_BITS, rows[:8]), Piecewise(0, _FIRST_BITS, one)


@made_once
def _y_tables() -> tuple[Piecewise, Piecewise]:
    """The functions of the second kind from 1 to `LARGE`."""
    first = 1 << _SECOND_BITS
    known = _second_kind_at_one()
    rows = solution(_recurrence(_SECOND_BITS), known, first, LARGE << _SECOND_BITS, _SECOND_BITS)
    one = [-row for row in derivative(rows)]
    return Piecewise(first, _SECOND_BITS, rows[:8]), Piecewise(first, _SECOND_BITS, one)


def _recurrence(bits: int) -> Callable[[int, list[int], int], int]:
    """Of Bessel's equation of order 0."""

    def next_one(n: int, c: list[int], count: int) -> int:
        # r * r * (k + 1) * (k + 2) * c[k + 2] and the like, with r = n / 2 ** bits.
        k = count - 2
        rest = (n * (k + 1) * (2 * k + 1) * c[k + 1] >> bits) + k * k * c[k]
        rest += n * n * c[k] >> 2 * bits
        if k >= 1:
            rest += 2 * n * c[k - 1] >> bits
        if k >= 2:
            rest += c[k - 2]
        return -(rest << 2 * bits) // (n * n * (k + 1) * (k + 2))

    return next_one


def _second_kind_at_one() -> list[int]:
    """The function of order 0 at 1, and its derivative, by the power series."""
    log = logarithm(ONE // 2)
    j0 = j1 = y0 = y1 = 0
    term, harmonic = ONE, 0
    for k in range(60):
        # ``(-1 / 4) ** k / k! ** 2``, and the sum of 1 / 1 to 1 / k.
        j0 += term
        j1 += term // (2 * (k + 1))
        y0 -= times(harmonic, term)
        y1 -= times(2 * harmonic + ONE // (k + 1) - 2 * EULER, term) // (2 * (k + 1))
        harmonic += ONE // (k + 1)
        term = -term // (4 * (k + 1) ** 2)
    y0 += times(log + EULER, j0)
    y1 += 2 * times(log, j1) - 2 * ONE
    return [2 * y0 * ONE // PI, -y1 * ONE // PI]


@made_once
def _second_series() -> tuple[list[Array], list[Array]]:
    """The power series of the second kind, without the logarithms, in powers of ``x * x / 4``."""
    zero, one = [], []
    factor, harmonic = 1.0, 0.0
    for k in range(16):
        # ``(-1) ** k / k! ** 2``.
        zero.append(-factor * harmonic)
        later = harmonic + 1 / (k + 1)
        one.append(factor / (k + 1) * (harmonic + later - 2 * EULER / ONE))
        harmonic, factor = later, -factor / (k + 1) ** 2
    return [making.asarray(c) for c in zero], [making.asarray(c) for c in one]


def expansion(order: int) -> tuple[list[Array], list[Array]]:
    """The coefficients of Hankel's expansions for even and odd powers of ``LARGE / x``.

    Without the signs of the even and of the odd ones, which alternate.
    """
    return _expansions()[order]


@made_once
def _expansions() -> tuple[tuple[list[Array], list[Array]], ...]:
    found = []
    for order in (0, 1):
        c = [1.0]
        for k in range(1, 2 * _TERMS):
            c.append(c[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k * LARGE))
            if abs(c[-1]) < 1e-18:
                break
        arrays = [making.asarray(one) for one in c]
        found.append((arrays[::2], arrays[1::2]))
    return tuple(found)

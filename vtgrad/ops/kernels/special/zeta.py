"""The Hurwitz zeta function of integer order, and the Bernoulli numbers.

The first terms are added, and the others by the Euler-Maclaurin formula (DLMF 25.11.5).
"""

from __future__ import annotations

import functools
from math import factorial, inf
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special import quick_ufuncs as quick
from vtgrad.ops.kernels.special.series import (
    AT_ONCE,
    add_rows,
    is_within,
    polynomial,
    smallest,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import constant

__all__ = ["BERNOULLI", "zeta", "zeta_of_positive"]


# The Bernoulli numbers of order 2, 4 and so on, as numerators and denominators.
BERNOULLI: Final = (
    (1, 6),
    (-1, 30),
    (1, 42),
    (-1, 30),
    (5, 66),
    (-691, 2730),
    (7, 6),
    (-3617, 510),
    (43867, 798),
    (-174611, 330),
    (854513, 138),
    (-236364091, 2730),
)
# So many terms are added, and as many more as the order is.
_TERMS: Final = 6
# As 0-d arrays, which NumPy takes faster than numbers.
_ONE: Final = constant(1.0)
_HALF: Final = constant(0.5)


def zeta(s: int, x: Array) -> Array:
    """Hurwitz's zeta function of order 2 or more; infinite at 0 and negative integers."""
    if is_within(x, 0.0, inf) or smallest(x) >= 0:
        return zeta_of_positive(s, x)
    below = x < 0
    result: Array = zeta_of_positive(s, np.where(below, 1 - x, x))
    low = x[below]
    fraction = low - np.floor(low)
    # The sum over all integers minus the terms below `x`.
    # The distance to the next integer is exact, which 1 less a rounded fraction is not.
    sign = (-1.0) ** s
    others = zeta_of_positive(s, fraction) + sign * zeta_of_positive(s, np.ceil(low) - low)
    result[below] = np.where(fraction == 0, np.inf, others - sign * result[below])
    result[np.isneginf(x)] = np.nan
    return result


def zeta_of_positive(s: int, x: Array) -> Array:
    """The function for values that are not negative."""
    numbers, count, first, coefficients = _constants(s)
    flat = x.reshape(-1)
    inverse = quick.divide(_ONE, quick.add(flat, count))
    power = _power(inverse, s - 1)
    square = quick.multiply(inverse, inverse)
    total = polynomial(coefficients, square)
    quick.multiply(total, square, total)
    half = quick.multiply(inverse, _HALF)
    quick.add(half, first, half)
    quick.add(total, half, total)
    quick.multiply(total, power, total)
    return np.add(total, _sum_of_terms(flat, numbers, s), total).reshape(x.shape)


def _sum_of_terms(flat: Array, numbers: Array, s: int) -> Array:
    """The sum of the terms that are added; see Note [Terms as rows]."""
    added: Array | None = None
    at_once = max(1, AT_ONCE // max(1, flat.size))
    for start in range(0, len(numbers), at_once):
        # One division: powers of a rounded quotient would magnify its error.
        part = numbers[start : start + at_once]
        terms = making.empty((len(part), flat.size))
        terms = _power(quick.add(flat, part, terms), s)
        quick.divide(_ONE, terms, terms)
        if added is not None:
            np.add(terms[0], added, terms[0])
        added = add_rows(terms)
    assert added is not None
    return added


@functools.cache
def _constants(s: int) -> tuple[Array, Array, Array, list[Array]]:
    """The numbers of the terms, as a column, their count, and the formula for the others.

    Of the formula the coefficient of power 0 is apart. The terms begin with the smallest one, which
    rounds least.
    """
    numbers = constant([[float(n)] for n in range(_TERMS + s - 1, -1, -1)])
    rising, coefficients = float(s), []
    for j, (b, c) in enumerate(BERNOULLI, 1):
        coefficients.append(constant(b / c / factorial(2 * j) * rising))
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return numbers, constant(float(len(numbers))), constant(1 / (s - 1)), coefficients


def _power(x: Array, n: int) -> Array:
    """An integer power, by squaring."""
    result: Array | None = x if n % 2 else None
    while n := n // 2:
        x = quick.multiply(x, x)
        if n % 2:
            result = x if result is None else quick.multiply(result, x)
    return making.ones_like(x) if result is None else result

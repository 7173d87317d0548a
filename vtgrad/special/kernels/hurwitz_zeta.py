"""The kernel of Hurwitz's zeta function of any real order.

Note [How the zeta function is computed]

The sum of ``(q + k) ** -s`` over all whole numbers k from 0 on: the first terms are added, from the
smallest on, and the others follow by the Euler-Maclaurin formula (DLMF 25.11.5). For a negative q
and whole s the sum over all integers, which is that of two positive arguments, less the terms below
q, is the result. Sums with q are pairs (Note [Pairs]).
"""

from __future__ import annotations

from math import factorial
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.exact_parts import sum_of
from vtgrad.ops.kernels.special.series import fill_at
from vtgrad.ops.kernels.special.zeta import BERNOULLI
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["zeta"]

_TERMS: Final = 10
# The coefficients of the formula, without the powers of s.
_WEIGHTS: Final = [b / c / factorial(2 * j) for j, (b, c) in enumerate(BERNOULLI, 1)]


def zeta(s: Array, q: Array) -> Array:
    """The function of order s at q, as PyTorch has it where there is no sum.

    Infinite of order 1 and at the poles; nan of lower orders, and for negative q between the poles
    where s is not whole.
    """
    result: Array = np.where(np.isnan(s) | np.isnan(q) | (s < 1), np.nan, np.inf)
    fill_at((s > 1) & (q > 0), result, _of_positive, s, q)
    fill_at((s > 1) & (q < 0) & (q != np.floor(q)), result, _of_negative, s, q)
    return result


def _of_positive(s: Array, q: Array) -> Array:
    # Of an infinite order the first term is all.
    value: Array = np.power(q, -s)
    fill_at(np.isfinite(s) & np.isfinite(q), value, _sum, s, q)
    return value


def _sum(s: Array, q: Array) -> Array:
    z = q + _TERMS
    inverse = 1 / z
    square = inverse * inverse
    # From the last coefficient on: each holds one more rising factor pair than the one before.
    total: Array = making.zeros_like(z)
    for j in range(len(_WEIGHTS), 1, -1):
        rising = (s + (2 * j - 3)) * (s + (2 * j - 2)) * square
        total = rising * (total + _WEIGHTS[j - 1])
    total = (total + _WEIGHTS[0]) * s * inverse
    power = _term(s, q, _TERMS)
    total = power * (total + 0.5) + power * z / (s - 1)
    for k in range(_TERMS - 1, -1, -1):
        total = total + _term(s, q, k)
    return total


def _term(s: Array, q: Array, k: int) -> Array:
    """``(q + k) ** -s``, where the sum is a pair: the power would magnify its rounding."""
    high, low = sum_of(q, making.full_like(q, float(k)))
    found: Array = np.power(high, -s) * (1 - s * low / high)
    return found


def _of_negative(s: Array, q: Array) -> Array:
    fraction = q - np.floor(q)
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    others = _of_positive(s, fraction) + sign * _of_positive(s, 1 - fraction)
    found = others - sign * _of_positive(s, 1 - q)
    return np.where((s == np.floor(s)) & np.isfinite(s) & np.isfinite(q), found, np.nan)

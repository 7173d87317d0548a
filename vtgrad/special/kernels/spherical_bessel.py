"""The kernel of spherical Bessel functions of the first kind.

Note [How spherical Bessel functions are computed]

That of order 0 is ``sin(x) / x``. Others are their power series (DLMF 10.53.1) up to one more than
the order; beyond, the recurrence of three orders (DLMF 10.51.1), which is stable there, starts from
order 0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.series import fill_at
from vtgrad.special.kernels.bessel import orders
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["spherical_jn"]

_TERMS: Final = 30


def spherical_jn(x: Array, n: Array) -> Array:
    """The function of order n, a whole number that is not negative."""
    result = orders(n, np.abs(x), _of_order)
    return np.where(np.signbit(x) & (n % 2 == 1), -result, result)


def _of_order(order: int, x: Array) -> Array:
    if not order:
        zero, infinite = x == 0, np.isinf(x)
        quotient = np.sin(x) / np.where(zero, 1, x)
        return np.where(zero, 1.0, np.where(infinite, 0.0, quotient))
    result: Array = making.full(x.shape, np.nan)
    near = x <= order + 1
    fill_at(near, result, lambda part: _series(order, part), x)
    fill_at(x > order + 1, result, lambda part: _upwards(order, part), x)
    return result


def _series(order: int, x: Array) -> Array:
    half = x * x / 2
    total: Array = making.ones_like(x)
    for k in range(_TERMS, 0, -1):
        total = 1 - half / (k * (2 * order + 2 * k + 1)) * total
    for k in range(1, order + 1):
        total = total * (x / (2 * k + 1))
    return total


def _upwards(order: int, x: Array) -> Array:
    infinite = np.isinf(x)
    x = np.where(infinite, 1, x)
    before = np.sin(x) / x
    now = (before - np.cos(x)) / x
    for k in range(1, order):
        before, now = now, (2 * k + 1) / x * now - before
    return np.where(infinite, 0.0, now)

"""Modified Bessel functions of the first kind.

Note [How Bessel functions are computed]
Arguments up to 20 use the power series (DLMF 10.25.2), in which all terms are positive; larger ones
use the asymptotic expansion (DLMF 10.40.1), whose smallest term is then below the rounding error.
"""

from __future__ import annotations

from math import factorial
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.series import in_double, polynomial
from vtgrad.storage.arrays import Array

__all__ = ["i0", "special_i1"]


_LARGE: Final = 20.0


def _power_series(order: int) -> list[float]:
    """Coefficients of powers of ``x * x / 4``."""
    return [1 / (factorial(n) * factorial(n + order)) for n in range(48)]


def _asymptotic_series(order: int) -> list[float]:
    """Coefficients of powers of ``1 / x``."""
    found = [1.0]
    for n in range(1, 31):
        found.append(-found[-1] * (4 * order**2 - (2 * n - 1) ** 2) / (8 * n))
    return found


_POWERS: Final = (_power_series(0), _power_series(1))
_TAILS: Final = (_asymptotic_series(0), _asymptotic_series(1))


def i0(input: Array, *, out: Array | None = None) -> Array:
    """The function of order 0; see Note [How Bessel functions are computed]."""
    return in_double("i0", lambda x: _of_order(0, np.abs(x)), input, out)


def special_i1(input: Array, *, out: Array | None = None) -> Array:
    """The function of order 1, which is the derivative of `i0`."""
    return in_double("special_i1", lambda x: np.copysign(_of_order(1, np.abs(x)), x), input, out)


def _of_order(order: int, x: Array) -> Array:
    result: Array = np.full(x.shape, np.nan)
    near, far = x <= _LARGE, x > _LARGE
    half = x[near] / 2
    result[near] = polynomial(_POWERS[order], half * half) * half**order
    large = x[far]
    # In two steps, because the exponential alone overflows earlier.
    root = np.exp(large / 2)
    result[far] = root / np.sqrt(2 * np.pi * large) * polynomial(_TAILS[order], 1 / large) * root
    # At infinity the quotient above is nan, as in PyTorch.
    return result

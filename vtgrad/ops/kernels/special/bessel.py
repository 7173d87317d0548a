"""Modified Bessel functions of the first kind.

Note [How Bessel functions are computed]
Arguments up to 20 use piecewise polynomials. Their tables start from the sums of the power series
(DLMF 10.25.2) in whole numbers; the other Taylor coefficients follow from the differential equation
(DLMF 10.25.1). Larger arguments use the asymptotic expansion (DLMF 10.40.1), whose smallest term is
then below the rounding error, as a polynomial of lower degree.
"""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import in_double, largest, polynomial
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["i0", "special_i1"]


_LARGE: Final = 20.0
# The step of the tables is two to the power of minus this.
_BITS: Final = 6
_DEGREE: Final = 6
# Sums of the power series are whole numbers times two to the power of minus this.
_PRECISION: Final = 120


def i0(input: Array, *, out: Array | None = None) -> Array:
    """The function of order 0; see Note [How Bessel functions are computed]."""
    return in_double("i0", lambda x: _of_order(0, np.abs(x)), input, out)


def special_i1(input: Array, *, out: Array | None = None) -> Array:
    """The function of order 1, which is the derivative of `i0`."""
    return in_double("special_i1", lambda x: np.copysign(_of_order(1, np.abs(x)), x), input, out)


def _of_order(order: int, x: Array) -> Array:
    result = _tables()[order](x)
    if not largest(x) <= _LARGE:
        far = x > _LARGE
        large = x[far]
        # In two steps, because the exponential alone overflows earlier; so may ``2 * pi * large``.
        root = np.exp(large / 2)
        tail = polynomial(_tails()[order], _LARGE / large)
        result[far] = root / (4 * np.sqrt(pi / 8 * large)) * tail * root
        # At infinity the quotient above is nan, as in PyTorch.
    return result


@made_once
def _tables() -> tuple[Piecewise, Piecewise]:
    """The functions of order 0 and 1 up to `_LARGE`."""
    r = making.arange(int(_LARGE * 2**_BITS) + 1) / 2**_BITS
    rows = [making.array([_power_series(order, n) for n in range(len(r))]) for order in (0, 1)]
    divisor = np.where(r == 0, 1, r)
    at_zero = (1, 0, 1 / 4, 0, 1 / 64, 0, 1 / 2304, 0)
    for k in range(_DEGREE):
        rest = divisor * rows[k] - (k + 1) ** 2 * rows[k + 1]
        if k:
            rest = rest + rows[k - 1]
        rows.append(np.where(r == 0, at_zero[k + 2], rest / (divisor * (k + 2) * (k + 1))))
    first = [k * row for k, row in enumerate(rows) if k]
    return Piecewise(0, _BITS, rows[: _DEGREE + 1]), Piecewise(0, _BITS, first)


def _power_series(order: int, multiple: int) -> float:
    """The sum at a multiple of the step, correctly rounded but for rare cases."""
    term = multiple << _PRECISION - _BITS - 1 if order else 1 << _PRECISION
    total, n = 0, 0
    while term:
        total += term
        n += 1
        term = (term * multiple * multiple >> 2 * _BITS + 2) // (n * (n + order))
    return total / (1 << _PRECISION)


@made_once
def _tails() -> tuple[list[Array], list[Array]]:
    """The expansions in powers of ``_LARGE / x``."""
    zero, one = (_asymptotic_series(order) for order in (0, 1))
    return zero, one


def _asymptotic_series(order: int) -> list[Array]:
    found = [1.0]
    for n in range(1, 31):
        found.append(-found[-1] * (4 * order**2 - (2 * n - 1) ** 2) / (8 * n * _LARGE))
    # The highest power becomes the nearest polynomial of lower degree, as in `Piecewise`.
    while abs(found[-1]) < 1e-18 * 2.0 ** (2 * len(found) - 3):
        degree = len(found) - 1
        nearest = np.polynomial.Chebyshev.basis(degree, [0, 1]).convert(
            domain=[0, 1], kind=np.polynomial.Polynomial, window=[0, 1]
        )
        highest = found.pop() / nearest.coef[degree]
        found = [c - highest * nearest.coef[k] for k, c in enumerate(found)]
    return [making.asarray(c) for c in found]

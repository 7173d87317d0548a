"""The kernel of orthogonal polynomials and of their derivatives.

Note [How orthogonal polynomials are computed]

Each follows from the two of lower degree: ``c * p[m + 1] = (a * x + b) * p[m] - d * p[m - 1]`` with
numbers that depend on m. So do its derivatives, of which that of order k has ``a * k`` times the
derivative of order ``k - 1`` of ``p[m]`` beside it (the product rule). Numbers are pairs (Note
[Pairs]): the result is rounded once, also for degrees in the thousands, near the ends of the
interval, and for shifted polynomials, where ``2 * x - 1`` is no float.

The time is linear in the degree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from vtgrad.special.kernels.exact_parts import Pair, plus, quotient, sum_of, times
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["FAMILIES", "Family", "polynomial_of"]


class Family(NamedTuple):
    """The polynomials of one name; see Note [How orthogonal polynomials are computed].

    Attributes
    ----------
    first : tuple of int
        The factor of x and the constant in the polynomial of degree 1.
    step : callable
        Takes m and returns a, b, c and d.
    shifted : bool
        Whether the argument is ``2 * x - 1``.
    """

    first: tuple[int, int]
    step: Callable[[int], tuple[int, int, int, int]]
    shifted: bool = False


def _chebyshev(m: int) -> tuple[int, int, int, int]:
    return 2, 0, 1, 1


def _hermite_h(m: int) -> tuple[int, int, int, int]:
    return 2, 0, 1, 2 * m


def _hermite_he(m: int) -> tuple[int, int, int, int]:
    return 1, 0, 1, m


def _laguerre(m: int) -> tuple[int, int, int, int]:
    return -1, 2 * m + 1, m + 1, m


def _legendre(m: int) -> tuple[int, int, int, int]:
    return 2 * m + 1, 0, m + 1, m


_OF_CHEBYSHEV: Final = {"t": (1, 0), "u": (2, 0), "v": (2, -1), "w": (2, 1)}

# Polynomials that are larger than this are divided by a power of two, which is kept apart.
_LARGE: Final = 2.0**60
# Products with a larger argument might overflow; from degree 2 on they would be infinite.
_VAST: Final = 1e280

# DLMF 18.9.1 with table 18.9.1, and the first ones from table 18.6.1.
FAMILIES: Final[Mapping[str, Family]] = {
    **{
        f"{name}chebyshev_polynomial_{kind}": Family(first, _chebyshev, bool(name))
        for name in ("", "shifted_")
        for kind, first in _OF_CHEBYSHEV.items()
    },
    "hermite_polynomial_h": Family((2, 0), _hermite_h),
    "hermite_polynomial_he": Family((1, 0), _hermite_he),
    "laguerre_polynomial_l": Family((-1, 1), _laguerre),
    "legendre_polynomial_p": Family((1, 0), _legendre),
}


def polynomial_of(family: Family, x: Array, n: Array, order: Array) -> Array:
    """The derivative of an order of the polynomial of degree n; 0 below degree 0.

    Parameters
    ----------
    n : ndarray
        Degrees, of which the whole part counts. The result is nan at nan.
    order : ndarray
        The order of the derivative, the same everywhere.
    """
    degree = np.trunc(n)
    result: Array = np.where(np.isnan(degree), np.nan, 0.0)
    orders = int(order[0]) if order.size else 0
    highest = np.fmax.reduce(degree, None, initial=-1.0)
    if not highest >= orders:
        return result
    size = np.abs(x)
    vast = size > _VAST
    safe = np.where(vast, np.copysign(_VAST, x), x)
    argument: Pair = (safe, making.zeros_like(x))
    if family.shifted:
        argument = sum_of(2 * safe, making.full_like(x, -1.0))
    for m, value in enumerate(_degrees(family, argument, orders, int(highest))):
        at = degree == m
        if at.any():
            result[at] = value()[at]
    if family.shifted:
        result *= 2.0**orders
    if vast.any():
        # Linear in the argument, or infinite.
        above = degree - orders
        result = np.where(vast & (above == 1), result * (size / _VAST), result)
        result = np.where(vast & (above > 1), np.copysign(np.inf, result), result)
    return result


def _degrees(
    family: Family, argument: Pair, order: int, highest: int
) -> Iterator[Callable[[], Array]]:
    """The derivative of an order, for degrees from 0 on."""
    zero, one = making.zeros_like(argument[0]), making.ones_like(argument[0])
    a, b = family.first
    none: Pair = (zero, zero)
    # The derivatives up to the order, of the last degree and of this one.
    before: list[Pair] = [(one, zero)] + [none] * order
    linear = plus(times(argument, (one * a, zero)), (one * b, zero))
    now: list[Pair] = ([linear, (one * a, zero)] + [none] * order)[: order + 1]
    exponent = making.zeros(zero.shape, np.int64)
    yield partial(_scaled, before[order], exponent)
    for m in range(1, highest + 1):
        largest = np.max([np.abs(high) for high, _ in now], 0)
        if np.fmax.reduce(largest, None, initial=0.0) > _LARGE:
            shift = np.where(largest > _LARGE, np.frexp(largest)[1], 0)
            before, now = [
                [(np.ldexp(high, -shift), np.ldexp(low, -shift)) for high, low in pairs]
                for pairs in (before, now)
            ]
            exponent = exponent + shift
        yield partial(_scaled, now[order], exponent)
        before, now = now, _next(family.step(m), argument, before, now)


def _scaled(pair: Pair, exponent: Array) -> Array:
    found: Array = np.ldexp(pair[0], exponent)
    return found


def _next(
    step: tuple[int, int, int, int], x: Pair, before: list[Pair], now: list[Pair]
) -> list[Pair]:
    """The polynomial of the next degree, and its derivatives."""
    a, b, c, d = step
    zero = making.zeros_like(x[0])
    factor = times(x, (zero + a, zero))
    if b:
        factor = plus(factor, (zero + b, zero))
    found: list[Pair] = []
    for k, (last, this) in enumerate(zip(before, now, strict=True)):
        total = plus(times(factor, this), times(last, (zero - d, zero)))
        if k:
            total = plus(total, times(now[k - 1], (zero + a * k, zero)))
        found.append(total if c == 1 else quotient(total, float(c)))
    return found

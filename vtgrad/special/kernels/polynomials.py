"""The kernel of orthogonal polynomials and of their derivatives.

Note [How orthogonal polynomials are computed]

Each follows from the two of lower degree: ``c * p[m + 1] = (a * x + b) * p[m] - d * p[m - 1]`` with
numbers that depend on m. So do its derivatives, of which that of order k has ``a * k`` times the
derivative of order ``k - 1`` of ``p[m]`` beside it (the product rule). The errors of all roundings
are known exactly (Note [Pairs]) and follow the same recurrence: they are added at the end. So the
result is rounded once, also for degrees in the thousands, near the ends of the interval, and for
shifted polynomials, where ``2 * x - 1`` is no float.
The time is linear in the degree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from vtgrad.ops.kernels.special.exact_parts import (
    Pair,
    multiple_error,
    product_error,
    split,
    sum_of,
)
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
    x = _Argument(argument)
    zero, one = making.zeros_like(x.high), making.ones_like(x.high)
    a, b = family.first
    none: Pair = (zero, zero)
    # The derivatives up to the order, of the last degree and of this one.
    before: list[Pair] = [(one, zero)] + [none] * order
    linear = sum_of(a * x.high, one * b)
    now: list[Pair] = [(linear[0], linear[1] if x.low is None else linear[1] + a * x.low)]
    now = (now + [(one * a, zero)] + [none] * order)[: order + 1]
    exponent = making.zeros(zero.shape, np.int64)
    yield partial(_scaled, before[order], exponent)
    for m in range(1, highest + 1):
        largest = np.abs(now[0][0])
        for high, _ in now[1:]:
            np.maximum(largest, np.abs(high), out=largest)
        if np.fmax.reduce(largest, None, initial=0.0) > _LARGE:
            shift = np.where(largest > _LARGE, np.frexp(largest)[1], 0)
            before, now = [
                [(np.ldexp(high, -shift), np.ldexp(low, -shift)) for high, low in pairs]
                for pairs in (before, now)
            ]
            exponent = exponent + shift
        yield partial(_scaled, now[order], exponent)
        if m < highest:
            before, now = now, _next(family.step(m), x, before, now)


def _scaled(pair: Pair, exponent: Array) -> Array:
    found: Array = np.ldexp(pair[0] + pair[1], exponent)
    return found


class _Argument:
    """The argument of a polynomial, with the parts in which products take it.

    Attributes
    ----------
    high : ndarray
        The argument, rounded.
    low : ndarray or None
        What is left of it; None if that is 0 everywhere.
    parts : tuple of ndarray
        The rounded argument as a sum of two numbers of 26 bits each.
    """

    high: Array
    low: Array | None
    parts: Pair

    def __init__(self, argument: Pair) -> None:
        self.high, low = argument
        self.low = low if low.any() else None
        self.parts = split(self.high)


def _next(
    step: tuple[int, int, int, int], x: _Argument, before: list[Pair], now: list[Pair]
) -> list[Pair]:
    """The polynomial of the next degree, and its derivatives.

    The second part of each pair is the error of the first one, to first order: it goes along by the
    same recurrence, with the errors of all roundings added.
    """
    a, b, c, d = step
    splits = [split(high) for high, _ in now]
    found: list[Pair] = []
    for k, ((last, last_low), (this, low)) in enumerate(zip(before, now, strict=True)):
        total = x.high * this
        rest = x.high * low + product_error(total, x.parts, splits[k])
        if x.low is not None:
            rest += x.low * this
        total, rest = _multiple(a, total, rest, None)
        terms: list[tuple[int, Array, Array, Pair | None]] = [(-d, last, last_low, None)]
        if b:
            terms.append((b, this, low, splits[k]))
        if k:
            terms.append((a * k, *now[k - 1], splits[k - 1]))
        for factor, value, value_low, parts in terms:
            term, term_low = _multiple(factor, value, value_low, parts)
            total, lost = sum_of(total, term)
            rest += term_low
            rest += lost
        if c > 1:
            whole = total / c
            back = whole * c
            rest += (total - back) - multiple_error(c, back, split(whole))
            total, rest = whole, rest / c
        found.append((total, rest))
    return found


def _multiple(factor: int, value: Array, low: Array, parts: Pair | None) -> Pair:
    """A whole number times a number and its error."""
    total = value * float(factor)
    rest = low * float(factor)
    if factor & (factor - 1) and -factor & (-factor - 1):
        # No power of two.
        rest += multiple_error(factor, total, split(value) if parts is None else parts)
    return total, rest

"""The logarithm of the gamma function and its derivatives.

Note [How the gamma function is computed]
From 1/2 to 5/2 the logarithm is computed by its Taylor series at 2 (DLMF 5.7.3), with the
recurrence ``gamma(x + 1) = x * gamma(x)`` around 1; so its zeros at 1 and 2 are exact. Larger
arguments use Stirling's series (DLMF 5.11.1), after the recurrence has raised them to 10 or more;
negative ones use the reflection formula (DLMF 5.5.3). The derivatives use series of the same kind:
the digamma function DLMF 5.11.2 and 5.5.4; the others are Hurwitz zeta functions (DLMF 25.11.12),
computed by the Euler-Maclaurin formula (DLMF 25.11.5).
"""

from __future__ import annotations

from math import factorial, fsum, pi
from typing import Final

import numpy as np

from vtgrad.errors import NotSupportedError, OptionValueError
from vtgrad.ops.kernels.special.series import in_double, polynomial
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved

__all__ = ["digamma", "lgamma", "mvlgamma", "polygamma_of"]


_EULER: Final = 0.57721566490153286061
_HALF_LOG_2_PI: Final = 0.91893853320467274178
# From this argument on the asymptotic series are exact to rounding.
_LARGE: Final = 10.0
# The largest number whose factorial is a float64.
_HIGHEST_ORDER: Final = 170
_MOST_DIMENSIONS: Final = 100_000


# The Bernoulli numbers of order 2, 4 and so on.
_BERNOULLI: Final = (
    1 / 6,
    -1 / 30,
    1 / 42,
    -1 / 30,
    5 / 66,
    -691 / 2730,
    7 / 6,
    -3617 / 510,
    43867 / 798,
    -174611 / 330,
    854513 / 138,
    -236364091 / 2730,
)


def _zeta_minus_one(s: int) -> float:
    """Riemann's zeta function less 1, by the Euler-Maclaurin formula from 20 on."""
    start = 20.0
    terms = [n**-s for n in range(2, 20)]
    terms += [start ** (1 - s) / (s - 1), start**-s / 2]
    rising = s
    for j, b in enumerate(_BERNOULLI[:8], 1):
        terms.append(b / factorial(2 * j) * rising * start ** (1 - s - 2 * j))
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return fsum(terms)


_STIRLING: Final = [b / (2 * n * (2 * n - 1)) for n, b in enumerate(_BERNOULLI[:9], 1)]
_DIGAMMA: Final = [-b / (2 * n) for n, b in enumerate(_BERNOULLI[:9], 1)]
_AT_TWO: Final = [0.0, 1 - _EULER, *((-1) ** n * _zeta_minus_one(n) / n for n in range(2, 30))]


def lgamma(input: Array, *, out: Array | None = None) -> Array:
    """The logarithm of the gamma function's magnitude.

    See Note [How the gamma function is computed].
    """
    return in_double("lgamma", _lgamma, input, out)


def digamma(input: Array, *, out: Array | None = None) -> Array:
    """The logarithmic derivative of the gamma function; nan at negative integers."""
    return in_double("digamma", _digamma, input, out)


def polygamma_of(input: Array, n: int, *, out: Array | None = None) -> Array:
    """The derivative of order `n` of the digamma function.

    Raises
    ------
    OptionValueError
        If `n` is negative.
    NotSupportedError
        If its factorial exceeds float64.
    """
    n = integer(n)
    if n < 0:
        raise OptionValueError(f"polygamma has derivatives of order 0 and more, not {n}", n=n)
    if n == 0:
        return digamma(input, out=out)
    if n > _HIGHEST_ORDER:
        raise NotSupportedError(
            f"polygamma of order {n} is larger than any float64; orders up to {_HIGHEST_ORDER} are "
            "supported",
            n=n,
        )
    sign = factorial(n) * (-1.0) ** (n + 1)
    return in_double("polygamma", lambda x: sign * _zeta(n + 1, x), input, out)


def mvlgamma(input: Array, p: int, *, out: Array | None = None) -> Array:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Raises
    ------
    OptionValueError
        If `p` is less than 1.
    NotSupportedError
        If the sum of its terms would take minutes.
    """
    p = integer(p)
    if p < 1:
        raise OptionValueError(f"mvlgamma needs at least one dimension, not {p}", p=p)
    if p > _MOST_DIMENSIONS:
        raise NotSupportedError(
            f"mvlgamma of {p} dimensions is not supported, at most {_MOST_DIMENSIONS} are", p=p
        )

    # PyTorch adds terms in a row-major array.
    input = np.ascontiguousarray(resolved(input)).reshape(input.shape)

    def total(x: Array) -> Array:
        result: Array = np.full(x.shape, p * (p - 1) / 4 * np.log(pi))
        for j in range(p):
            result += _lgamma(x - j / 2)
        return result

    return in_double("mvlgamma", total, input, out)


# -- the logarithm --------------------------------------------------------------------------


def _lgamma(x: Array) -> Array:
    result: Array = np.empty(x.shape)
    below = x < 0
    result[~below] = _lgamma_of_positive(x[~below])
    low = x[below]
    sine = np.abs(_sine_of_half_turns(low))
    reflected = np.log(pi / sine) - _lgamma_of_positive(1 - low)
    result[below] = np.where((sine == 0) | np.isinf(low), np.inf, reflected)
    return result


def _lgamma_of_positive(x: Array) -> Array:
    result: Array = np.where(np.isnan(x), x, np.inf)
    tiny, first = (x > 0) & (x < 0.5), (x >= 0.5) & (x < 1.5)
    second, high = (x >= 1.5) & (x < _LARGE), (x >= _LARGE) & (x < np.inf)
    z = x[tiny]
    result[tiny] = polynomial(_AT_TWO, z) - np.log1p(z) - np.log(z)
    z = x[first] - 1
    result[first] = polynomial(_AT_TWO, z) - np.log1p(z)
    z, product = x[second], np.ones(int(second.sum()))
    for _ in range(int(_LARGE) - 2):
        above = z >= 2.5
        z = np.where(above, z - 1, z)
        product = np.where(above, product * z, product)
    result[second] = polynomial(_AT_TWO, z - 2) + np.log(product)
    z = x[high]
    inverse = 1 / z
    series = polynomial(_STIRLING, inverse * inverse) * inverse
    result[high] = (z - 0.5) * (np.log(z) - 1) + (_HALF_LOG_2_PI - 0.5) + series
    return result


def lgamma_of_one_more(x: Array) -> Array:
    """The logarithm of the gamma function of ``1 + x``, for positive x, exact for small x too."""
    small = x < 0.5
    near = np.where(small, x, 0.0)
    above = _lgamma_of_positive(np.where(small, 1.0, x) + 1)
    result: Array = np.where(small, polynomial(_AT_TWO, near) - np.log1p(near), above)
    return result


def _sine_of_half_turns(x: Array) -> Array:
    """``sin(pi * x)`` up to its sign, which is exactly 0 at integers."""
    fraction = np.abs(x - np.round(x))
    result: Array = np.sin(pi * fraction)
    return result


# -- its derivatives ------------------------------------------------------------------------


def _digamma(x: Array) -> Array:
    below = x < 0
    z = np.where(below, 1 - x, x)
    total: Array = np.zeros(x.shape)
    for _ in range(int(_LARGE)):
        low = z < _LARGE
        total -= np.where(low, 1 / np.where(low, z, 1), 0)
        z = np.where(low, z + 1, z)
    inverse = 1 / z
    square = inverse * inverse
    total += np.log(z) - inverse / 2 + polynomial(_DIGAMMA, square) * square
    fraction = x - np.round(x)
    reflected = total - pi / np.tan(pi * np.where(below, fraction, 0.25))
    result: Array = np.where(below, reflected, total)
    result[below & ((fraction == 0) | np.isinf(x))] = np.nan
    result[x == 0] = np.copysign(np.inf, -x[x == 0])
    return result


def _zeta(s: int, x: Array) -> Array:
    """Hurwitz's zeta function of integer order; infinite at 0 and negative integers."""
    below = x < 0
    result: Array = _zeta_of_positive(s, np.where(below, 1 - x, x))
    low = x[below]
    fraction = low - np.floor(low)
    # The sum over all integers minus the terms below `x`.
    sign = (-1.0) ** s
    others = _zeta_of_positive(s, fraction) + sign * _zeta_of_positive(s, 1 - fraction)
    result[below] = np.where(fraction == 0, np.inf, others - sign * result[below])
    result[np.isneginf(x)] = np.nan
    return result


def _zeta_of_positive(s: int, x: Array) -> Array:
    z, start = x, _LARGE + s
    total: Array = np.zeros(x.shape)
    for _ in range(int(start)):
        low = z < start
        total += np.where(low, np.where(low, z, 1.0) ** -s, 0)
        z = np.where(low, z + 1, z)
    inverse = 1 / z
    power = inverse ** (s - 1)
    square = inverse * inverse
    rising, coefficients = float(s), []
    for j, b in enumerate(_BERNOULLI, 1):
        coefficients.append(b / factorial(2 * j) * rising)
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    tail = 1 / (s - 1) + inverse / 2 + polynomial(coefficients, square) * square
    return total + power * tail

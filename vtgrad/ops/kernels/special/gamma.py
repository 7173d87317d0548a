"""The logarithm of the gamma function and its derivatives.

Note [How the gamma function is computed]
From 1/2 to 8 the logarithm and the digamma function are piecewise polynomials. Beside the zeros of
the logarithm, 1 and 2, all digits count; beside that of the digamma function, which is no number of
the table, the error is about 1e-19. Smaller arguments use the recurrence ``gamma(x + 1) = x *
gamma(x)``, larger ones Stirling's series (DLMF 5.11.1 and 5.11.2), and negative ones the reflection
formulas (DLMF 5.5.3 and 5.5.4).
The other derivatives are Hurwitz zeta functions (DLMF 25.11.12).
"""

from __future__ import annotations

from math import factorial, pi
from typing import Final

import numpy as np

from vtgrad.errors import NotSupportedError, OptionValueError
from vtgrad.ops.kernels.special import quick_ufuncs as quick
from vtgrad.ops.kernels.special.gamma_tables import HIGH, LOW, digamma_table, lgamma_table
from vtgrad.ops.kernels.special.series import (
    in_double,
    is_within,
    largest,
    polynomial,
    smallest,
)
from vtgrad.ops.kernels.special.zeta import BERNOULLI, zeta
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.integers import integer
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.lazy_array import resolved

__all__ = ["digamma", "lgamma", "mvlgamma", "polygamma_of"]


_HALF_LOG_2_PI: Final = 0.91893853320467274178
# The largest number whose factorial is a float64.
_HIGHEST_ORDER: Final = 170
_MOST_DIMENSIONS: Final = 100_000


# As 0-d arrays, which NumPy takes faster than numbers.
_LOW: Final = constant(LOW)
_STIRLING: Final = [
    constant(b / (c * 2 * n * (2 * n - 1))) for n, (b, c) in enumerate(BERNOULLI[:10], 1)
]
_DIGAMMA: Final = [constant(-b / (c * 2 * n)) for n, (b, c) in enumerate(BERNOULLI[:10], 1)]


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
    return in_double("polygamma", lambda x: sign * zeta(n + 1, x), input, out)


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
    input = making.ascontiguousarray(resolved(input)).reshape(input.shape)

    def total(x: Array) -> Array:
        result: Array = making.full(x.shape, p * (p - 1) / 4 * float(np.log(pi)))
        for j in range(p):
            result += _lgamma(x - j / 2)
        return result

    return in_double("mvlgamma", total, input, out)


# -- the logarithm --------------------------------------------------------------------------


def _lgamma(x: Array) -> Array:
    low, from_table = _raised(x)
    result = lgamma_table()(from_table)
    quick.log(x, from_table)
    quick.multiply(from_table, low, from_table)
    quick.subtract(result, from_table, result)
    if is_within(x, 0.0, HIGH):
        return result
    if not largest(x) < HIGH:
        far = x >= HIGH
        result[far] = _lgamma_of_large(x[far])
    if not smallest(x) >= 0:
        below = x < 0
        negative = x[below]
        sine = np.abs(_sine_of_half_turns(negative))
        # The inverse of this quotient may overflow.
        reflected = -np.log(sine / pi) - _lgamma(1 - negative)
        result[below] = np.where((sine == 0) | np.isinf(negative), np.inf, reflected)
    return result


def _raised(x: Array) -> tuple[Array, Array]:
    """1 where a value is too low for the tables, otherwise 0; and the sum of both."""
    low = np.less(x, _LOW).astype(np.float64)
    return low, quick.add(x, low)


def _lgamma_of_large(x: Array) -> Array:
    """Stirling's series."""
    inverse = 1 / x
    series = polynomial(_STIRLING, inverse * inverse) * inverse
    result: Array = (x - 0.5) * (np.log(x) - 1) + (_HALF_LOG_2_PI - 0.5) + series
    return result


def _sine_of_half_turns(x: Array) -> Array:
    """``sin(pi * x)`` up to its sign, which is exactly 0 at integers."""
    fraction = np.abs(x - np.round(x))
    result: Array = np.sin(pi * fraction)
    return result


# -- its derivatives ------------------------------------------------------------------------


def _digamma(x: Array) -> Array:
    low, from_table = _raised(x)
    result = digamma_table()(from_table)
    quick.divide(low, x, low)
    quick.subtract(result, low, result)
    if is_within(x, 0.0, HIGH):
        return result
    if not largest(x) < HIGH:
        far = x >= HIGH
        result[far] = _digamma_of_large(x[far])
    if not smallest(x) >= 0:
        below = x < 0
        negative = x[below]
        fraction = negative - np.round(negative)
        reflected = _digamma(1 - negative) - pi / np.tan(pi * fraction)
        result[below] = np.where((fraction == 0) | np.isinf(negative), np.nan, reflected)
    return result


def _digamma_of_large(x: Array) -> Array:
    inverse = 1 / x
    square = inverse * inverse
    result: Array = np.log(x) - inverse / 2 + polynomial(_DIGAMMA, square) * square
    return result

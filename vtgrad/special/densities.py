"""Densities of the gamma and the beta distribution, and differences of the digamma function.

Note [Densities by deviances]

The density of the gamma distribution at x is ``x**(a - 1) * exp(-x) / gamma(a)``. As the
exponential of a sum of logarithms it loses as many digits as the logarithms have in front of the
point. C. Loader, "Fast and accurate computation of binomial probabilities", 2000, has it as ::

    sqrt(a / (2 pi)) / x * exp(-rest(a) - deviance(a, x))

where ``rest(a)`` is what Stirling's formula leaves of the logarithm of ``gamma(a + 1)``, and
``deviance(a, x) = a log(a / x) - a + x``, which is small where the density is not. The density of
the beta distribution is the same with three rests and two deviances. For small parameters products
are as exact.
"""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.special.zeta import BERNOULLI
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.scipy_function import scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["BETA_DENSITY", "DIGAMMA_DIFFERENCE", "GAMMA_DENSITY", "GAMMA_QUOTIENT"]

# Both parameters of a density by deviances are at least this.
_LARGE: Final = 12.0
# Smaller numbers have fewer digits.
_TINY: Final = 1e-300
# Stirling's series has all digits from here on.
_FAR: Final = 16
_TERMS: Final = 8


def _gamma_density(a: Array, x: Array) -> Array:
    """See Note [Densities by deviances]."""
    special = scipy_special("gammainc")
    result: Array = np.power(x, a - 1) * np.exp(-x) * special.rgamma(a)
    # A product loses nothing as long as its factors are normal numbers.
    power = np.power(x, a - 1) * np.exp(-x)
    is_normal = (power > _TINY) & (power < 1 / _TINY) & (x < 700) & (a < 170)
    large = (a >= _LARGE) & (x > 0) & np.isfinite(x) & ~is_normal
    c, y = a[large], x[large]
    result[large] = np.sqrt(c / (2 * pi)) / y * np.exp(-_rest(c) - _deviance(c, y))
    # The poles of the gamma function are zeros, also beside the power of 0.
    result[(a <= 0) & (a == np.floor(a)) & (x == 0)] = 0
    result[x < 0] = np.nan
    # The exponential is smaller than any power.
    result[np.isposinf(x) & np.isfinite(a)] = 0
    return result


def _beta_density(a: Array, b: Array, x: Array) -> Array:
    """See Note [Densities by deviances]."""
    special = scipy_special("betainc")
    # For small x the rounding of 1 - x would be taken to a power.
    of_rest = np.where(x < 0.5, np.exp((b - 1) * np.log1p(-x)), np.power(1 - x, b - 1))
    power = np.power(x, a - 1) * of_rest
    result: Array = power * _gamma_of_sum(a, b) * special.rgamma(a) * special.rgamma(b)
    inside = (x > 0) & (x < 1)
    for end, near, far in ((0, a, b), (1, b, a)):
        at = x == end
        result[at] = _beta_at_end(near[at], far[at])
    # The poles of the beta function are zeros, also beside the power of 0.
    result[(a == 0) | (b == 0)] = 0
    is_normal = (power > _TINY) & (power < 1 / _TINY) & (a + b < 170)
    large = (np.maximum(a, b) >= _LARGE) & inside & ~is_normal
    both = (np.minimum(a, b) >= _LARGE) & large
    result[both] = _beta_of_large(a[both], b[both], x[both])
    first = (b < _LARGE) & large
    result[first] = _beta_of_one_large(b[first], a[first], 1 - x[first], x[first])
    second = (a < _LARGE) & large
    result[second] = _beta_of_one_large(a[second], b[second], x[second], 1 - x[second])
    result[(x < 0) | (x > 1)] = np.nan
    return result


def _beta_at_end(a: Array, b: Array) -> Array:
    """The density of the beta distribution at 0: 0, b, or infinite, with a sign below 0."""
    gammasgn = scipy_special("betainc").gammasgn
    steep = np.copysign(np.inf, gammasgn(a + b) * gammasgn(a) * gammasgn(b))
    result: Array = np.where(a > 1, 0, np.where(a == 1, b, steep))
    result[np.isnan(a) | np.isnan(b)] = np.nan
    return result


def _gamma_of_sum(a: Array, b: Array) -> Array:
    """``gamma(a + b)``, with what is rounded off the sum (D. Knuth, TAOCP, 4.2.2, theorem B)."""
    special = scipy_special("betainc")
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    value: Array = special.gamma(total)
    return np.where(lost == 0, value, value * (1 + lost * special.digamma(total)))


def _beta_of_large(a: Array, b: Array, x: Array) -> Array:
    n = a + b
    exponent = _rest(n) - _rest(a) - _rest(b) - _deviance(a, n * x) - _deviance(b, n * (1 - x))
    result: Array = np.sqrt(a / n * b / (2 * pi)) / (x * (1 - x)) * np.exp(exponent)
    return result


def _beta_of_one_large(a: Array, b: Array, x: Array, y: Array) -> Array:
    """``x**(a - 1) * y**(b - 1) / beta(a, b)`` where b is large, and y is ``1 - x``."""
    logarithm = np.where(y < 0.5, np.log(y), np.log1p(-x))
    # A power of y has all digits, but that of 1 - x for small x, and those that are no numbers.
    of_y = np.power(y, b - 1)
    direct = (y < 0.5) & (of_y > _TINY)
    exponent = _exponent_of_quotient(a, b) + np.where(direct, 0, (b - 1) * logarithm)
    power = np.power((a + b) * x, a) * scipy_special("betainc").rgamma(a)
    power *= np.where(direct, of_y, 1)
    result: Array = power / x * np.exp(exponent)
    return result


def _exponent_of_quotient(a: Array, b: Array) -> Array:
    """The logarithm of ``gamma(a + b) / gamma(b) / (a + b)**a``, which is small for large b."""
    result: Array = (b - 0.5) * np.log1p(a / b) - a + _rest(a + b) - _rest(b)
    return result


def _gamma_quotient(a: Array, b: Array) -> Array:
    """``gamma(a + b) / gamma(b)``, without loss where b is large and a is not."""
    special = scipy_special("stdtr")
    result: Array = special.gamma(a + b) * special.rgamma(b)
    large = b >= _LARGE
    c, d = a[large], b[large]
    result[large] = np.power(c + d, c) * np.exp(_exponent_of_quotient(c, d))
    return result


def _rest(a: Array) -> Array:
    """What Stirling's formula leaves of the logarithm of ``gamma(a + 1)`` (DLMF 5.11.1)."""
    # ``rest(a) - rest(a + 1)`` is a deviance as well.
    total = making.zeros(a.shape)
    raised = a.copy()
    for _ in range(_FAR - int(_LARGE)):
        low = raised < _FAR
        c = raised[low]
        total[low] += (c + 0.5) * np.log1p(1 / c) - 1
        raised[low] += 1
    inverse = 1 / raised
    power = inverse.copy()
    for n, (b, d) in enumerate(BERNOULLI[:_TERMS], 1):
        total += b / (d * 2 * n * (2 * n - 1)) * power
        power *= inverse * inverse
    return total


def _deviance(a: Array, x: Array) -> Array:
    """``a log(a / x) - a + x``, without loss where the two are close to each other."""
    with np.errstate(all="ignore"):
        result: Array = a * np.log(a / x) - a + x
    d = (a - x) / (a + x)
    near = np.abs(d) < 0.1
    c, t = a[near], d[near]
    square, power = t * t, t.copy()
    total = (a[near] - x[near]) * t
    for n in range(3, 21, 2):
        power *= square
        total += 2 * c * power / n
    result[near] = total
    return result


def _digamma_difference(a: Array, b: Array) -> Array:
    """``digamma(a + b) - digamma(a)``, without loss where b is small beside a.

    For positive arguments all terms of the recurrence have one sign (DLMF 5.5.2), and Stirling's
    series does what they leave (DLMF 5.11.2). Where both arguments are below 1/2 both are reflected
    (DLMF 5.5.4): so a whole b has a difference at the poles as well.
    """
    low = (a < 0.5) & (a + b < 0.5) & np.isfinite(a + b)
    result = _difference_of_positive(np.where(low, 1 - a, a), np.where(low, -b, b))
    c, d = a[low], b[low]
    of_cotangents = pi * _sine_of_half_turns(d)
    of_cotangents /= _sine_of_half_turns(c) * _sine_of_half_turns(c + d)
    result[low] += np.where(d == np.round(d), 0, of_cotangents)
    return result


def _sine_of_half_turns(x: Array) -> Array:
    """``sin(pi x)``: that of an integer is 0."""
    turns = np.round(x)
    found: Array = np.sin((x - turns) * pi) * np.where(turns % 2 == 0, 1.0, -1.0)
    return found


def _difference_of_positive(a: Array, b: Array) -> Array:
    special = scipy_special("beta")
    result: Array = making.asarray(special.digamma(a + b) - special.digamma(a))
    positive = (a > 0) & (a + b > 0) & np.isfinite(a + b)
    low, step = a[positive], b[positive]
    total = making.zeros(low.shape)
    for j in range(10):
        total += step / ((low + j) * (low + step + j))
    low = low + 10
    ratio = np.log1p(step / low)
    total += ratio + step / (2 * low * (low + step))
    for n, (b_n, c_n) in enumerate(BERNOULLI[:_TERMS], 1):
        total += b_n / (c_n * 2 * n) * low ** (-2.0 * n) * -np.expm1(-2 * n * ratio)
    result[positive] = total
    return result


def _difference_by_first(a: Tensor, b: Tensor) -> Tensor:
    """``trigamma(a + b) - trigamma(a)``, for a whole b beyond poles by the reflection of both."""
    total = a + b
    low = F.logical_and(F.logical_and(F.lt(a, 0.5), F.lt(total, 0.5)), F.eq(b, F.round(b)))
    high, lower = F.where(low, 1 - a, total), F.where(low, 1 - total, a)
    return F.polygamma_of(high, 1) - F.polygamma_of(lower, 1)


def _density_by_order(a: Tensor, x: Tensor, density: Tensor) -> Tensor:
    return density * (F.log(x) - F.digamma(a))


def _density_by_place(a: Tensor, x: Tensor, density: Tensor) -> Tensor:
    # A quotient by x would be nan at 0.
    return GAMMA_DENSITY(a - 1, x) - density


def _beta_by_first(a: Tensor, b: Tensor, x: Tensor, density: Tensor) -> Tensor:
    return density * (F.log(x) + DIGAMMA_DIFFERENCE(a, b))


def _beta_by_second(a: Tensor, b: Tensor, x: Tensor, density: Tensor) -> Tensor:
    return density * (F.log1p(-x) + DIGAMMA_DIFFERENCE(b, a))


def _beta_by_place(a: Tensor, b: Tensor, x: Tensor, density: Tensor) -> Tensor:
    inside = F.logical_and(F.gt(x, 0), F.lt(x, 1))
    place = F.where(inside, x, 0.5)
    quotient = density * ((a - 1) / place - (b - 1) / (1 - place))
    # At the ends it is 0 times infinity; the densities of the parameters below are the limits.
    c, d, end = F.where(inside, 2.0, a), F.where(inside, 2.0, b), F.where(inside, 0.5, x)
    limit = (c + d - 1) * (BETA_DENSITY(c - 1, d, end) - BETA_DENSITY(c, d - 1, end))
    return F.where(inside, quotient, limit)


DIGAMMA_DIFFERENCE: Final[Elementwise] = Elementwise(
    "digamma_difference",
    _digamma_difference,
    a=_difference_by_first,
    b=lambda a, b: F.polygamma_of(a + b, 1),
)
GAMMA_QUOTIENT: Final[Elementwise] = Elementwise(
    "gamma_quotient",
    _gamma_quotient,
    reads_result=True,
    a=lambda a, b, result: result * F.digamma(a + b),
    b=lambda a, b, result: result * DIGAMMA_DIFFERENCE(b, a),
)
GAMMA_DENSITY: Final[Elementwise] = Elementwise(
    "gamma_density",
    _gamma_density,
    reads_result=True,
    a=_density_by_order,
    x=_density_by_place,
)
BETA_DENSITY: Final[Elementwise] = Elementwise(
    "beta_density",
    _beta_density,
    reads_result=True,
    a=_beta_by_first,
    b=_beta_by_second,
    x=_beta_by_place,
)

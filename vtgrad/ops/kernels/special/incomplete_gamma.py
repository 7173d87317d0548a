"""The regularised incomplete gamma functions.

Note [How the incomplete gamma functions are computed]

`igamma` is P(a, x), the part of the integral of ``t ** (a - 1) * exp(-t)`` from 0 to x, and
`igammac` is Q = 1 - P. The smaller one is computed, so that both are accurate where they are tiny.
All computations are in double precision.

- P for x below about a: its power series (DLMF 8.11.4).
- Q for larger x: Legendre's continued fraction (DLMF 8.9.2), by Lentz's method.
- Q for small a and x: the power series of its difference from 1, which is then small (DLMF 8.7.3).
- Both for large a and x close to it: Temme's uniform expansion (DLMF 8.12). Its coefficients are
  computed once, in integers: those of the inverse function by the recurrence that follows from ``mu
  * mu' == eta * (1 + mu)``, the others by DLMF 8.12.11.

The factor ``x ** a * exp(-x) / gamma(a)`` of the first two comes from the same ``eta`` for large a,
because its exponents cancel, and from the logarithms for small a.
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.error_function import erfc
from vtgrad.ops.kernels.special.gamma import lgamma, lgamma_of_one_more
from vtgrad.ops.kernels.special.series import polynomial
from vtgrad.ops.kernels.support.elementwise import finish_like, refuse
from vtgrad.storage.arrays import Array
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes

__all__ = ["igamma", "igammac"]


_EPSILON: Final = float(np.finfo(np.float64).eps)
_TINY: Final = 1e-300
# From this order on the uniform expansion is exact to rounding, in the range of `_uniform_range`.
# Outside of it the series and the fraction need some hundred steps for any order.
_LARGE: Final = 20.0
# The numbers of powers of 1 / a, and of eta, in the uniform expansion.
_POWERS: Final = 24
_TERMS: Final = 26
# The coefficients are computed in units of two to the power of minus this, because digits cancel.
_BITS: Final = 400
# More steps than any argument needs.
_MOST_STEPS: Final = 2000
# The coefficients of Stirling's series for the logarithm of the gamma function.
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def igamma(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The regularised lower incomplete gamma function of order `input` at `other`.

    See Note [How the incomplete gamma functions are computed].
    """
    return _in_double("igamma", False, input, other, out)


def igammac(input: Array, other: Array, *, out: Array | None = None) -> Array:
    """The regularised upper incomplete gamma function of order `input` at `other`."""
    return _in_double("igammac", True, input, other, out)


def _in_double(name: str, upper: bool, input: Array, other: Array, out: Array | None) -> Array:
    dtype = result_dtype(input, other)
    refuse(name, dtype, "buic", input, other)
    shape = broadcast_shapes(input.shape, other.shape)
    a = np.broadcast_to(input, shape).astype(np.float64).reshape(-1)
    x = np.broadcast_to(other, shape).astype(np.float64).reshape(-1)
    return finish_like(_either(a, x, upper).reshape(shape), dtype, out, input, other)


def _either(a: Array, x: Array, upper: bool) -> Array:
    """Q if `upper`, otherwise P."""
    result: Array = np.full(a.shape, np.nan)
    valid = (a >= 0) & (x >= 0)
    result[valid & (x == 0) & (a > 0)] = upper
    result[valid & (a == 0) & (x > 0)] = not upper
    result[valid & np.isinf(a) & np.isfinite(x)] = upper
    result[valid & np.isinf(x) & np.isfinite(a)] = not upper
    inside = valid & (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    uniform = inside & _uniform_range(a, x)
    # Where Q is not by far the smaller one, or the series of its difference from 1 applies.
    small = inside & ~uniform & (x <= 1.1)
    log = np.log(np.where(small, x, 1.0))
    small &= np.where(x <= 0.5, a * log > -0.4, x * 1.1 >= a)
    fraction = inside & ~uniform & ~small & (x > 1.1) & (x >= a)
    series = inside & ~uniform & ~small & ~fraction
    for where, function, gives_upper in (
        (uniform, _lower_uniform if not upper else _upper_uniform, upper),
        (small, _upper_by_difference, True),
        (fraction, _upper_by_fraction, True),
        (series, _lower_by_series, False),
    ):
        if where.any():
            value = function(a[where], x[where])
            result[where] = value if gives_upper == upper else 1 - value
    return result


def _uniform_range(a: Array, x: Array) -> Array:
    """A mask of the arguments for which the uniform expansion is exact to rounding."""
    close: Array = (a > _LARGE) & (np.abs(x - a) < 0.3 * a)
    return close


def _log1p_less_itself(x: Array, one_more: Array) -> Array:
    """``log(1 + x) - x``, accurate for small x, and for x near -1 if `one_more` is."""
    # The logarithm is twice the sum of the odd powers of x / (2 + x) divided by their exponents.
    ratio = x / (2 + x)
    square = ratio * ratio
    tail = polynomial([1 / (2 * n + 3) for n in range(22)], square)
    near = 2 * ratio * square * tail - x * ratio
    result: Array = np.where(np.abs(x) < 0.5, near, np.log(one_more) - x)
    return result


def _factor(a: Array, x: Array) -> Array:
    """``x ** a * exp(-x) / gamma(a)``."""
    result: Array = np.empty(a.shape)
    large = a >= 10
    low, at = a[~large], x[~large]
    result[~large] = np.exp(low * np.log(at) - at - lgamma(low))
    high, at = a[large], x[large]
    inverse = 1 / high
    correction = polynomial(_STIRLING, inverse * inverse) * inverse
    exponent = high * _log1p_less_itself((at - high) / high, at / high)
    result[large] = np.sqrt(high / (2 * np.pi)) * np.exp(exponent - correction)
    return result


def _lower_by_series(a: Array, x: Array) -> Array:
    term: Array = np.ones(a.shape)
    total, above = term.copy(), a.copy()
    for _ in range(_MOST_STEPS):
        above += 1
        term *= x / above
        total += term
        if bool((term <= _EPSILON / 4 * total).all()):
            break
    # The factor divided by a is that of gamma(a + 1), which is finite for the smallest a.
    small = a < 1
    by_order = np.where(small, 1, _factor(np.where(small, 1, a), x) / a)
    exponent = a * np.log(x) - x - lgamma_of_one_more(a)
    result: Array = np.where(small, np.exp(np.where(small, exponent, 0)), by_order) * total
    return np.minimum(result, 1.0)


def _upper_by_fraction(a: Array, x: Array) -> Array:
    b = x + 1 - a
    c: Array = np.full(a.shape, 1 / _TINY)
    d = 1 / b
    fraction = d.copy()
    for i in range(1, _MOST_STEPS):
        numerator = i * (a - i)
        b = b + 2
        d = numerator * d + b
        d = 1 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = b + numerator / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        step = c * d
        fraction *= step
        if bool((np.abs(step - 1) <= _EPSILON / 2).all()):
            break
    return _factor(a, x) * fraction


def _upper_by_difference(a: Array, x: Array) -> Array:
    term: Array = np.ones(a.shape)
    total: Array = np.zeros(a.shape)
    for n in range(1, _MOST_STEPS):
        term = term * (-x / n)
        step = term / (a + n)
        total += step
        if bool((np.abs(step) <= _EPSILON / 4 * np.abs(total)).all()):
            break
    # 1 - x ** a / gamma(a + 1), and the other terms of the series of P.
    exponent = a * np.log(x) - lgamma_of_one_more(a)
    result: Array = -np.expm1(exponent) - np.exp(exponent) * a * total
    return result


# -- the uniform expansion ------------------------------------------------------------------


@functools.cache
def _uniform_coefficients() -> tuple[tuple[float, ...], ...]:
    """For each power of 1 / a the Taylor coefficients in eta."""
    one = 1 << _BITS
    count = _TERMS + 2 * _POWERS + 2
    alpha = [0, one, one // 3]
    for n in range(3, count + 2):
        inner = sum(j * alpha[j] * alpha[n - j + 1] for j in range(2, n)) >> _BITS
        alpha.append((alpha[n - 1] - inner) // (n + 1))
    first = [-one // 3, *[(n + 2) * alpha[n + 2] for n in range(1, count - 2)]]
    rows = [first]
    for _ in range(1, _POWERS):
        former = rows[-1]
        # Cancels the pole of the first derivative with respect to eta.
        pole = -former[1]
        rows.append(
            [(n + 2) * former[n + 2] + (pole * first[n] >> _BITS) for n in range(len(former) - 2)]
        )
    return tuple([tuple([c / one for c in row[:_TERMS]]) for row in rows])


def _uniform(a: Array, x: Array, sign: float) -> Array:
    mu = (x - a) / a
    eta = np.copysign(np.sqrt(-2 * _log1p_less_itself(mu, x / a)), mu)
    inverse = 1 / a
    total: Array = np.zeros(a.shape)
    for row in reversed(_uniform_coefficients()):
        total = total * inverse + polynomial(row, eta)
    rest = np.exp(-0.5 * a * eta * eta) / np.sqrt(2 * np.pi * a) * total
    result: Array = 0.5 * erfc(sign * eta * np.sqrt(a / 2)) + sign * rest
    return result


def _upper_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, 1.0)


def _lower_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, -1.0)

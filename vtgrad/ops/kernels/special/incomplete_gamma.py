"""The regularised incomplete gamma functions.

Note [How the incomplete gamma functions are computed]

`igamma` is P(a, x), the part of the integral of ``t ** (a - 1) * exp(-t)`` from 0 to x, and
`igammac` is Q = 1 - P. The smaller one is computed, so that both are accurate where they are tiny.
All computations are in double precision.

- P for x below about a: its power series (DLMF 8.11.4).
- Q for larger x: Legendre's continued fraction (DLMF 8.9.2), as a sum (W. Gautschi, "A
  computational procedure for incomplete gamma functions", ACM Transactions on Mathematical Software
  5, 1979).
- Q for small a and x: the power series of its difference from 1, which is then small (DLMF 8.7.3).
- Both for large a and x close to it: Temme's uniform expansion (DLMF 8.12). Its coefficients are
  computed once, in integers: those of the inverse function by the recurrence that follows from ``mu
  * mu' == eta * (1 + mu)``, the others by DLMF 8.12.11.

The factor ``x ** a * exp(-x) / gamma(a)`` of the first two comes from the same ``eta`` for large a,
because its exponents cancel, and from the logarithms for small a.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.error_function import erfc
from vtgrad.ops.kernels.special.gamma import lgamma
from vtgrad.ops.kernels.special.gamma_tables import lgamma_of_one_more
from vtgrad.ops.kernels.special.series import by_blocks, polynomial
from vtgrad.ops.kernels.support.elementwise import finish_like, refuse
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lasting_arrays import constant, made_once
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes

__all__ = ["igamma", "igammac"]


_EPSILON: Final = float(np.finfo(np.float64).eps)
# As 0-d arrays, which NumPy takes faster than numbers.
_ONE: Final = constant(1.0)
_TWO: Final = constant(2.0)
_EIGHT: Final = constant(8.0)
# From this order on the uniform expansion is exact to rounding, in the range of `_uniform_range`.
# Outside of it the series and the fraction need some hundred steps for any order.
_LARGE: Final = 20.0
# The numbers of powers of 1 / a, and of eta, in the uniform expansion.
_POWERS: Final = 24
_TERMS: Final = 26
# In the range of `_uniform_range`.
_LARGEST_ETA: Final = 0.34
# The coefficients are computed in units of two to the power of minus this, because digits cancel.
_BITS: Final = 400
# Steps between two looks at whether series have converged.
_STEPS_AT_ONCE: Final = 4
# The terms that count of a power series up to 1.1, as 0-d arrays, which NumPy takes fastest.
_TERMS_OF_DIFFERENCE: Final = [constant(float(n)) for n in range(1, 20)]
# The coefficients of the area hyperbolic tangent, but for the first.
_ODD: Final = [constant(1 / (2 * n + 3)) for n in range(22)]
# More steps than any argument needs.
_MOST_STEPS: Final = 2000
# The coefficients of Stirling's series for the logarithm of the gamma function.
_STIRLING: Final = [
    constant(c) for c in (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
]


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
    a, x = (_spread(values, shape) for values in (input, other))
    value = by_blocks(lambda a, x: _either(a, x, upper), a, x)
    return finish_like(value.reshape(shape), dtype, out, input, other)


def _spread(values: Array, shape: Shape) -> Array:
    """A vector of the values, broadcast to a shape."""
    whole = values if values.shape == shape else making.broadcast_to(values, shape)
    return whole.astype(np.float64).reshape(-1)


def _either(a: Array, x: Array, upper: bool) -> Array:
    """Q if `upper`, otherwise P."""
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    result = making.empty(a.shape) if inside.all() else _at_limits(a, x, upper)
    uniform = inside & _uniform_range(a, x)
    # Where Q is not by far the smaller one, or the series of its difference from 1 applies.
    small = (x <= 1.1) & np.where(x <= 0.5, a * np.log(x) > -0.4, x * 1.1 >= a)
    others = inside & ~uniform
    np.logical_and(small, others, small)
    others &= ~small
    fraction = others & (x > 1.1) & (x >= a)
    for where, function, gives_upper in (
        (uniform, _lower_uniform if not upper else _upper_uniform, upper),
        (small, _upper_by_difference, True),
        (fraction, _upper_by_fraction, True),
        (others & ~fraction, _lower_by_series, False),
    ):
        if where.any():
            value = function(a[where], x[where])
            result[where] = value if gives_upper == upper else 1 - value
    return result


def _at_limits(a: Array, x: Array, upper: bool) -> Array:
    """Where one argument is 0 or infinite; nan elsewhere."""
    result: Array = making.full(a.shape, np.nan)
    valid = (a >= 0) & (x >= 0)
    result[valid & (x == 0) & (a > 0)] = upper
    result[valid & (a == 0) & (x > 0)] = not upper
    result[valid & np.isinf(a) & np.isfinite(x)] = upper
    result[valid & np.isinf(x) & np.isfinite(a)] = not upper
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
    tail = polynomial(_ODD, square)
    near = 2 * ratio * square * tail - x * ratio
    result: Array = np.where(np.abs(x) < 0.5, near, np.log(one_more) - x)
    return result


def _factor(a: Array, x: Array) -> Array:
    """``x ** a * exp(-x) / gamma(a)``."""
    result: Array = making.empty(a.shape)
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
    term: Array = making.ones(a.shape)
    total: Array = making.ones(a.shape)
    above, ratio = a.copy(), making.empty(a.shape)
    for n in range(_MOST_STEPS):
        np.add(above, _ONE, above)
        np.divide(x, above, ratio)
        np.multiply(term, ratio, term)
        np.add(total, term, total)
        # What is added from there on is less than half of the last digit of any sum.
        if n % _STEPS_AT_ONCE == 0 and bool((term <= _EPSILON / 4 * total).all()):
            break
    # The factor divided by a is that of gamma(a + 1), which is finite for the smallest a.
    small = a < 1
    low, at = a[small], x[small]
    total[small] *= np.exp(low * np.log(at) - at - lgamma_of_one_more()(low))
    if not small.all():
        high, at = a[~small], x[~small]
        total[~small] *= _factor(high, at) / high
    np.minimum(total, _ONE, out=total)
    return total


def _upper_by_fraction(a: Array, x: Array) -> Array:
    """The fraction as a sum, whose terms shrink from one to the next (W. Gautschi, 1979)."""
    first = x + 1 - a
    numerator: Array = making.zeros(a.shape)
    step_of_numerator = 1 - a
    denominator, step_of_denominator = (x - 1 - a) * first, 4 * first
    ratio, term, total = making.zeros(a.shape), making.ones(a.shape), making.ones(a.shape)
    part = making.empty(a.shape)
    for n in range(_MOST_STEPS):
        np.add(numerator, step_of_numerator, numerator)
        np.add(step_of_numerator, _TWO, step_of_numerator)
        np.add(denominator, step_of_denominator, denominator)
        np.add(step_of_denominator, _EIGHT, step_of_denominator)
        np.add(ratio, _ONE, ratio)
        np.multiply(numerator, ratio, ratio)
        np.subtract(denominator, ratio, part)
        np.divide(ratio, part, ratio)
        np.multiply(term, ratio, term)
        np.add(total, term, total)
        # What is added from there on is less than half of the last digit of any sum.
        if n % _STEPS_AT_ONCE == 0 and bool((np.abs(term) <= _EPSILON / 4 * total).all()):
            break
    result: Array = _factor(a, x) * total / first
    return result


def _upper_by_difference(a: Array, x: Array) -> Array:
    term: Array = making.ones(a.shape)
    total: Array = making.zeros(a.shape)
    step = making.empty(a.shape)
    minus = -x
    for n in _TERMS_OF_DIFFERENCE:
        np.divide(minus, n, step)
        np.multiply(term, step, term)
        np.add(a, n, step)
        np.divide(term, step, step)
        np.add(total, step, total)
    # 1 - x ** a / gamma(a + 1), and the other terms of the series of P.
    exponent = a * np.log(x) - lgamma_of_one_more()(a)
    result: Array = -np.expm1(exponent) - np.exp(exponent) * a * total
    return result


# -- the uniform expansion ------------------------------------------------------------------


@made_once
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
    return tuple(
        [
            tuple([c / one for n, c in enumerate(row[:_TERMS]) if _counts(c / one, k, n)])
            for k, row in enumerate(rows)
            if _counts(row[0] / one, k, 0)
        ]
    )


def _counts(coefficient: float, power: int, n: int) -> bool:
    """Whether a term may change the last digits, of any order and argument in the range."""
    return abs(coefficient) * _LARGEST_ETA**n / _LARGE**power > _EPSILON / 64


def _uniform(a: Array, x: Array, sign: float) -> Array:
    mu = (x - a) / a
    eta = np.copysign(np.sqrt(-2 * _log1p_less_itself(mu, x / a)), mu)
    inverse = 1 / a
    total: Array = making.zeros(a.shape)
    for row in reversed(_uniform_coefficients()):
        total = total * inverse + polynomial(row, eta)
    rest = np.exp(-0.5 * a * eta * eta) / np.sqrt(2 * np.pi * a) * total
    result: Array = 0.5 * erfc(sign * eta * np.sqrt(a / 2)) + sign * rest
    return result


def _upper_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, 1.0)


def _lower_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, -1.0)

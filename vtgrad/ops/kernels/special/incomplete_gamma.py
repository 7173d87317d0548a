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

The factor ``x ** a * exp(-x) / gamma(a)`` of the first two is a product of powers for small a.

Note [The exponent of a density]

For large a the factor is ``exp(-a * phi) * sqrt(a / (2 * pi))`` but for Stirling's series, with
``phi = mu - log(1 + mu)`` and ``mu = x / a - 1``; the uniform expansion has the exponential too. If
the exponent is 100, its rounding is 100 units of the result; so it is a pair (Note [Pairs]). The
quotient ``x / a`` is a power of two times a number beside 1, whose nearest multiple of 1/64 has its
logarithm in a table; what is left is twice an area hyperbolic tangent of at most 1/90, of which all
but the first term need no second part (P. T. P. Tang, "Table-driven implementation of the logarithm
function in IEEE floating-point arithmetic", ACM Transactions on Mathematical Software 16, 1990).

The complementary error function of the uniform expansion has the rounded root of the exponent for
its argument. Its value is multiplied by the exponential of what the square of that root is off.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.error_function import erfc
from vtgrad.ops.kernels.special.exact_parts import Pair, product, quotient, square, sum_of
from vtgrad.ops.kernels.special.fixed_point import ONE, logarithm
from vtgrad.ops.kernels.special.gamma_tables import lgamma_of_one_more
from vtgrad.ops.kernels.special.piecewise import horner
from vtgrad.ops.kernels.special.series import (
    AT_ONCE,
    add_rows,
    by_blocks,
    fill_at,
    multiply_rows,
    polynomial,
)
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
# What is less than this part of a sum does not change its digits.
_TINY: Final = constant(_EPSILON / 32)
# From this order on the uniform expansion is exact to rounding, in the range of `_uniform_range`.
# Outside of it the series and the fraction need some hundred steps for any order.
_LARGE: Final = 30.0
# The numbers of powers of 1 / a, and of eta, in the uniform expansion.
_POWERS: Final = 24
_TERMS: Final = 26
# In the range of `_uniform_range`.
_LARGEST_ETA: Final = 0.34
# The coefficients are computed in units of two to the power of minus this, because digits cancel.
_BITS: Final = 400
# The most steps that are computed as rows of one array.
_MOST_AT_ONCE: Final = 16
# The terms that count of a power series up to 0.6.
_TERMS_OF_DIFFERENCE: Final = 16
# Twice the coefficients of the area hyperbolic tangent, but for the first.
_ODD: Final = [constant(2 / (2 * n + 3)) for n in range(5)]
# The multiples of the step of the table of logarithms: around 1, from root to root of 2.
_STEP: Final = 1 / 64
_FIRST, _LAST = 45, 91
# So many powers of two above 1 the quotient of the arguments leaves nothing of the factor.
_FAR: Final = 20
# The exponential of minus this is 0.
_VANISHED: Final = 800.0
# The exponential of minus half of this too.
_VANISHED_ROOT: Final = 2 * _VANISHED
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
    inside = (np.minimum(a, x) > 0) & (np.maximum(a, x) < np.inf)
    whole = np.count_nonzero(inside) == inside.size
    result = making.empty(a.shape) if whole else _at_limits(a, x, upper)
    uniform = inside & _uniform_range(a, x)
    others = inside ^ uniform
    # Where Q is not by far the smaller one, or the series of its difference from 1 applies.
    low = x <= 0.6
    small = others & low & np.where(x <= 0.5, a * np.log(x) > -0.4, x * 1.1 >= a)
    others ^= small
    fraction = others & ~low & (x >= a)
    for where, function, gives_upper in (
        (uniform, _lower_uniform if not upper else _upper_uniform, upper),
        (small, _upper_by_difference, True),
        (fraction, _upper_by_fraction, True),
        (others ^ fraction, _lower_by_series, False),
    ):
        fill_at(where, result, function if gives_upper == upper else _rest_of(function), a, x)
    return result


def _rest_of(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """P from a function that gives Q, and Q from one that gives P."""
    return lambda a, x: 1 - function(a, x)


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


@made_once
def _logarithms() -> tuple[Array, Array, float, float]:
    """The logarithms of the multiples of the step, in two parts, and that of 2.

    The first part of that of 2 has so few digits that its multiples are exact.
    """
    exact = [logarithm(ONE * n // 64) if n != 64 else 0 for n in range(_FIRST, _LAST + 1)]
    high = [value / ONE for value in exact]
    low = [(value - int(first * ONE)) / ONE for value, first in zip(exact, high, strict=True)]
    of_two = logarithm(2 * ONE)
    coarse = (of_two * 2**36 // ONE) / 2**36
    return making.array(high), making.array(low), coarse, (of_two - int(coarse * ONE)) / ONE


def _quotient(a: Array, x: Array) -> tuple[Pair, Array]:
    """A pair beside 1 and an exponent of two, whose product is ``x / a``."""
    (of_x, power), (of_a, power_of_a) = np.frexp(x), np.frexp(a)
    high, low = quotient((of_x, making.zeros(x.shape)), of_a)
    small, large = high < math.sqrt(0.5), high > math.sqrt(2)
    factor = np.where(small, 2.0, np.where(large, 0.5, 1.0))
    exponent = np.minimum(power - power_of_a - small + large, _FAR)
    return (high * factor, low * factor), exponent


def _exponent(a: Array, x: Array) -> tuple[Pair, Array]:
    """``a * phi`` and ``phi``; see Note [The exponent of a density]."""
    (high, low), power = _quotient(a, x)
    table, rests, of_two, rest_of_two = _logarithms()
    count = np.rint(high / _STEP)
    nearest, at = count * _STEP, count.astype(np.int64) - _FIRST
    below, below_rest = sum_of(high, nearest)
    above = high - nearest
    # What divides the quotient is a pair too: its second part is as if taken from the dividend.
    rest = low - above / below * (below_rest + low)
    ratio, ratio_rest = quotient((above, rest), below)
    squared = ratio * ratio
    tail = ratio * squared * polynomial(_ODD, squared) + 2 * ratio_rest
    # Made ones of a recording's arrays: NumPy asks no index for its class.
    of_nearest = making.asarray(table).take(at, mode="clip")
    tail += making.asarray(rests).take(at, mode="clip") + power * rest_of_two
    log, lost = sum_of(power * of_two, of_nearest)
    log, lost_next = sum_of(log, 2 * ratio)
    mu, mu_rest = sum_of(np.ldexp(high, power), making.asarray(-1.0))
    phi, phi_rest = sum_of(mu, -log)
    phi_rest += mu_rest + np.ldexp(low, power) - (tail + lost + lost_next)
    phi, phi_rest = sum_of(phi, phi_rest)
    mantissa, power_of_a = np.frexp(a)
    found, found_rest = product(mantissa, phi)
    found_rest += mantissa * phi_rest
    # Beyond the largest exponent the parts may be infinite, which have no difference.
    whole = np.minimum(np.ldexp(found, power_of_a), _VANISHED)
    return (whole, np.where(whole < _VANISHED, np.ldexp(found_rest, power_of_a), 0.0)), phi


def _exponential_of_minus(exponent: Pair) -> Array:
    result: Array = np.exp(-exponent[0]) * (1 - exponent[1])
    return result


def _factor(a: Array, x: Array) -> Array:
    """``x ** a * exp(-x) / gamma(a)``."""
    result: Array = making.empty(a.shape)
    large = a >= 10
    fill_at(~large, result, _factor_of_small, a, x)
    fill_at(large, result, _factor_of_large, a, x)
    return result


def _factor_of_small(a: Array, x: Array) -> Array:
    whole = np.floor(a)
    # gamma(a) is the product of what is above 1 of a - 1, a - 2, ..., and gamma(1 + a - whole).
    gamma = np.exp(lgamma_of_one_more()(a - whole))
    gamma = np.where(whole == 0, gamma / a, gamma)
    for n in range(1, 9):
        gamma *= np.maximum(a - n, 1)
    result: Array = _power(a, x) / gamma
    return result


def _power(a: Array, x: Array) -> Array:
    """``x ** a * exp(-x)`` for small a."""
    # Beyond the limit the exponential is 0, and the power would be infinite.
    x = np.minimum(x, _VANISHED_ROOT)
    # Where the exponential alone is subnormal, its root is not.
    root = np.exp(-0.5 * x)
    result: Array = np.power(x, a) * root * root
    return result


def _factor_of_large(a: Array, x: Array) -> Array:
    inverse = 1 / a
    correction = polynomial(_STIRLING, inverse * inverse) * inverse
    density = _exponential_of_minus(_exponent(a, x)[0])
    result: Array = np.sqrt(a / (2 * np.pi)) * density * np.exp(-correction)
    return result


def _lower_by_series(a: Array, x: Array) -> Array:
    term, total = _ONE, _ONE
    # See Note [Terms as rows].
    at_once = _steps_at_once(a)
    terms = making.empty((at_once, a.size))
    numbers, _ = _step_numbers()
    for start in range(0, _MOST_STEPS, at_once):
        np.add(a, numbers[start : start + at_once], terms)
        np.divide(x, terms, terms)
        term, total = _added(term, total, terms)
        if not np.count_nonzero(term > _TINY * total):
            break
    scale = making.empty(a.shape)
    small = a < 1
    fill_at(small, scale, _scale_of_small, a, x)
    fill_at(~small, scale, lambda a, x: _factor(a, x) / a, a, x)
    np.multiply(total, scale, total)
    np.minimum(total, _ONE, out=total)
    return total


@made_once
def _step_numbers() -> tuple[Array, Array]:
    """The numbers of all steps as a column, and twice these."""
    numbers = making.arange(1.0, _MOST_STEPS + _MOST_AT_ONCE + 1.0)[:, None]
    return numbers, 2 * numbers


def _scale_of_small(a: Array, x: Array) -> Array:
    """The factor divided by a is that of gamma(a + 1), which is finite for the smallest a."""
    result: Array = _power(a, x) / np.exp(lgamma_of_one_more()(a))
    return result


def _steps_at_once(a: Array, most: int = _MOST_AT_ONCE) -> int:
    """How many terms are computed as rows of one array, a multiple of 4: more of few elements."""
    return max(4, min(most, AT_ONCE // a.size) & ~3)


def _added(term: Array, total: Array, ratios: Array) -> tuple[Array, Array]:
    """The last term and the sum of a series, some terms later, by the ratios of neighbours.

    What is added after a term that is tiny beside the sum is less than half of the last digit of
    the sum. So the bits do not depend on how long other elements need. Four terms are one summand,
    so that a sum of a hundred terms is rounded 25 times.
    """
    np.multiply(ratios[0], term, ratios[0])
    multiply_rows(ratios)
    term = ratios[-1].copy()
    fours = ratios.reshape(-1, 4, ratios.shape[1])
    sums = np.add(fours[:, 3], fours[:, 2])
    np.add(sums, fours[:, 1], sums)
    np.add(sums, fours[:, 0], sums)
    np.add(sums[0], total, sums[0])
    return term, add_rows(sums).copy()


def _upper_by_fraction(a: Array, x: Array) -> Array:
    """The fraction as a sum, whose terms shrink from one to the next (W. Gautschi, 1979)."""
    term, total = _ONE, _ONE
    ratio = making.zeros(a.shape)
    beyond = x - a
    part = making.empty(a.shape)
    at_once = _steps_at_once(a)
    ratios, denominators = making.empty((at_once, a.size)), making.empty((at_once, a.size))
    numbers, doubled = _step_numbers()
    for start in range(0, _MOST_STEPS, at_once):
        steps = numbers[start : start + at_once]
        # The numerators and denominators of the fraction, which becomes the ratios.
        np.subtract(steps, a, ratios)
        np.multiply(ratios, steps, ratios)
        np.add(beyond, doubled[start : start + at_once], denominators)
        np.multiply(denominators, denominators, denominators)
        np.subtract(denominators, _ONE, denominators)
        for row, denominator in zip(ratios, denominators, strict=True):
            np.add(ratio, _ONE, part)
            np.multiply(row, part, row)
            np.subtract(denominator, row, part)
            ratio = np.divide(row, part, row)
        # The next ratio is computed from this one, which becomes a term.
        ratio = ratio.copy()
        term, total = _added(term, total, ratios)
        if not np.count_nonzero(np.abs(term) > _TINY * total):
            break
    result: Array = _factor(a, x) * total / (beyond + _ONE)
    return result


def _upper_by_difference(a: Array, x: Array) -> Array:
    term, total = _ONE, making.zeros(a.shape)
    minus, at_once = -x, _steps_at_once(a, _TERMS_OF_DIFFERENCE)
    numbers, _ = _step_numbers()
    for start in range(0, _TERMS_OF_DIFFERENCE, at_once):
        steps = numbers[start : min(start + at_once, _TERMS_OF_DIFFERENCE)]
        terms = minus / steps
        np.multiply(terms[0], term, terms[0])
        multiply_rows(terms)
        term = terms[-1].copy()
        np.divide(terms, a + steps, terms)
        np.add(terms[0], total, terms[0])
        total = add_rows(terms)
    # 1 - x ** a / gamma(a + 1), and the other terms of the series of P.
    exponent = a * np.log(x) - lgamma_of_one_more()(a)
    result: Array = -np.expm1(exponent) - np.exp(exponent) * a * total
    return result


# -- the uniform expansion ------------------------------------------------------------------


@made_once
def _uniform_coefficients() -> tuple[Array, ...]:
    """For each power of eta a column of the coefficients for the powers of 1 / a.

    Columns for higher powers of eta are shorter.
    """
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
    counted = [
        [c / one for n, c in enumerate(row[:_TERMS]) if _counts(c / one, k, n)]
        for k, row in enumerate(rows)
        if _counts(row[0] / one, k, 0)
    ]
    assert sorted(counted, key=len, reverse=True) == counted
    return tuple(
        [
            making.array([[row[n]] for row in counted if n < len(row)])
            for n in range(len(counted[0]))
        ]
    )


def _counts(coefficient: float, power: int, n: int) -> bool:
    """Whether a term may change the last digits, of any order and argument in the range."""
    return abs(coefficient) * _LARGEST_ETA**n / _LARGE**power > _EPSILON / 64


def _uniform(a: Array, x: Array, sign: float) -> Array:
    exponent, phi = _exponent(a, x)
    side = sign * np.copysign(1.0, x - a)
    eta = np.copysign(np.sqrt(np.maximum(2 * phi, 0)), x - a)
    inverse = 1 / a
    columns = _uniform_coefficients()
    rows = making.zeros((len(columns[0]), a.size))
    for column in reversed(columns):
        part = rows[: len(column)]
        np.multiply(part, eta, part)
        np.add(part, column, part)
    total = horner(rows, inverse)
    rest = _exponential_of_minus(exponent) / np.sqrt(2 * np.pi * a) * total
    root = np.sqrt(np.maximum(exponent[0], 0))
    squared, lost = square(root)
    off = (squared - exponent[0]) + (lost - exponent[1])
    tail = erfc(side * root) * (1 + np.where(side > 0, off, 0))
    result: Array = 0.5 * tail + sign * rest
    return result


def _upper_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, 1.0)


def _lower_uniform(a: Array, x: Array) -> Array:
    return _uniform(a, x, -1.0)

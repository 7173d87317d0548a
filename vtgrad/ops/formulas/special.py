# Compiled by mypyc.
"""Derivatives of special functions that are longer than one expression."""

from __future__ import annotations

import math
from typing import TypeVar

from vtgrad.errors import NotSupportedError
from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Number, NumpyDType

__all__ = [
    "gamma_density",
    "gradient_of_i1",
    "gradient_of_logit",
    "gradient_of_mvlgamma",
    "gradient_of_order",
    "gradient_of_sinc",
    "gradient_of_xlogy",
    "gradient_of_xlogy_number",
    "i1_slope",
    "no_derivative",
    "sinc_slope",
]


def gradient_of_sinc(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient of ``sin(t) / t`` with ``t = pi * self``.

    The quotient loses its digits near 0, and has none there; a Taylor polynomial does not.
    """
    t = k.mul(self, 3.141592653589793)
    near = k.lt(k.abs(t), 0.5)
    s = k.where(near, t, 0)
    square = k.mul(s, s)
    first, *others, last = sinc_slope()
    series = k.mul(square, first)
    for coefficient in others:
        series = k.mul(k.add(series, coefficient), square)
    series = k.mul(k.add(series, last), s)
    t = k.where(near, 1, t)
    cosine, sine = _of_half_turns(self, t, dtype)
    quotient = k.div(k.sub(cosine, k.div(sine, t)), t)
    slope = k.conj(k.mul(k.where(near, series, quotient), 3.141592653589793))
    product = k.mul(grad, slope)
    # Nothing goes through the top, not even a nan. All else is left alone: the top is curved.
    return k.where(k.logical_and(k.eq(self, 0), k.isnan(product)), 0, product)


def _of_half_turns(self: Array, angle: Array, dtype: NumpyDType) -> tuple[Array, Array]:
    """The cosine and the sine of pi times a number, whose product `angle` is rounded.

    Those of real numbers are of the exact distance from the nearest whole number.
    """
    if dtype.kind == "c":
        return k.cos(angle), k.sin(angle)
    whole = k.round(self)
    rest = k.mul(k.sub(self, whole), 3.141592653589793)
    half = k.mul(whole, 0.5)
    odd = k.sub(half, k.round(half))
    sign = k.rsub(k.mul(k.mul(odd, odd), 8), 1)
    return k.mul(k.cos(rest), sign), k.mul(k.sin(rest), sign)


def gradient_of_logit(grad: Array, self: Array, eps: float | None) -> Array:
    """The gradient of a probability: nan if it is none, and 0 where it was limited."""
    if eps is None:
        outside = k.logical_or(k.lt(self, 0), k.gt(self, 1))
    else:
        outside = k.logical_not(k.logical_and(k.ge(self, eps), k.le(self, 1 - eps)))
    safe = k.where(outside, 0.5, self)
    # The sum makes a zero that is negative a positive one: the slope at both ends is upwards.
    slope = k.div(grad, k.add(k.mul(safe, k.rsub(safe, 1)), 0.0))
    return k.where(outside, float("nan") if eps is None else 0.0, slope)


def gradient_of_xlogy(grad: Array, self: Array, other: Array) -> Array:
    """The gradient by the factor: the logarithm, but nothing goes through 0 times a pole or nan."""
    flat = k.logical_and(k.eq(self, 0), k.le(other, 0))
    return k.where(flat, 0, k.xlogy(grad, other))


def gradient_of_xlogy_number(grad: Array, self: Array, other: Number) -> Array:
    """The same for the logarithm of a number."""
    slope = k.xlogy(grad, other)
    if isinstance(other, complex) or other > 0:
        return slope
    return k.where(k.eq(self, 0), 0, slope)


def gradient_of_mvlgamma(grad: Array, self: Array, p: int) -> Array:
    """The gradient of a sum of logarithms of the gamma function, at steps of one half."""
    slope = k.digamma(self)
    for j in range(1, p):
        slope = k.add(slope, k.digamma(k.sub(self, j / 2)))
    return k.mul(grad, slope)


def gradient_of_i1(grad: Array, self: Array, result: Array) -> Array:
    """The gradient of Bessel's function of order 1, which is steepest at 0.

    The quotient has no value there, and none of its derivatives; a Taylor polynomial has them.
    """
    near = k.lt(k.abs(self), 0.5)
    s = k.where(near, self, 0)
    square = k.mul(s, s)
    first, *others, last = i1_slope()
    series = k.mul(square, first)
    for coefficient in others:
        series = k.mul(k.add(series, coefficient), square)
    series = k.add(series, last)
    quotient = k.sub(k.i0(self), k.div(result, k.where(near, 1, self)))
    return k.mul(grad, k.where(near, series, quotient))


def gradient_of_order(grad: Array) -> Array:
    """The gradient of an incomplete gamma function's order, which is refused as in PyTorch."""
    return no_derivative(
        grad, "igamma and igammac have no derivative with respect to input, their order; detach it"
    )


def gamma_density(order: Array, x: Array) -> Array:
    """``x ** (order - 1) * exp(-x) / gamma(order)``."""
    return k.exp(k.sub(k.sub(k.xlogy(k.sub(order, 1), x), x), k.lgamma(order)))


G = TypeVar("G")


def no_derivative(grad: G, message: str) -> G:
    """Raise in the place of a gradient that PyTorch does not have either.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise NotSupportedError(message)


def sinc_slope() -> tuple[float, ...]:
    """The coefficients of ``t ** (2 * n - 1)`` in the derivative of ``sin(t) / t``, the last first.

    Together they give it in double precision for magnitudes of `t` up to 1/2.
    """
    return tuple((-1) ** n * 2 * n / math.factorial(2 * n + 1) for n in range(8, 0, -1))


def i1_slope() -> tuple[float, ...]:
    """The coefficients of ``x ** (2 * n)`` in the derivative of ``i1(x)``, the last first.

    Together they give it in double precision for magnitudes of `x` up to 1/2 (DLMF 10.25.2).
    """
    return tuple(
        (2 * n + 1) / (2 ** (2 * n + 1) * math.factorial(n) * math.factorial(n + 1))
        for n in range(8, -1, -1)
    )

# Compiled by mypyc.
"""Derivatives of arithmetic that are longer than one expression.

Complex gradients follow PyTorch: a formula multiplies by the conjugate of the derivative.
"""

from __future__ import annotations

import cmath
import math

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Number

__all__ = [
    "gradient_of_base",
    "gradient_of_dividend",
    "gradient_of_divisor",
    "gradient_of_exponent",
    "gradient_of_number_exponent",
    "gradient_of_power",
    "gradient_of_sgn",
    "log_of_number",
]


def gradient_of_dividend(grad: Array, divisor: Array | Number, rounding: str | None) -> Array:
    """The gradient of a dividend: zero with rounding. The divisor is protected all the same."""
    return k.div(grad, k.conj(divisor)) if rounding is None else k.zeros_like(grad)


def gradient_of_divisor(
    grad: Array, dividend: Array, divisor: Array | Number, rounding: str | None
) -> Array:
    """The gradient of a divisor: zero with rounding; see `gradient_of_dividend`."""
    if rounding is not None:
        return k.zeros_like(grad)
    return k.mul(k.neg(grad), k.conj(k.div(k.div(dividend, divisor), divisor)))


# -- powers ---------------------------------------------------------------------------------


def gradient_of_power(grad: Array, base: Array, exponent: Number) -> Array:
    """The gradient of the base of ``base ** number``; 0 for the exponent 0, also at 0."""
    if exponent == 0:
        return k.zeros_like(grad)
    if exponent == 2:
        return k.mul(k.mul(grad, 2), k.conj(base))
    return k.mul(grad, k.conj(k.mul(k.pow(base, exponent - 1), exponent)))


def gradient_of_base(grad: Array, base: Array, exponent: Array) -> Array:
    """The gradient of the base of ``base ** exponent``; 0 where the exponent is 0."""
    slope = k.mul(k.pow(base, k.sub(exponent, 1)), exponent)
    return k.where(k.eq(exponent, 0), 0, k.mul(grad, k.conj(slope)))


def gradient_of_exponent(grad: Array, base: Array, exponent: Array, result: Array) -> Array:
    """The gradient of the exponent of ``base ** exponent``.

    Where the base is 0 the power does not change with an exponent that is 0 or has a positive real
    part. Otherwise it is not a number, nor is the gradient. Where it does not change, no logarithm
    of 0 is taken: the second derivative would be nan although that factor is dropped here.
    """
    flat = k.logical_and(k.eq(base, 0), k.has_power_of_zero(exponent))
    # The logarithm in the result's dtype: a negative base of a complex power has one.
    base = k.where(flat, 1, k.add(base, k.zeros_like(result)))
    return k.mul(grad, k.where(flat, 0, k.conj(k.mul(result, k.log(base)))))


def gradient_of_number_exponent(grad: Array, base: Number, exponent: Array, result: Array) -> Array:
    """The gradient of the exponent of ``number ** exponent``; see `gradient_of_exponent`."""
    if base == 0:
        flat = k.has_power_of_zero(exponent)
        slope = k.conj(k.mul(result, k.where(flat, 0, log_of_number(base))))
    elif isinstance(base, complex) or base > 0:
        slope = k.conj(k.mul(result, log_of_number(base)))
    else:
        # The logarithm in the result's dtype: a negative base of a complex power has one.
        slope = k.conj(k.mul(result, k.log(k.add(k.zeros_like(result), base))))
    return k.mul(grad, slope)


# -- signs ----------------------------------------------------------------------------------


def gradient_of_sgn(grad: Array, self: Array, result: Array) -> Array:
    """What of the gradient is across the direction of the value, divided by its length.

    Real values have no such direction: zeros come out. So they do where the value is 0.
    """
    length = k.abs(self)
    # Not "is zero": what is nan has no direction either.
    zero = k.logical_not(k.gt(length, 0))
    along = k.mul(k.add(k.mul(k.conj(result), grad), k.mul(result, k.conj(grad))), 0.5)
    across = k.sub(grad, k.mul(result, along))
    return k.where(zero, 0, k.div(across, k.where(zero, 1, length)))


def log_of_number(value: Number) -> Number:
    """The natural logarithm of a number, as arrays have it: -inf at 0, nan for negative reals."""
    if isinstance(value, complex):
        return cmath.log(value) if value else complex(-math.inf)
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan

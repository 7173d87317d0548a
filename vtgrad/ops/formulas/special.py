"""Derivatives of special functions and of signs, which are longer than one expression."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.ops.formulas.support import no_derivative, sinc_slope
from vtgrad.storage.arrays import Array, Number, NumpyDType

__all__ = [
    "gradient_of_acosh",
    "gradient_of_angle",
    "gradient_of_i1",
    "gradient_of_logit",
    "gradient_of_magnitude",
    "gamma_density",
    "gradient_of_mvlgamma",
    "gradient_of_order",
    "gradient_of_nan_to_num",
    "gradient_of_sinc",
    "gradient_of_xlogy",
    "gradient_of_xlogy_number",
    "is_at_least",
    "is_at_most",
]


# -- choices --------------------------------------------------------------------------------


def is_at_least(a: Array, b: Array) -> Array:
    """Where `fmax` takes the first value."""
    return k.logical_or(k.ge(a, b), k.isnan(b))


def is_at_most(a: Array, b: Array) -> Array:
    """Where `fmin` takes the first value."""
    return k.logical_or(k.le(a, b), k.isnan(b))


# -- signs and angles -----------------------------------------------------------------------


def gradient_of_magnitude(grad: Array, self: Array, result: Array) -> Array:
    """The gradient of what `copysign` gave another sign: turned if that was turned, 0 at 0."""
    zero = k.eq(self, 0)
    return k.mul(grad, k.where(zero, 0, k.div(result, k.where(zero, 1, self))))


def gradient_of_angle(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient of the values whose angles were taken: across them, by their length.

    A real value keeps its angle when it moves, and at 0 there is none.
    """
    if dtype.kind != "c":
        return k.zeros_like(grad)
    length = k.abs(self)
    # Not "is zero": what is nan has no angle either.
    zero = k.logical_not(k.gt(length, 0))
    unit = k.div(self, k.where(zero, 1, k.mul(length, length)))
    return k.where(zero, 0, k.mul(k.mul(unit, grad), 1j))


def gradient_of_nan_to_num(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient where a value was finite; of complex ones, part by part."""
    if dtype.kind != "c":
        return k.where(k.isfinite(self), grad, 0)
    finite = k.finite_parts(self)
    turned_grad, turned_finite = k.conj(grad), k.conj(finite)
    real = k.mul(k.add(grad, turned_grad), k.add(finite, turned_finite))
    imaginary = k.mul(k.sub(grad, turned_grad), k.mul(k.sub(finite, turned_finite), -1j))
    return k.mul(k.add(real, imaginary), 0.25)


# -- special functions ----------------------------------------------------------------------


def gradient_of_acosh(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``sqrt(x * x - 1)``, of complex values on the branch that `acosh` is on."""
    if dtype.kind != "c":
        return k.mul(grad, k.rsqrt(k.sub(k.mul(self, self), 1)))
    return k.mul(grad, k.conj(k.mul(k.rsqrt(k.sub(self, 1)), k.rsqrt(k.add(self, 1)))))


def gradient_of_sinc(grad: Array, self: Array) -> Array:
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
    quotient = k.div(k.sub(k.cos(t), k.div(k.sin(t), t)), t)
    slope = k.conj(k.mul(k.where(near, series, quotient), 3.141592653589793))
    product = k.mul(grad, slope)
    # Nothing goes through the top, not even a nan. All else is left alone: the top is curved.
    return k.where(k.logical_and(k.eq(self, 0), k.isnan(product)), 0, product)


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
    """The gradient of Bessel's function of order 1, which is steepest at 0."""
    zero = k.eq(self, 0)
    quotient = k.where(zero, 0.5, k.div(result, k.where(zero, 1, self)))
    return k.mul(grad, k.sub(k.i0(self), quotient))


def gradient_of_order(grad: Array) -> Array:
    """The gradient of an incomplete gamma function's order, which is refused as in PyTorch."""
    return no_derivative(
        grad, "igamma and igammac have no derivative with respect to input, their order; detach it"
    )


def gamma_density(order: Array, x: Array) -> Array:
    """``x ** (order - 1) * exp(-x) / gamma(order)``."""
    return k.exp(k.sub(k.sub(k.xlogy(k.sub(order, 1), x), x), k.lgamma(order)))

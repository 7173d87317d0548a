# Compiled by mypyc.
"""Derivatives of elementary functions that are longer than one expression.

Complex gradients follow PyTorch: a formula multiplies by the conjugate of the derivative.
"""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = [
    "gradient_of_acosh",
    "gradient_of_asin",
    "gradient_of_asinh",
    "gradient_of_atan",
    "turned",
]


def turned(grad: Array, leg: Array, y: Array, x: Array) -> Array:
    """The gradient of a coordinate in the angle of the point (x, y), `leg` being the other one.

    It is `leg` by the squared distance from the origin; 0 at the origin.
    """
    origin = k.logical_and(k.eq(y, 0), k.eq(x, 0))
    # Not by the square of the distance, which over- and underflows where the quotient does not.
    distance = k.hypot(k.where(origin, 1, y), k.where(origin, 1, x))
    slope = k.div(k.div(leg, distance), distance)
    return k.mul(grad, k.where(origin, 0, slope))


def gradient_of_asin(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``1 / sqrt(1 - x * x)``, whose digits real squares near 1 would lose.

    A complex square loses the sign of a zero, by which a value on a branch cut is on one side.
    """
    if dtype.kind != "c":
        return k.mul(grad, k.rsqrt(k.one_minus_square(self)))
    # A sum with 1 loses it too, and a difference does not.
    right, left = k.rsqrt(k.neg(k.sub(self, 1))), k.rsqrt(k.neg(k.sub(k.neg(self), 1)))
    return k.mul(grad, k.conj(k.mul(left, right)))


def gradient_of_atan(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``1 / (x * x + 1)``; squares overflow early in half precision."""
    if dtype.itemsize == 2:
        distance = k.hypot(self, k.ones_like(self))
        return k.div(k.div(grad, distance), distance)
    return k.div(grad, k.conj(k.add(k.mul(self, self), 1)))


def gradient_of_asinh(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``1 / sqrt(x * x + 1)``; the square of a number is not taken alone.

    Of a real one it may overflow, and of a complex one it loses the sign of a zero.
    """
    if dtype.kind != "c":
        return k.div(grad, k.hypot(self, k.ones_like(self)))
    # Each product keeps the sign of a zero real part on the side where its root has the cut.
    right, left = (
        k.rsqrt(k.neg(k.sub(k.mul(self, 1j), 1))),
        k.rsqrt(k.neg(k.sub(k.mul(self, -1j), 1))),
    )
    return k.mul(grad, k.conj(k.mul(left, right)))


def gradient_of_acosh(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``sqrt(x * x - 1)``, of complex values on the branch that `acosh` is on."""
    if dtype.kind != "c":
        size = k.abs(self)
        return k.mul(grad, k.mul(k.rsqrt(k.sub(size, 1)), k.rsqrt(k.add(size, 1))))
    # A sum with 1 would lose the sign of a zero, by which a value is on one side of a branch cut.
    left = k.rsqrt(k.neg(k.sub(k.neg(self), 1)))
    return k.mul(grad, k.conj(k.mul(k.rsqrt(k.sub(self, 1)), left)))

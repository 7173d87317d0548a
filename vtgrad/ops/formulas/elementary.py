"""Derivatives of elementary functions that are longer than one expression.

Complex gradients follow PyTorch: a formula multiplies by the conjugate of the derivative.
"""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["gradient_of_acosh", "turned"]


def turned(grad: Array, leg: Array, y: Array, x: Array) -> Array:
    """The gradient of a coordinate in the angle of the point (x, y), `leg` being the other one.

    It is `leg` by the squared distance from the origin; 0 at the origin.
    """
    square = k.add(k.mul(y, y), k.mul(x, x))
    origin = k.eq(square, 0)
    inverse = k.where(origin, 0, k.reciprocal(k.where(origin, 1, square)))
    return k.mul(k.mul(grad, leg), inverse)


def gradient_of_acosh(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient by ``sqrt(x * x - 1)``, of complex values on the branch that `acosh` is on."""
    if dtype.kind != "c":
        return k.mul(grad, k.rsqrt(k.sub(k.mul(self, self), 1)))
    return k.mul(grad, k.conj(k.mul(k.rsqrt(k.sub(self, 1)), k.rsqrt(k.add(self, 1)))))

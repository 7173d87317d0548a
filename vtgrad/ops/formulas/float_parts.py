# Compiled by mypyc.
"""Derivatives of the parts of floating values."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["gradient_of_magnitude", "gradient_of_nan_to_num"]


def gradient_of_magnitude(grad: Array, self: Array, result: Array) -> Array:
    """The gradient of what `copysign` gave another sign: turned if that was turned, 0 at 0."""
    zero = k.eq(self, 0)
    return k.mul(grad, k.where(zero, 0, k.div(result, k.where(zero, 1, self))))


def gradient_of_nan_to_num(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient where a value was finite; of complex ones, part by part."""
    if dtype.kind != "c":
        return k.where(k.isfinite(self), grad, 0)
    finite = k.finite_parts(self)
    turned_grad, turned_finite = k.conj(grad), k.conj(finite)
    real = k.mul(k.add(grad, turned_grad), k.add(finite, turned_finite))
    imaginary = k.mul(k.sub(grad, turned_grad), k.mul(k.sub(finite, turned_finite), -1j))
    return k.mul(k.add(real, imaginary), 0.25)

# Compiled by mypyc.
"""Derivatives of the Fourier transforms between real and complex elements."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Shape

__all__ = ["gradient_of_c2r", "gradient_of_r2c"]


def gradient_of_r2c(grad: Array, shape: Shape, dim: Shape, scale: str, onesided: bool) -> Array:
    """The inverse transform of the gradient, of which the engine takes the real part.

    With `onesided` it is real: the inverse transform counts an element for itself and for its
    conjugate, and the gradient has it once.
    """
    if not onesided:
        return k.fft_c2c(grad, dim, scale, True)
    last = dim[len(dim) - 1]
    size = shape[last]
    return k.fft_c2r(k.fft_scale_pairs(grad, last, size, 0.5), dim, scale, size)


def gradient_of_c2r(grad: Array, dim: Shape, scale: str) -> Array:
    """The transform of the gradient, in which an element counts as often as in the result."""
    last = dim[len(dim) - 1]
    return k.fft_scale_pairs(k.fft_r2c(grad, dim, scale, True), last, grad.shape[last], 2.0)

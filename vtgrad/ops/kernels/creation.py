# Compiled by mypyc.
"""Constant arrays, in the shape of another or in a given one."""

from __future__ import annotations

from vtgrad.ops.kernels.support.result_strides import empty_like_preserving
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = ["ones_like", "zeros_like", "zeros_shaped"]


def zeros_like(input: Array, *, dtype: NumpyDType | None = None) -> Array:
    """Zeros of the same shape and memory order."""
    if input.flags.c_contiguous and 1 not in input.shape:
        return making.zeros(input.shape, input.dtype if dtype is None else dtype)
    out = empty_like_preserving(input.dtype if dtype is None else dtype, input)
    out.fill(0)
    return out


def ones_like(input: Array, *, dtype: NumpyDType | None = None) -> Array:
    """Ones of the same shape and memory order."""
    out = empty_like_preserving(input.dtype if dtype is None else dtype, input)
    out.fill(1)
    return out


def zeros_shaped(self: Array, sizes: Shape) -> Array:
    """Zeros of the dtype of `self` in another shape."""
    return making.zeros(sizes, self.dtype)

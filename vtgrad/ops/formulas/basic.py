"""Helpers of general use."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.ops.types import MemoryFormat
from vtgrad.storage.arrays import Array, Number, NumpyDType

__all__ = ["copied_gradient", "joined_pairs", "scaled"]


def scaled(grad: Array, factor: Number) -> Array:
    """`grad` times a number; the very object if the number is one."""
    return grad if factor == 1 else k.mul(grad, factor)


def copied_gradient(grad: Array, dtype: NumpyDType) -> Array:
    """The gradient of the source of a copy that may have changed the dtype."""
    return k.to_dtype(grad, dtype)


def joined_pairs(grad: Array) -> Array:
    """Complex numbers from pairs of real ones, which may lie anywhere."""
    # A copy also where they lie well: a part of an array may begin in the middle of a number.
    return k.view_as_complex(k.clone(grad, memory_format=MemoryFormat.CONTIGUOUS))

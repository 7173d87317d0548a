# Compiled by mypyc.
"""Derivatives of the parts of complex numbers."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.types import MemoryFormat
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["gradient_of_angle", "joined_pairs"]


def gradient_of_angle(grad: Array, self: Array, dtype: NumpyDType) -> Array:
    """The gradient of the values whose angles were taken: across them, by their length.

    A real value keeps its angle when it moves, and at 0 there is none.
    """
    if dtype.kind != "c":
        return k.zeros_like(grad)
    length = k.abs(self)
    # Not "is zero": what is nan has no angle either.
    zero = k.logical_not(k.gt(length, 0))
    safe = k.where(zero, 1, length)
    unit = k.div(k.div(self, safe), safe)
    return k.where(zero, 0, k.mul(k.mul(unit, grad), 1j))


def joined_pairs(grad: Array) -> Array:
    """Complex numbers from pairs of real ones, which may lie anywhere."""
    # A copy also where they lie well: a part of an array may begin in the middle of a number.
    return k.view_as_complex(k.clone(grad, memory_format=MemoryFormat.CONTIGUOUS))

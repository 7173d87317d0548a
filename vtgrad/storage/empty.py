# Compiled by mypyc.
"""Uninitialised arrays with given strides."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.memory_format import MemoryFormat, strides_in_format
from vtgrad.storage.strides import clone_strides

__all__ = ["element_strides", "empty_in_format", "empty_like_preserving", "empty_strided"]


def element_strides(a: Array) -> tuple[int, ...]:
    """The strides of `a` counted in elements."""
    step = a.itemsize
    return tuple([s // step for s in a.strides])


def empty_strided(dtype: NumpyDType, shape: Shape, strides: Sequence[int]) -> Array:
    """An uninitialised array that owns its memory, with dense `strides` (in elements)."""
    step = dtype.itemsize
    result: Array = making.ndarray(shape, dtype, strides=tuple([s * step for s in strides]))
    return result


def empty_like_preserving(dtype: NumpyDType, a: Array) -> Array:
    """An uninitialised array of `a`'s shape and, if those are dense, `a`'s strides."""
    if a.flags.c_contiguous and 1 not in a.shape:
        return making.empty(a.shape, dtype)
    return empty_strided(dtype, a.shape, clone_strides(a.shape, element_strides(a)))


def empty_in_format(dtype: NumpyDType, a: Array, memory_format: MemoryFormat | None) -> Array:
    """An uninitialised array for a copy of `a` in a memory format, by default in its own."""
    if memory_format is None or memory_format is MemoryFormat.PRESERVE:
        return empty_like_preserving(dtype, a)
    return empty_strided(dtype, a.shape, strides_in_format(a.shape, memory_format))

"""Copies of whole tensors."""

from __future__ import annotations

from vtgrad.ops.kernels.support.result_strides import empty_in_format
from vtgrad.storage.arrays import PLAIN, Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.memory_format import MemoryFormat

__all__ = ["clone", "contiguous"]


def clone(self: Array, *, memory_format: MemoryFormat | None = None) -> Array:
    """A copy in a memory format, by default in the source's order without gaps and repetitions."""
    if memory_format is None and self.flags.c_contiguous and 1 not in self.shape:
        return self.copy()
    if memory_format is MemoryFormat.CONTIGUOUS:
        return contiguous(self)
    result = empty_in_format(self.dtype, self, memory_format)
    result[...] = self if type(self) in PLAIN else resolved(self)
    return result


def contiguous(self: Array) -> Array:
    """A row-major copy."""
    return self.copy(order="C")

"""Reading and storing values at row-major positions."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DTypeError, InputOverlapError, OutOfRangeError
from vtgrad.ops.kernels.copying.copies import clone
from vtgrad.ops.kernels.indexing.index_support import (
    INT64,
    add_at,
    adding_at,
    check_range,
    check_same_dtype,
    last_mentions,
    put_last,
    readable,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import NOTHING, Store, carry_out

__all__ = ["put", "put_", "put_overwritten", "take", "take_spread"]


def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """A copy with values stored at, or added to, row-major positions.

    Raises
    ------
    DTypeError
        If `index` is not of int64, or `source` has another dtype.
    OutOfRangeError
        If there are not as many values as positions, or a position is outside the tensor.
    """
    result = clone(self)
    carry_out(put_(result, index, source, accumulate))
    return result


def put_(self: Array, index: Array, source: Array, accumulate: bool = False) -> Store:
    """`put` into an array itself."""
    check_same_dtype(self, source, "put")
    if np.may_share_memory(index, self):
        raise InputOverlapError(
            "the indices of put are in the memory that it writes; clone them first",
            shape=self.shape,
        )
    source, index = readable(resolved(source), self), resolved(index)
    if index.size != source.size:
        raise OutOfRangeError(
            f"put got {source.size} values for {index.size} positions",
            values=source.size,
            positions=index.size,
        )
    _check_positions(index, self.size)
    if not index.size:
        return NOTHING
    positions = _from_start(index, self.size)
    values = source.reshape(-1)
    if self.ndim == 0:
        self = self.reshape(1)
    vectors: tuple[Array, ...]
    if self.ndim == 1:
        vectors = (positions,)
    elif self.flags.c_contiguous:
        self, vectors = self.reshape(-1), (positions,)
    else:
        vectors = np.unravel_index(positions, self.shape)
    if accumulate:
        return adding_at(self, vectors, values, positions)
    return put_last(self, vectors, values, positions, self.size, positions)


def put_overwritten(index: Array, count: int) -> Array:
    """A bool mask of `index`'s shape: the values that another one has overwritten in `put`.

    Raises
    ------
    DTypeError
        If `index` is not of int64.
    OutOfRangeError
        If a position is not below `count`.
    """
    index = resolved(index)
    _check_positions(index, count)
    lost: Array = ~last_mentions(_from_start(index, count), count)
    return lost.reshape(index.shape)


def _check_positions(index: Array, count: int) -> None:
    if index.dtype is not INT64 and index.dtype != np.int64:
        raise DTypeError(f"put needs int64 indices, got {index.dtype}", found=index.dtype.name)
    check_range(index, count, None, OutOfRangeError, lowest=-count)


def _from_start(index: Array, count: int) -> Array:
    """Positions counted from the start, in order."""
    # A copy, as the index may be memory that is written.
    flat = index.flatten()
    flat[flat < 0] += count
    return flat


def take(self: Array, index: Array) -> Array:
    """The elements at row-major positions; negative positions count from the end.

    Raises
    ------
    DTypeError
        If `index` is not of int64.
    OutOfRangeError
        If a position is outside the tensor.
    """
    if index.dtype != np.int64:
        raise DTypeError(f"take needs int64 indices, got {index.dtype}")
    count = self.size
    check_range(index, count, None, OutOfRangeError, lowest=-count)
    result: Array = making.empty(index.shape, self.dtype)
    if index.size:
        result[...] = resolved(self).reshape(-1)[resolved(index)]
    return result


def take_spread(self: Array, sizes: Shape, index: Array) -> Array:
    """Zeros of shape `sizes` with `self` added at row-major positions: the inverse of `take`."""
    result: Array = making.zeros(sizes, self.dtype)
    if index.size:
        add_at(result.reshape(-1), resolved(index).reshape(-1), resolved(self).reshape(-1))
    return result

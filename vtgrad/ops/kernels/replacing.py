"""Storing values at row-major positions, and where a mask is true."""

from __future__ import annotations

from operator import setitem

import numpy as np

from vtgrad.errors import DTypeError, InputOverlapError, OutOfRangeError, ShapeError
from vtgrad.ops.kernels.copying import clone, contiguous
from vtgrad.ops.kernels.index_support import (
    adding_at,
    check_mask,
    check_range,
    check_same_dtype,
    last_mentions,
    put_last,
    readable,
)
from vtgrad.ops.kernels.layout import broadcast_shapes
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.store import NOTHING, Store, carry_out

__all__ = ["masked_scatter", "masked_scatter_", "put", "put_", "put_overwritten"]


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
    _check_places(index, self.size)
    if not index.size:
        return NOTHING
    positions = _from_start(index, self.size)
    values = np.ravel(source)
    if self.ndim == 0:
        self = self.reshape(1)
    places = np.unravel_index(positions, self.shape)
    if accumulate:
        return adding_at(self, places, values, positions)
    return put_last(self, places, values, positions, self.size, positions)


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
    _check_places(index, count)
    lost: Array = ~last_mentions(_from_start(index, count), count)
    return lost.reshape(index.shape)


def _check_places(index: Array, count: int) -> None:
    if index.dtype != np.int64:
        raise DTypeError(f"put needs int64 indices, got {index.dtype}", found=index.dtype.name)
    check_range(index, count, None, OutOfRangeError, lowest=-count)


def _from_start(index: Array, count: int) -> Array:
    """Positions counted from the start, in order."""
    flat = np.ravel(index)
    return np.where(flat < 0, flat + count, flat)


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """A copy with the first values of `source`, in order, wherever a mask is true.

    Raises
    ------
    DTypeError
        If the mask is not of bool, or `source` has another dtype.
    ShapeError
        If the shapes do not broadcast, or there are fewer values than true elements of the mask.
    """
    shape = broadcast_shapes(self.shape, mask.shape)
    result = contiguous(np.broadcast_to(self, shape))
    carry_out(masked_scatter_(result, mask, source))
    return result


def masked_scatter_(self: Array, mask: Array, source: Array) -> Store:
    """`masked_scatter` into an array itself; the mask must broadcast to its shape."""
    check_mask(mask, "masked_scatter")
    check_same_dtype(self, source, "masked_scatter")
    if broadcast_shapes(mask.shape, self.shape) != self.shape:
        raise ShapeError(
            f"a mask of shape {mask.shape} is larger than the written tensor's shape {self.shape}",
            mask=mask.shape,
            sizes=self.shape,
        )
    chosen = np.broadcast_to(mask, self.shape)
    count = int(np.count_nonzero(chosen))
    if source.size < count:
        raise ShapeError(
            f"masked_scatter needs {count} values, one for each true place, got {source.size}",
            needed=count,
            given=source.size,
        )
    values = readable(resolved(source), self).reshape(-1)[:count]
    return setitem, (self, chosen, values), chosen

"""Reading and writing slices along one dimension, at a vector of indices."""

from __future__ import annotations

from collections.abc import Callable
from operator import setitem

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, ElementIndexError, OutOfRangeError, ShapeError
from vtgrad.ops.kernels.copying.copies import clone, contiguous
from vtgrad.ops.kernels.indexing.index_support import (
    FEW_ROWS,
    INT64,
    adding_at,
    check_index_dtype,
    check_range,
    check_same_dtype,
    fill_value,
    last_mentions,
    put_last,
    readable,
)
from vtgrad.ops.kernels.support.axes import axis_first
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, Shape
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.loops import NATIVE, add_along, fits_along, put_along
from vtgrad.storage.prepared_store import NOTHING, Store, WrittenIndex, carry_out

__all__ = [
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_copy_overwritten",
    "index_fill",
    "index_fill_",
    "index_mask",
    "index_select",
]


def index_select(self: Array, dim: int, index: Array) -> Array:
    """The slices at a vector of indices along a dimension.

    Raises
    ------
    OutOfRangeError
        If `index` is not a vector, or an index is negative or past the end.
    ElementIndexError
        Instead of the latter along dimension 1.
    DTypeError
        If `index` is not of int64 or int32.
    """
    index = resolved(index)
    axis = normalize_dim(dim, self.ndim)
    _check_vector(index, "index_select", OutOfRangeError)
    check_index_dtype(index, "index_select")
    if self.ndim == 0:
        if index.size != 1:
            raise ShapeError(
                f"index_select of a 0-d tensor takes one index, got {index.size}",
                count=index.size,
            )
        check_range(index, 1, 0, OutOfRangeError)
        return self.copy()
    if self.ndim > 1 and self.shape[axis] == 0 and index.size:
        raise ShapeError(
            f"index_select along dimension {axis} of size 0 has nothing to select", dim=axis
        )
    error = ElementIndexError if axis == 1 else OutOfRangeError
    check_range(index, self.shape[axis], axis, error)
    shape = (*self.shape[:axis], index.size, *self.shape[axis + 1 :])
    result: Array = making.empty(shape, self.dtype)
    if index.size:
        np.take(self, index.reshape(-1), axis, out=result, mode="clip")
    return result


def index_add(self: Array, dim: int, index: Array, source: Array, *, alpha: Number = 1) -> Array:
    """A copy with ``alpha * source``'s slices added at a vector of indices, duplicates too.

    Raises
    ------
    DTypeError
        If `source` has another dtype or `index` is not of int64 or int32.
    ShapeError
        If `source` does not have one slice of the target's shape per index.
    ElementIndexError, OutOfRangeError
        If an index is negative or past the end: the former along an outer dimension.
    """
    result = contiguous(self)
    carry_out(index_add_(result, dim, index, source, alpha=alpha))
    return result


def index_add_(self: Array, dim: int, index: Array, source: Array, *, alpha: Number = 1) -> Store:
    """`index_add` into an array itself."""
    # Of more rows along another dimension NumPy's way adds those of one index first.
    in_order = dim in (0, -self.ndim) or index.size < FEW_ROWS
    if NATIVE and in_order and alpha == 1 and fits_along(self, dim, index, source, True, True):
        axis = normalize_dim(dim, self.ndim)
        return add_along, (self, axis, index, source, True), _slices_at(axis, index)
    source, index = readable(source, self), resolved(index)
    axis = normalize_dim(dim, self.ndim)
    _check_vector(index, "index_add", OutOfRangeError)
    if index.dtype is not INT64:
        check_index_dtype(index, "index_add")
    if source.dtype is not self.dtype:
        check_same_dtype(self, source, "index_add")
    if source.ndim == 0 and index.size != 1:
        raise DimensionError(
            f"index_add of a 0-d source takes one index, got {index.size}", dim=dim, ndim=0
        )
    _check_count(index, source, axis, "index_add", ShapeError)
    if source.ndim != self.ndim or not _are_slices_of(source.shape, self.shape, axis):
        raise _slice_error("index_add", self, source)
    outer = self.ndim > 1 and axis in (0, self.ndim - 1)
    error = ElementIndexError if outer else OutOfRangeError
    check_range(index, self.shape[axis] if self.ndim else 1, axis, error)
    factor = None if alpha == 1 else as_element(alpha, self.dtype)
    scaled = source if factor is None else source * factor
    if self.ndim == 0:
        return adding_at(self.reshape(1), making.zeros(1, np.int64), scaled.reshape(1), None)
    vector = index.reshape(-1)
    rows, added = axis_first(self, axis), axis_first(scaled, axis)
    return adding_at(rows, vector, added, _slices_at(axis, vector))


def index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    """A copy with `source`'s slices stored at a vector of indices.

    Raises
    ------
    OutOfRangeError
        If the numbers of dimensions or of indices do not fit, or an index is negative or past
        the end.
    ShapeError
        If the slices have another shape than the target's.
    DTypeError
        If `source` has another dtype or `index` is not of int64.
    """
    result = contiguous(self)
    carry_out(index_copy_(result, dim, index, source))
    return result


def index_copy_(self: Array, dim: int, index: Array, source: Array) -> Store:
    """`index_copy` into an array itself."""
    if NATIVE and index.size and fits_along(self, dim, index, source, True, False):
        axis = normalize_dim(dim, self.ndim)
        return put_along, (self, axis, index, source, True), _slices_at(axis, index)
    source, index = readable(source, self), resolved(index)
    axis = normalize_dim(dim, self.ndim)
    _check_vector(index, "index_copy", OutOfRangeError)
    if source.ndim == 0 and index.size != 1:
        raise OutOfRangeError(
            f"index_copy of a 0-d source takes one index, got {index.size}", count=index.size
        )
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise OutOfRangeError(
            f"index_copy needs a source of {self.ndim} dimension(s), got shape {source.shape}",
            shape=source.shape,
            ndim=self.ndim,
        )
    if index.dtype is not INT64 and index.dtype != np.int64:
        raise DTypeError(f"index_copy needs int64 indices, got {index.dtype}")
    check_same_dtype(self, source, "index_copy")
    if not _are_slices_of(source.shape, self.shape, axis):
        raise _slice_error("index_copy", self, source)
    if source.ndim:
        _check_count(index, source, axis, "index_copy", OutOfRangeError)
    check_range(index, self.shape[axis] if self.ndim else 1, axis, OutOfRangeError)
    if index.size == 0:
        return NOTHING
    if self.ndim == 0:
        return setitem, (self, ..., source.reshape(-1)[-1]), None
    slices = source.reshape(source.shape or (1,))
    vector = index.reshape(-1)
    target, written = axis_first(self, axis), _slices_at(axis, vector)
    rows = axis_first(slices, axis)
    return put_last(target, (vector,), rows, vector, self.shape[axis], written)


def index_copy_overwritten(index: Array, sizes: Shape, dim: int, extent: int) -> Array:
    """A bool mask of the source's shape `sizes`: the slices that others have overwritten.

    Indices are below `extent`, the size of the target's dimension.
    """
    lost: Array = ~last_mentions(index.reshape(-1), extent)
    result: Array = making.zeros(sizes, np.bool_)
    if result.ndim:
        np.moveaxis(result, dim, -1)[...] = lost
    return result


def index_mask(index: Array, sizes: Shape, dim: int) -> Array:
    """A bool mask of shape `sizes`: the elements that `index_fill` fills."""
    return index_fill(making.zeros(sizes, np.bool_), dim, index, True)


def index_fill(self: Array, dim: int, index: Array, value: Array | Number) -> Array:
    """A copy with one value at a vector of indices; negative indices count from the end.

    Raises
    ------
    OutOfRangeError
        If `index` is not of int64, or an index is outside the dimension.
    ShapeError
        If `index` is not a vector or `value` is an array with dimensions.
    """
    result = clone(self)
    carry_out(index_fill_(result, dim, index, value))
    return result


def index_fill_(self: Array, dim: int, index: Array, value: Array | Number) -> Store:
    """`index_fill` into an array itself."""
    index = resolved(index)
    number = fill_value(value, "index_fill")
    if isinstance(number, complex) and self.dtype.kind != "c":
        raise DTypeError(f"index_fill cannot store a complex value in {self.dtype}")
    axis = normalize_dim(dim, self.ndim)
    if index.dtype is not INT64 and index.dtype != np.int64:
        raise OutOfRangeError(f"index_fill needs int64 indices, got {index.dtype}")
    _check_vector(index, "index_fill", ShapeError)
    element = as_element(number, self.dtype)
    size = self.shape[axis] if self.ndim else 1
    check_range(index, size, axis, OutOfRangeError, lowest=-size)
    if not index.size:
        return NOTHING
    if self.ndim == 0:
        return setitem, (self, ..., element), None
    vector = index.reshape(-1)
    return setitem, (axis_first(self, axis), vector, element), _slices_at(axis, vector)


def _slices_at(axis: int, vector: Array) -> WrittenIndex:
    """The slices at a vector of indices along a dimension."""
    return (*[slice(None)] * axis, vector)


def _are_slices_of(sizes: Shape, whole: Shape, axis: int) -> bool:
    """Whether two shapes with as many dimensions differ along `axis` only."""
    return len(sizes) == 1 or _without(sizes, axis) == _without(whole, axis)


def _without(sizes: Shape, axis: int) -> Shape:
    return (*sizes[:axis], *sizes[axis + 1 :])


def _check_vector(
    index: Array, name: str, error: Callable[..., OutOfRangeError | ShapeError]
) -> None:
    if index.ndim > 1:
        raise error(f"{name} needs a vector of indices, got shape {index.shape}", shape=index.shape)


def _check_count(
    index: Array,
    source: Array,
    axis: int,
    name: str,
    error: Callable[..., OutOfRangeError | ShapeError],
) -> None:
    slices = source.shape[axis] if axis < source.ndim else 1
    if index.size != slices:
        raise error(
            f"{name} got {index.size} indices for {slices} slices of the source",
            indices=index.size,
            slices=slices,
        )


def _slice_error(name: str, self: Array, source: Array) -> ShapeError:
    return ShapeError(
        f"{name}'s source of shape {source.shape} does not have the slices of the target's "
        f"shape {self.shape}",
        source=source.shape,
        sizes=self.shape,
    )

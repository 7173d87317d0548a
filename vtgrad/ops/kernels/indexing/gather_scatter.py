"""Gathering and scattering along a dimension, by an index for every element."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import setitem

import numpy as np

from vtgrad.errors import DTypeError, ShapeError
from vtgrad.ops.kernels.copying.copies import contiguous
from vtgrad.ops.kernels.indexing.index_support import (
    INT64,
    adding_at,
    check_index_dtype,
    check_range,
    last_mentions,
    ndim,
    put_last,
    readable,
)
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, Shape
from vtgrad.storage.geometry import normalize_dim, numel
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.loops import NATIVE, add_along, fits_along, put_along, take_along
from vtgrad.storage.prepared_store import NOTHING, Store, carry_out
from vtgrad.storage.strides import MAX_DIMS, contiguous_strides

__all__ = ["gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_overwritten"]


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """``result[i, j] = self[index[i, j], j]`` for ``dim=0``, and so on.

    Raises
    ------
    DTypeError
        If `index` is not of int64 or int32.
    ShapeError
        If `index` has another number of dimensions, or is larger than `self` in one other
        than `dim`.
    ElementIndexError
        If an index is negative or past the end.
    """
    made = take_along(self, dim, index) if NATIVE else None
    if made is not None:
        return made
    axis = normalize_dim(dim, self.ndim)
    if index.size == 0:
        return making.empty(index.shape, self.dtype)
    check_index_dtype(index, "gather")
    if ndim(self) != ndim(index):
        raise _index_shape_error("gather", index, "input", self.shape)
    if self.ndim == 0:
        check_range(index, 1, 0)
        return making.full(index.shape, self, self.dtype)
    if _is_larger(index.shape or (1,), self.shape, axis):
        raise _index_shape_error("gather", index, "input", self.shape)
    check_range(index, self.shape[axis], axis)
    if _may_convert(self, index):
        made = take_along(self, axis, making.ascontiguousarray(index, np.int64))
        if made is not None:
            return made
    if self.ndim == MAX_DIMS:
        # NumPy accepts one index array less.
        flat = flat_targets(self.shape, axis, resolved(index))
        picked: Array = resolved(self).reshape(-1)[flat].reshape(index.shape)
    else:
        picked = making.asarray(resolved(self)[_along(axis, resolved(index), self.ndim)])
    if picked.flags.c_contiguous and 1 not in picked.shape and picked.base is None:
        return picked
    result: Array = making.empty(index.shape, self.dtype)
    result[...] = picked
    return result


def scatter(self: Array, dim: int, index: Array, src: Array | Number) -> Array:
    """A copy with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on.

    Raises
    ------
    DTypeError, ShapeError
        As in `gather`; also if `src` is an array of another dtype, or smaller than `index`.
    """
    result = contiguous(self)
    carry_out(scatter_(result, dim, index, src))
    return result


def scatter_(self: Array, dim: int, index: Array, src: Array | Number) -> Store:
    """`scatter` into an array itself."""
    if NATIVE and _has_dims(src) and fits_along(self, dim, index, src, False, False):
        return put_along, (self, dim, index, src, False), _positions(self, dim, index)
    if isinstance(src, np.ndarray):
        src = readable(src, self)
    index = resolved(index)
    axis = check_scatter(self, dim, index, src, "scatter")
    if index.size == 0:
        return NOTHING
    if _may_convert(self, index):
        one = src if isinstance(src, np.ndarray) else making.asarray(as_element(src, self.dtype))
        dense = making.ascontiguousarray(index, np.int64)
        if fits_along(self, axis, dense, one, False, False):
            return put_along, (self, axis, dense, one, False), _positions(self, axis, dense)
    values = scattered_values(self, index, src)
    if self.ndim == 0:
        return setitem, (self, ..., values[-1]), None
    flat = flat_targets(self.shape, axis, index)
    if self.flags.c_contiguous:
        return put_last(self.reshape(-1), (flat,), values, flat, self.size, flat)
    return put_last(self, np.unravel_index(flat, self.shape), values, flat, self.size, flat)


def scatter_add(self: Array, dim: int, index: Array, src: Array) -> Array:
    """A copy with ``src[i, j]`` added to ``result[index[i, j], j]``, duplicates included."""
    result = contiguous(self)
    carry_out(scatter_add_(result, dim, index, src))
    return result


def scatter_add_(self: Array, dim: int, index: Array, src: Array) -> Store:
    """`scatter_add` into an array itself."""
    if NATIVE and _has_dims(src) and fits_along(self, dim, index, src, False, True):
        return add_along, (self, dim, index, src, False), _positions(self, dim, index)
    if isinstance(src, np.ndarray):
        src = readable(src, self)
    index = resolved(index)
    axis = check_scatter(self, dim, index, src, "scatter_add")
    if index.size == 0:
        return NOTHING
    if _may_convert(self, index):
        dense = making.ascontiguousarray(index, np.int64)
        if fits_along(self, axis, dense, src, False, True):
            return add_along, (self, axis, dense, src, False), _positions(self, axis, dense)
    values = scattered_values(self, index, src)
    if self.ndim == 0:
        return adding_at(self.reshape(1), making.zeros(values.size, np.int64), values, None)
    flat = flat_targets(self.shape, axis, index)
    if self.flags.c_contiguous:
        return adding_at(self.reshape(-1), flat, values, flat)
    return adding_at(self, np.unravel_index(flat, self.shape), values, flat)


def scatter_overwritten(index: Array, self_sizes: Shape, dim: int) -> Array:
    """A bool mask of `index`'s shape: the values that another one has overwritten in `scatter`."""
    if index.size == 0:
        return making.empty(index.shape, np.bool_)
    axis = normalize_dim(dim, len(self_sizes))
    lost: Array = ~last_mentions(flat_targets(self_sizes, axis, index), numel(self_sizes))
    return lost.reshape(index.shape).copy()


def check_scatter(self: Array, dim: int, index: Array, src: Array | Number, name: str) -> int:
    axis = normalize_dim(dim, self.ndim)
    if index.dtype is not INT64 and index.size:
        check_index_dtype(index, name)
    given: Array | None = src if isinstance(src, np.ndarray) else None
    if given is not None and given.dtype is not self.dtype and given.dtype != self.dtype:
        raise DTypeError(
            f"{name} needs a source of the target's dtype {self.dtype}, got {given.dtype}",
            expected=self.dtype.name,
            found=given.dtype.name,
        )
    if index.size == 0:
        return axis
    shape = index.shape or (1,)
    if len(shape) != ndim(self) or _is_larger(shape, self.shape or (1,), axis):
        raise _index_shape_error(name, index, "target", self.shape)
    if (
        given is not None
        and given.shape != shape
        and (len(shape) != ndim(given) or _is_larger(shape, given.shape or (1,)))
    ):
        raise _index_shape_error(name, index, "source", given.shape)
    check_range(index, self.shape[axis] if self.ndim else 1, axis)
    return axis


def _is_larger(shape: Shape, whole: Shape, axis: int = -1) -> bool:
    """Whether a shape is larger than another one in a dimension that is not `axis`."""
    for dim, size in enumerate(shape):  # noqa: SIM110  # a generator takes twice the time
        if size > whole[dim] and dim != axis:
            return True
    return False


def _along(axis: int, index: Array, ndim: int) -> tuple[Array, ...]:
    """Index arrays that are `index` along `axis` and the element's own index along the others."""
    indices: list[Array] = []
    for d in range(ndim):
        if d == axis:
            indices.append(index)
        else:
            shape = [1] * ndim
            shape[d] = index.shape[d]
            indices.append(making.arange(index.shape[d]).reshape(shape))
    return tuple(indices)


def flat_targets(shape: Shape, axis: int, index: Array) -> Array:
    """Row-major positions in an array of `shape` that `scatter` along `axis` writes, in order."""
    if not shape:
        return making.zeros(index.size, np.int64)
    if len(shape) == 1 and index.ndim == 1 and index.dtype is INT64 and index.flags.c_contiguous:
        return index
    flat = making.ascontiguousarray(index, np.int64)
    if len(shape) == 2:
        # One addition is quicker than the general way.
        if axis:
            flat = flat + _starts(index.shape[0], shape[1])
        else:
            flat = flat * shape[1]
            flat += making.arange(index.shape[1])
    elif len(shape) > 2:
        strides = contiguous_strides(shape)
        flat = flat * strides[axis]
        for d, indices in enumerate(_along(axis, index, len(shape))):
            if d != axis:
                flat += indices * strides[d]
    return flat.reshape(-1)


def _has_dims(src: Array | Number) -> bool:
    """Whether a source is no 0-d array, which the loops would repeat as a number."""
    return isinstance(src, np.ndarray) and src.ndim > 0


def _may_convert(self: Array, index: Array) -> bool:
    """Whether a loop may serve an array if an index that is of int32, or expanded, is converted."""
    return NATIVE and type(self) is type(index) is np.ndarray and self.flags.c_contiguous


def _positions(self: Array, dim: int, index: Array) -> Callable[[], Array]:
    """Finds the `flat_targets` in an array; see `FoundIndex`."""
    return partial(flat_targets, self.shape, normalize_dim(dim, self.ndim), index)


def _starts(rows: int, width: int) -> Array:
    """The row-major positions of the first elements of rows, as a column."""
    column: Array = (
        making.arange(0, rows * width, width).reshape(rows, 1)
        if width
        else making.zeros((rows, 1), np.int64)
    )
    return column


def _cut(src: Array, index: Array) -> Array:
    """The leading part of the source that has `index`'s shape."""
    if src.shape == index.shape:
        return src
    return src.reshape(src.shape or (1,))[tuple([slice(n) for n in index.shape or (1,)])]


def scattered_values(self: Array, index: Array, src: Array | Number) -> Array:
    """The values that `scatter` stores, in row-major order."""
    if not isinstance(src, np.ndarray):
        # One number for all indices: repeated without memory.
        return making.broadcast_to(as_element(src, self.dtype), (index.size,))
    values: Array = _cut(src, index).reshape(-1)
    return values


def _index_shape_error(name: str, index: Array, role: str, sizes: Shape) -> ShapeError:
    return ShapeError(
        f"{name}'s index of shape {index.shape} does not fit its {role} of shape {sizes}",
        index=index.shape,
        sizes=sizes,
    )

# Compiled by mypyc.
"""Views of plain arrays, through which gradients pass without a copy.

Each function returns an array on the memory of its argument. If the strides do not allow that, it
raises `NoSuchViewError`, and the caller uses a contiguous copy. Arguments were checked when the
tensor's view was made; here the arrays have the same shape, but perhaps other strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TypeAlias

import numpy as np

from vtgrad.graph.region import NoSuchViewError
from vtgrad.ops.kernels.support.axes import diagonal_within
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import (
    expand_sizes,
    infer_size,
    is_contiguous,
    normalize_dim,
    normalize_dims,
    slice_bounds,
    slice_of,
    split_sizes,
    squeeze_geometry,
    steps_through,
    unfold_geometry,
)

__all__ = [
    "alias",
    "as_strided",
    "diagonal",
    "expand",
    "permute",
    "reshape",
    "reshape_alias",
    "select",
    "slice",
    "split_equal",
    "split_with_sizes",
    "squeeze_all",
    "squeeze_dim",
    "squeeze_dims",
    "t",
    "transpose",
    "unbind",
    "unfold",
    "unsqueeze",
    "view",
]


# The view operator shadows the built-in below.
_Slice = slice
_Part: TypeAlias = slice | int | EllipsisType
_ALL = slice(None)


def alias(self: Array) -> Array:
    """The whole array."""
    return self[...]


def select(self: Array, dim: int, index: int) -> Array:
    """One index of a dimension, which disappears."""
    axis = dim + self.ndim if dim < 0 else dim
    # The ellipsis makes a 0-d result an array, not a number.
    parts: tuple[_Part, ...] = (*[_ALL] * axis, index, ...)
    result: Array = self[parts]
    return result


def slice(
    self: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """A range of a dimension."""
    axis = dim + self.ndim if dim < 0 else dim
    first, count = slice_bounds(self.shape[axis], start, end, step)
    parts: tuple[_Part, ...] = (*[_ALL] * axis, slice_of(first, count, step))
    result: Array = self[parts]
    return result


def permute(self: Array, dims: Sequence[int]) -> Array:
    """The dimensions in another order."""
    return self.transpose(normalize_dims(dims, self.ndim))


def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """Two dimensions exchanged."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


def t(self: Array) -> Array:
    """A matrix transposed; a vector or 0-d array unchanged."""
    return self.T if self.ndim == 2 else self[...]


def squeeze_all(self: Array) -> Array:
    """All dimensions of size 1 removed."""
    return self.reshape([size for size in self.shape if size != 1])


def squeeze_dim(self: Array, dim: int) -> Array:
    """A dimension removed if its size is 1."""
    return squeeze_dims(self, (dim,))


def squeeze_dims(self: Array, dim: Sequence[int]) -> Array:
    """The dimensions of size 1 among several removed."""
    sizes, _ = squeeze_geometry(self.shape, self.strides, dim)
    return self.reshape(sizes)


def unsqueeze(self: Array, dim: int) -> Array:
    """A new dimension of size 1."""
    axis = normalize_dim(dim, self.ndim + 1)
    return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))


def expand(self: Array, size: Sequence[int], *, implicit: bool = False) -> Array:
    """Dimensions of size 1 repeated without a copy; the result is read-only."""
    # The gradient of a sum: one value everywhere. Sizes that are all positive need no checks.
    whole = not self.shape and (not size or min(size) > 0)
    sizes = tuple(size) if whole else expand_sizes(self.shape, size)
    if whole or (self.size == 1 and 0 not in sizes):
        # Ten times as fast as `numpy.broadcast_to`.
        repeated: Array = making.ndarray(sizes, self.dtype, self, 0, (0,) * len(sizes))
        repeated.flags.writeable = False
        return repeated
    return making.broadcast_to(self, sizes)


def diagonal(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """A diagonal over two dimensions, as the last one."""
    first, second = normalize_dim(dim1, self.ndim), normalize_dim(dim2, self.ndim)
    offset = diagonal_within(self.shape, offset, first, second)
    result: Array = np.diagonal(self, offset, first, second)
    if self.flags.writeable:
        result.flags.writeable = True
    return result


def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    """All windows of a dimension; their elements are a new last dimension."""
    if self.ndim == 0:
        return self.reshape(1)[:size]
    sizes, strides = unfold_geometry(self.shape, self.strides, dimension, size, step)
    windows: Array = making.as_strided(self, sizes, strides)
    return windows


def view(self: Array, size: Sequence[int]) -> Array:
    """Another shape for the same elements."""
    try:
        return np.reshape(self, infer_size(size, self.size), copy=False)
    except ValueError:
        raise NoSuchViewError from None


def reshape(self: Array, shape: Sequence[int]) -> Array:
    """Another shape for the same elements, which may be copied. May alias its argument."""
    result: Array = self.reshape(infer_size(shape, self.size))
    return result


def reshape_alias(self: Array, size: Sequence[int], stride: Sequence[int]) -> Array:
    """Another shape for the same elements; the array's own strides decide the result's."""
    return view(self, size)


def split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int = 0) -> list[Array]:
    """Pieces of the given sizes along a dimension."""
    pieces: list[Array] = []
    start = 0
    for size in split_sizes:
        pieces.append(slice(self, dim, start, start + size))
        start += size
    return pieces


def split_equal(self: Array, split_size: int, dim: int = 0) -> list[Array]:
    """Pieces of one size along a dimension, the last perhaps smaller."""
    return split_with_sizes(self, split_sizes(self.shape[dim], split_size), dim)


def unbind(self: Array, dim: int = 0) -> list[Array]:
    """All indices of a dimension."""
    return [select(self, dim, index) for index in range(self.shape[dim])]


def as_strided(
    self: Array,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
    geometry: tuple[Shape, Shape, int],
) -> Array:
    """The part of an array that `as_strided` takes of an input with this geometry."""
    if self.flags.c_contiguous and is_contiguous(geometry[0], geometry[1]):
        item = self.itemsize
        offset = 0 if storage_offset is None else storage_offset - geometry[2]
        view: Array = making.ndarray(
            size, self.dtype, self.reshape(-1), offset * item, tuple([s * item for s in stride])
        )
        return view
    # Another memory order than the input's: the same elements, found by their indices.
    offset = geometry[2] if storage_offset is None else storage_offset
    found = steps_through(geometry, (tuple(size), tuple(stride), offset))
    if found is None:
        raise NoSuchViewError
    start, steps = found
    rest = self[tuple([_Slice(index, None) for index in start])]
    strides = [sum(k * s for k, s in zip(step, self.strides, strict=True)) for step in steps]
    return making.as_strided(rest, size, strides)

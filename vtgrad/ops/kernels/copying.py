"""Copies of whole tensors, rearranged, joined or repeated."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DimensionError,
    ShapeError,
)
from vtgrad.ops.kernels.layout import (
    element_strides,
    empty_in_format,
    empty_like_preserving,
    empty_strided,
    layout_of_values,
)
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.dtypes import promote
from vtgrad.storage.geometry import normalize_dim, view_strides
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.strides import channels_last_strides, check_sizes, is_channels_last

__all__ = [
    "cat",
    "clone",
    "contiguous",
    "flip",
    "repeat",
    "roll",
    "stack",
    "tril",
    "triu",
]


def clone(self: Array, *, memory_format: MemoryFormat | None = None) -> Array:
    """A copy in a memory format, by default in the source's order without gaps and repetitions."""
    if memory_format is None and self.flags.c_contiguous and 1 not in self.shape:
        return self.copy()
    if memory_format is MemoryFormat.CONTIGUOUS:
        return contiguous(self)
    result = empty_in_format(self.dtype, self, memory_format)
    result[...] = self if type(self) is np.ndarray else resolved(self)
    return result


def contiguous(self: Array) -> Array:
    """A row-major copy."""
    return self.copy(order="C")


# -- joining --------------------------------------------------------------------------------


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """The tensors one after another along an existing dimension.

    A tensor of shape ``(0,)`` joins anything, but its dtype counts.

    Raises
    ------
    ArgumentValueError
        If there is no tensor.
    ShapeError
        If one is 0-d, or they differ in a dimension other than `dim`.
    DimensionError
        If there is no dimension `dim`.
    """
    if not tensors:
        raise ArgumentValueError("cat needs at least one tensor")
    for place, x in enumerate(tensors):
        if x.ndim == 0:
            raise ShapeError(f"cat takes no 0-d tensor, but number {place} is one", place=place)
    parts = [x for x in tensors if x.shape != (0,)]
    dtype = _common_dtype(tensors)
    if not parts:
        integer(dim)
        return np.empty((0,), dtype)
    axis = normalize_dim(dim, parts[0].ndim)
    shape = parts[0].shape
    total = 0
    for place, x in enumerate(tensors):
        if x.shape == (0,):
            continue
        if x.ndim != len(shape) or any(
            a != b for d, (a, b) in enumerate(zip(x.shape, shape, strict=True)) if d != axis
        ):
            raise ShapeError(
                f"cat along dimension {axis} needs equal sizes elsewhere, but tensor {place} has "
                f"shape {x.shape} and the first one {shape}",
                place=place,
                shape=x.shape,
            )
        total += x.shape[axis]
    target = (*shape[:axis], total, *shape[axis + 1 :])
    result = _empty_joined(parts, target, dtype)
    np.concatenate(parts, axis=axis, out=result, casting="unsafe")
    return result


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """The tensors, all of one shape, side by side along a new dimension.

    Raises
    ------
    ShapeError
        If there is no tensor or the shapes differ.
    DimensionError
        If the new dimension cannot be at `dim`.
    """
    if not tensors:
        raise ShapeError("stack needs at least one tensor")
    shape = tensors[0].shape
    axis = normalize_dim(dim, len(shape) + 1)
    for place, x in enumerate(tensors):
        if x.shape != shape:
            raise ShapeError(
                f"stack needs tensors of one shape, but tensor {place} has {x.shape} and the "
                f"first one {shape}",
                place=place,
                shape=x.shape,
            )
    target = (*shape[:axis], len(tensors), *shape[axis:])
    dtype = _common_dtype(tensors)
    if axis < len(shape) and _are_channels_last(tensors):
        # In memory they follow one another along the dimension after the new one.
        joined = (*shape[:axis], len(tensors) * shape[axis], *shape[axis + 1 :])
        strides = view_strides(joined, channels_last_strides(joined), target)
        assert strides is not None
        result = empty_strided(dtype, target, strides)
    elif axis == len(shape) and _are_channels_last(tensors, (1,)):
        result = empty_strided(dtype, target, channels_last_strides(target))
    else:
        result = np.empty(target, dtype)
    np.stack(tensors, axis=axis, out=result, casting="unsafe")
    return result


def _common_dtype(tensors: Sequence[Array]) -> NumpyDType:
    """The promoted dtype of all tensors; here a 0-d tensor counts as much as any other."""
    dtype: NumpyDType = tensors[0].dtype
    for x in tensors[1:]:
        dtype = promote(dtype, x.dtype)
    return dtype


def _empty_joined(parts: Sequence[Array], shape: Shape, dtype: NumpyDType) -> Array:
    """A row-major array, or a channels-last one if all parts are."""
    if _are_channels_last(parts):
        return empty_strided(dtype, shape, channels_last_strides(shape))
    return np.empty(shape, dtype)


def _are_channels_last(parts: Sequence[Array], more: Shape = ()) -> bool:
    """Whether all parts are channels-last, with `more` last dimensions of size and stride 1."""
    return all(
        x.ndim + len(more) in (4, 5)
        and is_channels_last((*x.shape, *more), (*element_strides(layout_of_values(x)), *more))
        for x in parts
    )


# -- repeating and moving -------------------------------------------------------------------


def repeat(self: Array, repeats: Sequence[int]) -> Array:
    """The tensor tiled ``repeats[k]`` times along each dimension.

    With more repeats than dimensions, new dimensions come in front.

    Raises
    ------
    ShapeError
        If there are fewer repeats than dimensions, or one is negative.
    """
    if len(repeats) < self.ndim:
        raise ShapeError(
            f"repeat needs a count for each of {self.ndim} dimension(s), got {tuple(repeats)}",
            repeats=tuple(repeats),
            ndim=self.ndim,
        )
    counts = tuple(map(index, repeats))
    if any(count < 0 for count in counts):
        raise ShapeError(f"repeat's counts must not be negative, got {counts}", repeats=counts)
    lead = len(counts) - self.ndim
    sizes = (1,) * lead + self.shape
    target = tuple([count * size for count, size in zip(counts, sizes, strict=True)])
    # Each dimension occurs twice here.
    tiles = tuple([n for pair in zip(counts, sizes, strict=True) for n in pair])
    check_sizes(tiles, self.itemsize)
    result: Array = np.empty(target, self.dtype)
    one_tile = tuple([n for size in sizes for n in (1, size)])
    result.reshape(tiles)[...] = resolved(self).reshape(one_tile)
    return result


def roll(self: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None = ()) -> Array:
    """The elements shifted cyclically along dimensions, or in row-major order without `dims`.

    Raises
    ------
    ShapeError
        If shifts and dims differ in number, or there is no shift.
    DimensionError
        If the tensor has no such dimension.
    """
    given = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    steps = tuple(map(integer, given))
    where = dims or () if isinstance(dims, (tuple, list)) or dims is None else (dims,)
    axes = tuple(map(integer, where))
    if not steps:
        raise ShapeError("roll needs at least one shift")
    if len(steps) != len(axes) and not (len(steps) == 1 and not axes):
        raise ShapeError(
            f"roll needs a dimension for each shift, got shifts {steps} and dims {axes}",
            shifts=steps,
            dims=axes,
        )
    if self.size == 0:
        return clone(self)
    if not axes:
        rolled: Array = np.empty(self.shape, self.dtype)
        rolled.reshape(-1)[...] = np.roll(self.reshape(-1), steps[0])
        return rolled
    if self.ndim == 0:
        raise DimensionError("a 0-d tensor has no dimension to roll", dim=axes[0], ndim=0)
    places = tuple([normalize_dim(axis, self.ndim) for axis in axes])
    # PyTorch joins two parts at each step. An empty part is not channels-last.
    moved = all(step % self.shape[axis] for step, axis in zip(steps, places, strict=True))
    if moved:
        result = _empty_joined([self], self.shape, self.dtype)
    else:
        result = np.empty(self.shape, self.dtype)
    result[...] = np.roll(self, steps, places)
    return result


def flip(self: Array, dims: int | Sequence[int]) -> Array:
    """The elements in reverse order along dimensions.

    Raises
    ------
    ShapeError
        If a dimension comes twice.
    DimensionError
        If the tensor has no such dimension.
    """
    axes = tuple(
        [normalize_dim(d, self.ndim) for d in ((dims,) if isinstance(dims, int) else dims)]
    )
    if len(set(axes)) != len(axes):
        raise ShapeError(f"flip got a dimension more than once: {dims}", dims=dims)
    result = empty_like_preserving(self.dtype, self)
    result[...] = np.flip(resolved(self), tuple(axis for axis in axes if axis < self.ndim))
    return result


# -- triangles ------------------------------------------------------------------------------


def tril(self: Array, diagonal: int = 0) -> Array:
    """The lower triangles of the last two dimensions, zeros above `diagonal`."""
    _check_matrix(self, "tril")
    result: Array = np.empty(self.shape, self.dtype)
    result[...] = np.tril(self, _shift(self, diagonal))
    return result


def triu(self: Array, diagonal: int = 0) -> Array:
    """The upper triangles of the last two dimensions, zeros below `diagonal`."""
    _check_matrix(self, "triu")
    result: Array = np.empty(self.shape, self.dtype)
    result[...] = np.triu(self, _shift(self, diagonal))
    return result


def _shift(self: Array, diagonal: int) -> int:
    """The number of a diagonal, clipped to the size of the matrix."""
    furthest: int = max(self.shape[-2:])
    try:
        return max(-furthest, min(integer(diagonal), furthest))
    except TypeError:
        # A tensor without an integer; other types are refused before.
        raise ArgumentTypeError("argument 'diagonal' must be an integer") from None


def _check_matrix(self: Array, name: str) -> None:
    if self.ndim < 2:
        raise ShapeError(
            f"{name} needs at least 2 dimensions, got shape {self.shape}", shape=self.shape
        )

"""The largest, smallest and median elements, with and without their indices.

A nan counts as the extreme in every direction: if there is one, it is the result, with the index of
the first nan. Among equal elements the index is that of the first.
"""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import (
    DimensionError,
    DTypeError,
    NotSupportedError,
    OutOfRangeError,
    ShapeError,
    UnseenWriteError,
)
from vtgrad.ops.kernels.reductions.reduce import reduce_into
from vtgrad.ops.kernels.support.axes import reduced_shape, take_along
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.shapes import normalize_dim

__all__ = [
    "aminmax_dim",
    "argmax",
    "argmin",
    "checked_counts",
    "extreme",
    "max",
    "max_dim",
    "median",
    "median_dim",
    "min",
    "min_dim",
    "nanmedian",
    "nanmedian_dim",
]


def refuse_empty_axis(name: str, x: Array, axis: int) -> None:
    """Raise if there is nothing along an axis to choose from.

    Raises
    ------
    DimensionError
        If the size is 0.
    """
    if x.ndim and x.shape[axis] == 0:
        raise DimensionError(
            f"{name}() cannot reduce dimension {axis} of size 0 in shape {x.shape}",
            dim=axis,
            shape=x.shape,
        )


def _whole(name: str, ufunc: np.ufunc, x: Array) -> Array:
    if x.size == 0:
        raise ShapeError(f"{name}() of a tensor without elements needs a dim", shape=x.shape)
    if x.dtype.kind == "c":
        raise NotSupportedError(f"{name}() has no meaning for complex values", dtype=x.dtype)
    return reduce_into(ufunc, x, None, False, None)


def max(self: Array) -> Array:
    """Largest element of all."""
    return _whole("max", np.maximum, self)


def min(self: Array) -> Array:
    """Smallest element of all."""
    return _whole("min", np.minimum, self)


def _arg_along(x: Array, axis: int, keepdim: bool, largest: bool) -> Array:
    if x.ndim == 0:
        return making.zeros((), np.int64)
    indices = making.asarray(x.argmax(axis) if largest else x.argmin(axis))
    if keepdim:
        indices = indices.reshape(reduced_shape(x.shape, (axis,), True)).copy()
    return indices


def _along(name: str, x: Array, dim: int, keepdim: bool, largest: bool) -> tuple[Array, Array]:
    axis = normalize_dim(dim, x.ndim)
    refuse_empty_axis(name, x, axis)
    if x.dtype.kind == "c":
        raise DTypeError(f"{name}() has no meaning for complex values", dtype=x.dtype)
    values = reduce_into(np.maximum if largest else np.minimum, x, axis, keepdim, None)
    return values, _arg_along(x, axis, keepdim, largest)


def max_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Largest elements along `dim`, and their indices."""
    return _along("max", self, dim, keepdim, True)


def min_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """Smallest elements along `dim`, and their indices."""
    return _along("min", self, dim, keepdim, False)


def aminmax_dim(self: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    """Smallest and largest elements, of all or along `dim`."""
    if dim is not None:
        refuse_empty_axis("aminmax", self, normalize_dim(dim, self.ndim))
    elif self.size == 0:
        raise ShapeError("aminmax() of a tensor without elements needs a dim", shape=self.shape)
    if self.dtype.kind == "c":
        raise NotSupportedError("aminmax() has no meaning for complex values", dtype=self.dtype)
    low = reduce_into(np.minimum, self, dim, keepdim, None)
    return low, reduce_into(np.maximum, self, dim, keepdim, None)


def _arg(name: str, x: Array, dim: int | None, keepdim: bool, largest: bool) -> Array:
    if x.dtype.kind in "cb":
        raise DTypeError(f"{name}() has no meaning for {x.dtype} values", dtype=x.dtype)
    if dim is not None:
        axis = normalize_dim(dim, x.ndim)
        refuse_empty_axis(name, x, axis)
        return _arg_along(x, axis, keepdim, largest)
    if x.size == 0:
        raise OutOfRangeError(f"{name}() of a tensor without elements needs a dim", shape=x.shape)
    index = x.argmax() if largest else x.argmin()
    return making.full((1,) * x.ndim if keepdim else (), index, np.int64)


def argmax(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Indices of the largest elements along `dim`, or in the flattened tensor."""
    return _arg("argmax", self, dim, keepdim, True)


def argmin(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """Indices of the smallest elements along `dim`, or in the flattened tensor."""
    return _arg("argmin", self, dim, keepdim, False)


def _refuse_unordered(x: Array, name: str = "median") -> None:
    if x.dtype.kind in "cb":
        raise NotSupportedError(f"{name}() has no meaning for {x.dtype} values", dtype=x.dtype)


def _median_of_nothing(x: Array) -> Array:
    """nan, or the integer to which a nan is cast."""
    if x.dtype.kind == "b":
        return making.ones((), np.bool_)
    if x.dtype.kind == "c":
        return making.full((), complex(math.nan, 0.0), x.dtype)
    if x.dtype.kind == "f":
        return making.full((), math.nan, x.dtype)
    lowest = np.iinfo(np.int64 if x.dtype.itemsize == 8 else np.int32).min
    return making.full((), lowest, np.int64).astype(x.dtype)


def median(self: Array) -> Array:
    """The middle element of all, the lower one of two; nan if there is none, or a nan."""
    flat = self.reshape(-1)
    if flat.size == 0:
        return _median_of_nothing(flat)
    _refuse_unordered(self)
    middle = (flat.size - 1) // 2
    # The last index is partitioned as well, because nans are sorted to the end.
    parts: Array = np.partition(flat, (middle, flat.size - 1))
    last = parts[-1]
    return making.array(last if last != last else parts[middle])


def extreme(self: Array, dim: int, kind: str) -> Array:
    """The ``max``, ``min``, ``median`` or ``nanmedian`` along `dim`."""
    if kind == "median":
        return median_dim(self, dim)[0]
    if kind == "nanmedian":
        return nanmedian_dim(self, dim)[0]
    return _along(kind, self, dim, keepdim=False, largest=kind == "max")[0]


def median_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The middle elements along `dim`, the lower of two, and their indices."""
    axis = normalize_dim(dim, self.ndim)
    refuse_empty_axis("median", self, axis)
    _refuse_unordered(self)
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    order = np.argsort(self, axis, kind="stable")
    place = (self.shape[axis] - 1) // 2
    middle = order[(slice(None),) * axis + (slice(place, place + 1),)]
    nans = np.isnan(self) if self.dtype.kind == "f" else None
    if nans is not None and np.count_nonzero(nans):
        first = np.argmax(nans, axis, keepdims=True)
        middle = np.where(np.logical_or.reduce(nans, axis, keepdims=True), first, middle)
    return taken_at(self, middle, axis, keepdim)


def taken_at(x: Array, places: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """The elements at one place of each row, and the places, which have the dimension here."""
    shape = reduced_shape(x.shape, (axis,), keepdim)
    values: Array = making.empty(shape, x.dtype)
    indices: Array = making.empty(shape, np.int64)
    values[...] = take_along(x, places, axis).reshape(shape)
    indices[...] = places.reshape(shape)
    return values, indices


def nanmedian(self: Array) -> Array:
    """The middle element of those that are no nan, the lower one of two; nan if all are."""
    return median(self[~np.isnan(self)] if self.dtype.kind == "f" else self)


def nanmedian_dim(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The middle elements along `dim` of those that are no nan, and their indices."""
    axis = normalize_dim(dim, self.ndim)
    refuse_empty_axis("nanmedian", self, axis)
    _refuse_unordered(self, "nanmedian")
    if self.ndim == 0:
        return self.copy(), making.zeros((), np.int64)
    # A nan stands behind all numbers.
    order = np.argsort(self, axis, kind="stable")
    count = np.add.reduce(self == self, axis, np.int64, keepdims=True)
    middle = np.maximum(count - 1, 0) // 2
    return taken_at(self, take_along(order, middle, axis), axis, keepdim)


def checked_counts(self: Array, extreme: Array) -> Array:
    """A copy of the numbers of elements that are equal to an extreme value of them.

    Raises
    ------
    UnseenWriteError
        If there is none, though the value is a number: then one of the two was overwritten.
    """
    shapes = self.shape, extreme.shape
    # The shapes differ where only one of the two is a batch.
    counts = (
        self if shapes[0] == shapes[1] else making.broadcast_to(self, np.broadcast_shapes(*shapes))
    )
    counts = counts.copy()
    if not counts.all() and ((counts == 0) & (extreme == extreme)).any():
        raise UnseenWriteError(
            "backward of an extreme value (max, min, median, amax, an infinite norm) finds no "
            "element that is equal to it, so the elements or the value have changed, by a write "
            "that did not pass through the library. Writes through NumPy arrays on the memory and "
            'through .data are of that kind; set_audit("lock") makes such arrays read-only, so '
            "that the line that writes raises",
            node=None,
            shape=extreme.shape,
        )
    return counts

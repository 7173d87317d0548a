# Compiled by mypyc.
"""Dimension numbers: checking them, and the shapes of reductions."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.calling.types import Dims
from vtgrad.storage import making
from vtgrad.storage.argument_types import AnyInt
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim, normalize_dims
from vtgrad.storage.strides import MAX_DIMS

__all__ = [
    "axes_of",
    "axis_first",
    "axis_last",
    "diagonal_within",
    "in_dtype",
    "put_along",
    "reduced_shape",
    "take_along",
]


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce, counted from the front; all by default.

    Raises
    ------
    DimensionError
        If one of them does not exist.
    ShapeError
        If one is given twice.
    """
    if isinstance(dim, int):
        if 0 <= dim < ndim:
            return (dim,)
        axis = normalize_dim(dim, ndim)
        return (axis,) if ndim else ()
    if dim is None:
        return tuple(range(ndim))
    axes = normalize_dims(dim, ndim)
    if not axes or ndim == 0:
        return tuple(range(ndim))
    return axes


def reduced_shape(shape: Shape, axes: tuple[int, ...], keepdim: bool) -> Shape:
    """The shape after reducing `axes`, each left as size 1 if `keepdim`."""
    if keepdim:
        return tuple([1 if d in axes else n for d, n in enumerate(shape)])
    return tuple([n for d, n in enumerate(shape) if d not in axes])


def diagonal_within(shape: Shape, offset: AnyInt, first: int, second: int) -> int:
    """The offset of a diagonal of two dimensions; for an empty diagonal, of the nearest one.

    NumPy takes no offsets of more than 32 bits.
    """
    number = integer(offset)
    return max(-shape[first], number) if number < 0 else min(shape[second], number)


def axis_first(x: Array, axis: int) -> Array:
    """A view whose first dimension is `axis`; the others keep their order."""
    if not axis:
        return x
    return x.transpose((axis, *range(axis), *range(axis + 1, x.ndim)))


def axis_last(x: Array, axis: int) -> Array:
    """A view whose last dimension is `axis`; the others keep their order."""
    if axis == x.ndim - 1:
        return x
    return x.transpose((*range(axis), *range(axis + 1, x.ndim), axis))


def take_along(x: Array, indices: Array, axis: int) -> Array:
    """`numpy.take_along_axis`, also with as many dimensions as an array can have."""
    shape = indices.shape
    ndim = len(shape)
    if ndim == MAX_DIMS:
        axis, (x, indices) = _without_ones(axis, x, indices)
        far: Array = np.take_along_axis(x, indices, axis)
        return far.reshape(shape)
    x, indices = resolved(x), resolved(indices)
    if ndim == 1:
        return making.asarray(x[indices])
    # NumPy's function does the same, and takes three times as long for a small array.
    at = [
        indices if d == axis else making.arange(n).reshape((1,) * d + (n,) + (1,) * (ndim - d - 1))
        for d, n in enumerate(x.shape)
    ]
    taken: Array = x[tuple(at)]
    return taken


def put_along(x: Array, indices: Array, values: Array, axis: int) -> None:
    """`numpy.put_along_axis`, also with as many dimensions as an array can have."""
    if x.ndim == MAX_DIMS:
        axis, (x, indices, values) = _without_ones(axis, x, indices, values)
    np.put_along_axis(x, indices, values, axis)


def _without_ones(axis: int, *arrays: Array) -> tuple[int, list[Array]]:
    """Arrays without the dimensions other than `axis` in which the first one has size 1.

    NumPy allows one index array less than it allows dimensions. But with so many dimensions most
    have size 1, because memory is finite.
    """
    shape = arrays[0].shape
    ones = tuple([d for d, n in enumerate(shape) if n == 1 and d != axis])
    return axis - sum(d < axis for d in ones), [x.squeeze(ones) for x in arrays]


def in_dtype(x: Array, dtype: NumpyDType) -> Array:
    """`x` in `dtype`, itself if it has that dtype; complex to real keeps the real part."""
    if x.dtype is dtype or x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    r: Array = making.asarray(x.astype(dtype))
    return r

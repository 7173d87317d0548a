"""Dimension numbers: checking them, and the shapes that reductions leave."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.types import Dims
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.shapes import normalize_dim, normalize_dims

__all__ = ["axes_of", "in_dtype", "reduced_shape"]


def axes_of(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce, counted from the front; none given means all.

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


def in_dtype(x: Array, dtype: NumpyDType) -> Array:
    """`x` in `dtype`, itself if it has it already; complex to real keeps the real part."""
    if x.dtype is dtype or x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    r: Array = np.asarray(x.astype(dtype))
    return r

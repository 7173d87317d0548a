"""Tensors joined along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentValueError, ShapeError
from vtgrad.ops.kernels.support.result_strides import (
    element_strides,
    empty_strided,
    with_strides_of_values,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType, Shape
from vtgrad.storage.geometry import normalize_dim, view_strides
from vtgrad.storage.integers import integer
from vtgrad.storage.promotion import promote
from vtgrad.storage.strides import channels_last_strides, is_channels_last

__all__ = ["cat", "stack"]


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
    alike = tensors[0].shape
    if 0 < len(alike) < 4 and alike != (0,) and _are_alike(tensors):
        axis = normalize_dim(dim, len(alike))
        sizes = (*alike[:axis], len(tensors) * alike[axis], *alike[axis + 1 :])
        joined: Array = making.empty(sizes, tensors[0].dtype)
        np.concatenate(tensors, axis, joined)
        return joined
    for nr, x in enumerate(tensors):
        if x.ndim == 0:
            raise ShapeError(
                f"cat joins along a dimension, and part {nr} is a 0-d tensor or a number, which "
                "has none: pass it as reshape(1) of a tensor, or call hstack",
                position=nr,
            )
    parts = [x for x in tensors if x.shape != (0,)]
    dtype = _common_dtype(tensors)
    if not parts:
        integer(dim)
        return making.empty((0,), dtype)
    axis = normalize_dim(dim, parts[0].ndim)
    shape = parts[0].shape
    total = 0
    for nr, x in enumerate(tensors):
        if x.shape == (0,):
            continue
        if x.ndim != len(shape) or any(
            a != b for d, (a, b) in enumerate(zip(x.shape, shape, strict=True)) if d != axis
        ):
            raise ShapeError(
                f"cat along dimension {axis} needs equal sizes elsewhere, but tensor {nr} has "
                f"shape {x.shape} and the first one {shape}",
                position=nr,
                shape=x.shape,
            )
        total += x.shape[axis]
    target = (*shape[:axis], total, *shape[axis + 1 :])
    result = empty_joined(parts, target, dtype)
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
    for nr, x in enumerate(tensors):
        if x.shape != shape:
            raise ShapeError(
                f"stack needs tensors of one shape, but tensor {nr} has {x.shape} and the "
                f"first one {shape}",
                position=nr,
                shape=x.shape,
            )
    target = (*shape[:axis], len(tensors), *shape[axis:])
    dtype = _common_dtype(tensors)
    if not axis and 0 < len(shape) < 4 and 0 not in shape and _are_alike(tensors):
        # NumPy's `stack` is made of this, and takes three times as long.
        owner = making.empty(target, dtype)
        np.concatenate(tensors, out=owner.reshape(-1, *shape[1:]))
        return owner
    if axis < len(shape) and _are_channels_last(tensors):
        # In memory they follow one another along the dimension after the new one.
        joined = (*shape[:axis], len(tensors) * shape[axis], *shape[axis + 1 :])
        strides = view_strides(joined, channels_last_strides(joined), target)
        assert strides is not None
        result = empty_strided(dtype, target, strides)
    elif axis == len(shape) and _are_channels_last(tensors, (1,)):
        result = empty_strided(dtype, target, channels_last_strides(target))
    else:
        result = making.empty(target, dtype)
    np.stack(tensors, axis=axis, out=result, casting="unsafe")
    return result


def _common_dtype(tensors: Sequence[Array]) -> NumpyDType:
    """The promoted dtype of all tensors; here a 0-d tensor counts as much as any other."""
    dtype: NumpyDType = tensors[0].dtype
    for x in tensors[1:]:
        dtype = promote(dtype, x.dtype)
    return dtype


def _are_alike(tensors: Sequence[Array]) -> bool:
    """Whether all are plain arrays of one shape and dtype."""
    first = tensors[0]
    shape, dtype = first.shape, first.dtype
    for x in tensors:
        if x.shape != shape or x.dtype is not dtype or type(x) not in PLAIN:
            return False
    return True


def empty_joined(parts: Sequence[Array], shape: Shape, dtype: NumpyDType) -> Array:
    """A row-major array, or a channels-last one if all parts are."""
    if _are_channels_last(parts):
        return empty_strided(dtype, shape, channels_last_strides(shape))
    return making.empty(shape, dtype)


def _are_channels_last(parts: Sequence[Array], more: Shape = ()) -> bool:
    """Whether all parts are channels-last, with `more` last dimensions of size and stride 1."""
    return all(
        x.ndim + len(more) in (4, 5)
        and is_channels_last(
            (*x.shape, *more), (*element_strides(with_strides_of_values(x)), *more)
        )
        for x in parts
    )

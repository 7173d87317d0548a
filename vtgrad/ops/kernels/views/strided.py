"""Storing a part in a whole: gradients of views, and the scatters that are their derivatives.

A view's gradient is zero outside the view. For named views it is written through the same NumPy
view; for `as_strided`, whose elements may repeat and be anywhere in the storage, through a copy of
the storage.

Note [Gradient of as_strided]
Elements are memory positions here. The gradient of a position is the sum over all output elements
at it. It goes to the input elements at that position. Several input elements at one position (an
expanded input) are one value, and each gets an equal share, so that their sum, as in the gradient
of expand, is the position's gradient again. Output elements outside the input's positions belong to
no input element.
"""

from __future__ import annotations

from types import EllipsisType

import numpy as np

from vtgrad.errors import OptionValueError, OutOfRangeError, SelfOverlapError, ShapeError
from vtgrad.ops.kernels.copying.copies import clone
from vtgrad.ops.kernels.copying.fill import copy_
from vtgrad.ops.kernels.support.axes import diagonal_within
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.geometry import (
    Geometry,
    has_self_overlap,
    normalize_dim,
    reach,
    select_geometry,
    slice_bounds,
    slice_of,
)
from vtgrad.storage.integers import integer
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.prepared_store import carry_out

__all__ = [
    "as_strided_backward",
    "as_strided_forward",
    "as_strided_scatter_at",
    "diagonal_backward",
    "diagonal_scatter",
    "select_backward",
    "select_scatter",
    "slice_backward",
    "slice_scatter",
    "unfold_backward",
]


# -- one part of one dimension --------------------------------------------------------------


def select_backward(grad: Array, input_sizes: Shape, dim: int, index: int) -> Array:
    """Zeros of `input_sizes` with `grad` at one index of a dimension."""
    result: Array = making.zeros(input_sizes, grad.dtype)
    _selected(result, dim, index)[...] = resolved(grad)
    return result


def select_scatter(self: Array, src: Array, dim: int, index: int) -> Array:
    """A copy with `src` at one index of a dimension."""
    result = clone(self)
    part = _selected(result, dim, index)
    _check_part(part, src, "select_scatter")
    carry_out(copy_(part, src))
    return result


def slice_backward(
    grad: Array, input_sizes: Shape, dim: int, start: int | None, end: int | None, step: int
) -> Array:
    """Zeros of `input_sizes` with `grad` in a range of a dimension."""
    result: Array = making.zeros(input_sizes, grad.dtype)
    _sliced(result, dim, start, end, step)[...] = resolved(grad)
    return result


def slice_scatter(
    self: Array,
    src: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """A copy with `src` in a range of a dimension."""
    result = clone(self)
    part = _sliced(result, dim, start, end, step)
    _check_part(part, src, "slice_scatter")
    carry_out(copy_(part, src))
    return result


def _selected(array: Array, dim: int, index: int) -> Array:
    """A writable NumPy view of one index of a dimension, also when that leaves 0 dimensions."""
    select_geometry(array.shape, array.strides, 0, dim, index)
    axis = normalize_dim(dim, array.ndim)
    whole: list[slice | int | EllipsisType] = [slice(None)] * axis
    part: Array = array[(*whole, index, ...)]
    return part


def _sliced(array: Array, dim: int, start: int | None, end: int | None, step: int) -> Array:
    if not array.ndim:
        raise OutOfRangeError("a 0-d tensor has no dimension to slice", ndim=0)
    axis, step = normalize_dim(dim, array.ndim), integer(step)
    if step == 0:
        raise OptionValueError("the step of a slice must not be zero", step=step)
    first, count = slice_bounds(array.shape[axis], start, end, step)
    part: Array = array[(*[slice(None)] * axis, slice_of(first, count, step))]
    return part


def _check_part(part: Array, src: Array, name: str) -> None:
    if part.shape != src.shape:
        raise ShapeError(
            f"{name} needs a source of shape {part.shape}, got {src.shape}",
            expected=part.shape,
            found=src.shape,
        )


# -- diagonals and windows ------------------------------------------------------------------


def diagonal_backward(grad: Array, input_sizes: Shape, offset: int, dim1: int, dim2: int) -> Array:
    """Zeros of `input_sizes` with `grad` on a diagonal."""
    result: Array = making.zeros(input_sizes, grad.dtype)
    _diagonal(result, offset, dim1, dim2)[...] = resolved(grad)
    return result


def diagonal_scatter(
    self: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Array:
    """A copy with `src` on a diagonal."""
    result = clone(self)
    part = _diagonal(result, offset, dim1, dim2)
    _check_part(part, src, "diagonal_scatter")
    carry_out(copy_(part, src))
    return result


def _diagonal(array: Array, offset: int, dim1: int, dim2: int) -> Array:
    """A writable NumPy view of a diagonal: NumPy's own one is read-only."""
    first, second = normalize_dim(dim1, array.ndim), normalize_dim(dim2, array.ndim)
    if first == second:  # for 0-d tensors
        raise ShapeError(
            f"a diagonal needs two different dimensions, got {dim1} and {dim2}",
            dim1=dim1,
            dim2=dim2,
        )
    offset = diagonal_within(array.shape, offset, first, second)
    part: Array = np.diagonal(array, offset, first, second)
    part.flags.writeable = True
    return part


def unfold_backward(grad: Array, input_sizes: Shape, dim: int, size: int, step: int) -> Array:
    """Zeros of `input_sizes` with every window's gradient added at the window."""
    if not input_sizes:
        return making.asarray(grad.sum(), grad.dtype)
    axis = normalize_dim(dim, len(input_sizes))
    result: Array = making.zeros(input_sizes, grad.dtype)
    windows = grad.shape[axis]
    lead = (slice(None),) * axis
    # One addition for each position in the window: no element repeats within an addition.
    for offset in range(size):
        result[(*lead, slice(offset, offset + (windows - 1) * step + 1, step))] += grad[..., offset]
    return result


# -- as_strided -----------------------------------------------------------------------------


def as_strided_backward(grad: Array, input_geometry: Geometry, output_geometry: Geometry) -> Array:
    """The gradient of ``as_strided``'s input.

    Parameters
    ----------
    grad : ndarray
        The gradient, of the output's sizes.
    input_geometry, output_geometry : tuple
        Sizes, strides and storage offset of both, in one storage.

    Returns
    -------
    ndarray
        The gradient, of the input's sizes. See Note [Gradient of as_strided].
    """
    sizes, strides, _ = input_geometry
    memory, low = _memory(grad.dtype, input_geometry, output_geometry)
    if grad.size:
        _add_through(memory, _shifted(output_geometry, low), grad)
    if has_self_overlap(sizes, strides):
        count: Array = making.zeros(memory.shape, np.int64)
        _add_through(count, _shifted(input_geometry, low), making.ones(sizes, np.int64))
        np.copyto(memory, memory / np.maximum(count, 1), casting="same_kind")
    return making.array(_window(memory, _shifted(input_geometry, low)), order="C")


def as_strided_scatter_at(
    self: Array, src: Array, input_geometry: Geometry, output_geometry: Geometry
) -> Array:
    """A copy of the input with `src` at the memory positions of a geometry.

    Positions outside the input are dropped.

    Raises
    ------
    ShapeError
        If `src` does not have the sizes of `output_geometry`.
    SelfOverlapError
        If that geometry names a position twice: the remaining value would be undefined.
    """
    if src.shape != output_geometry[0]:
        raise ShapeError(
            f"as_strided_scatter needs a source of shape {output_geometry[0]}, got {src.shape}",
            expected=output_geometry[0],
            found=src.shape,
        )
    if has_self_overlap(output_geometry[0], output_geometry[1]):
        raise SelfOverlapError(
            "as_strided_scatter cannot store at a geometry that names positions twice",
            sizes=output_geometry[0],
            strides=output_geometry[1],
        )
    memory, low = _memory(self.dtype, input_geometry, output_geometry)
    _window(memory, _shifted(input_geometry, low))[...] = resolved(self)
    carry_out(copy_(_window(memory, _shifted(output_geometry, low)), src))
    result = clone(self)
    result[...] = _window(memory, _shifted(input_geometry, low))
    return result


def _memory(dtype: NumpyDType, *geometries: Geometry) -> tuple[Array, int]:
    """Zeros for every position that the geometries reach, and the position of the first."""
    spans = [reach(*g) for g in geometries if 0 not in g[0]]
    if not spans:
        return making.zeros(1, dtype), 0
    low = min(first for first, _ in spans)
    high = max(last for _, last in spans)
    return making.zeros(high - low + 1, dtype), low


def _shifted(geometry: Geometry, low: int) -> Geometry:
    sizes, strides, offset = geometry
    return (sizes, strides, 0 if 0 in sizes else offset - low)


def _window(memory: Array, geometry: Geometry) -> Array:
    """The NumPy view of a geometry inside `memory`, which was made to contain it."""
    sizes, strides, offset = geometry
    step = memory.itemsize
    view: Array = making.ndarray(
        sizes, memory.dtype, memory, offset * step, tuple([s * step for s in strides])
    )
    return view


def _add_through(memory: Array, geometry: Geometry, values: Array) -> None:
    """Add values to the positions of a geometry, repeated ones included."""
    sizes, strides, offset = geometry
    if not has_self_overlap(sizes, strides):
        _window(memory, geometry)[...] += values
        return
    positions: Array = making.full(sizes, offset, np.int64)
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[dim] = size
        positions += (making.arange(size) * stride).reshape(shape)
    np.add.at(memory, positions.reshape(-1), values.reshape(-1))


def as_strided_forward(grad: Array, input_geometry: Geometry, output_geometry: Geometry) -> Array:
    """`as_strided` of an input that holds `grad`: zeros outside of the input's positions.

    Several input elements at one position are one value, and the position has the mean of their
    gradients; see Note [Gradient of as_strided].
    """
    memory, low = _memory(grad.dtype, input_geometry, output_geometry)
    count = making.zeros_like(memory)
    _add_through(memory, _shifted(input_geometry, low), grad)
    _add_through(count, _shifted(input_geometry, low), making.ones_like(grad))
    np.divide(memory, count, out=memory, where=count != 0)
    result: Array = making.array(_window(memory, _shifted(output_geometry, low)))
    return result

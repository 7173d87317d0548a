"""Indexing ``x[...]``, ``x[...] = value``, and functions that choose among overloads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, ShapeError
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.functions import gradient_edge
from vtgrad.graph.recording import is_grad_enabled
from vtgrad.ops.composites.shaping import numbers
from vtgrad.ops.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.basic_index import (
    Alias,
    IndexPlan,
    Select,
    Slice,
    Unsqueeze,
    ViewStep,
    parse_index,
)
from vtgrad.ops.kernels.scalars import as_element
from vtgrad.storage.arrays import Array, Number, Shape
from vtgrad.storage.geometry import broadcast_shapes, normalize_dim
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.unchecked import AnyBool, AnyInt, AnyTensor, T

__all__ = [
    "fill_",
    "flip",
    "fliplr",
    "flipud",
    "getitem",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "masked_fill",
    "masked_fill_",
    "repeat",
    "scatter",
    "scatter_",
    "setitem",
    "take_along_dim",
    "tile",
]


# -- x[...] ---------------------------------------------------------------------------------


def getitem(tensor: T, expression: object) -> T:
    """What ``tensor[expression]`` means.

    Integers, slices, None and ``...`` give a view. Index arrays, lists and masks give a copy.

    Raises
    ------
    OutOfRangeError
        If an index is outside its dimension, there are too many, or something cannot index.
    """
    if type(expression) is int:
        # Much the most frequent case; the operator checks the range itself.
        return F.select(tensor, 0, expression)
    part = _basic_part(tensor, expression)
    if part is not None:
        return part
    plan = parse_index(expression, tensor.shape, _array_of)
    part = _through(tensor, plan.steps)
    if not plan.indices:
        return part
    indices, places = _index_tensors(tensor, plan)
    return F.index_at(part, indices, places)


def setitem(tensor: T, expression: object, value: object) -> None:
    """What ``tensor[expression] = value`` means.

    Parameters
    ----------
    value : tensor or number
        Broadcast to the part; leading dimensions of size 1 that are too many do not matter.

    Raises
    ------
    OutOfRangeError
        If an index is outside its dimension, there are too many, or something cannot index.
    ArgumentTypeError
        If `value` is neither a tensor nor a number.
    ShapeError
        If it does not broadcast.
    """
    if type(expression) is int:
        # Much the most frequent case; the operator checks the range itself.
        _store(F.select(tensor, 0, expression), _value_for(tensor, value))
        return
    place = _basic_part(tensor, expression, write=True)
    if place is not None:
        _store(place, _value_for(tensor, value))
        return
    plan = parse_index(expression, tensor.shape, _array_of, write=True)
    source = _value_for(tensor, value)
    if plan.nothing:
        return
    part = tensor if _is_whole(tensor, plan.steps) else _through(tensor, plan.steps)
    if plan.indices:
        indices, places = _index_tensors(tensor, plan)
        if len(indices) == 1 and source.numel() == 1:
            _check_mask_dtype(plan.sources[-1])
            if indices[0]._impl.dtype == np.bool_:
                source = _read_first(source, tensor)
        if source.shape[:1] == (1,):
            source = F.view_shape(source, _without_leading_ones(source.shape))
        F.index_put_at_(part, indices, places, source)
    else:
        _store(part, source)


def _basic_part(tensor: T, expression: object, *, write: bool = False) -> T | None:
    """What a slice, or a tuple of integers and slices, names; None if it is anything else.

    Also None for what is wrong with them: `parse_index` says it. To `write`, the whole tensor is
    the tensor itself.
    """
    if type(expression) is slice:
        step = expression.step
        if step is None:
            step = 1
        elif type(step) is not int:
            return None
        start, stop = expression.start, expression.stop
        if (start is None or type(start) is int) and (stop is None or type(stop) is int):
            if write and step == 1 and not start and tensor.ndim:
                if stop is None or stop >= tensor._impl.array.shape[0]:
                    return tensor
            return F.slice(tensor, 0, start, stop, step)
        return None
    if type(expression) is not tuple:
        return None
    sizes: Shape = tensor._impl.array.shape
    if not 0 < len(expression) <= len(sizes):
        return None
    for part, size in zip(expression, sizes, strict=False):
        if type(part) is int:
            known = -size <= part < size
        else:
            known = (
                type(part) is slice
                and part.step is None
                and (part.start is None or type(part.start) is int)
                and (part.stop is None or type(part.stop) is int)
            )
        if not known:
            return None
    view, dim = tensor, 0
    for part, size in zip(expression, sizes, strict=False):
        if type(part) is int:
            view = F.select(view, dim, part)
        else:
            if part.start or (part.stop is not None and part.stop < size):
                view = F.slice(view, dim, part.start, part.stop)
            dim += 1
    return F.alias(tensor) if view is tensor and not write else view


def _store(part: TensorBase, source: TensorBase) -> None:
    """Overwrite a view with a value that broadcasts to it."""
    if source.shape == part.shape:
        F.copy_(part, source)
    elif source.ndim == 0:
        F.fill_tensor_(part, _read_first(source, part))
    else:
        source = F.view_shape(source, _without_leading_ones(source.shape))
        if source.shape != part.shape:
            source = F.expand_sizes(source, part.shape)
        F.copy_(part, source)


def _array_of(part: object) -> Array | None:
    return part._impl.array if isinstance(part, TensorBase) else None


def _through(tensor: T, steps: Sequence[ViewStep]) -> T:
    """The view that the steps lead to."""
    for step in steps:
        if isinstance(step, Select):
            tensor = F.select(tensor, step.dim, step.index)
        elif isinstance(step, Slice):
            tensor = F.slice(tensor, step.dim, step.start, step.stop, step.step)
        elif isinstance(step, Unsqueeze):
            tensor = F.unsqueeze(tensor, step.dim)
        else:
            tensor = F.alias(tensor)
    return tensor


def _is_whole(tensor: TensorBase, steps: Sequence[ViewStep]) -> bool:
    """Whether the steps give the tensor itself: a write then needs no view."""
    if len(steps) != 1:
        return not steps
    step = steps[0]
    if isinstance(step, Slice):
        whole = step.stop is None or step.stop >= tensor.shape[0]
        return step.dim == 0 and step.step == 1 and not step.start and whole
    return isinstance(step, Alias)


def _index_tensors(tensor: T, plan: IndexPlan) -> tuple[list[TensorBase], tuple[int, ...]]:
    """The index arrays as tensors, and where they stand."""
    indices: list[TensorBase] = []
    places: list[int] = []
    for place, (array, source) in enumerate(zip(plan.indices, plan.sources, strict=True)):
        if array is None:
            continue
        if isinstance(source, TensorBase) and source._impl.array is array:
            indices.append(source)
        else:
            indices.append(tensor._wrap(TensorImpl(array)))
        places.append(place)
    return indices, tuple(places)


def _read_first(value: T, target: object) -> T:
    """The value as it is before `target` is written, if they share memory.

    The result has the value's producer, so that nothing of this is seen in the graph.
    """
    if not isinstance(target, TensorBase):
        return value  # the operator says what is wrong
    if value._impl.shares_storage_lazily or value._impl.storage is not target._impl.storage:
        return value
    twin = wrap_like(value, value._impl.array.copy())
    edge = gradient_edge(value) if is_grad_enabled() else None
    if edge is not None:
        twin._impl.autograd_meta = AutogradMeta.of_edge(edge)
    return twin


def _check_mask_dtype(index: object) -> None:
    """Refuse uint8 masks where one value is stored: that is `masked_fill_`, which needs bool."""
    if isinstance(index, TensorBase) and index._impl.dtype == np.uint8:
        raise DTypeError("one value is stored through a mask of bool, not of uint8", found="uint8")


def _value_for(tensor: T, value: object) -> TensorBase:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, float, complex)):
        return wrap_like(tensor, as_element(value, tensor._impl.array.dtype))
    raise ArgumentTypeError(
        f"a tensor or a number can be stored in a tensor, not {type(value).__name__}", value=value
    )


def _without_leading_ones(sizes: Shape) -> Shape:
    """A shape without its first dimensions of size 1: they do not matter in ``x[...] = value``."""
    first = next((place for place, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[first:]


# -- index arrays ---------------------------------------------------------------------------


@explained
def index_put(
    input: T, indices: Sequence[TensorBase], values: AnyTensor, accumulate: AnyBool = False
) -> T:
    """A copy with values stored at, or added to, the elements at index arrays.

    Parameters
    ----------
    indices : sequence of tensor
        One for each of the first dimensions; masks cover as many as they have.
    values : tensor
        Of the same dtype; broadcast to what the indices name.
    accumulate : bool
        Whether to add; then an element that is named twice gets both values.
    """
    return F.index_put_at(input, list(indices), _places(indices), values, accumulate)


@explained
def index_put_(
    input: T, indices: Sequence[TensorBase], values: AnyTensor, accumulate: AnyBool = False
) -> T:
    """`index_put` into the tensor itself."""
    return F.index_put_at_(input, list(indices), _places(indices), values, accumulate)


def _places(indices: Sequence[TensorBase]) -> tuple[int, ...]:
    """The dimension at which each index array stands."""
    if not indices:
        raise ShapeError("index_put needs at least one index array")
    return tuple(range(len(indices)))


@explained
def take_along_dim(input: T, indices: AnyTensor, dim: AnyInt | None = None) -> T:
    """`gather` with broadcasting; of the flattened tensors without `dim`.

    Raises
    ------
    ShapeError
        If the numbers of dimensions differ.
    """
    if dim is None:
        return F.gather(F.reshape(input, -1), 0, F.reshape(indices, -1))
    if input.ndim != indices.ndim:
        raise ShapeError(
            f"take_along_dim needs as many dimensions, got {input.ndim} and {indices.ndim}",
            ndim=input.ndim,
            indices_ndim=indices.ndim,
        )
    axis = normalize_dim(dim, input.ndim)
    shape, other = list(input.shape), list(indices.shape)
    length, count = shape[axis], other[axis]
    shape[axis] = other[axis] = 1
    common = list(broadcast_shapes(tuple(shape), tuple(other)))
    before, after = common[:axis], common[axis + 1 :]
    return F.gather(
        F.expand_sizes(input, (*before, length, *after)),
        axis,
        F.expand_sizes(indices, (*before, count, *after)),
    )


# -- overloads ------------------------------------------------------------------------------


def fill_(input: T, value: AnyTensor | Number) -> T:
    """Set every element to a number, or to the value of a 0-d tensor."""
    if isinstance(value, TensorBase):
        return F.fill_tensor_(input, _read_first(value, input))
    return F.fill_number_(input, value)


def masked_fill(input: T, mask: AnyTensor, value: AnyTensor | Number) -> T:
    """A copy with one value wherever a mask is true.

    Parameters
    ----------
    mask : tensor of bool
        Broadcast with the tensor.
    value : number or 0-d tensor
        Must be storable in the tensor's dtype.
    """
    if isinstance(value, TensorBase):
        return F.masked_fill_tensor(input, mask, value)
    return F.masked_fill_number(input, mask, value)


def masked_fill_(input: T, mask: AnyTensor, value: AnyTensor | Number) -> T:
    """`masked_fill` of the tensor itself; the mask must broadcast to its shape."""
    if isinstance(value, TensorBase):
        return F.masked_fill_tensor_(input, mask, _read_first(value, input))
    return F.masked_fill_number_(input, mask, value)


def index_fill(input: T, dim: AnyInt, index: AnyTensor, value: AnyTensor | Number) -> T:
    """A copy with one value in the slices at a vector of indices."""
    if isinstance(value, TensorBase):
        return F.index_fill_tensor(input, dim, index, value)
    return F.index_fill_number(input, dim, index, value)


def index_fill_(input: T, dim: AnyInt, index: AnyTensor, value: AnyTensor | Number) -> T:
    """`index_fill` of the tensor itself."""
    if isinstance(value, TensorBase):
        return F.index_fill_tensor_(input, dim, index, _read_first(value, input))
    return F.index_fill_number_(input, dim, index, value)


def scatter(
    input: T,
    dim: AnyInt,
    index: AnyTensor,
    src: AnyTensor | Number | None = None,
    *,
    value: Number | None = None,
) -> T:
    """A copy with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on.

    Parameters
    ----------
    src : Tensor or number
        What to store.
    value : number
        The same, by keyword.
    """
    src = _one_of(src, value, "scatter")
    if isinstance(src, TensorBase):
        return F.scatter_src(input, dim, index, src)
    return F.scatter_value(input, dim, index, src)


def scatter_(
    input: T,
    dim: AnyInt,
    index: AnyTensor,
    src: AnyTensor | Number | None = None,
    *,
    value: Number | None = None,
) -> T:
    """`scatter` into the tensor itself."""
    src = _one_of(src, value, "scatter_")
    if isinstance(src, TensorBase):
        return F.scatter_src_(input, dim, index, src)
    return F.scatter_value_(input, dim, index, src)


def _one_of(src: AnyTensor | Number | None, value: Number | None, name: str) -> TensorBase | Number:
    given = src if value is None else value
    if given is None or (src is not None and value is not None):
        raise ArgumentTypeError(f"{name} needs either src or value", argument="src")
    return given


# -- sequences of integers ------------------------------------------------------------------


@explained
def repeat(input: T, *counts: int | Sequence[int], repeats: Sequence[int] | None = None) -> T:
    """The tensor tiled along each dimension; more counts than dimensions add new ones in front."""
    return F.repeat_tiles(input, numbers(counts, repeats, "repeat"))


@explained
def tile(input: T, *counts: int | Sequence[int], dims: Sequence[int] | None = None) -> T:
    """`repeat`, with missing counts taken for 1."""
    repeats = numbers(counts, dims, "tile")
    return F.repeat_tiles(input, (1,) * (input.ndim - len(repeats)) + repeats)


def flip(input: T, *axes: int | Sequence[int], dims: int | Sequence[int] | None = None) -> T:
    """A copy with the elements in reverse order along dimensions."""
    return F.flip_dims(input, numbers(axes, dims, "flip"))


@explained
def fliplr(input: T) -> T:
    """A copy with dimension 1 in reverse order."""
    if input.ndim < 2:
        raise ShapeError(f"fliplr needs at least 2 dimensions, got {input.ndim}", ndim=input.ndim)
    return F.flip_dims(input, (1,))


@explained
def flipud(input: T) -> T:
    """A copy with dimension 0 in reverse order."""
    if input.ndim < 1:
        raise ShapeError("flipud needs at least 1 dimension, got a 0-d tensor", ndim=0)
    return F.flip_dims(input, (0,))

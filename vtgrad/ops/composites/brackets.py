"""Indexing ``x[...]`` and ``x[...] = value``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError
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
from vtgrad.ops.read_first import read_first
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.tensor_base import TensorBase, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.unchecked import T

__all__ = ["getitem", "setitem"]


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
                source = read_first(source, tensor)
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
        F.fill_tensor_(part, read_first(source, part))
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

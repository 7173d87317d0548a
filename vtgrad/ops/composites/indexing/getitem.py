# Compiled by mypyc.
"""Indexing ``x[...]`` and ``x[...] = value``."""

from __future__ import annotations

from collections.abc import Sequence
from threading import get_ident
from typing import Final

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError
from vtgrad.graph.batch import batch_of
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.node import Node
from vtgrad.graph.observer import observers
from vtgrad.graph.recording import is_recording
from vtgrad.graph.thread_levels import thread as thread_mode
from vtgrad.graph.tracer import read_value
from vtgrad.ops.calling.arguments import is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.copying_nodes import CopyBackwards
from vtgrad.ops.generated.views_nodes import SelectBackward0, SliceBackward0
from vtgrad.ops.kernels.indexing.advanced_index import store_at
from vtgrad.ops.kernels.indexing.index_support import INT64
from vtgrad.ops.kernels.indexing.parse_index import (
    Alias,
    IndexPlan,
    Select,
    Slice,
    Unsqueeze,
    ViewStep,
    parse_index,
)
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.ops.rules.batches.copied_views import copy_for_view
from vtgrad.ops.rules.batches.stacked_lists import with_stacked_lists
from vtgrad.ops.saving.read_first import read_first
from vtgrad.ops.view_impls import views as view_impls
from vtgrad.storage.argument_types import T
from vtgrad.storage.arrays import PLAIN, Array, Shape
from vtgrad.storage.key_set import keys
from vtgrad.storage.mark_written import PartIndex
from vtgrad.storage.promotion import python_number
from vtgrad.storage.record_write import DIRECT, begin_write_as, on_behalf
from vtgrad.storage.tensor_base import TensorBase, handle_like, wrap_like
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.make_view import make_view
from vtgrad.views.write import write_part
from vtgrad.views.write_at_index import write_at_index
from vtgrad.views.write_back import write_back
from vtgrad.views.write_recorded_part import write_recorded_part

__all__ = ["getitem", "setitem"]

_BOOL: Final = np.dtype(np.bool_)
# The producers of views by an integer, and by a slice.
_MAKERS: Final = SelectBackward0, SliceBackward0


def getitem(tensor: T, expression: object) -> T:
    """What ``tensor[expression]`` means.

    Integers, slices, None and ``...`` give a view. Index arrays, lists and masks give a copy.

    Raises
    ------
    OutOfRangeError
        If an index is outside its dimension, there are too many, or something cannot index.
    """
    # Much the most frequent cases; the operators check the range themselves.
    if type(expression) is int:
        return F.select(tensor, 0, expression)
    if type(expression) is slice:
        start, stop, step = expression.start, expression.stop, expression.step
        if _is_plain(start, stop, step):
            return F.slice(tensor, 0, start, stop, 1 if step is None else step)
    part = _basic_part(tensor, expression)
    if part is not None:
        return part
    if keys.active:
        if is_overridden(tensor, expression):
            return call_override(getitem, tensor, expression)
        expression = with_stacked_lists(expression)
    plan = parse_index(expression, tensor._impl.array.shape, _array_of)
    part = _through(tensor, plan.steps)
    if not plan.indices:
        return part
    indices, positions = _index_tensors(tensor, plan)
    found = F.index_at(part, indices, positions)
    if thread_mode.batch_levels and all(_is_integer_of_sample(index) for index in indices):
        return copy_for_view(found, part, indices, positions)
    return found


def setitem(tensor: T, expression: object, value: object) -> None:
    """What ``tensor[expression] = value`` means.

    Parameters
    ----------
    value : tensor, array or number
        Broadcast to the part; leading dimensions of size 1 that are too many do not matter.

    Raises
    ------
    OutOfRangeError
        If an index is outside its dimension, there are too many, or something cannot index.
    ArgumentTypeError
        If `value` is neither a tensor, an array nor a number.
    ShapeError
        If it does not broadcast.
    """
    # The usual case inline, to save a call.
    index: PartIndex | None = None
    if type(expression) is int:
        index = (expression, ...)
    elif isinstance(expression, TensorBase):
        if write_at_index(tensor._impl, expression._impl, value, store_at):
            return
    else:
        index = _part_index(expression)
    if index is not None:
        if write_part(tensor._impl, index, value):
            return
        if isinstance(value, TensorBase):
            storage = value._impl._storage
            if storage is not None and storage is tensor._impl._storage:
                if write_back(tensor, index, value):
                    return
            elif write_recorded_part(tensor, index, value, CopyBackwards.record, _MAKERS):
                return
    if keys.active and is_overridden(tensor, expression, value):
        call_override(setitem, tensor, expression, value)
        return
    thread = get_ident()
    try:
        begin_write_as("__setitem__", DIRECT)
        _set_items(tensor, expression, value)
    finally:
        # One call of a C function, which no signal handler comes before.
        on_behalf.pop(thread, None)


def _set_items(tensor: T, expression: object, value: object) -> None:
    """The general case of `setitem`."""
    source = _value_for(tensor, value)
    if isinstance(expression, TensorBase) and not keys.active:
        array = expression._impl.array
        if _stands_alone(array, tensor._impl.array.ndim):
            _put(tensor, [expression], (0,), source)
            return
    part = _basic_part(tensor, expression, write=True)
    if part is not None:
        _store(part, source)
        return
    if keys.active:
        expression = with_stacked_lists(expression)
    plan = parse_index(expression, tensor._impl.array.shape, _array_of, write=True)
    if plan.nothing:
        return
    part = tensor if _is_whole(tensor, plan.steps) else _through(tensor, plan.steps)
    if plan.indices:
        indices, positions = _index_tensors(tensor, plan)
        if len(indices) == 1 and source.numel() == 1:
            _check_mask_dtype(plan.sources[-1])
        _put(part, indices, positions, source)
    else:
        _store(part, source)


def _stands_alone(index: Array, ndim: int) -> bool:
    """Whether an index is known to name the first dimensions: an index array, or a mask."""
    if type(index) not in PLAIN or index.ndim == 0:
        return False
    kind = index.dtype
    return (kind is INT64 and ndim > 0) or (kind is _BOOL and index.ndim <= ndim)


def _put(
    part: TensorBase, indices: list[TensorBase], positions: tuple[int, ...], source: TensorBase
) -> None:
    """Store a value at index arrays and masks."""
    if len(indices) == 1 and indices[0]._impl.array.dtype == _BOOL and source.numel() == 1:
        source = read_first(source, part)
    shape: Shape = source._impl.array.shape
    if shape[:1] == (1,):
        source = F.view_shape(source, _without_leading_ones(shape))
    F.index_put_at_(part, indices, positions, source)


def _is_plain(start: object, stop: object, step: object) -> bool:
    """Whether NumPy and `parse_index` agree about a slice."""
    return (
        (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
        and (step is None or (type(step) is int and step != 0))
    )


def _part_index(expression: object) -> PartIndex | None:
    """The expression as `write_part` takes it; None if it is more than integers and slices."""
    parts = expression if type(expression) is tuple else (expression,)
    for part in parts:
        if type(part) is not int and not (
            type(part) is slice and _is_plain(part.start, part.stop, part.step)
        ):
            return None
    return *parts, ...  # pyright: ignore[reportReturnType]  # all parts are integers or slices


def _basic_part(tensor: T, expression: object, *, write: bool = False) -> T | None:
    """What integers and slices name; None if it is anything else.

    Also None for what is wrong with them: `parse_index` says it. To `write`, the whole tensor is
    the tensor itself.
    """
    if type(expression) is int:
        return F.select(tensor, 0, expression)
    sizes: Shape = tensor._impl.array.shape
    if type(expression) is slice:
        start, stop, step = expression.start, expression.stop, expression.step
        if not _is_plain(start, stop, step):
            return None
        if write and sizes and _is_full(start, stop, step, sizes[0]):
            return tensor
        return F.slice(tensor, 0, start, stop, 1 if step is None else step)
    if expression is None:
        return F.unsqueeze(tensor, 0)
    if type(expression) is not tuple:
        return None
    parts: tuple[object, ...] = expression
    for at, part in enumerate(parts):
        if part is Ellipsis:
            whole = _without_ellipsis(parts, at, len(sizes))
            if whole is None:
                return None
            parts = whole
            break
    # Where each operator is seen, one is called for each part.
    own, at_once = 0, not keys.active and not observers
    for part in parts:
        if type(part) is int:
            if own == len(sizes) or not -sizes[own] <= part < sizes[own]:
                return None
        elif type(part) is slice:
            step = part.step
            if own == len(sizes) or not _is_plain(part.start, part.stop, step):
                return None
            if step is not None and step < 0:
                at_once = False
        elif part is None:
            at_once = False
            continue
        else:
            return None
        own += 1
    if not parts:
        return None
    view = _view_of_parts(tensor, parts) if at_once else _view_by_operators(tensor, parts)
    return F.alias(tensor) if view is tensor and not write else view


def _view_by_operators(tensor: T, parts: tuple[object, ...]) -> T:
    """What integers, slices and None name, one operator after the other."""
    sizes: Shape = tensor._impl.array.shape
    view, dim, own = tensor, 0, 0
    for part in parts:
        if part is None:
            view = F.unsqueeze(view, dim)
            dim += 1
            continue
        if type(part) is int:
            view = F.select(view, dim, part)
        elif isinstance(part, slice):
            start, stop, step = part.start, part.stop, part.step
            if not _is_full(start, stop, step, sizes[own]):
                view = F.slice(view, dim, start, stop, 1 if step is None else step)
            dim += 1
        own += 1
    return view


def _view_of_parts(tensor: T, parts: tuple[object, ...]) -> T:
    """What integers and slices name, as one view; the tensor itself if that is all of it.

    Of the views in between, which nothing sees, only the nodes are made: the graph is that of one
    operator after the other. The parts were checked, and no step leads backwards.
    """
    impl = tensor._impl
    sizes: Shape = impl.array.shape
    steps: list[tuple[int, int | slice, TensorImpl]] = []
    dim = 0
    for own, part in enumerate(parts):
        if type(part) is int:
            impl = view_impls.select(impl, dim, part)
            steps.append((dim, part, impl))
        elif isinstance(part, slice):
            start, stop, step = part.start, part.stop, part.step
            if not _is_full(start, stop, step, sizes[own]):
                impl = view_impls.slice(impl, dim, start, stop, 1 if step is None else step)
                steps.append((dim, part, impl))
            dim += 1
    if not steps:
        return tensor
    node: Node | None = None
    meta = tensor._impl.autograd_meta
    if meta is not None and meta.needs_gradient() and is_recording():
        source = tensor
        for dim, part, made in steps:
            if isinstance(part, slice):
                step = 1 if part.step is None else part.step
                node = SliceBackward0.record(source, dim, part.start, part.stop, step)
            else:
                node = SelectBackward0.record(source, dim, part)
            if made is not impl:
                node.input_metadata = metadata_of(made)
                made.autograd_meta = node
                source = handle_like(tensor, made)
    return make_view(tensor, impl, node)


def _without_ellipsis(parts: tuple[object, ...], at: int, ndim: int) -> tuple[object, ...] | None:
    """The parts with slices for the ellipsis; None if they are not integers, slices and None."""
    named = 0
    for part in parts:
        if type(part) is int or type(part) is slice:
            named += 1
        elif part is not None and part is not Ellipsis:
            return None
    return (*parts[:at], *(slice(None),) * (ndim - named), *parts[at + 1 :])


def _is_full(start: int | None, stop: int | None, step: int | None, size: int) -> bool:
    """Whether a slice takes the whole dimension."""
    return not start and (stop is None or stop >= size) and (step is None or step == 1)


def _store(part: TensorBase, source: TensorBase) -> None:
    """Overwrite a view with a value that broadcasts to it."""
    sizes, shape = part._impl.array.shape, source._impl.array.shape
    if shape == sizes:
        F.copy_(part, source)
    elif not shape:
        F.fill_Tensor_(part, read_first(source, part))
    else:
        source = F.view_shape(source, _without_leading_ones(shape))
        if source._impl.array.shape != sizes:
            source = F.expand_sizes(source, sizes)
        F.copy_(part, source)


def _array_of(part: object) -> Array | None:
    if not isinstance(part, TensorBase):
        return None
    if keys.modes:
        read_value(part)
    return part._impl.array


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
        return step.dim == 0 and _is_full(
            step.start, step.stop, step.step, tensor._impl.array.shape[0]
        )
    return isinstance(step, Alias)


def _index_tensors(tensor: T, plan: IndexPlan) -> tuple[list[TensorBase], tuple[int, ...]]:
    """The index arrays as tensors, and where they stand."""
    indices: list[TensorBase] = []
    positions: list[int] = []
    for position, (array, source) in enumerate(zip(plan.indices, plan.sources, strict=True)):
        if array is None:
            continue
        if isinstance(source, TensorBase) and source._impl.array is array:
            indices.append(source)
        else:
            indices.append(tensor._wrap(TensorImpl(array)))
        positions.append(position)
    return indices, tuple(positions)


def _is_integer_of_sample(index: TensorBase) -> bool:
    """Whether an index is a number of each sample, which selects a view of the sample."""
    array = index._impl.array
    return not array.ndim and array.dtype != np.bool_ and batch_of(index) is not None


def _check_mask_dtype(index: object) -> None:
    """Refuse uint8 masks where one value is stored: that is `masked_fill_`, which needs bool."""
    if isinstance(index, TensorBase) and index._impl.dtype == np.uint8:
        raise DTypeError("one value is stored through a mask of bool, not of uint8", found="uint8")


def _value_for(tensor: T, value: object) -> TensorBase:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.generic):
        value = python_number(value)
    if isinstance(value, (int, float, complex)):
        return wrap_like(tensor, as_element(value, tensor._impl.array.dtype))
    if is_array(value):
        return constant(value, tensor)
    raise ArgumentTypeError(
        f"a tensor, an array or a number can be stored in a tensor, not {type(value).__name__}",
        value=value,
    )


def _without_leading_ones(sizes: Shape) -> Shape:
    """A shape without its first dimensions of size 1: they do not matter in ``x[...] = value``."""
    first = next((dim for dim, size in enumerate(sizes) if size != 1), len(sizes))
    return sizes[first:]

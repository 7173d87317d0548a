"""Tensors with all samples of a level along their first dimension, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from vtgrad.graph.batch import BatchLevel, batch_of, batched, value_of
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "batch_along_first",
    "hook_of_value",
    "innermost",
    "is_batched_at",
    "levels_of",
    "overlaps_itself",
    "rebatched",
    "tensors_among",
    "value_at",
    "with_samples",
    "zeros_like_sample",
]


def levels_of(tensor: TensorBase) -> tuple[BatchLevel, ...]:
    """The levels at which a tensor is batched, the highest first."""
    found = []
    while (batch := batch_of(tensor)) is not None:
        found.append(batch.level)
        tensor = batch.value
    return tuple(found)


def is_batched_at(tensor: TensorBase, level: BatchLevel) -> bool:
    """Whether a tensor has samples at a level."""
    while (batch := batch_of(tensor)) is not None:
        if batch.level is level:
            return True
        tensor = batch.value
    return False


def innermost(tensor: T) -> T:
    """The tensor without batches: its first dimensions are those of `levels_of`, in reverse."""
    return value_of(tensor)


def overlaps_itself(tensor: TensorBase) -> bool:
    """Whether two elements are one memory location, with those of all samples."""
    array = innermost(tensor)._impl.array
    return not array.flags.c_contiguous and has_self_overlap(array.shape, array.strides)


def rebatched(value: T, levels: Sequence[BatchLevel]) -> T:
    """The tensor of which `innermost` is a value, and `levels_of` the levels."""
    for level in reversed(levels):
        value = batched(value, level)
    return value


def with_samples(tensor: T, levels: Sequence[BatchLevel]) -> T:
    """A new tensor with equal samples at some levels, in memory of their own."""
    sizes = [level.size for level in reversed(levels)]
    whole = F.clone(
        F.expand_sizes(tensor, (*sizes, *tensor._impl.array.shape)),
        memory_format=MemoryFormat.CONTIGUOUS,
    )
    return rebatched(whole, levels)


def value_at(tensor: T, level: BatchLevel) -> T | None:
    """The tensor with the samples of a level along its first dimension; None if it has none.

    It may be batched at other levels.
    """
    batch = batch_of(tensor)
    if batch is None or batch.level.number < level.number:
        return None
    # A value has the class of its tensor.
    value = cast("T", batch.value)
    if batch.level is level:
        return value
    inner = value_at(value, level)
    # Its dimensions are those of the level, of the higher level, and of a sample.
    return None if inner is None else batched(F.transpose(inner, 0, 1), batch.level)


def batch_along_first(value: T, level: BatchLevel) -> T:
    """The tensor of which `value_at` is a value.

    A tensor that is batched at a higher level stays so, because the highest level is outermost.
    """
    batch = batch_of(value)
    if batch is None or batch.level.number < level.number:
        return batched(value, level)
    whole = cast("T", batch.value)
    return batched(batch_along_first(F.transpose(whole, 0, 1), level), batch.level)


def hook_of_value(
    hook: Callable[[T], TensorBase | None], levels: Sequence[BatchLevel]
) -> Callable[[T], TensorBase | None]:
    """A hook of the gradient of a value, from one that takes the gradient of a sample."""

    def call(grad: T) -> TensorBase | None:
        inside = all(level.is_open for level in levels)
        changed = hook(rebatched(grad, levels) if inside else grad)
        return innermost(changed) if isinstance(changed, TensorBase) and inside else changed

    return call


def tensors_among(arguments: Iterable[object]) -> list[TensorBase]:
    """The tensors among arguments, also those in lists."""
    found: list[TensorBase] = []
    for value in arguments:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [part for part in value if isinstance(part, TensorBase)]
    return found


def zeros_like_sample(tensor: TensorBase) -> TensorBase:
    """Zeros of the shape and dtype of one sample, for the error that an operator has for it."""
    return F.zeros_shaped(innermost(tensor), tensor._impl.array.shape)

"""The commonest batched calls, which need no look at shapes and dtypes."""

from __future__ import annotations

from typing import TypeAlias

from vtgrad.graph.batch import BatchLevel, batch_of
from vtgrad.ops.operator import Operator
from vtgrad.ops.rules.batches.entering import may_be_asked
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.key_set import keys
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Quick", "quick_values"]

# The level, and the arguments with values for samples; None if the rule has to look at the call.
Quick: TypeAlias = tuple[BatchLevel, list[object]] | None


def quick_values(operator: Operator, args: tuple[object, ...], kwargs: dict[str, object]) -> Quick:
    """What an operator is called with, in the commonest cases.

    For an elementwise one samples of one shape, or one beside what broadcasts to it; along
    dimensions one sample and plain integers.
    """
    for option in kwargs.values():
        if isinstance(option, (TensorBase, MemoryFormat)):
            return None
    if operator.batch == "elementwise":
        found = _elementwise(args)
        if found is not None and operator.writes and found[1][0] is args[0]:
            # There are no samples in what is written.
            return None
        return found
    if operator.batch == "shift" and operator.dims and not operator.writes:
        return _shifted(operator, args)
    return None


def _elementwise(args: tuple[object, ...]) -> Quick:
    level: BatchLevel | None = None
    shape: tuple[int, ...] = ()
    dtype: NumpyDType | None = None
    others: list[Array] = []
    values: list[object] = []
    for x in args:
        if not isinstance(x, TensorBase):
            values.append(x)
            continue
        impl, batch = x._impl, batch_of(x)
        if batch is None:
            others.append(impl.array)
            values.append(x)
        elif level is None:
            level, shape, dtype = batch.level, impl.array.shape, impl.array.dtype
            values.append(batch.value)
        elif batch.level is level and impl.array.shape == shape:
            values.append(batch.value)
        else:
            return None
    if level is None or not level.is_open:
        return None
    if others and (keys.modes or may_be_asked(level)):
        # They may have to be entered, see Note [Entering a batch].
        return None
    for array in others:
        # Beside a sample without dimensions another dtype would be promoted as beside a batch.
        if array.ndim > len(shape) or (not shape and array.dtype != dtype):
            return None
    return level, values


def _shifted(operator: Operator, args: tuple[object, ...]) -> Quick:
    tensor = args[0]
    if not isinstance(tensor, TensorBase):
        return None
    impl, batch = tensor._impl, batch_of(tensor)
    ndim = impl.array.ndim
    if batch is None or not batch.level.is_open or not ndim:
        return None
    values: list[object] = [batch.value, *args[1:]]
    for value in args[1:]:
        if isinstance(value, TensorBase):
            return None
    for place in operator.dims:
        if place >= len(args):
            return None
        dim = args[place]
        if type(dim) is int and -ndim <= dim < ndim:
            values[place] = dim % ndim + 1
        elif type(dim) is tuple and dim and all(_is_dim(x, ndim) for x in dim):
            values[place] = tuple([one % ndim + 1 for one in dim])
        else:
            return None
    return batch.level, values


def _is_dim(value: object, ndim: int) -> bool:
    return type(value) is int and -ndim <= value < ndim

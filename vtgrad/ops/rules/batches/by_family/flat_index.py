"""Operators that count the elements of a sample in row-major order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, Operand
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.tensor_base import TensorBase, handle_like

__all__ = ["RULES", "flat_values", "sample_numbers"]


def take(call: BatchedCall) -> object:
    """Elements of each sample by their number."""
    source, index = call.operand(call.tensor("input")), call.operand(call.tensor("index"))
    if not source.has_samples:
        return call.finish(F.take(source.value, index.value))
    if not _is_wide(index):
        call.refuse()
    return call.finish(F.index_at(flat_values(call, source), *_by_number(call, index)))


def take_spread(call: BatchedCall) -> object:
    """The inverse of `take`, which adds up."""
    sizes, index = call.arguments["sizes"], call.operand(call.tensor("index"))
    assert isinstance(sizes, Sequence)
    flat = (call.level.size, int(np.prod(sizes, dtype=np.int64)))
    found = F.index_spread(call.value("input"), flat, *_by_number(call, index))
    return call.finish(F.reshape(found, (call.level.size, *sizes)))


def _by_number(call: BatchedCall, index: Operand) -> tuple[list[TensorBase], Shape]:
    """Indices, and their positions, of samples whose elements lie along one dimension."""
    if not index.has_samples:
        return [index.value], (1,)
    ndim = index.tensor._impl.array.ndim
    return [sample_numbers(call, ndim, given=index.value), index.value], (0, 1)


def put(call: BatchedCall) -> object:
    """Values are stored at, or added to, elements of each sample."""
    target, index = call.expanded(call.tensor("input")), call.operand(call.tensor("index"))
    source = call.operand(call.tensor("source"))
    if source.tensor._impl.array.size != index.tensor._impl.array.size or not _is_wide(index):
        call.refuse()
    places, shape = _by_number(call, index), index.tensor._impl.array.shape
    lead = (call.level.size,) * source.has_samples
    values = F.reshape(source.value, (*lead, *shape))
    accumulate = call.arguments.get("accumulate", False)
    assert isinstance(accumulate, bool)
    sizes = target.value._impl.array.shape
    if call.operator.writes and target.value._impl.is_contiguous:
        F.index_put_at_(flat_values(call, target), *places, values, accumulate)
        return call.tensor("input")
    found = F.index_put_at(flat_values(call, target), *places, values, accumulate)
    found = F.reshape(found, sizes)
    return call.finish(F.copy_(target.value, found) if call.operator.writes else found)


def _is_wide(index: Operand) -> bool:
    return index.tensor._impl.dtype == np.int64


def flat_values(call: BatchedCall, operand: Operand) -> TensorBase:
    """The elements of each sample along one dimension; of one tensor for all samples its own."""
    lead = (call.level.size,) * operand.has_samples
    return F.reshape(operand.value, (*lead, operand.tensor._impl.array.size))


def sample_numbers(call: BatchedCall, ndim: int, *, given: TensorBase) -> TensorBase:
    """The number of each sample, with `ndim` dimensions of size 1 behind."""
    array = making.arange(call.level.size).reshape(call.level.size, *(1,) * ndim)
    return handle_like(given, impl_on(array, innermost(given)._impl.device))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "put": put,
    "take": take,
    "take_spread": take_spread,
}

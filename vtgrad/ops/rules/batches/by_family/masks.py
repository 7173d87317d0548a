"""Operators with a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, Operand
from vtgrad.ops.rules.batches.by_family.flat_index import flat_values
from vtgrad.ops.rules.batches.by_family.loop import loop, refused
from vtgrad.ops.rules.batches.values import innermost, overlaps_itself
from vtgrad.storage.arrays import Shape
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES"]


def masked_select(call: BatchedCall) -> object:
    """One mask for all samples; with one for each, results would differ in size."""
    mask = call.operand(call.tensor("mask"))
    if mask.has_samples:
        refused(call)
    source = call.operand(call.tensor("input"))
    sizes = broadcast_shapes(source.tensor._impl.array.shape, mask.tensor._impl.array.shape)
    value = F.expand_sizes(call.aligned(source, len(sizes)), (call.level.size, *sizes))
    chosen = F.expand_sizes(mask.value, sizes)
    if not sizes:
        value, chosen = F.unsqueeze(value, 1), F.unsqueeze(chosen, 0)
    return call.finish(F.index_at(value, [chosen], (1,)))


def masked_fill(call: BatchedCall) -> object:
    """`masked_fill` with a 0-d tensor that may have samples."""
    mask, value, source = [call.operand(call.tensor(x)) for x in ("mask", "value", "input")]
    own, dtype = source.tensor._impl.array.ndim, source.tensor._impl.array.dtype
    ndim = max(mask.tensor._impl.array.ndim, own)
    if value.tensor._impl.array.ndim or not _is_bool(mask) or (call.operator.writes and ndim > own):
        call.refuse()
    changes = {"mask": call.aligned(mask, ndim), "input": call.aligned(source, ndim)}
    if not value.has_samples:
        return call.run({**changes, "value": value.value})
    if call.operator.writes and overlaps_itself(changes["input"]):
        return loop(call)  # a location has several values in `whole`
    if value.tensor._impl.array.dtype != dtype:
        call.as_one_sample()
    filling = F.to_dtype(call.aligned(value, ndim), dtype)
    whole = F.where_self(changes["mask"], filling, changes["input"])
    return call.finish(F.copy_(call.value("input"), whole) if call.operator.writes else whole)


def _is_bool(mask: Operand) -> bool:
    return mask.tensor._impl.dtype == np.bool_


def masked_spread(call: BatchedCall) -> object:
    """The inverse of `masked_select`."""
    sizes, mask = call.arguments["sizes"], call.operand(call.tensor("mask"))
    assert isinstance(sizes, Sequence)
    if mask.has_samples or mask.tensor._impl.array.shape != tuple(sizes) or not sizes:
        return loop(call)
    whole = (call.level.size, *sizes)
    return call.finish(F.index_spread(call.value("input"), whole, [mask.value], (1,)))


def masked_scatter(call: BatchedCall) -> object:
    """The elements of a sample of the source, in their order, where a mask is true."""
    target, mask = call.expanded(call.tensor("input")), call.operand(call.tensor("mask"))
    source = call.operand(call.tensor("source"))
    own = target.tensor._impl.array.shape
    sizes = broadcast_shapes(own, mask.tensor._impl.array.shape)
    agree = source.tensor._impl.array.dtype == target.tensor._impl.array.dtype
    if not _is_bool(mask) or not agree or (call.operator.writes and sizes != own):
        call.refuse()
    chosen = F.expand_sizes(
        call.aligned(mask, len(sizes)), (*(call.level.size,) * mask.has_samples, *sizes)
    )
    needed = _largest_count(chosen, sizes)
    value = F.expand_sizes(call.aligned(target, len(sizes)), (call.level.size, *sizes))
    if not needed:
        return call.finish(target.value if call.operator.writes else F.clone(value))
    if needed > source.tensor._impl.array.size:
        call.refuse()
    # The number of the value for each true element; the others get one that does not matter.
    flat = F.reshape(chosen, (*chosen._impl.array.shape[: -len(sizes) or None], -1))
    numbers = F.clamp_min_default(F.sub(F.cumsum_dim(flat, -1), 1), 0)
    if not mask.has_samples:
        numbers = F.expand_sizes(numbers, (call.level.size, *numbers._impl.array.shape))
    values = flat_values(call, source)
    if not source.has_samples:
        values = F.expand_sizes(values, (call.level.size, *values._impl.array.shape))
    values = F.reshape(F.gather(values, 1, numbers), (call.level.size, *sizes))
    whole = F.where_self(chosen, values, value)
    return call.finish(F.copy_(target.value, whole) if call.operator.writes else whole)


def _largest_count(mask: TensorBase, sizes: Shape) -> int:
    """The largest number of true elements in a sample."""
    count = int(np.prod(sizes, dtype=np.int64))
    if not count:
        return 0
    rows = innermost(mask)._impl.array.reshape(-1, count)
    return int(np.count_nonzero(rows, 1).max(initial=0))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "masked_fill": masked_fill,
    "masked_scatter": masked_scatter,
    "masked_select": masked_select,
    "masked_spread": masked_spread,
}

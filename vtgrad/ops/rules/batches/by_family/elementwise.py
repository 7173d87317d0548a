"""Operators that compute element by element, and broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall, Operand
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES", "elementwise"]

# Operands that choose, and have no part in the promotion of dtypes.
_CHOICES: Final = frozenset({"condition", "mask"})


def elementwise(call: BatchedCall) -> object:
    """Samples that have fewer dimensions get some of size 1, so that all broadcast."""
    operands = {name: call.operand(tensor) for name, tensor in call.tensors()}
    if len(operands) == 1:
        return call.run({name: operand.value for name, operand in operands.items()})
    shapes = [operand.tensor._impl.array.shape for operand in operands.values()]
    # With the sizes of samples, so that an error tells those.
    ndim = len(broadcast_shapes(*shapes))
    if call.operator.writes and len(shapes[0]) < ndim:
        call.refuse()
    if () in shapes and _dtypes_differ(operands):
        operands = _promoted_as_samples(call, operands, ndim)
    return call.run({name: call.aligned(x, ndim) for name, x in operands.items()})


def _dtypes_differ(operands: Mapping[str, Operand]) -> bool:
    return len({x.tensor._impl.array.dtype for x in operands.values()}) > 1


def _promoted_as_samples(
    call: BatchedCall, operands: Mapping[str, Operand], ndim: int
) -> dict[str, Operand]:
    """Operands whose dtypes are promoted as those of samples, of which some have no dimensions.

    A tensor without dimensions only counts by its category beside others, and the value of such a
    sample has one.
    """
    promoted = {name: x for name, x in operands.items() if name not in _CHOICES}
    if len(promoted) < 2:
        return dict(operands)
    # Some operators refuse different dtypes.
    call.as_one_sample()
    if not ndim:
        return {name: call.expanded(x.tensor) for name, x in operands.items()}
    wanted = result_dtype(*[x.tensor._impl.array for x in promoted.values()])
    found = dict(operands)
    for name, x in promoted.items():
        if x.has_samples and not x.tensor._impl.array.ndim and x.value._impl.array.dtype != wanted:
            found[name] = Operand(x.tensor, F.to_dtype(x.value, wanted), True)
    return found


def fill(call: BatchedCall) -> object:
    """`fill_` with a 0-d tensor that may have samples."""
    target, value = call.operand(call.tensor("input")), call.operand(call.tensor("value"))
    if value.tensor._impl.array.ndim:
        call.refuse()
    if not value.has_samples:
        return call.run({"input": target.value})
    ndim = target.tensor._impl.array.ndim
    return call.finish(F.copy_(target.value, call.aligned(value, ndim)))


def lerp(call: BatchedCall) -> object:
    """As `elementwise`, where weights without dimensions may have any dtype."""
    weight = call.tensor("weight")
    names = ("input", "end", "weight")
    samples = [call.tensor(name)._impl.array for name in names]
    if not weight._impl.array.ndim and any(x.dtype != samples[0].dtype for x in samples):
        wanted = result_dtype(*samples)
        call.as_one_sample()
        for name in names[call.operator.writes :]:
            call.arguments[name] = F.to_dtype(call.tensor(name), wanted)
    return elementwise(call)


def search_rows(call: BatchedCall) -> object:
    """Values of each sample, in rows of each or in those that all samples share."""
    rows, values = call.operand(call.tensor("input")), call.expanded(call.tensor("values"))
    if not rows.has_samples and rows.tensor._impl.array.ndim == 1:
        return call.run({"values": values.value})
    one = not values.tensor._impl.array.ndim
    if one:
        # One value for each sample is a row of one.
        values = Operand(F.unsqueeze(values.tensor, 0), F.unsqueeze(values.value, 1), True)
    ndim = max(x.tensor._impl.array.ndim for x in (rows, values))
    found = call.called({"input": call.aligned(rows, ndim), "values": call.aligned(values, ndim)})
    assert isinstance(found, TensorBase)
    return call.finish(F.squeeze_dim(found, 1) if one else found)


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "elementwise": elementwise,
    "search_rows": search_rows,
    "fill": fill,
    "lerp": lerp,
}

"""Operators that compute element by element, and broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from vtgrad.ops.batching.batched_call import BatchedCall, Operand
from vtgrad.ops.generated import functional as F
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES", "elementwise"]


def elementwise(call: BatchedCall) -> object:
    """Samples that have fewer dimensions get some of size 1, so that all broadcast."""
    operands = {name: call.operand(tensor) for name, tensor in call.tensors()}
    if len(operands) == 1:
        return call.run({name: operand.value for name, operand in operands.items()})
    shapes = [operand.tensor._impl.array.shape for operand in operands.values()]
    # With the sizes of samples, so that an error tells those.
    ndim = len(broadcast_shapes(*shapes))
    changes: dict[str, object] = {n: call.aligned(x, ndim) for n, x in operands.items()}
    if ndim and () in shapes:
        _promote_as_samples(call, operands, changes)
    return call.run(changes)


def _promote_as_samples(
    call: BatchedCall, operands: dict[str, Operand], changes: dict[str, object]
) -> None:
    """Let 0-d samples count as 0-d in the promotion of dtypes, though their values are not."""
    numbers = [
        x
        for x in call.arguments.values()
        if isinstance(x, (int, float, complex)) and not isinstance(x, bool)
    ]
    values = [x for x in changes.values() if isinstance(x, TensorBase)]
    wanted = result_dtype(*[x.tensor._impl.array for x in operands.values()], *numbers)
    if wanted == result_dtype(*[x._impl.array for x in values], *numbers):
        return
    for name, operand in operands.items():
        value = changes[name]
        assert isinstance(value, TensorBase)
        if not operand.tensor._impl.array.ndim and operand.has_samples:
            if value._impl.array.dtype != wanted and np.can_cast(
                value._impl.array.dtype, wanted, "same_kind"
            ):
                changes[name] = F.to_dtype(value, wanted)


def fill(call: BatchedCall) -> object:
    """`fill_` with a 0-d tensor that may have samples."""
    target, value = call.operand(call.tensor("input")), call.operand(call.tensor("value"))
    if not value.has_samples:
        return call.run({"input": target.value})
    ndim = target.tensor._impl.array.ndim
    return call.finish(F.copy_(target.value, call.aligned(value, ndim)))


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "elementwise": elementwise,
    "fill": fill,
}

"""Operators that join tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.ops.rules.batches.by_family.shift import shifted
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["RULES", "listed"]


def listed(call: BatchedCall, name: str) -> list[TensorBase]:
    """The tensors of a sequence among the arguments."""
    given = call.arguments[name]
    assert isinstance(given, Sequence)
    return [x for x in given if isinstance(x, TensorBase)]


def cat(call: BatchedCall) -> object:
    """The samples are joined one dimension further on."""
    tensors = listed(call, "tensors")
    # Empty vectors stand for nothing beside tensors of any shape.
    kept = [x for x in tensors if x._impl.array.shape != (0,)]
    if all(x._impl.array.ndim == 1 for x in kept):
        kept = tensors
    ndim = kept[0]._impl.array.ndim
    values = [call.expanded(x).value for x in kept]
    dim = shifted(call.arguments.get("dim", 0), ndim)
    return call.run({"tensors": values, "dim": dim})


def stack(call: BatchedCall) -> object:
    """The new dimension is one further on."""
    tensors = listed(call, "tensors")
    values = [call.expanded(x).value for x in tensors]
    dim = shifted(call.arguments.get("dim", 0), tensors[0]._impl.array.ndim + 1)
    return call.run({"tensors": values, "dim": dim})


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "cat": cat,
    "stack": stack,
}

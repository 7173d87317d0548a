"""Operators that do not look at the first dimension, and memory formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.batched_call import BatchedCall
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["CHANNELS_LAST", "RULES", "channels_last", "whole"]

CHANNELS_LAST: Final = (MemoryFormat.CHANNELS_LAST, MemoryFormat.CHANNELS_LAST_3D)


def whole(call: BatchedCall) -> object:
    """The operator is called with the values as they are."""
    return call.run({name: call.expanded(tensor).value for name, tensor in call.tensors()})


def channels_last(call: BatchedCall) -> object:
    """An operator whose result has a memory format that is said of a sample."""
    # Which refuses other numbers of dimensions.
    call.as_one_sample()
    moved = F.movedim(call.tensor("input"), 1, -1)
    found = call.called({"input": moved, "memory_format": MemoryFormat.CONTIGUOUS})
    assert isinstance(found, TensorBase)
    return F.movedim(found, -1, 1)


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "whole": whole,
}

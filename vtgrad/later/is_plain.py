"""Whether a function may compute with arrays alone, where no operator is recorded or followed."""

from __future__ import annotations

from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["is_plain"]


def is_plain(*operands: TensorBase | None) -> bool:
    """Whether no operand is recorded, has a key or a tangent, or is followed by a tracer."""
    tensors = [x for x in operands if x is not None]
    if keys.modes or any(x._impl.key_set for x in tensors):
        return False
    return not (is_recording() and requires_grad(*tensors))

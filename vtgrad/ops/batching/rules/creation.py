"""Operators that do not look at the first dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from vtgrad.ops.batching.batched_call import BatchedCall

__all__ = ["RULES", "whole"]


def whole(call: BatchedCall) -> object:
    """The operator is called with the values as they are."""
    return call.run({name: call.expanded(tensor).value for name, tensor in call.tensors()})


RULES: Final[dict[str, Callable[[BatchedCall], object]]] = {
    "whole": whole,
}

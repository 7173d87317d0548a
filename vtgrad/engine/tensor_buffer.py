# Compiled by mypyc.
"""Gradients that wait for a node to run, when the backward itself is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.graph.hooks import GradCell
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.retain_grad_of_views import RetainedPart
from vtgrad.storage.geometry import has_self_overlap
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["TensorBuffer", "given_away"]


def given_away(grad: TensorBase | None) -> TensorBase | None:
    """A gradient for a hook, which may write to it, while siblings may hold the same tensor.

    Expanded gradients stay as they are: they cannot be written.
    """
    if grad is None or has_self_overlap(grad._impl.sizes, grad._impl.strides):
        return grad
    return operators().clone(grad)


class TensorBuffer(InputBuffer):
    """As `InputBuffer`, for gradients that are tensors, which are summed out of place.

    Attributes
    ----------
    grads : list of TensorBase or None
        The sum so far for each result.
    """

    __slots__ = ("grads",)

    grads: list[TensorBase | None]

    def __init__(self, function: Node) -> None:
        super().__init__(function)
        self.grads = [None] * len(function.input_metadata)

    def add_tensor(self, nr: int, grad: TensorBase) -> None:
        """Add a gradient of the right shape and dtype."""
        present = self.grads[nr]
        self.grads[nr] = grad if present is None else operators().add(present, grad)

    def given_away(self, nr: int) -> TensorBase | None:
        """As `InputBuffer.given_away`."""
        return given_away(self.grads[nr])

    def captured(self, nr: int) -> TensorBase | None:
        """As `InputBuffer.captured`: the gradient itself, with its graph."""
        return self.grads[nr]

    def replace(self, nr: int, grad: TensorBase | None) -> None:
        """As `InputBuffer.replace`."""
        if grad is not None and grad._impl.key_set & NAMED:
            # A hook of the node has named it.
            grad = operators().unnamed(grad)
        self.grads[nr] = grad

    def copied(self, nr: int) -> TensorBase | None:
        """As `InputBuffer.copied`, recorded."""
        grad = self.grads[nr]
        return None if grad is None else operators().clone(grad)

    def part(self, part: RetainedPart) -> tuple[GradCell, TensorBase] | None:
        """As `InputBuffer.part`, recorded."""
        grad = self.grads[0]
        return None if grad is None else part.of_tensor(grad)

    def sums(self) -> Sequence[object]:
        """As `InputBuffer.sums`."""
        return self.grads

    def shown(self) -> Sequence[object]:
        """As `InputBuffer.shown`."""
        return self.grads

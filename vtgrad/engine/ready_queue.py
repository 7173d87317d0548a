"""Nodes whose gradients have all arrived."""

import heapq
import itertools
from typing import Generic, TypeVar

from ..graph.node import Node

__all__ = ["NodeTask", "ReadyQueue"]

G = TypeVar("G")


class NodeTask(Generic[G]):
    """A node that can run, and its gradients.

    Attributes
    ----------
    function : Node
        The node.
    inputs : InputBuffer or list of TensorBase
        Its gradients, complete: arrays, or tensors when the backward is recorded.
    """

    __slots__ = ("function", "inputs")

    function: Node
    inputs: G

    def __init__(self, function: Node, inputs: G) -> None:
        self.function = function
        self.inputs = inputs


class ReadyQueue(Generic[G]):
    """Highest sequence number first: what was recorded last runs first, and leaves before all."""

    __slots__ = ("_heap", "_ties")

    _heap: list[tuple[int, int, NodeTask[G]]]

    def __init__(self) -> None:
        self._heap = []
        self._ties = itertools.count()

    def push(self, function: Node, inputs: G) -> None:
        """Add a node that is ready."""
        task = NodeTask(function, inputs)
        heapq.heappush(self._heap, (-function.sequence_nr, next(self._ties), task))

    def pop(self) -> NodeTask[G] | None:
        """The next node to run; None if there is none."""
        return heapq.heappop(self._heap)[2] if self._heap else None

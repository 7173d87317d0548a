"""The producer of the state that a step gets while it is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.graph.edge import edge_to
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.interrupted_write import UNFINISHED
from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import Node
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["StepInput"]

# Result 0 belongs to no tensor; see `StepInput`.
_NO_TENSOR = InputMetadata((), np.dtype(np.bool_))


class StepInput(Node):
    """The node at which the graph of one recorded step ends.

    Note [The end of a step's graph]

    A step is recorded alone: its state has this node as producer, which never runs. Gradients for
    result ``1 + i`` are those of tensor ``i`` of the state; result 0 belongs to no tensor, so that
    the sum of each tensor is an object of its own, which may be the sum of an outer run.

    A value that the step has stored outside of itself has a graph that ends here too, far from the
    loop's inputs, and so has no complete gradient. So every pass that comes here from outside is
    refused. As for Note [Unfinished writes], the node leads to no input and still has to be met by
    passes to given inputs; so it has that node as its edge.
    """

    __slots__ = ()

    edge_rule: ClassVar[int] = FIXED_EDGES

    @staticmethod
    def of(tensors: Sequence[TensorBase], needed: Sequence[bool]) -> StepInput:
        """Make this the producer of those tensors, fresh ones, that are needed."""
        node = StepInput((UNFINISHED,))
        node.input_metadata = (
            _NO_TENSOR,
            *[
                InputMetadata(x._impl.array.shape, x._impl.array.dtype, x._impl.device)
                for x in tensors
            ],
        )
        for nr, (tensor, is_needed) in enumerate(zip(tensors, needed, strict=True)):
            tensor._impl.autograd_meta = edge_to(node, nr + 1) if is_needed else None
        return node

    def name(self) -> str:
        """The name in errors and graph drawings."""
        return "StepInput"

    def check_saved(self) -> None:
        """Raise, because a pass from outside has come here.

        Raises
        ------
        NotSupportedError
            Always.
        """
        raise NotSupportedError(
            "a value that a step of checkpoint_loop has computed was stored outside of the step, "
            "and backward was to go through it: the steps are not kept, so it has no gradient. "
            "Make the value a part of the state, or detach it"
        )

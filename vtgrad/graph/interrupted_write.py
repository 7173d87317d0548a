# Compiled by mypyc.
"""The producer of a value whose write is incomplete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from vtgrad.errors import InterruptedWriteError
from vtgrad.graph.hooks import NodeHooks
from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import Node
from vtgrad.graph.region import Gradient
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["UNFINISHED"]


class InterruptedWrite(Node):
    """Replaces an operator's node during its store.

    Note [Unfinished writes]

    A recorded write changes the memory and the history of a tensor, and an interrupt may come
    between the two. So before the store the tensor's producer becomes this node, which refuses to
    run, and after the store the operator's own node. If the write is interrupted, this node stays:
    whether the memory was changed is unknown, so no gradient of that value is correct.

    The forward of a custom Function writes before its node exists. If the call is interrupted after
    a write, the written tensors get this producer too, and the Function's node refuses to run until
    all values are saved.

    The node has no edges, because one object serves all values. But every tensor that is older than
    the write may be an input of the value, so the node's topological number is above all others: a
    pass to such a tensor reaches it, and is refused.
    """

    edge_rule: ClassVar[int] = FIXED_EDGES

    def name(self) -> str:
        """The name in error messages."""
        return "InterruptedWrite"

    def check_saved(self) -> None:
        """Raise, because a value that may be half written has no gradient.

        Raises
        ------
        InterruptedWriteError
            Always.
        """
        raise InterruptedWriteError(
            "a write to this value was not completed: it was interrupted, or a custom Function "
            "was refused when its forward had written. Its elements may be the old ones or the "
            "new ones, so that it has no gradient. Compute it anew, or detach it"
        )

    def own_hooks(self) -> NodeHooks:
        """Hooks that are never called: this one node serves many values."""
        return NodeHooks()

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Raise, as `check_saved` does."""
        self.check_saved()
        return ()

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """Raise, as `check_saved` does."""
        self.check_saved()
        return ()


# One object for all values: it has no state.
UNFINISHED: Final = InterruptedWrite(())
UNFINISHED.topological_nr = 2**62

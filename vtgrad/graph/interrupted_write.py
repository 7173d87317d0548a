"""The producer of a value whose write has not been completed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..errors import InterruptedWriteError
from ..storage.arrays import Array
from ..storage.tensor_base import TensorBase
from .hooks import NodeHooks
from .node import Node
from .region import Gradient

__all__ = ["UNFINISHED"]


class InterruptedWrite(Node):
    """Stands in the place of an operator's node from before its store until after it.

    NOTE [ Unfinished writes ]

    A recorded write changes the memory and the history of a tensor, and an interrupt may come
    between the two. So before the store the tensor's producer becomes this node, which refuses to
    run, and after it the operator's own. Where the write breaks off, this one stays: whether the
    memory was changed is not known, so no gradient of that value can be right.
    """

    def name(self) -> str:
        """The name by which errors speak of it."""
        return "InterruptedWrite"

    def check_saved(self) -> None:
        """Raise, because a value that may be half written has no gradient.

        Raises
        ------
        InterruptedWriteError
            Always.
        """
        raise InterruptedWriteError(
            "an in-place write to this value was interrupted, by a signal or an error while it "
            "stored: whether its elements are the old ones or the new ones is not known, so it "
            "has no gradient. Compute it anew, or detach it"
        )

    def own_hooks(self) -> NodeHooks:
        """Hooks that are never called: this one node stands for many values."""
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


# One for all: nothing is kept in it.
UNFINISHED: Final = InterruptedWrite(())

# Compiled by mypyc.
"""Nodes that record a part of a program again and run it backward, inside the run of the engine.

Note [Sums of an inner graph]

Sums of rounded numbers depend on their order. If a node ran an inner graph and returned the sum of
what the graph has for a value, the outer run would add that sum to what it had before:

    outer sum + (g3 + g2 + g1)          instead of          ((outer sum + g3) + g2) + g1

So an inner graph does not return sums. It adds each gradient to the sum of the outer run at once,
where the same operators would have added it if the outer graph had held them. All gradients are
equal bit for bit to those of one large graph, and an owned sum is added to in place.
"""

from __future__ import annotations

from vtgrad.engine.input_buffer import InputBuffer
from vtgrad.graph.hooks import USERS_CODE, NodeHooks
from vtgrad.graph.node import Node
from vtgrad.storage.native import mypyc_attr

__all__ = ["InnerGraphNode"]


@mypyc_attr(allow_interpreted_subclasses=True)
class InnerGraphNode(Node):
    """A node that runs an inner graph; see Note [Sums of an inner graph]."""

    __slots__ = ()

    def start_as_users_code(self) -> None:
        """Let the engine run this node like user code; see Note [Nodes that run users' code]."""
        self.hooks: NodeHooks | None = USERS_CODE

    def runs_users_code(self) -> bool:
        """True: running the node calls functions of the user."""
        return True

    def run_inside(self, incoming: InputBuffer, sums: dict[Node, InputBuffer]) -> None:
        """Add the gradients of the inputs to `sums`.

        Parameters
        ----------
        incoming : InputBuffer
            The gradients of the results.
        sums : dict of Node to InputBuffer
            The sums of the outer run, for the node of each next edge.
        """
        raise NotImplementedError

# Compiled by mypyc.
"""What a profiler implements to see which functions run on its thread.

Note [Observers]

A thread has an observer or none, which `observers` lists by thread; it is nearly always empty, so
that a look at it takes no call. Operators do not look: while a thread is observed, the tables in
which they are looked up hold wrappers that do, see Note [Observed operators]. The engine looks once
for each pass; `Node.__call__`, `CopySlices`, the root's implicit gradient and the `apply` of custom
Functions look once for each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Final, Protocol

from vtgrad.storage.thread_state import after_fork, keep_own_entry

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = [
    "BACKWARD_FUNCTION",
    "FUNCTION",
    "NO_SEQUENCE_NR",
    "USER_SCOPE",
    "Observer",
    "begin_node",
    "observer_of_thread",
    "observers",
]

# The scopes of events, with PyTorch's numbers: an operator or a part of the engine, the function of
# a node, and a user's `record_function`.
FUNCTION: Final = 0
BACKWARD_FUNCTION: Final = 1
USER_SCOPE: Final = 7

NO_SEQUENCE_NR: Final = -1


class Observer(Protocol):
    """Sees the beginning and end of each function.

    Attributes
    ----------
    needs_inputs : bool
        Whether it looks at the arguments.
    """

    needs_inputs: bool

    def begin(
        self,
        name: str,
        scope: int,
        sequence_nr: int,
        forward_thread: int,
        inputs: Sequence[object],
        node: Node | type[Node] | None = None,
    ) -> object:
        """A function begins.

        Parameters
        ----------
        name : str
            The event's name.
        scope : int
            `FUNCTION`, `BACKWARD_FUNCTION` or `USER_SCOPE`.
        sequence_nr : int
            For an operator, the number of the thread's next node; for a node its own;
            `NO_SEQUENCE_NR` for all others.
        forward_thread : int
            The `Node.thread_id` of the node; 0 for a leaf's node, or none.
        inputs : sequence of object
            The arguments; empty unless `needs_inputs`.
        node : Node or type of Node, optional
            The node that runs, or the class of those that a custom Function makes.

        Returns
        -------
        object
            The event, for `end`.
        """

    def end(self, event: object, outputs: Sequence[object] = ()) -> None:
        """A function ends, and all that began within it and has not ended.

        Parameters
        ----------
        event : object
            What `begin` returned.
        outputs : sequence of object
            The tensors or arrays that it returned.
        """

    def runs(self, operator: str) -> bool:
        """Whether the innermost function that has not ended is an operator of this name."""

    def forget(self, event: object) -> None:
        """The function of the last event had nothing to do: there was no such call."""


# The observed threads, as `threading.get_ident` numbers them.
observers: Final[dict[int, Observer]] = {}
after_fork(partial(keep_own_entry, observers))


def observer_of_thread() -> Observer | None:
    """The observer of this thread, if it has one."""
    return observers.get(get_ident()) if observers else None


def begin_node(observer: Observer, node: Node, gradients: Sequence[object]) -> object:
    """The event of a node's function, which is called next.

    Parameters
    ----------
    observer : Observer
        The observer of this thread.
    node : Node
        The node.
    gradients : sequence of object
        The incoming gradients, or what states their shapes.
    """
    return observer.begin(
        node.name(),
        BACKWARD_FUNCTION,
        NO_SEQUENCE_NR if node.is_leaf_node else node.sequence_nr,
        0 if node.is_leaf_node else node.thread_id,
        gradients if observer.needs_inputs else (),
        node,
    )

"""What a profiler implements to see which functions run on its thread.

NOTE [ Observers ]

A thread has an observer or none, in `this_thread.observer`. Operators do not read it: while there
is one, the tables in which they are looked up hold wrappers that do. The engine reads it once for
each pass, and `Node.__call__` and the `apply` of custom Functions once for each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

__all__ = ["BACKWARD_FUNCTION", "FUNCTION", "NO_SEQUENCE_NR", "Observer", "USER_SCOPE"]

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
            The thread that made the node, as `threading.get_ident` numbers it; 0 for no node.
        inputs : sequence of object
            The arguments; empty unless `needs_inputs`.

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

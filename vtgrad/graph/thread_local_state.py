"""State of the graph for each thread.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vtgrad.graph.sequence_nr import Numbering
from vtgrad.storage.thread_state import made, part_of_thread

if TYPE_CHECKING:
    from vtgrad.graph.node import Node
    from vtgrad.graph.packed import Packed
    from vtgrad.storage.tensor_base import TensorBase

__all__ = ["this_thread"]


class _ThisThread:
    """See Note [The state of a thread].

    Attributes
    ----------
    numbering : Numbering
        The numbers that the thread gives to its nodes. Another thread that runs user code for it
        gives the same numbers: the two never record at once.
    writes : dict of Node to Node
        For each operator's node that a `CopySlices` is running, recorded, at this moment: that
        `CopySlices`.
    unpacked : dict of Packed to TensorBase
        What the unpack functions of the node that runs have returned; see Note [Unpacked once].
    running_node : Node or None
        The node that runs at this moment; known in anomaly mode only, see Note [Anomaly mode].
    """

    numbering: Numbering = made(Numbering)
    writes: dict[Node, Node] = made(dict)
    unpacked: dict[Packed, TensorBase] = made(dict)
    running_node: Node | None = None


this_thread: _ThisThread = part_of_thread(_ThisThread)

"""State of the graph for each thread.

Classes that inherit from `threading.local` cannot be native in the compiled build, so this one
has a file of its own, which is never compiled; see Note [One source, two builds].
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .sequence_nr import Numbering

if TYPE_CHECKING:
    from ..storage.tensor_base import TensorBase
    from .node import Node
    from .packed import Packed

__all__ = ["this_thread"]


class _ThisThread(threading.local):
    """State of one thread.

    Attributes
    ----------
    numbering : Numbering
        The numbers that the thread gives to its nodes.
    writes : dict of Node to Node
        For each operator's node that a `CopySlices` is running, recorded, at this moment: that
        `CopySlices`.
    unpacked : dict of Packed to TensorBase
        What the unpack functions of the node that runs have returned; see Note [Unpacked once].
    running_node : Node or None
        The node that runs at this moment; known in anomaly mode only, see Note [Anomaly mode].
    """

    numbering: Numbering
    writes: dict[Node, Node]
    unpacked: dict[Packed, TensorBase]
    running_node: Node | None

    def __init__(self) -> None:
        self.numbering = Numbering()
        self.writes = {}
        self.unpacked = {}
        self.running_node = None


this_thread: _ThisThread = _ThisThread()

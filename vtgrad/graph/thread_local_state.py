"""State of the graph for each thread.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vtgrad.graph.sequence_nr import Numbering
from vtgrad.storage.thread_state import made, part_of_thread

if TYPE_CHECKING:
    from vtgrad.graph.hooks import GradCell
    from vtgrad.graph.node import Node
    from vtgrad.graph.packed import Packed
    from vtgrad.storage.tensor_base import TensorBase
    from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["Changes", "set_grad", "this_thread"]


class Changes:
    """What the threads of a recorded program change of tensors, beside memory and versions.

    It is noted before it is changed, so an entry may belong to a change that was interrupted.

    Attributes
    ----------
    grads : list of tuple
        Cells of ``.grad``, with what is put there.
    impls : dict of int to TensorImpl
        By ``id``, tensors whose ``requires_grad`` is set.
    generators : dict of int to object
        By ``id``, generators of random numbers that are seeded.
    """

    __slots__ = ("generators", "grads", "impls")

    grads: list[tuple[GradCell, TensorBase | None]]
    impls: dict[int, TensorImpl]
    generators: dict[int, object]

    def __init__(self) -> None:
        self.grads = []
        self.impls = {}
        self.generators = {}


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
    changes : Changes or None
        Where a recording notes what its program changes while other threads run.
    """

    numbering: Numbering = made(Numbering)
    writes: dict[Node, Node] = made(dict)
    unpacked: dict[Packed, TensorBase] = made(dict)
    running_node: Node | None = None
    changes: Changes | None = None


this_thread: _ThisThread = part_of_thread(_ThisThread)


def set_grad(cell: GradCell, value: TensorBase | None) -> None:
    """Set a ``.grad``, which a recording on this thread notes."""
    changes = this_thread.changes
    if changes is not None:
        changes.grads.append((cell, value))
    cell.grad = value

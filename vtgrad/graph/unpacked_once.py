"""Unpacking all saved values of a node before it runs. This file is never compiled.

See Note [Unpacked once].
"""

from __future__ import annotations

from ..storage.tensor_base import TensorBase
from .node import Node
from .packed import Packed

__all__ = ["unpack_saved"]


def unpack_saved(node: Node) -> dict[Packed, TensorBase]:
    """What the unpack functions of a node's values return.

    Raises
    ------
    Exception
        Whatever the functions raise, and as `Packed.unpacked` does.
    """
    owner = node.saving_node()
    packed = [value.packed for _, value in owner.saved_values() if value.packed is not None]
    return {one: one.unpacked(owner) for one in packed}

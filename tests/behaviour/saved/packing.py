"""Pack and unpack functions that note how they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support import node_of, vt

__all__ = ["Log", "hooks", "saved", "unchanged"]

hooks = vt.autograd.graph.saved_tensors_hooks


def unchanged(packed: Any) -> Any:
    """Pack or unpack nothing."""
    return packed


class Log:
    """Two functions that note their arguments; the packed object is what `keep` makes."""

    def __init__(self, keep: Callable[[vt.Tensor], Any] = unchanged) -> None:
        self.keep = keep
        self.packed: list[vt.Tensor] = []
        self.unpacked: list[Any] = []

    def pack(self, tensor: vt.Tensor) -> Any:
        """Pack a tensor."""
        self.packed.append(tensor)
        return self.keep(tensor)

    def unpack(self, packed: Any) -> Any:
        """Unpack it."""
        self.unpacked.append(packed)
        return packed

    def open(self) -> vt.autograd.graph.saved_tensors_hooks[Any]:
        """Give a block with these functions."""
        return hooks(self.pack, self.unpack)


def saved(y: vt.Tensor, name: str) -> Any:
    """Read an attribute of the node of `y`."""
    return getattr(node_of(y), name)

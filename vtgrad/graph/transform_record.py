# Compiled by mypyc.
"""What a transform in reverse mode has to leave as it was.

Note [What a transform leaves behind]

A function that a transform differentiates may write to tensors that it captures, and these outlive
it. Their history would lead to the leaves of the transform, to which no gradient goes any more, and
each further transform would add to it. So a transform has a record of the tensors whose producers
were replaced or rebuilt while it ran. When it ends, those whose history leads to no other leaf
become constants; the transform outside gets the rest in its own record.

    t = zeros(3)
    grad(lambda x: t.add_(x).sum())(a)

    while it runs        t  <- AddBackward0 <- leaf of the transform
    afterwards           t                                             a constant

A tensor whose history leads to a leaf of the caller keeps all of it, as after any recorded write.
Nodes that are still used hold edges and saved values, which do not depend on what the tensors
become. So do the `pull` of ``vjp`` and the `push` of ``linearize``: they differentiate from edges.
A gradient, too, is a tensor that was written, if backward went through a write.
"""

from __future__ import annotations

import weakref
from typing import Final

from vtgrad.storage.tensor_base import TensorBase

__all__ = ["TransformRecord"]


class TransformRecord:
    """The tensors that a transform may have to leave; see Note [What a transform leaves behind].

    Attributes
    ----------
    leaves : list of TensorBase
        The arguments that the transform has made.
    """

    __slots__ = ("_seen", "leaves")

    leaves: Final[list[TensorBase]]
    _seen: Final[dict[int, weakref.ref[TensorBase]]]

    def __init__(self) -> None:
        self.leaves = []
        self._seen = {}

    def add(self, tensor: TensorBase) -> None:
        """Note a tensor that gets another producer; the numbers of dead ones are used again."""
        known = self._seen.get(id(tensor))
        if known is None or known() is not tensor:
            self._seen[id(tensor)] = weakref.ref(tensor)

    def alive(self) -> list[TensorBase]:
        """The tensors that still exist."""
        found = [reference() for reference in list(self._seen.values())]
        return [tensor for tensor in found if tensor is not None]

"""Whether a step that runs again does the same."""

from __future__ import annotations

import weakref
import zlib
from collections.abc import Iterable, Iterator
from types import GetSetDescriptorType, MemberDescriptorType

import numpy as np

from vtgrad.errors import VtgradError
from vtgrad.function.node import BackwardCFunction
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["Digests", "sum_of"]


class Digests:
    """CRC-32 sums over all that decides the gradients of a step.

    Note [The same step again]

    The gradients of a step depend on the nodes that it records, on what they saved, and on nothing
    else. So if a step that is recorded again has nodes of the same classes with the same saved
    values, and the same results, bit for bit, then its gradients are those of the first time. The
    sum of the first time is kept, four bytes for each step; whatever made the difference (a tensor
    that was written since, a Python variable, a clock, random numbers), the sums differ.

    Values that live on, such as parameters and constants, are the same array in every step. Their
    sums are kept, with the version for which they hold.
    """

    __slots__ = ("_known",)

    _known: dict[int, tuple[weakref.ref[Array], int, int]]

    def __init__(self) -> None:
        self._known = {}

    def of(self, nodes: Iterable[Node], results: Iterable[TensorBase]) -> int:
        """The sum of a step that recorded `nodes`, in an order that is the same each time."""
        total = 0
        for node in nodes:
            if node.is_view_node:
                # The producer of a captured view is built anew by the first step that reads it.
                continue
            total = zlib.crc32(type(node).__name__.encode(), total)
            for variable in _saved_by(node):
                if variable.packed is not None:
                    # What hooks of the step's own have made of it.
                    continue
                try:
                    array = variable.unpack_array(node)
                except VtgradError:
                    # Overwritten in the step itself: backward will say so.
                    continue
                total = zlib.crc32(self._kept(array, variable.version), total)
        for tensor in results:
            total = zlib.crc32(sum_of(tensor._impl.array).to_bytes(4, "little"), total)
        return total

    def forget(self) -> None:
        """Take all sums anew, because a write that no counter sees may have come between."""
        self._known = {}

    def _kept(self, array: Array, version: int) -> bytes:
        known = self._known.get(id(array))
        if known is not None and known[0]() is array and known[1] == version:
            return known[2].to_bytes(4, "little")
        found = sum_of(array)
        if len(self._known) > 256:
            self._known = {
                k: entry for k, entry in list(self._known.items()) if entry[0]() is not None
            }
        self._known[id(array)] = (weakref.ref(array), version, found)
        return found.to_bytes(4, "little")


def sum_of(array: Array) -> int:
    """The CRC-32 sum of an array: its dtype, its shape, its elements in row-major order."""
    head = f"{array.dtype.str}{array.shape}".encode()
    return zlib.crc32(np.ascontiguousarray(resolved(array)).data, zlib.crc32(head))


def _saved_by(node: Node) -> Iterator[SavedVariable]:
    if isinstance(node, BackwardCFunction):
        for variable in node._ctx._call.saved:
            if variable is not None:
                yield variable
        return
    for name in _fields_of(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, SavedVariable):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from [x for x in value if isinstance(x, SavedVariable)]
        elif name == "fn" and isinstance(value, Node):
            # The operator that wrote through a view.
            yield from _saved_by(value)


_known_fields: dict[type[Node], tuple[str, ...]] = {}


def _fields_of(kind: type[Node]) -> tuple[str, ...]:
    """The own fields of a class of nodes, which are slots or, compiled, members of a struct."""
    found = _known_fields.get(kind)
    if found is None:
        found = _known_fields[kind] = tuple(
            [
                name
                for base in kind.__mro__
                if base is not Node and issubclass(base, Node)
                for name, value in vars(base).items()
                if isinstance(value, MemberDescriptorType | GetSetDescriptorType)
            ]
        )
    return found

"""The places in which nodes hold saved values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from vtgrad.graph.node import Node
from vtgrad.graph.node_fields import classes_below, own_fields
from vtgrad.graph.operator_node import OperatorNode
from vtgrad.graph.saved_variable import SavedVariable

__all__ = ["FieldSlot", "Slot", "raw_fields"]


class Slot(Protocol):
    """A place for one saved value of a node."""

    @property
    def key(self) -> tuple[int, str, int]:
        """What tells the place from all others, as long as this object lives."""
        ...

    def node(self) -> Node:
        """The node."""
        ...

    def read(self) -> SavedVariable | None:
        """The saved value; None if there is none."""
        ...

    def store(self, variable: SavedVariable) -> None:
        """Replace the saved value."""


class FieldSlot:
    """A field of an operator's node, or an entry of a field that is a list."""

    __slots__ = ("_field", "_index", "_node")

    _node: Node
    _field: str
    _index: int

    def __init__(self, node: Node, field: str, index: int = -1) -> None:
        self._node = node
        self._field = field
        self._index = index

    @property
    def key(self) -> tuple[int, str, int]:
        """What tells the place from all others, as long as this object lives."""
        return id(self._node), self._field, self._index

    def node(self) -> Node:
        """The node."""
        return self._node

    def read(self) -> SavedVariable | None:
        """The saved value; None if there is none."""
        value = getattr(self._node, self._field)
        if isinstance(value, list):
            value = value[self._index]
        return value if isinstance(value, SavedVariable) else None

    def store(self, variable: SavedVariable) -> None:
        """Replace the saved value."""
        value = getattr(self._node, self._field)
        if isinstance(value, list):
            value[self._index] = variable
        else:
            setattr(self._node, self._field, variable)


def raw_fields(show: Callable[[Slot], object]) -> None:
    """Give the generated nodes a property ``_raw_saved_<name>`` for each field with a saved tensor.

    Parameters
    ----------
    show : callable
        Makes what users see of one place.
    """
    readers: dict[str, property] = {}
    for node in classes_below(OperatorNode):
        for field in own_fields(node):
            if not field.startswith("saved_"):
                continue
            if field not in readers:
                readers[field] = property(_RawReader(field, show))
            setattr(node, f"_raw_{field}", readers[field])


class _RawReader:
    """Reads one field of a node, as places of saved values."""

    __slots__ = ("_field", "_show")

    def __init__(self, field: str, show: Callable[[Slot], object]) -> None:
        self._field = field
        self._show = show

    def __call__(self, node: Node) -> object:
        field = self._field
        value: object = getattr(node, field)
        if isinstance(value, list):
            return tuple([self._show(FieldSlot(node, field, nr)) for nr in range(len(value))])
        if value is not None and not isinstance(value, SavedVariable):
            # As for arguments that are never tensors, there is nothing that could be packed.
            raise AttributeError(f"{node.name()} saved {value!r}, which is not a tensor")
        return self._show(FieldSlot(node, field))

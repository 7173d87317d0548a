"""What nodes have saved, for those who look into the graph: ``node._saved_self`` and so on.

The names are PyTorch's: that of the argument or result with ``_saved_`` in front; behind it
``_sym_sizes`` or ``_scalar_type`` where only its shape or its dtype was saved.
"""

from __future__ import annotations

import numpy as np

from vtgrad.graph.node import Node
from vtgrad.graph.node_fields import classes_below, own_fields
from vtgrad.graph.operator_node import OperatorNode
from vtgrad.graph.saved_variable import UNSAVED, SavedVariable
from vtgrad.storage.arrays import Shape
from vtgrad.storage.dtypes import dtype_of

__all__ = ["publish_saved_fields", "saved_slots"]


# How the generated nodes name their fields, and how PyTorch does.
_PREFIX = "saved_"
_ENDINGS = {"_shape": "_sym_sizes", "_shapes": "_sym_sizes", "_dtype": "_scalar_type"}


def publish_saved_fields() -> None:
    """Give the generated nodes one property for each field."""
    readers: dict[str, property] = {}
    for node in classes_below(OperatorNode):
        for field in own_fields(node):
            if field not in readers:
                readers[field] = property(_Reader(field))
            setattr(node, _public_name(field), readers[field])


def saved_slots(node: Node) -> list[tuple[str, object]]:
    """What a node has saved, as it is stored, by the names of the arguments and results.

    A saved tensor is a `SavedVariable`, which is not unpacked.
    """
    found: list[tuple[str, object]] = []
    if not isinstance(node, OperatorNode):
        return found
    for cls in type(node).__mro__:
        if cls is OperatorNode:
            break
        for field in own_fields(cls):
            found.append((_public_name(field).removeprefix("_saved_"), getattr(node, field)))
    return found


def _public_name(field: str) -> str:
    name = field.removeprefix(_PREFIX)
    for ours, theirs in _ENDINGS.items():
        if name.endswith(ours):
            name = name.removesuffix(ours) + theirs
    return f"_saved_{name}"


class _Reader:
    """Reads one field of a node."""

    __slots__ = ("field",)

    def __init__(self, field: str) -> None:
        self.field = field

    def __call__(self, node: Node) -> object:
        value: object = getattr(node, self.field)
        if isinstance(value, list):
            shown = [_shown(x, node) for x in value]
            if self.field == "saved_indices":
                return _at_their_dimensions(shown, node)
            return tuple(shown)
        return _shown(value, node)


def _shown(value: object, node: Node) -> object:
    """A saved value as users see it."""
    if value is UNSAVED:
        return None
    if isinstance(value, SavedVariable):
        return value.unpack(node)
    return dtype_of(value) if isinstance(value, np.dtype) else value


def _at_their_dimensions(indices: list[object], node: Node) -> tuple[object, ...]:
    """The index tensors, with None for the dimensions between them that have none."""
    positions: Shape = getattr(node, "positions")  # noqa: B009  # only nodes of indexing have it
    found: list[object] = [None] * (1 + max(positions))
    for position, index in zip(positions, indices, strict=True):
        found[position] = index
    return tuple(found)

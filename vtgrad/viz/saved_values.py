"""What the nodes of a graph have saved, looked at without unpacking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vtgrad.errors import GraphFreedError, StaleSavedError, VtgradError
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import RELEASED, UNSAVED, SavedVariable
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.views.copy_slices import CopySlices

__all__ = ["SavedValue", "inner_node", "nodes_of", "saved_values"]


class SavedValue(NamedTuple):
    """One value that a node has saved.

    Attributes
    ----------
    name : str
        The field, such as ``self`` or ``result``.
    variable : SavedVariable
        The saved value.
    """

    name: str
    variable: SavedVariable

    @property
    def array(self) -> Array | None:
        """The present elements; None if they are kept in another form."""
        return self.variable.saved_array

    @property
    def tensor(self) -> TensorBase | None:
        """The saved tensor, if it still lives."""
        return self.variable.saved_tensor

    def problem(self, node: Node) -> str | None:
        """Why backward would refuse the value, in a few words; None if it would not."""
        if self.variable is RELEASED:
            return "freed"
        try:
            self.variable.check(node)
        except GraphFreedError:
            return "freed"
        except StaleSavedError:
            return "overwritten"
        except VtgradError as error:
            return error.kind
        return None


def saved_values(node: Node) -> list[SavedValue]:
    """The values that a node itself has saved, in the order of its fields."""
    if inner_node(node) is not None:
        return []
    found = node.saved_values()
    return [SavedValue(name.removeprefix("saved_"), x) for name, x in found if x is not UNSAVED]


def inner_node(node: Node) -> Node | None:
    """The node of the operator that wrote through a view, of the node of the written base."""
    return node.fn if isinstance(node, CopySlices) else None


def nodes_of(roots: Iterable[Node]) -> Sequence[Node]:
    """All nodes that roots lead to, each before those that its edges lead to, and inner nodes.

    The order depends on the graph alone. The loop is no recursion: a graph may be a long chain.
    """
    found: dict[Node, None] = {}
    waiting = list(roots)[::-1]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found[node] = None
        inner = inner_node(node)
        if inner is not None:
            found[inner] = None
        waiting += [edge.function for edge in node.next_edges[::-1] if edge is not None]
    return list(found)

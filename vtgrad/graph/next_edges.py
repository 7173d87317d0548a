"""Changing the edges of a node by hand. This file is never compiled.

The type of an edge that users pass is a protocol in a file that is not compiled, so that compiled
code does not check it: see Note [Arguments arrive unchecked].
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final, Protocol, SupportsIndex, TypeAlias

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    FrozenEdgesError,
    NotSupportedError,
    OutOfRangeError,
)
from vtgrad.graph.edge import Edge, edge_to

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = [
    "ANY_EDGES",
    "FIXED_EDGES",
    "SAME_INPUTS",
    "EdgeLike",
    "NextEdge",
    "as_edge",
    "check_next_edges",
    "edge_index",
]

# Note [Edges that are set by hand]
#
# Nodes get their edges when they are made. They may be changed as long as no edge leads to the
# node, because the numbers of later nodes depend on it, see Note [Topological numbers]. What may be
# changed then, a node states as its `edge_rule`:
#
# ANY_EDGES: all of it. The default.
# SAME_INPUTS: where an edge leads, or that it leads nowhere. The node computes one gradient for
# each of its inputs. An input whose edge is None keeps None, because nothing was saved for it.
# FIXED_EDGES: nothing, because another object has the same edges, or one node serves all values.
ANY_EDGES: Final = 0
SAME_INPUTS: Final = 1
FIXED_EDGES: Final = 2


class EdgeLike(Protocol):
    """What an `Edge` has."""

    @property
    def function(self) -> Node:
        """The node that receives the gradient."""
        ...

    @property
    def input_nr(self) -> int:
        """The number of the result of `function` to which the gradient belongs."""
        ...


# An edge, also as a pair like those of `next_functions` and of `get_gradient_edge`.
NextEdge: TypeAlias = "EdgeLike | tuple[Node | None, int] | None"


def as_edge(value: NextEdge) -> Edge | None:
    """An edge that was given as one, as a pair, or as None.

    Raises
    ------
    ArgumentTypeError
        If it is something else.
    ArgumentValueError
        If the node has no such result.
    """
    # Of any type until it was looked at; see Note [Arguments arrive unchecked].
    given: object = value
    if given is None:
        return None
    if isinstance(given, Edge):
        # Of the two classes that other code tells apart, whatever class a user has made.
        edge = edge_to(given.function, given.input_nr)
    else:
        if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int)):
            raise ArgumentTypeError(
                "an edge is a node, a pair of a node and the number of its result, or None, not "
                f"{type(given).__name__}",
                argument="edge",
            )
        start, nr = given
        if start is None:
            return None
        if not isinstance(start, Edge):
            raise ArgumentTypeError(
                f"an edge leads to a node, not to {type(start).__name__}", argument="edge"
            )
        edge = edge_to(start.function, nr)
    function = edge.function
    if not 0 <= edge.input_nr < function.num_inputs:
        raise ArgumentValueError(
            f"{function.name()} has {function.num_inputs} results, and none of number "
            f"{edge.input_nr}",
            argument="edge",
        )
    return edge


def edge_index(node: Node, index: SupportsIndex) -> int:
    """The number of an edge.

    Raises
    ------
    ArgumentTypeError
        If it is no integer.
    OutOfRangeError
        If the node has no such edge.
    """
    try:
        number = operator.index(index)
    except TypeError:
        raise ArgumentTypeError(
            f"the number of an edge is an integer, not {type(index).__name__}", argument="index"
        ) from None
    if not 0 <= number < node.num_outputs:
        raise OutOfRangeError(
            f"{node.name()} has {node.num_outputs} edges, and none of number {number}",
            argument="index",
        )
    return number


def check_next_edges(node: Node, edges: tuple[Edge | None, ...]) -> None:
    """Raise if these cannot become the edges of a node; see Note [Edges that are set by hand].

    Raises
    ------
    FrozenEdgesError
        If an edge leads to the node, or backward has begun at it.
    NotSupportedError
        If the node's edges are fixed, or an input would need a gradient for which nothing was
        saved.
    ArgumentValueError
        If the number of inputs would change, or an edge leads to the node itself.
    """
    name = node.name()
    if node.has_parent:
        raise FrozenEdgesError(
            f"the edges of {name} cannot be changed any more, because another node leads to it or "
            "a backward has begun at it; set them before the result is used",
            node=name,
        )
    if node.edge_rule == FIXED_EDGES:
        raise NotSupportedError(f"the edges of {name} cannot be changed", node=name)
    for nr, edge in enumerate(edges):
        if edge is not None and edge.function is node:
            raise ArgumentValueError(f"edge {nr} of {name} would lead to itself", argument="edge")
    if node.edge_rule == SAME_INPUTS:
        before = node.next_edges
        if len(edges) != len(before):
            raise ArgumentValueError(
                f"{name} computes gradients of {len(before)} inputs, and cannot have {len(edges)} "
                "edges",
                argument="edges",
            )
        for nr, (old, new) in enumerate(zip(before, edges, strict=True)):
            if old is None and new is not None:
                raise NotSupportedError(
                    f"input {nr} of {name} cannot get an edge, because it needed no gradient when "
                    "the node was made and nothing was saved for one",
                    node=name,
                )

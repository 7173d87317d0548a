# Compiled by mypyc.
"""An edge of the graph: the destination of a gradient.

Note [A node is the edge to its first result]

An edge is a node and the number of one of its results. Nearly all nodes have one result, and a
graph has more edges than nodes, all of them objects that the garbage collector visits. So a node is
itself the edge to its result 0, and only edges to other results are separate objects.

Two edges are equal if they lead to the same result of the same node. A node, which the engine uses
as a key everywhere, is equal to itself only and is hashed by its identity; an edge to another
result compares node and number, and its hash is made of both. None takes the place of an edge that
leads nowhere: of an input that needs no gradient.

Note [The metadata of a result is its edge]

Most results of operators are never views, and nothing is ever asked of them but who made them. So
the autograd metadata of such a result is the edge to its producer: for the one result of a node the
node itself, and no object is made. `own_meta` and `meta_of` put an `AutogradMeta` in its place once
a hook, a retained gradient, a tangent or a write needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from vtgrad.storage.native import mypyc_attr
from vtgrad.storage.tensor_impl import AutogradMetaInterface

if TYPE_CHECKING:
    from vtgrad.graph.node import Node

__all__ = ["Edge", "ResultEdge", "edge_to"]


@mypyc_attr(allow_interpreted_subclasses=True)
class Edge(AutogradMetaInterface):
    """One input of a node: the gradient of result `input_nr` of `function` goes there.

    A node is itself the edge to its first result; edges to other results are read by
    `Node.next_edge`. Two edges are equal if they lead to one result of one node.

    Examples
    --------
    >>> one, two = vt.ones(2, requires_grad=True).unbind()
    >>> first, second = (one * two).grad_fn.next_edges
    >>> isinstance(first, vt.autograd.graph.Edge), first is one.grad_fn
    (True, True)
    >>> second.function is two.grad_fn, second.input_nr
    (True, 1)
    >>> second == (two + 1).grad_fn.next_edge(0)
    True
    """

    __slots__ = ()

    # Whether this is a leaf's AccumulateGrad.
    is_leaf_node: ClassVar[bool] = False

    @property
    def function(self) -> Node:
        """The node that receives the gradient.

        Returns
        -------
        Node
            Of a node, which stands for the edge to its result 0, the node itself.

        Examples
        --------
        >>> node = (vt.ones(2, requires_grad=True) * 3).grad_fn
        >>> node.function is node, node.input_nr
        (True, 0)
        """
        raise NotImplementedError

    @property
    def input_nr(self) -> int:
        """The number of the result of `function` to which the gradient belongs.

        Returns
        -------
        int
            The number of the result.
        """
        raise NotImplementedError

    def needs_gradient(self) -> bool:
        """Whether gradients are computed for the result: True, see `AutogradMetaInterface`."""
        return True

    def was_produced(self) -> bool:
        """Whether the result has a producer: True, see `AutogradMetaInterface`."""
        return True

    def fw_level(self, limit: int) -> int:
        """0: a result that has a tangent has an `AutogradMeta`."""
        return 0

    def is_valid(self) -> bool:
        """Whether the edge leads to a node.

        Returns
        -------
        bool
            True: None takes the place of an edge that leads nowhere.

        Examples
        --------
        >>> (vt.ones(2, requires_grad=True) * 3).grad_fn.is_valid()
        True
        """
        return True


class ResultEdge(Edge):
    """The edge to another result than the first; see Note [A node is the edge to its first result].

    Made by `edge_to`.
    """

    __slots__ = ("_function", "_input_nr")

    _function: Node
    _input_nr: int

    def __init__(self, function: Node, input_nr: int) -> None:
        self._function = function
        self._input_nr = input_nr

    @property
    def function(self) -> Node:
        """The node that receives the gradient."""
        return self._function

    @property
    def input_nr(self) -> int:
        """The number of the result of `function` to which the gradient belongs."""
        return self._input_nr

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Edge)
            and other.function is self._function
            and other.input_nr == self._input_nr
        )

    def __hash__(self) -> int:
        # Without a number it is that of the node, which is the edge to its result 0.
        return hash(self._function) + self._input_nr

    def __repr__(self) -> str:
        return f"ResultEdge({self._function.name()}, {self._input_nr})"


def edge_to(function: Node, input_nr: int) -> Edge:
    """The edge to one result of a node."""
    return ResultEdge(function, input_nr) if input_nr else function

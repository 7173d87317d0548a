"""An edge of the graph: where a gradient goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import Node

__all__ = ["Edge"]


class Edge:
    """One input of a node: the gradient of that node's output number `input_nr` goes there.

    Attributes
    ----------
    function : Node
        The node that receives the gradient.
    input_nr : int
        Which of the values that `function` produced in forward the gradient belongs to.
    """

    __slots__ = ("function", "input_nr")

    function: Node
    input_nr: int

    def __init__(self, function: Node, input_nr: int) -> None:
        self.function = function
        self.input_nr = input_nr

    def __repr__(self) -> str:
        return f"Edge({self.function.name()}, {self.input_nr})"

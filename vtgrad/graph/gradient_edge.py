"""A public reference to a value of the graph, independent of any tensor."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import GradRequiredError
from ..storage.tensor_base import TensorBase
from .functions import gradient_edge
from .node import Node

__all__ = ["GradientEdge", "get_gradient_edge"]


class GradientEdge(NamedTuple):
    """One result of one node. Refers to that value also after in-place writes of the tensor.

    Attributes
    ----------
    node : Node
        The node.
    output_nr : int
        The number of the result.
    """

    node: Node
    output_nr: int


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """The edge of a tensor's present value.

    Raises
    ------
    GradRequiredError
        If the tensor does not require grad.
    """
    edge = gradient_edge(tensor)
    if edge is None:
        raise GradRequiredError(
            "a tensor that does not require grad has no gradient edge", shape=tensor.shape
        )
    return GradientEdge(edge.function, edge.input_nr)

"""A public reference to a value of the graph, independent of any tensor."""

from __future__ import annotations

from typing import NamedTuple

from vtgrad.errors import ArgumentTypeError, GradRequiredError
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["GradientEdge", "get_gradient_edge"]


class GradientEdge(NamedTuple):
    """One result of one node: the value that a tensor had, also after later in-place writes.

    `vtgrad.autograd.backward` and `vtgrad.autograd.grad` take it instead of a tensor. It
    keeps the node alive, and no values.

    Attributes
    ----------
    node : Node
        The node.
    output_nr : int
        Which of its results.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> edge = vt.autograd.graph.get_gradient_edge(y)
    >>> y += x  # the edge stays with the former value
    >>> vt.autograd.grad(edge, x, vt.ones(2))
    (tensor([2., 2.]),)
    """

    node: Node
    output_nr: int


def get_gradient_edge(tensor: TensorBase) -> GradientEdge:
    """The edge of a tensor's present value.

    Parameters
    ----------
    tensor : Tensor
        A tensor that requires grad; of a leaf, the node that fills its ``.grad``.

    Returns
    -------
    GradientEdge
        ``tensor.grad_fn`` and ``tensor.output_nr``, as a pair.

    Raises
    ------
    ArgumentTypeError
        If `tensor` is no tensor.
    GradRequiredError
        If the tensor does not require grad.
    ViewInvalidError
        For a view that became invalid when its base was written.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> edge = vt.autograd.graph.get_gradient_edge(x.unbind()[1])
    >>> edge.node.name(), edge.output_nr
    ('UnbindBackward0', 1)
    """
    if not isinstance(tensor, TensorBase):
        raise ArgumentTypeError(
            f"argument 'tensor' must be a tensor, not {type(tensor).__name__}", argument="tensor"
        )
    edge = gradient_edge(tensor)
    if edge is None:
        raise GradRequiredError(
            "a tensor that does not require grad has no gradient edge", shape=tensor.shape
        )
    return GradientEdge(edge.function, edge.input_nr)

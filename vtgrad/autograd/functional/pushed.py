"""The product of a Jacobian with a vector from the right, in reverse mode."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.autograd.functional.call import filled
from vtgrad.autograd.reverse_call import InputEdge, gradients_by, zero_leaf
from vtgrad.tensor.tensor import Tensor

__all__ = ["pushed"]


def pushed(
    edges: Sequence[InputEdge],
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    vector: Sequence[Tensor],
    *,
    create_graph: bool,
    strict: bool,
) -> list[Tensor]:
    """The product of the Jacobian of some outputs with a vector, by two passes.

    ``u @ J`` is linear in ``u``, so that its derivative by ``u`` in the direction `vector` is
    ``J @ vector``, wherever ``u`` is: at zero.

    Parameters
    ----------
    edges : sequence of InputEdge
        The inputs, in the graph.
    outputs : sequence of Tensor
        The outputs.
    inputs : sequence of Tensor
        Tensors like the inputs, for zeros.
    vector : sequence of Tensor
        Like the inputs.
    create_graph : bool
        Whether to record the second pass.
    strict : bool
        Whether an output that does not depend on the inputs is an error.
    """
    # An integer output has no derivatives, and its cotangent none to be differentiated by.
    cotangents = [zero_leaf(output) for output in outputs]
    live = [nr for nr, cotangent in enumerate(cotangents) if cotangent.requires_grad]
    edges_of_live = [InputEdge.of(cotangents[nr]) for nr in live]
    pulled = filled(
        gradients_by(edges, outputs, cotangents, recorded=True, keep_graph=True),
        inputs,
        strict=strict,
        constants=False,
        what="the output of the function",
    )
    found: list[Tensor | None] = [None] * len(outputs)
    products = gradients_by(
        edges_of_live,
        pulled,
        vector,
        recorded=create_graph,
        keep_graph=False,
    )
    for nr, product in zip(live, products, strict=True):
        found[nr] = product
    return filled(
        found,
        outputs,
        strict=strict,
        constants=create_graph,
        what="the product with the vector",
        of="output",
    )

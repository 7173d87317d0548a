"""The table of dependencies of a graph.

Note [No node above the roots]

Several roots have no common node above them, which would have an edge to each and be the first to
run; PyTorch makes one, a `GraphRoot`. Here the gradients of the roots are put into the input
buffers of their nodes before any node runs, as if such a node had sent them, and a root to which no
other node leads is ready at once. A node above the roots would add to every table, drawing and
profile an entry that stands for nothing in the program.
"""

from __future__ import annotations

from collections import Counter

from vtgrad.graph.gradient_edge import GradientEdge, get_gradient_edge
from vtgrad.graph.node import Node
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["dependencies"]


def dependencies(*roots: TensorBase | GradientEdge) -> dict[Node, list[Counter[Node]]]:
    """How many gradients each node waits for, by result and by the node that sends them.

    Backward runs a node when all gradients of its results have arrived. The engine counts them in
    one number for each node; this table also says which of the node's results each gradient is for,
    and where it comes from.

    Parameters
    ----------
    *roots : Tensor or GradientEdge
        Where backward would begin.

    Returns
    -------
    dict of Node to list of Counter
        All nodes that the roots lead to, those of leaves too. For each of a node's results, the
        nodes that send a gradient there, its consumers, and how often each does. The caller's own
        gradients of the roots are not counted: they are there from the start.

    Raises
    ------
    ArgumentTypeError
        If a root is neither a tensor nor an edge.
    GradRequiredError
        If a root does not require grad.
    ViewInvalidError
        For a view that became invalid when its base was written.

    Examples
    --------
    >>> x = vt.ones(2, requires_grad=True)
    >>> y = x * x
    >>> table = vt.autograd.graph.dependencies(y.sum())
    >>> for node, results in table.items():
    ...     print(node.name(), [[(n.name(), k) for n, k in c.items()] for c in results])
    SumBackward0 [[]]
    MulBackward0 [[('SumBackward0', 1)]]
    torch::autograd::AccumulateGrad [[('MulBackward0', 2)]]
    """
    table: dict[Node, list[Counter[Node]]] = {}
    stack: list[Node] = []

    def enter(node: Node, number: int) -> list[Counter[Node]]:
        """The counters of a node, with one for this result."""
        counters = table.get(node)
        if counters is None:
            # The node of an interrupted write has a result for which nothing is stated.
            count = max(node.num_inputs, number + 1)
            counters = table[node] = [Counter() for _ in range(count)]
            stack.append(node)
        return counters

    for root in roots:
        edge = root if isinstance(root, GradientEdge) else get_gradient_edge(root)
        enter(edge.node, edge.output_nr)
    while stack:
        node = stack.pop()
        for next_edge in node.next_edges:
            if next_edge is not None:
                number = next_edge.input_nr
                enter(next_edge.function, number)[number][node] += 1
    return table

"""What is read of nodes and edges, and what may be set as an edge."""

from typing import reveal_type

import vtgrad as vt
from vtgrad.autograd.graph import dependencies, get_gradient_edge

x = vt.ones(3, requires_grad=True)
y = x * 2
node = y.grad_fn
assert node is not None

reveal_type(node.num_inputs)  # R: int
reveal_type(node.next_edge(0))  # R: vtgrad.graph.edge.Edge | None
reveal_type(node.is_traceable)  # R: bool
reveal_type(dependencies(y, get_gradient_edge(x))[node][0][node])  # R: int

node.set_next_edge(0, None)
node.set_next_edge(0, get_gradient_edge(x))
node.set_next_edges([(None, 0), node.next_edge(1)])
node.add_next_edge(node)
node.set_next_edges(node.next_functions)
node.set_next_edge(0, x)  # E: arg-type

node.register_prehook(lambda grads: (reveal_type(grads[0]),))  # R: vtgrad.Tensor
node.register_hook(lambda outgoing, incoming: (outgoing[0] * 2, *outgoing[1:]))


def counted(outgoing: tuple[vt.Tensor | None, ...], incoming: tuple[vt.Tensor | None, ...]) -> int:
    return len(outgoing) + len(incoming)


node.register_hook(counted)  # E: arg-type

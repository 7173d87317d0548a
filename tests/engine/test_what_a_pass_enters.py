"""A pass that is asked for a few gradients does not look at the history below them."""

import random
from collections.abc import Sequence

import pytest

import vtgrad as vt
from vtgrad.engine.graph_task import GraphTask
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge


def task_of(root: vt.Tensor, inputs: Sequence[vt.Tensor], *, accumulate: bool = False) -> GraphTask:
    """The run of `grad`, or of `backward(inputs=)`, from a root."""
    edge = gradient_edge(root)
    assert edge is not None
    wanted = [gradient_edge(x) for x in inputs]
    task = GraphTask([edge], True, False)
    task.compute_dependencies(wanted)
    task.restrict_to(wanted, accumulate=accumulate)
    return task


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("length", [1, 100, 3000])
def test_the_history_of_an_input_is_not_entered(length: int, accumulate: bool) -> None:
    x = vt.ones(2, requires_grad=True)
    k = x
    for _ in range(length):
        k = k + x
    root = (k * 2).sum()
    # The sum, the product and `k` itself, whatever `k` was made of.
    assert len(task_of(root, [k], accumulate=accumulate).dependencies) == 3


def test_a_long_branch_beside_the_way_is_entered_only_down_to_the_height_of_the_input() -> None:
    x = vt.ones(2, requires_grad=True)
    k = x
    for _ in range(10):
        k = k * 2
    beside = x
    for _ in range(50):
        beside = beside * 3
    task = task_of(k * beside, [k])
    # The root, `k` and the 41 upper nodes of the other branch.
    assert len(task.dependencies) == 43
    assert task.runs == {task.roots[0].function}


def test_without_inputs_all_is_entered() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x * 2
    for _ in range(9):
        y = y * 2
    edge = gradient_edge(y)
    assert edge is not None
    task = GraphTask([edge], True, False)
    task.compute_dependencies()
    assert len(task.dependencies) == 11


def test_gradients_by_a_result_in_the_middle_count_every_way_to_it() -> None:
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    k = x * x
    y = k * 3
    for _ in range(3):
        y = y + k
    total = (y * k).sum()
    # y = 6k, so that the sum is 6k², which has the slope 12k.
    (by_k,) = vt.autograd.grad(total, k, retain_graph=True)
    both = vt.autograd.grad(total, [k, x], retain_graph=True)
    total.backward(inputs=[k], retain_graph=True)
    assert by_k.tolist() == both[0].tolist() == [12, 48]
    assert k.grad is not None
    assert k.grad.tolist() == [12, 48]
    assert both[1].tolist() == [24, 192]


def reachable(node: Node) -> set[Node]:
    """All nodes that edges lead to, and the node itself."""
    found = {node}
    stack = [node]
    while stack:
        for edge in stack.pop().next_edges:
            if edge is not None and edge.function not in found:
                found.add(edge.function)
                stack.append(edge.function)
    return found


def random_values(draw: random.Random) -> list[vt.Tensor]:
    """Values of a program with writes through views, and nodes of several results."""
    values = [vt.ones(3, requires_grad=True) * 1 for _ in range(2)]
    for _ in range(draw.randrange(4, 16)):
        a, b = draw.choice(values), draw.choice(values)
        kind = draw.randrange(5)
        if kind == 0:
            c, d = (a + b).split([1, 2])
            values.append(vt.cat([d, c]))
        elif kind == 1:
            values.append(vt.stack([a, b]).unbind(0)[draw.randrange(2)])
        elif kind == 2:
            c = a.clone()
            c[1:].mul_(b[:2])
            values.append(c)
        elif kind == 3:
            c = a.clone()
            c[:2].tanh_()
            values.append(c)
        else:
            values.append(a * b)
    return values


@pytest.mark.parametrize("seed", range(60))
def test_the_nodes_that_run_are_those_that_lead_to_an_input(seed: int) -> None:
    draw = random.Random(seed)
    values = random_values(draw)
    inputs = draw.sample(values, draw.randrange(1, 3))
    root = values[-1] * values[draw.randrange(len(values))]
    accumulate = draw.random() < 0.5
    task = task_of(root, inputs, accumulate=accumulate)
    assert task.runs is not None
    top = task.roots[0].function
    below = reachable(top)
    for node in below:
        edges: list[Edge] = [edge for edge in node.next_edges if edge is not None]
        assert node.topological_nr == 1 + max(
            [e.function.topological_nr for e in edges], default=-1
        )
    wanted = {edge.function for x in inputs if (edge := gradient_edge(x)) is not None} & below
    expected = {node for node in below if reachable(node) & wanted - {node}}
    assert task.runs == expected | (wanted if accumulate else set())
    # All gradients that a node waits for come from nodes that run.
    for node in task.runs | wanted:
        senders = [e for n in below if n in expected for e in n.next_edges if e is not None]
        count = sum(edge.function is node for edge in senders)
        assert task.dependencies[node] == count

"""Edges: when they are equal, and what becomes of a node whose edges are set by hand."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import vtgrad as vt
from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    FrozenEdgesError,
    NotSupportedError,
    OutOfRangeError,
)
from vtgrad.function.node import BackwardCFunction
from vtgrad.graph.edge import ResultEdge, edge_to
from vtgrad.graph.next_edges import ANY_EDGES, FIXED_EDGES, SAME_INPUTS
from vtgrad.graph.node import Node
from vtgrad.graph.node_fields import classes_below
from vtgrad.graph.operator_node import OperatorNode

edge_of = vt.autograd.graph.get_gradient_edge


def node_of(tensor: vt.Tensor) -> Node:
    node = tensor.grad_fn
    assert node is not None
    return node


def leaf(*values: float) -> vt.Tensor:
    return vt.tensor(list(values), dtype=vt.float64, requires_grad=True)


class Double(vt.autograd.Function):
    """Twice its argument."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad * 2


# -- equality ------------------------------------------------------------------------------


def test_edges_are_equal_if_they_lead_to_one_result_of_one_node() -> None:
    one, two, three = leaf(1, 2, 3).unbind()
    node = node_of(one)
    first, second = node_of(one + two).next_edges
    again = node_of(two + three).next_edges[0]
    assert first is node
    assert second is not again
    assert second == again
    assert hash(second) == hash(again)
    assert second != first
    assert second != node_of(two + three).next_edges[1]
    assert len({first, second, again}) == 2


def test_a_node_is_equal_to_itself_only_and_to_the_edge_to_its_first_result() -> None:
    node, other = Node(()), Node(())
    assert node == ResultEdge(node, 0)
    assert ResultEdge(node, 0) == node
    assert hash(node) == hash(ResultEdge(node, 0))
    assert edge_to(node, 0) is node
    assert node != other
    assert node != ResultEdge(other, 0)
    assert node != ResultEdge(node, 1)
    assert ResultEdge(node, 1) != (node, 1)
    assert ResultEdge(node, 1) is not None
    # The engine looks nodes up in dicts: no Python code may run there.
    assert Node.__hash__ is object.__hash__
    assert Node.__eq__ is object.__eq__


def test_an_edge_is_valid_and_none_stands_for_one_that_is_not() -> None:
    node = node_of(leaf(1) * 3)
    edge = node.next_edge(0)
    assert edge is not None
    assert edge.is_valid()
    assert ResultEdge(node, 1).is_valid()
    assert node.next_edge(1) is None


# -- readers -------------------------------------------------------------------------------


def test_a_node_counts_what_comes_in_and_what_goes_out() -> None:
    x = leaf(1, 2)
    one, two = x.unbind()
    assert (node_of(one).num_inputs, node_of(one).num_outputs) == (2, 1)
    assert (node_of(one * two).num_inputs, node_of(one * two).num_outputs) == (1, 2)
    accumulates = node_of(one).next_edge(0)
    assert accumulates is not None
    node = accumulates.function
    assert (node.num_inputs, node.num_outputs) == (1, 0)


@pytest.mark.parametrize("index", [-1, 2, 10**30])
def test_an_edge_that_there_is_not(index: int) -> None:
    node = node_of(leaf(1) * 3)
    with pytest.raises(OutOfRangeError, match="MulBackward0 has 2 edges"):
        node.next_edge(index)
    with pytest.raises(OutOfRangeError):
        node.set_next_edge(index, None)
    with pytest.raises(ArgumentTypeError):
        node.next_edge("0")  # type: ignore[arg-type]  # what is tested


def test_nodes_of_operators_are_traceable_and_those_of_users_code_are_not() -> None:
    x = leaf(1, 2)
    base = x * 1
    base[0].mul_(2)
    product, written, users = node_of(x * 3), node_of(base), node_of(Double.apply(x))
    accumulates = product.next_functions[0][0]
    assert accumulates is not None
    assert [n.is_traceable for n in (product, written, users, accumulates)] == [
        True,
        False,
        False,
        False,
    ]
    assert {n.is_traceable for n in classes_below(OperatorNode)} == {True}


# -- writers -------------------------------------------------------------------------------


def test_an_edge_that_is_set_takes_the_gradient() -> None:
    x, other = leaf(1, 2), leaf(5, 6)
    y = x * 3
    node_of(y).set_next_edge(0, edge_of(other))
    y.sum().backward()
    assert x.grad is None
    assert other.grad is not None
    assert other.grad.tolist() == [3.0, 3.0]


def test_an_edge_may_be_given_in_every_form_in_which_it_is_read() -> None:
    x = leaf(1, 2)
    one, two = x.unbind()
    node = node_of(x[0] + x[1])
    for edge in (edge_of(two), (node_of(two), 1), node_of(one * two).next_edge(1)):
        node.set_next_edges([None, edge])
        node = node_of(x[0] + x[1])
        node.set_next_edge(1, edge)
        assert node.next_functions[1] == (node_of(two), 1)
    node.set_next_edge(0, (None, 0))
    assert node.next_functions[0] == (None, 0)
    node = node_of(x[0] + x[1])
    node.set_next_edge(0, node_of(one))
    assert node.next_functions[0] == (node_of(one), 0)


def test_the_numbers_follow_the_edges() -> None:
    low, high = leaf(1) * 1, leaf(1)
    for _ in range(5):
        high = high * 1
    y = leaf(1) * 3
    node = node_of(y)
    node.set_next_edge(0, node_of(high))
    assert node.topological_nr == node_of(high).topological_nr + 1
    assert node_of(high).has_parent
    node.set_next_edge(0, node_of(low))
    assert node.topological_nr == node_of(low).topological_nr + 1
    node.set_next_edge(0, None)
    assert node.topological_nr == 0


def test_a_pass_to_given_inputs_finds_an_edge_that_was_set() -> None:
    # With the number of its former edges the node would be left out of the search.
    deep = leaf(1, 2)
    for _ in range(4):
        deep = deep * 1
    y = leaf(7, 7) * 3
    node_of(y).set_next_edge(0, node_of(deep))
    (grad,) = vt.autograd.grad(y.sum(), deep)
    assert grad.tolist() == [3.0, 3.0]


def test_edges_are_frozen_once_an_edge_leads_to_the_node() -> None:
    x = leaf(1, 2)
    y = x * 3
    node = node_of(y)
    before = node.next_edges
    had_parent = node.has_parent
    y + 1
    assert (had_parent, node.has_parent) == (False, True)
    changes: list[Callable[[], None]] = [
        lambda: node.set_next_edges(before),
        lambda: node.set_next_edge(0, None),
        lambda: node.add_next_edge(None),
    ]
    for change in changes:
        with pytest.raises(FrozenEdgesError, match="another node leads to it"):
            change()
    assert node.next_edges == before
    with pytest.raises(RuntimeError):
        node.set_next_edge(0, None)


def test_an_edge_that_was_set_freezes_what_it_leads_to() -> None:
    x, y = leaf(1) * 1, leaf(1) * 2
    node_of(y).set_next_edge(0, node_of(x))
    with pytest.raises(FrozenEdgesError):
        node_of(x).set_next_edge(0, node_of(y))


def test_what_is_no_edge_is_refused_and_changes_nothing() -> None:
    x = leaf(1, 2)
    y = x * 3
    node = node_of(y)
    before, number = node.next_edges, node.topological_nr
    wrong: list[tuple[Any, type[Exception]]] = [
        (x, ArgumentTypeError),
        (3, ArgumentTypeError),
        ((node_of(x * 1), "0"), ArgumentTypeError),
        ((x, 0), ArgumentTypeError),
        ((node_of(x * 1), 1), ArgumentValueError),
        ((node_of(x * 1), -1), ArgumentValueError),
        (Node(()), ArgumentValueError),
        (node, ArgumentValueError),
    ]
    for edge, error in wrong:
        with pytest.raises(error):
            node.set_next_edge(0, edge)
    assert node.next_edges == before
    assert node.topological_nr == number


def test_the_inputs_of_an_operator_stay_what_they_were() -> None:
    x = leaf(1, 2)
    node = node_of(x * 3)
    with pytest.raises(ArgumentValueError, match="gradients of 2 inputs"):
        node.add_next_edge(edge_of(x))
    with pytest.raises(NotSupportedError, match="needed no gradient"):
        # The derivative by the number would need `x`, which was not saved.
        node.set_next_edge(1, edge_of(x))


def test_the_edge_of_a_custom_function() -> None:
    x, other = leaf(1, 2), leaf(3, 4)
    y = Double.apply(x)
    node = node_of(y)
    node.set_next_edge(0, edge_of(other))
    y.sum().backward()
    assert x.grad is None
    assert other.grad is not None
    assert other.grad.tolist() == [2.0, 2.0]


def _fixed() -> Iterator[vt.Tensor]:
    x = leaf(1, 2, 3)
    base = x * 1
    base[0].mul_(2)
    yield base
    part = base[1:]
    part.tanh_()
    yield part


def test_edges_that_other_objects_have_too_are_fixed() -> None:
    for tensor in _fixed():
        node = node_of(tensor)
        if node.edge_rule == FIXED_EDGES:
            with pytest.raises(NotSupportedError, match="cannot be changed"):
                node.set_next_edges(node.next_edges)
    x = leaf(1)
    with pytest.raises(NotSupportedError, match="AccumulateGrad"):
        edge_of(leaf(2)).node.add_next_edge(edge_of(x))


def test_each_class_of_nodes_says_which_edges_it_takes() -> None:
    # Its nodes are classes from its first use on.
    assert callable(vt.utils.checkpoint.checkpoint)
    known = {
        "AccumulateGrad": FIXED_EDGES,
        "BackwardCFunction": SAME_INPUTS,
        "CheckpointLoopBackward": FIXED_EDGES,
        "CopySlices": FIXED_EDGES,
        "EnterBatch": SAME_INPUTS,
        "InnerGraphNode": ANY_EDGES,
        "InterruptedWrite": FIXED_EDGES,
        "NotImplemented": ANY_EDGES,
        "NotTwiceDifferentiable": ANY_EDGES,
        "OperatorNode": SAME_INPUTS,
        "StepInput": FIXED_EDGES,
        "WrittenView": FIXED_EDGES,
        "_Arguments": ANY_EDGES,
    }
    classes = [
        c
        for c in classes_below(Node)
        if c.__module__.startswith("vtgrad.")
        and not c.__module__.startswith(("vtgrad.ops.generated", "vtgrad.autograd.function"))
        and WRITTEN not in c.__mro__[1:]
    ]
    assert {c.__name__: c.edge_rule for c in classes if c.__name__ in known} == known
    others = [c for c in classes if c.__name__ not in known]
    # Nodes of Functions take what BackwardCFunction takes.
    others = [c for c in others if not issubclass(c, BackwardCFunction)]
    assert [c.__name__ for c in others if not issubclass(c, OperatorNode)] == []


WRITTEN = next(c for c in classes_below(Node) if c.__name__ == "WrittenView")


def test_a_plain_node_takes_any_edges() -> None:
    x = leaf(1) * 2
    node = Node(())
    node.add_next_edge(None)
    node.add_next_edge(node_of(x))
    assert node.next_functions == ((None, 0), (node_of(x), 0))
    assert node.topological_nr == node_of(x).topological_nr + 1


def test_an_edge_of_a_class_of_the_user_is_taken_as_what_it_says() -> None:
    class Mine(vt.autograd.graph.Edge):
        def __init__(self, function: Node, input_nr: int) -> None:
            self._parts = (function, input_nr)

        @property
        def function(self) -> Node:
            return self._parts[0]

        @property
        def input_nr(self) -> int:
            return self._parts[1]

    one, two = leaf(1, 2).unbind()
    y = one * 3
    node_of(y).set_next_edge(0, Mine(node_of(two), 1))
    assert type(node_of(y).next_edges[0]) is ResultEdge
    node_of(y).set_next_edge(0, Mine(node_of(one), 0))
    assert node_of(y).next_edges[0] is node_of(one)


def test_a_hook_cannot_change_the_edges_of_the_pass_that_runs() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x * 3
    refused: list[FrozenEdgesError] = []

    def cut(gradient: vt.Tensor) -> None:
        try:
            node_of(y).set_next_edge(0, None)
        except FrozenEdgesError as error:
            refused.append(error)

    y.register_hook(cut)
    y.backward(vt.ones(2))
    assert len(refused) == 1
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]

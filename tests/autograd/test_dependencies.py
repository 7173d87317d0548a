"""The table of dependencies: its entries, and that its sums are what the engine counts."""

import gc
import random
import weakref
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

import pytest

import vtgrad as vt
from tests.functions import Square
from vtgrad.engine.graph_task import GraphTask
from vtgrad.errors import ArgumentTypeError, GradRequiredError, ViewInvalidError
from vtgrad.graph.edge import Edge, edge_to
from vtgrad.graph.gradient_edge import GradientEdge
from vtgrad.graph.node import Node
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import MIXTURES
from vtgrad.testing.session import Session
from vtgrad.testing.writer import ModelWriter, write_program

dependencies = vt.autograd.graph.dependencies
edge_of = vt.autograd.graph.get_gradient_edge


def counted(roots: Sequence[vt.Tensor | GradientEdge]) -> dict[Node, int]:
    """What the engine counts for a backward from these roots."""
    edges: list[Edge] = []
    for root in roots:
        edge = root if isinstance(root, GradientEdge) else edge_of(root)
        edges.append(edge_to(edge.node, edge.output_nr))
    task = GraphTask(edges, True, False)
    task.compute_dependencies()
    return task.dependencies


def sums(*roots: vt.Tensor | GradientEdge) -> dict[Node, int]:
    """The sums of the table."""
    return {
        node: sum(sum(counter.values()) for counter in results)
        for node, results in dependencies(*roots).items()
    }


def node_of(tensor: vt.Tensor) -> Node:
    node = tensor.grad_fn
    assert node is not None
    return node


def test_each_gradient_is_counted_at_its_result_and_for_its_consumer() -> None:
    x = vt.ones(3, requires_grad=True)
    one, two, three = x.unbind()
    product = one * two
    total = product + two + two
    table = dependencies(total)
    first, second, third = table[node_of(one)]
    inner = node_of(total).next_functions[0][0]
    assert inner is not None
    assert first == Counter({node_of(product): 1})
    assert second == Counter({node_of(product): 1, inner: 1, node_of(total): 1})
    assert third == Counter()
    assert node_of(three) is node_of(one)
    accumulates = node_of(one).next_functions[0][0]
    assert accumulates is not None
    assert table[accumulates] == [Counter({node_of(one): 1})]
    assert table[node_of(total)] == [Counter()]
    assert sums(total) == counted([total])


def test_a_node_that_sends_two_gradients_to_one_result_counts_twice() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x * x
    accumulates = edge_of(x).node
    assert dependencies(y)[accumulates] == [Counter({node_of(y): 2})]


def test_several_roots_and_roots_below_others() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x * 2
    z = y.sum()
    choices: list[list[vt.Tensor | GradientEdge]] = [
        [z, y],
        [y, z],
        [z, z],
        [x, z],
        [edge_of(z), y],
    ]
    for roots in choices:
        table = dependencies(*roots)
        assert table[node_of(y)] == [Counter({node_of(z): 1})]
        assert sums(*roots) == counted(roots)
    assert dependencies() == {}


def test_a_leaf_is_a_root_on_which_nothing_depends() -> None:
    x = vt.ones(2, requires_grad=True)
    assert dependencies(x) == {edge_of(x).node: [Counter()]}


def test_what_has_no_graph_is_refused() -> None:
    with pytest.raises(GradRequiredError):
        dependencies(vt.ones(2))
    with pytest.raises(ArgumentTypeError):
        dependencies(3)  # type: ignore[arg-type]  # what is tested


def test_the_producer_of_a_stale_view_is_the_present_one() -> None:
    base = vt.ones(4, requires_grad=True) * 1
    view = base[:2]
    base.mul_(2)
    assert [node.name() for node in dependencies(view)][:2] == [
        "AsStridedBackward0",
        "MulBackward0",
    ]


def test_a_long_chain_is_walked_without_recursion_and_the_table_is_all_that_holds_it() -> None:
    x = vt.ones(2, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1
    y = Square.apply(y)
    alive = weakref.ref(node_of(y)._ctx)  # type: ignore[attr-defined]  # of a custom Function
    table = dependencies(y)
    assert len(table) == 20_002
    was_on = gc.isenabled()
    gc.disable()
    try:
        del y
        assert alive() is not None
        del table
        assert alive() is None
    finally:
        if was_on:
            gc.enable()


def _roots(seed: int) -> list[vt.Tensor]:
    """The results that a random program has left."""
    rng = random.Random(seed)
    session = Session(vtgrad_library(vt))
    kinds = MIXTURES[rng.choice(sorted(MIXTURES))]
    write_program(session, ModelWriter(rng, session, kinds), 20)
    roots: list[vt.Tensor] = []
    for value in session.subject.variables().values():
        # Invalid views, and those that were made while nothing was recorded, have no edge.
        with suppress(ViewInvalidError, GradRequiredError):
            edge_of(value)
            roots.append(value)
    return roots


def test_sums_are_what_the_engine_counts_in_random_programs() -> None:
    compared = waiting = 0
    for seed in range(60):
        roots = _roots(seed)
        for root in roots:
            found = sums(root)
            assert found == counted([root]), seed
            compared += 1
            waiting += any(count > 1 for count in found.values())
        several = random.Random(seed).choices(roots, k=3) if roots else []
        assert sums(*several) == counted(several), seed
    # Of the graphs many have nodes that wait for several gradients.
    assert compared > 200
    assert waiting > 40

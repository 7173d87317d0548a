"""Gradient edges as roots and inputs, and the public side of nodes."""

from __future__ import annotations

import gc

import pytest

from tests.support import (
    collector_off,
    differs_from_torch,
    grad_list,
    leaf,
    node_of,
    ramp,
    refused,
    vt,
)

graph = vt.autograd.graph


def test_an_edge_is_a_named_tuple_that_may_be_made_by_hand() -> None:
    x = leaf(2)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    made = graph.GradientEdge(node_of(y), 0)
    (found,) = vt.autograd.grad(made, x, ramp(2))
    assert found.tolist() == [2, 4]
    assert graph.get_gradient_edge(x).node.name().endswith("AccumulateGrad")


def test_an_edge_keeps_its_node_alive() -> None:
    with collector_off():
        x = leaf(2)
        y = x * 2
        edge = graph.get_gradient_edge(y)
        del y
        gc.collect()
    (found,) = vt.autograd.grad(edge, x, ramp(2))
    assert found.tolist() == [2, 4]


@differs_from_torch("the view is an AssertionError there")
def test_what_has_no_gradient_has_no_edge() -> None:
    x = leaf(2)
    with vt.no_grad():
        view = x.view(2)
    for tensor in (ramp(2), view):
        with refused(RuntimeError, "grad-required"):
            graph.get_gradient_edge(tensor)


def test_an_edge_as_a_root_needs_a_gradient_of_its_shape() -> None:
    x = leaf(2)
    edge = graph.get_gradient_edge(x * 2)
    for gradient in (None, ramp(3)):
        with pytest.raises(RuntimeError):
            vt.autograd.grad(edge, x, gradient)
    vt.autograd.backward(edge, ramp(2))
    assert grad_list(x) == [2, 4]


def test_an_edge_of_a_leaf_as_input_of_backward_fills_its_grad() -> None:
    x = leaf(2)
    vt.autograd.backward((x * 2).sum(), inputs=[graph.get_gradient_edge(x)])
    assert grad_list(x) == [2, 2]


def test_gradients_that_are_made_up_are_separate_and_require_grad_if_recorded() -> None:
    x, unused = leaf(2), leaf(3)
    _, first, second = vt.autograd.grad(
        (x * x).sum(), (x, unused, unused), materialize_grads=True, create_graph=True
    )
    assert first is not second
    assert first.requires_grad
    assert first.tolist() == [0, 0, 0]


@pytest.mark.parametrize("roots", [[], ()])
def test_backward_of_no_roots_does_nothing_and_grad_of_none_reaches_nothing(
    roots: list[vt.Tensor],
) -> None:
    vt.autograd.backward(roots)
    with pytest.raises(RuntimeError):
        vt.autograd.grad(roots, leaf(2))


def test_grad_fills_the_grad_of_a_result_that_retains_it() -> None:
    x = leaf(2)
    e = x * 2
    e.retain_grad()
    vt.autograd.grad((e * 4).sum(), e)
    assert grad_list(e) == [4, 4]


def test_integers_and_other_floats_may_be_the_gradient_of_a_root() -> None:
    x = leaf(2)
    for gradient in (vt.ones(2, dtype=vt.float32), vt.ones(2, dtype=vt.int64)):
        (found,) = vt.autograd.grad(x * 2, x, gradient)
        assert found.dtype == vt.float64
        assert found.tolist() == [2, 2]


def test_metadata_belongs_to_the_node_and_is_not_replaced() -> None:
    with collector_off():
        x = leaf(2)
        y = x * 2
        node_of(y).metadata["note"] = 1
        total = y.sum()
        with pytest.raises(AttributeError):
            node_of(y).metadata = {}  # type: ignore[misc]  # what is refused
        with pytest.raises(AttributeError):
            node_of(y).note = 1  # type: ignore[attr-defined]  # the same
        del y
        gc.collect()
    (kept, _), *_ = node_of(total).next_functions
    assert kept is not None
    assert kept.metadata["note"] == 1


def test_nodes_of_all_kinds_are_nodes() -> None:
    x = leaf(2)
    accumulator = graph.get_gradient_edge(x).node
    assert isinstance(node_of(x * 2), graph.Node)
    assert isinstance(accumulator, graph.Node)
    assert accumulator.next_functions == ()


def test_a_version_is_counted_once_for_each_time_a_tensor_is_named() -> None:
    x, y = ramp(2), ramp(2)
    before = x._version, y._version
    graph.increment_version(x)
    graph.increment_version([x, y, x])
    assert (x._version, y._version) == (before[0] + 3, before[1] + 1)


def test_multithreading_is_a_setting_for_a_block_or_for_good() -> None:
    assert vt.autograd.is_multithreading_enabled()
    with vt.autograd.set_multithreading_enabled(False):
        assert not vt.autograd.is_multithreading_enabled()
    assert vt.autograd.is_multithreading_enabled()
    vt.autograd.set_multithreading_enabled(False)
    assert not vt.autograd.is_multithreading_enabled()
    vt.autograd.set_multithreading_enabled(True)
    with pytest.raises(TypeError):
        vt.autograd.set_multithreading_enabled("no")  # type: ignore[arg-type]  # what is refused

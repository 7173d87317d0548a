"""Nodes: their numbers, their edges, and what they tell."""

import threading

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import ArgumentTypeError
from vtgrad.graph.node import LEAF_SEQUENCE_NR, Node
from vtgrad.graph.set_history import collect_next_edges, gradient_edge


def test_sequence_numbers_grow_within_a_thread() -> None:
    first, second = Node(()), Node(())
    assert second.sequence_nr > first.sequence_nr
    assert second.thread_id == first.thread_id >= 1


@needs_global_lock
def test_the_number_of_a_thread_does_not_come_back() -> None:
    # `threading.get_ident` gives the next thread the identifier of the one that ended.
    made: list[Node] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: made.append(Node(())))
        thread.start()
        thread.join()
    numbers = [node.thread_id for node in (Node(()), *made)]
    assert len(set(numbers)) == 4
    assert max(numbers) < 10**6


@needs_global_lock
def test_every_thread_counts_for_itself() -> None:
    numbers: list[int] = []

    def work() -> None:
        numbers.extend([Node(()).sequence_nr, Node(()).sequence_nr])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert numbers == [0, 1]


def test_the_topological_number_is_one_more_than_the_largest_below() -> None:
    low = Node(())
    middle = Node((low, None))
    top = Node((low, middle, None))
    assert [n.topological_nr for n in (low, middle, top)] == [0, 1, 2]


def test_a_leaf_has_one_node_which_runs_before_all_others() -> None:
    x = vt.ones(2, requires_grad=True)
    first, second = collect_next_edges(x, x)
    assert first is not None
    assert second is not None
    assert first.function is second.function
    assert first.input_nr == 0
    assert first.function.is_leaf_node
    assert first.function.sequence_nr == LEAF_SEQUENCE_NR


def test_what_needs_no_gradient_has_no_edge() -> None:
    assert collect_next_edges(vt.ones(2), 3.0, None) == (None, None, None)


def test_a_result_leads_to_its_node_and_number() -> None:
    parts = vt.ones(2, requires_grad=True).unbind(0)
    edge = gradient_edge(parts[1])
    assert edge is not None
    assert edge.function is parts[1].grad_fn
    assert edge.input_nr == 1


def test_next_functions_name_constants_too() -> None:
    x = vt.ones(2, requires_grad=True)
    node = (x * vt.ones(2)).grad_fn
    assert node is not None
    (leaf, nr), constant = node.next_functions
    assert leaf is not None
    assert (leaf.name(), nr) == ("torch::autograd::AccumulateGrad", 0)
    assert constant == (None, 0)


def test_a_node_can_be_called_with_as_many_gradients_as_it_has_results() -> None:
    x = vt.ones(2, requires_grad=True)
    node = (x * 3).grad_fn
    assert node is not None
    answer = node(vt.tensor([1.0, 2.0]))
    first = answer[0] if isinstance(answer, tuple) else answer
    assert first is not None
    assert first.tolist() == [3.0, 6.0]
    with pytest.raises(ArgumentTypeError):
        node(vt.ones(2), vt.ones(2))

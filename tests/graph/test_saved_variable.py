"""Saved values: the same object back while it lives, an equal one later, an error when stale."""

import pytest

import vtgrad as vt
from vtgrad.errors import GraphFreedError, SavedDetachedError, StaleSavedError
from vtgrad.graph.node import Node
from vtgrad.graph.saved_variable import RELEASED, SavedResult, SavedVariable
from vtgrad.graph.set_history import gradient_edge
from vtgrad.ops.generated.arithmetic_nodes import MulBackward0

READER = Node(())


def saved(x: vt.Tensor) -> SavedVariable:
    return SavedVariable(x, gradient_edge(x))


def test_a_living_tensor_comes_back_itself() -> None:
    x = vt.ones(2, requires_grad=True)
    assert saved(x).unpack(READER) is x


def test_a_dropped_tensor_comes_back_equal_with_its_producer_and_version() -> None:
    y = vt.ones(2, requires_grad=True) * 2
    y.add_(1)
    node, variable = y.grad_fn, saved(y)
    del y
    again = variable.unpack(READER)
    assert isinstance(again, vt.Tensor)
    assert again.tolist() == [3.0, 3.0]
    assert again.grad_fn is node
    assert again._version == 1


@pytest.mark.parametrize("write", ["the tensor", "an alias"])
def test_a_value_that_was_overwritten_is_refused(write: str) -> None:
    x = vt.ones(2)
    variable = saved(x)
    (x if write == "the tensor" else x.detach()).add_(1)
    with pytest.raises(StaleSavedError) as caught:
        variable.unpack_array(READER)
    assert caught.value.facts["expected_version"] == 0
    assert caught.value.facts["found_version"] == 1


def test_the_factor_of_a_square_is_saved_once() -> None:
    x = vt.tensor([3.0], requires_grad=True)
    square = x * x
    node = square.grad_fn
    assert isinstance(node, MulBackward0)
    assert node.saved_self is node.saved_other
    square.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0]


def test_a_factor_that_is_overwritten_by_its_own_square_is_saved_twice() -> None:
    y = vt.tensor([3.0], requires_grad=True) * 1
    y.mul_(y)
    # The old value of the target was copied; the factor is the tensor that was overwritten.
    with pytest.raises(StaleSavedError):
        y.backward()


def test_a_copy_does_not_become_stale() -> None:
    x = vt.ones(2)
    variable = SavedVariable.of_copy(x, None)
    x.add_(1)
    assert variable.unpack_array(READER).tolist() == [1.0, 1.0]


def test_a_result_comes_back_as_a_fresh_tensor_of_the_asking_node() -> None:
    x = vt.ones(2)
    variable = SavedResult(x, 1)
    again = variable.unpack(READER)
    assert isinstance(again, vt.Tensor)
    assert again is not x
    assert again.grad_fn is READER
    assert again.output_nr == 1
    x.add_(1)
    assert again._version == 1  # one counter


def test_a_freed_value_is_refused() -> None:
    with pytest.raises(GraphFreedError):
        RELEASED.unpack_array(READER)
    with pytest.raises(GraphFreedError):
        RELEASED.check(READER)


def test_a_tensor_detached_in_place_is_refused() -> None:
    y = vt.ones(2, requires_grad=True) * 2
    variable = saved(y)
    y.detach_()
    with pytest.raises(SavedDetachedError):
        variable.check(READER)


@pytest.mark.parametrize("checked", ["before", "after", "before and after"])
@pytest.mark.parametrize("lives", [True, False])
def test_a_detached_tensor_is_refused_by_every_check_of_an_intact_value(
    checked: str, lives: bool
) -> None:
    y = vt.ones(2, 3, requires_grad=True) * 2
    variable = saved(y)
    with vt.no_grad():
        y[:0].fill_(1)
    if "before" in checked:
        variable.check(READER)
    y.detach_()
    if "after" in checked:
        y.transpose_(0, 1)
    if not lives:
        del y
    for _ in range(2):
        with pytest.raises(SavedDetachedError):
            variable.check(READER)


def test_a_gradient_through_a_value_that_was_detached_and_then_transposed_is_refused() -> None:
    x = vt.ones(2, 3, requires_grad=True)
    y = x * 2
    z = y.square().sum()
    y.detach_()
    y.transpose_(0, 1)
    for _ in range(2):
        with pytest.raises(SavedDetachedError):
            vt.autograd.grad(z, x)
    with pytest.raises(SavedDetachedError):
        z.backward()
    assert x.grad is None


def test_a_saved_tensor_that_was_detached_in_place_is_refused_also_when_it_is_gone() -> None:
    x = vt.tensor([3.0, -2.0], requires_grad=True)
    y = x.clone()
    z = y.abs()
    y.detach_()
    del y
    with pytest.raises(SavedDetachedError):
        z.sum().backward()
    assert x.grad is None

"""What a hook or a caller is given may be written without a change of other numbers."""

import pytest

import vtgrad as vt
from tests.support import ones_leaf
from vtgrad.graph.large import LARGE, large
from vtgrad.storage.tensor_base import TensorBase


def ones(*shape: int) -> vt.Tensor:
    return vt.ones(*shape, dtype=vt.float64)


def scaled(grad: vt.Tensor) -> None:
    """A hook that writes to its gradient, and returns nothing."""
    grad.mul_(10)


def scaled_all(grads: tuple[vt.Tensor, ...]) -> None:
    """A node hook that writes to all gradients, and returns nothing."""
    for grad in grads:
        grad.mul_(10)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_that_writes_reaches_its_own_tensor_only(create_graph: bool) -> None:
    # Addition hands one array to both operands: written in place, both would see it.
    a, b = ones_leaf(3), ones_leaf(3)
    left, right = a * 1, b * 1
    left.register_hook(scaled)
    of_a, of_b = vt.autograd.grad(left + right, (a, b), ones(3), create_graph=create_graph)
    assert of_a.tolist() == [10.0, 10.0, 10.0]
    assert of_b.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_node_hook_that_writes_reaches_its_own_node_only(create_graph: bool) -> None:
    a, b = ones_leaf(3), ones_leaf(3)
    left, right = a * 1, b * 1
    node = left.grad_fn
    assert node is not None
    node.register_prehook(scaled_all)
    of_a, of_b = vt.autograd.grad(left + right, (a, b), ones(3), create_graph=create_graph)
    assert of_a.tolist() == [10.0, 10.0, 10.0]
    assert of_b.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_after_a_node_may_write_to_what_the_node_answered(create_graph: bool) -> None:
    # Addition answers with its incoming gradient, twice.
    a, b = ones_leaf(3), ones_leaf(3)
    y = a + b
    node = y.grad_fn
    assert node is not None

    def written(outgoing: tuple[vt.Tensor, ...], incoming: tuple[vt.Tensor, ...]) -> None:
        outgoing[0].mul_(10)
        assert outgoing[1].tolist() == incoming[0].tolist() == [1.0, 1.0, 1.0]

    node.register_hook(written)
    of_a, of_b = vt.autograd.grad(y, (a, b), ones(3), create_graph=create_graph)
    assert of_a.tolist() == [10.0, 10.0, 10.0]
    assert of_b.tolist() == [1.0, 1.0, 1.0]


def test_a_hook_that_writes_does_not_reach_the_gradient_passed_in() -> None:
    x, passed = ones_leaf(3), ones(3)
    y = x.clone()
    y.register_hook(scaled)
    y.backward(passed)
    assert passed.tolist() == [1.0, 1.0, 1.0]
    assert x.grad is not None
    assert x.grad.tolist() == [10.0, 10.0, 10.0]


def test_what_a_hook_wrote_is_part_of_a_second_derivative() -> None:
    x = ones_leaf(1)
    y = x * x * x
    y.register_hook(scaled)
    (first,) = vt.autograd.grad(y, x, create_graph=True)
    (second,) = vt.autograd.grad(first, x)
    assert first.item() == 30.0
    assert second.item() == 60.0


def test_a_hook_may_write_where_one_element_was_expanded_to_one() -> None:
    # The gradient of a sum is an expanded, read-only array; here it repeats nothing.
    x = ones_leaf(1)
    y = x.clone()
    y.register_hook(scaled)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [10.0]


def test_a_hook_that_writes_to_an_expanded_gradient_is_refused() -> None:
    x = ones_leaf(3)
    y = x.clone()
    y.register_hook(scaled)
    with pytest.raises(vt.errors.SelfOverlapError):
        y.sum().backward()
    assert x.grad is None


def test_gradients_handed_out_together_share_no_memory() -> None:
    a, b = ones_leaf(3), ones_leaf(3)
    of_a, of_b = vt.autograd.grad(a + b, (a, b), ones(3))
    of_a.mul_(5)
    assert of_b.tolist() == [1.0, 1.0, 1.0]


def test_a_gradient_handed_out_is_not_the_one_passed_in() -> None:
    # They would share memory, but no version: a write to one would go unnoticed by the other.
    x, passed = ones_leaf(3), ones(3)
    (handed_out,) = vt.autograd.grad(x.clone(), x, passed)
    handed_out.mul_(5)
    assert passed.tolist() == [1.0, 1.0, 1.0]
    assert passed._version == 0


def test_an_input_named_twice_gets_two_gradients() -> None:
    x = ones_leaf(2)
    first, second = vt.autograd.grad((x * 3).sum(), (x, x))
    first.zero_()
    assert second.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_hook_may_register_a_hook_on_a_sister(create_graph: bool) -> None:
    x = ones_leaf(2)
    first, second = (x * 1).unbind(0)
    seen: list[object] = []

    def on_second(grad: vt.Tensor) -> None:
        seen.append(grad.item())

    def on_first(grad: vt.Tensor) -> None:
        second.register_hook(on_second)

    first.register_hook(on_first)
    (found,) = vt.autograd.grad(first + second, x, create_graph=create_graph)
    assert found.tolist() == [1.0, 1.0]
    assert seen == []


def test_a_hook_may_ask_for_a_sisters_gradient() -> None:
    x = ones_leaf(2)
    first, second = (x * 1).unbind(0)

    def on_first(grad: vt.Tensor) -> None:
        second.retain_grad()

    first.register_hook(on_first)
    (first + 3 * second).backward()
    assert second.grad is not None
    assert second.grad.item() == 3.0


def test_a_leaf_that_ignores_gradients_calls_its_hook_all_the_same() -> None:
    # As in PyTorch: the hook comes after the leaf's node, whatever that has done.
    x = ones_leaf(2)
    y = (x * 2).sum()
    told: list[TensorBase] = []
    x.register_post_accumulate_grad_hook(told.append)
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None
    assert told == [x]


def test_a_retained_gradient_is_row_major() -> None:
    x = ones_leaf(2, 3)
    y = x * 1
    y.retain_grad()
    y.t().backward(ones(3, 2))
    assert y.grad is not None
    assert y.grad.stride() == (3, 1)


def test_the_gradient_of_a_sum_may_be_filled_by_whom_it_is_given_to() -> None:
    x = ones_leaf(3)
    a, b = x * 1, x * 1
    first, second = vt.autograd.grad((a + b).sum(), (a, b))
    first.fill_(5)
    assert first.tolist() == [5.0, 5.0, 5.0]
    assert second.tolist() == [1.0, 1.0, 1.0]
    assert first.stride() == (0,)


def test_a_hook_that_fills_an_expanded_gradient_reaches_its_own_tensor_only() -> None:
    given = ones(1)
    a, b = ones_leaf(3), ones_leaf(3)
    left, right = a * 1, b * 1

    def emptied(grad: vt.Tensor) -> None:
        grad.zero_()

    left.register_hook(emptied)
    (left + right).backward(given.expand(3))
    assert given.tolist() == [1.0]
    assert a.grad is not None
    assert a.grad.tolist() == [0.0, 0.0, 0.0]
    assert b.grad is not None
    assert b.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_hook_after_a_node_may_fill_what_the_node_has_expanded() -> None:
    a = ones_leaf(3)
    y = (a * 1).sum()
    node = y.grad_fn
    assert node is not None

    def emptied(outgoing: tuple[vt.Tensor, ...], incoming: tuple[vt.Tensor, ...]) -> None:
        outgoing[0].zero_()

    node.register_hook(emptied)
    y.backward()
    assert a.grad is not None
    assert a.grad.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("elements", [0, LARGE])
def test_a_node_hook_that_writes_to_one_gradient_of_a_square(
    elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a large square both factors get one array.
    monkeypatch.setattr(large, "elements", elements)
    a = ones_leaf(3)
    square = (a * 3) * 1
    square = square * square
    node = square.grad_fn
    assert node is not None

    def scale_the_first(outgoing: tuple[vt.Tensor, ...], _: tuple[vt.Tensor, ...]) -> None:
        outgoing[0].mul_(10)

    node.register_hook(scale_the_first)
    square.backward(ones(3) * 2)
    assert a.grad is not None
    # 3 * (10 * 6 + 6): the second gradient is as it was.
    assert a.grad.tolist() == [198.0, 198.0, 198.0]

"""A leaf may be turned, given other data or other marks between forward and backward."""

from __future__ import annotations

import copy

import pytest

from tests.support import differs_from_torch, grad_list, gradients, leaf, ramp, refused, vt


def test_a_leaf_that_was_turned_accumulates_in_its_new_shape() -> None:
    x = leaf(2, 3)
    (x * 2).sum().backward()
    x.grad = None
    with vt.no_grad():
        x.t_()
    (x * ramp(3, 2)).sum().backward()
    assert grad_list(x) == [[1, 2], [3, 4], [5, 6]]


@differs_from_torch("the node of a leaf is forgotten by set_, so that grad does not find the leaf")
def test_grad_by_a_leaf_whose_memory_was_set_is_that_of_the_graph() -> None:
    x = leaf(2)
    y = (x * 3).sum()
    with vt.no_grad():
        x.set_(ramp(2) * 5)
    assert vt.autograd.grad(y, x, retain_graph=True)[0].tolist() == [3, 3]
    y.backward()
    assert grad_list(x) == [3, 3]


def test_backward_to_a_leaf_whose_memory_was_set_fills_its_gradient() -> None:
    x = leaf(2)
    y = (x * 3).sum()
    with vt.no_grad():
        x.set_(ramp(2) * 5)
    y.backward()
    assert grad_list(x) == [3, 3]


def test_a_leaf_with_longer_data_accumulates_in_its_new_shape() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    x.grad = None
    x.data = ramp(3)
    (x * x).sum().backward()
    assert grad_list(x) == [2, 4, 6]


def test_a_leaf_with_data_of_another_dtype_accumulates_in_that_dtype() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    del x.grad
    x.data = vt.ones(2, dtype=vt.float32)
    (x * 3).sum().backward()
    assert x.grad is not None
    assert x.grad.dtype == vt.float32
    assert grad_list(x) == [3, 3]


def test_a_leaf_that_requires_grad_no_longer_gets_none() -> None:
    x = leaf(2)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_a_leaf_that_requires_grad_again_gets_one() -> None:
    x = leaf(2)
    y = (x * 2).sum()
    x.requires_grad_(False)
    x.requires_grad_(True)
    y.backward()
    assert grad_list(x) == [2, 2]


def test_a_leaf_that_was_detached_in_place_gets_none() -> None:
    x = leaf(2)
    y = (x * 2).sum()
    x.detach_()
    y.backward()
    assert x.grad is None


def test_a_leaf_that_became_a_result_can_no_longer_take_the_gradient_of_its_old_use() -> None:
    # x * 2 was computed of the leaf; afterwards x stands for a value inside the graph.
    x, w = leaf(2), leaf(2)
    y = (x * 2).sum()
    x.requires_grad_(False)
    x.mul_(w)
    assert gradients(x.sum(), w) == [[1, 2]]
    with pytest.raises(RuntimeError):
        y.backward()
    assert w.grad is None


def test_gradients_of_a_leaf_that_nobody_holds_any_more_are_dropped() -> None:
    x, z = leaf(2), leaf(2)
    y = (x * 2 + z).sum()
    del x
    y.backward()
    assert grad_list(z) == [1, 1]


def test_a_grad_may_be_written_like_any_tensor() -> None:
    x = leaf(2)
    x.sum().backward()
    gradient = x.grad
    assert gradient is not None
    gradient[0] = 5.0
    gradient.mul_(2)
    assert grad_list(x) == [10, 2]
    x.sum().backward()
    assert grad_list(x) == [11, 3]
    assert x.grad is gradient


def test_deepcopy_takes_the_grad_along() -> None:
    x = leaf(2)
    x.grad = ramp(2)
    other = copy.deepcopy(x)
    assert grad_list(other) == [1, 2]
    assert other.grad is not x.grad


def test_a_stale_view_may_be_a_root() -> None:
    a = leaf(2)
    b = a.clone()
    v = b[0]
    b.mul_(10)
    v.backward()
    assert grad_list(a) == [10, 0]


@pytest.mark.parametrize("write", [1.0, "add"])
def test_a_graph_with_a_written_region_runs_once(write: object) -> None:
    a = leaf(2)
    b = a.clone()
    if write == "add":
        b[0].add_(1)
    else:
        b[0] = 1.0
    total = b.sum()
    total.backward()
    with refused(RuntimeError, "graph-freed", [a, b, total]):
        total.backward()


def test_a_graph_with_a_written_region_that_is_retained_runs_again() -> None:
    a = leaf(2)
    b = a.clone()
    b[0].mul_(5)
    total = b.sum()
    total.backward(retain_graph=True)
    total.backward()
    assert grad_list(a) == [10, 2]


def test_in_place_operators_return_the_object_they_wrote_at_the_same_address() -> None:
    b = leaf(2, 3).clone()
    v = b[0]
    address = v.data_ptr()
    for returned in (v.mul_(2), v.add_(1), v.zero_(), v.copy_(ramp(3)), v.clamp_(0, 1), v.exp_()):
        assert returned is v
    assert v.data_ptr() == address


def test_out_may_be_a_view_and_writes_its_region() -> None:
    b = ramp(2, 3)
    target = b[0]
    returned = vt.add(ramp(3), 1, out=target)
    assert returned is target
    assert b.tolist() == [[2, 3, 4], [4, 5, 6]]
    assert b._version == 1


def test_a_gradient_hook_may_write_the_gradient_it_sees_without_harm_to_others() -> None:
    x, passed = leaf(2), ramp(2)
    y = x * 1
    y.register_hook(lambda gradient: gradient.clone().mul_(2))
    y.backward(passed)
    assert grad_list(x) == [2, 4]
    assert passed.tolist() == [1, 2]


def test_a_gradient_is_laid_out_in_memory_as_the_leaf_is_when_it_arrives() -> None:
    x = leaf(2, 3)
    y = x * 2
    x.data = ramp(3, 2).t()
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.stride() == (1, 2)
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]

"""What is saved of a leaf or a constant again and again: Note [Values that are saved often]."""

import gc
import weakref

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import StaleSavedError, SwapError
from vtgrad.graph.node import Node
from vtgrad.utils import swap_tensors


def saved_other(result: vt.Tensor) -> object:
    """The object in which the node of a product holds its second factor."""
    node = result.grad_fn
    assert node is not None
    return node.saved_other  # type: ignore[attr-defined]  # of a product


@pytest.fixture
def x() -> vt.Tensor:
    return vt.ones(3, requires_grad=True) * 2


@pytest.mark.parametrize("requires_grad", [True, False])
def test_one_object_serves_all_saves_of_a_value(x: vt.Tensor, *, requires_grad: bool) -> None:
    w = vt.full((3,), 5.0, requires_grad=requires_grad)
    first, second = x * w, x * w
    assert saved_other(first) is saved_other(second)
    first.sum().backward(retain_graph=False)
    # The node that was freed has let go of it, the other one has not.
    assert saved_other(second) is not saved_other(first)
    (grad,) = vt.autograd.grad(second.sum(), x)
    assert grad.tolist() == [5.0, 5.0, 5.0]


def test_a_result_is_saved_anew(x: vt.Tensor) -> None:
    w = x + 1
    assert saved_other(x * w) is not saved_other(x * w)


def test_a_write_between_two_saves_makes_only_the_first_stale(x: vt.Tensor) -> None:
    w = vt.full((3,), 5.0)
    first = x * w
    w[0] = 7.0
    second = x * w
    assert saved_other(first) is not saved_other(second)
    (grad,) = vt.autograd.grad(second.sum(), x, retain_graph=True)
    assert grad.tolist() == [7.0, 5.0, 5.0]
    with pytest.raises(StaleSavedError):
        first.sum().backward()


def test_a_value_that_is_vouched_for_serves_no_later_save(x: vt.Tensor) -> None:
    table = vt.zeros(2, 3)
    row = table[0]
    first = x * row
    table[1] = 4.0
    first.sum().backward(retain_graph=True)
    second = x * row
    assert saved_other(second) is not saved_other(first)
    node = second.grad_fn
    assert isinstance(node, Node)
    assert node._saved_other is row  # type: ignore[attr-defined]  # of a product


def test_data_that_is_exchanged_is_not_kept(x: vt.Tensor) -> None:
    w = vt.full((3,), 5.0, requires_grad=True)
    result = x * w
    former = weakref.ref(w._impl.array)
    w.data = vt.full((3,), 7.0)
    del result
    gc.collect()
    assert former() is None
    (grad,) = vt.autograd.grad((x * w).sum(), x)
    assert grad.tolist() == [7.0, 7.0, 7.0]


def test_tensors_may_be_swapped_once_no_node_has_them(x: vt.Tensor) -> None:
    w, other = vt.full((3,), 5.0, requires_grad=True), vt.full((3,), 7.0, requires_grad=True)
    result = x * w
    with pytest.raises(SwapError):
        swap_tensors(w, other)
    del result
    swap_tensors(w, other)
    node = (x * w).grad_fn
    assert isinstance(node, Node)
    assert node._saved_other is w  # type: ignore[attr-defined]  # of a product
    assert np.array_equal(w.detach().numpy(), [7.0, 7.0, 7.0])


def test_hooks_pack_each_save(x: vt.Tensor) -> None:
    w = vt.full((3,), 5.0)
    kept = x * w
    packed: list[vt.Tensor] = []

    def pack(tensor: vt.Tensor) -> vt.Tensor:
        packed.append(tensor)
        return tensor

    with vt.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        inside = [x * w, x * w]
    assert [tensor is w for tensor in packed] == [True, True]
    assert saved_other(inside[0]) is not saved_other(kept)


def test_what_is_overwritten_under_rewind_is_restored_though_it_was_saved_before(
    x: vt.Tensor,
) -> None:
    w = vt.full((3,), 5.0)
    kept = x * w
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        inside = x * w
        w.fill_(9.0)
        (grad,) = vt.autograd.grad(inside.sum(), x)
    assert grad.tolist() == [5.0, 5.0, 5.0]
    with pytest.raises(StaleSavedError):
        kept.sum().backward()

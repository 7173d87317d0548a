"""A view's metadata: the flattened base, and the producer that is rebuilt when it went stale."""

import pytest

import vtgrad as vt
from tests.support import node_of, ones_leaf
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta, view_meta_of


def meta_of_view(x: vt.Tensor) -> DifferentiableViewMeta:
    meta = view_meta_of(x)
    assert meta is not None
    return meta


def test_the_base_of_a_view_of_a_view_is_no_view() -> None:
    x = ones_leaf(2, 3)
    view = x.t()[1:].view(2, 2)[0]
    base = meta_of_view(view).backward_info.base
    assert base is x
    assert view_meta_of(base) is None


def test_a_fresh_view_keeps_its_producer() -> None:
    view = ones_leaf(3)[1:]
    assert meta_of_view(view).attr_version == 0
    assert node_of(view) is node_of(view)
    assert node_of(view).name() == "SliceBackward0"


def test_a_write_to_a_sister_makes_a_view_stale_and_reading_rebuilds_it_once() -> None:
    base = ones_leaf(4) * 1
    view, sister = base[0:2], base[2:4]
    before = node_of(view)
    sister.mul_(2)
    meta = meta_of_view(view)
    assert meta.attr_version == 0  # nothing was done at the write
    assert meta.grad_fn_ is before
    rebuilt = node_of(view)
    assert rebuilt is not before
    assert rebuilt.name() == "AsStridedBackward0"
    assert meta.attr_version == 1
    assert node_of(view) is rebuilt
    assert rebuilt.next_functions[0][0] is node_of(base)


def test_a_write_to_a_view_puts_copy_slices_over_the_operator_of_the_write() -> None:
    base = ones_leaf(4) * 1
    former = node_of(base)
    base[1:3].mul_(2)
    slices = node_of(base)
    assert isinstance(slices, CopySlices)
    assert slices.fn is not None
    assert slices.fn.name() == "MulBackward0"
    assert (slices.view_sizes, slices.view_strides, slices.offset) == ((2,), (8,), 8)
    assert slices.next_functions[0] == (former, 0)


def test_freeing_copy_slices_frees_the_operator_of_the_write() -> None:
    base = ones_leaf(2) * 1
    base[0:1].mul_(2)
    slices = node_of(base)
    assert isinstance(slices, CopySlices)
    base.sum().backward()
    assert slices.fn is None
    with pytest.raises(vt.errors.GraphFreedError):
        base.sum().backward()


def test_a_write_makes_the_base_and_its_earlier_views_need_gradients() -> None:
    base = vt.zeros(4, dtype=vt.float64)
    early = base[0:2]
    needed_before = early.requires_grad
    w = ones_leaf(1)
    base[1:3] = w
    assert (needed_before, early.requires_grad, base.requires_grad) == (False, True, True)
    (early * vt.tensor([5.0, 7.0], dtype=vt.float64)).sum().backward()
    assert w.grad is not None
    assert w.grad.tolist() == [7.0]  # early shows one of the two elements that w was written to


def test_a_view_that_was_a_leaf_ends_as_one_when_its_base_is_written() -> None:
    base = vt.ones(3, dtype=vt.float64)
    view = base[0:2].requires_grad_()
    recorded_before = (view * 3).sum()
    was_leaf = view.is_leaf
    base.mul_(ones_leaf(3))
    with pytest.raises(vt.errors.StaleSavedError):
        recorded_before.backward()
    assert (was_leaf, view.is_leaf) == (True, False)
    assert not meta_of_view(view).requires_grad_  # a result: never both


@pytest.mark.parametrize("part", [(5,), (2,)])
def test_a_write_between_the_elements_of_a_base_with_gaps_is_refused(part: tuple[int]) -> None:
    # Memory 0..5, of which the base shows 0, 2, 4: gradients of 1 and 3 would have no place.
    base = vt.zeros(6, dtype=vt.float64)[::2].detach()
    source = ones_leaf(*part)
    view = base.as_strided(part, (1,), 0)
    with pytest.raises(vt.errors.SelfOverlapError):
        view.copy_(source)
    assert base._version == 0
    assert not base.requires_grad


def test_a_write_to_elements_of_a_base_with_gaps_is_recorded() -> None:
    base = vt.zeros(3, 8, dtype=vt.float64)[:, ::2].detach()
    source = ones_leaf(2)
    base.as_strided((2,), (8,), 8).copy_(source * 3)  # base[1, 0] and base[2, 0]
    weights = vt.arange(12, dtype=vt.float64).view(3, 4)
    (base * weights).sum().backward()
    assert source.grad is not None
    assert source.grad.tolist() == [12.0, 24.0]


def test_forward_mode_sees_the_same_base() -> None:
    b = vt.ones(3, requires_grad=True).clone()
    meta = view_meta_of(b[1:][:1])
    assert meta is not None
    assert meta.shared_view_info
    assert meta.forward_info is not None
    assert meta.forward_info.base is meta.backward_info.base
    assert meta.forward_info.base is b

"""What `retain_grad` of a view keeps of the gradients of views that were made of it.

PyTorch's view of a view forgets the one in between when its base is written, so that nothing is
retained there. What breaks it here: a stale view of a view that is built again as a part of the
base alone; or a retained gradient that goes on to grow when its value is not used any more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, fn_name, grad_list, leaf, vt

forgets = differs_from_torch("there the view in between is forgotten")

Write = Callable[[vt.Tensor], object]


@forgets
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("writes", [1, 3])
def test_a_view_of_a_view_still_adds_to_it_after_writes_to_other_parts(
    writes: int, create_graph: bool
) -> None:
    a = leaf(3, 2)
    b = a.clone()
    v = b[1]
    w = v[1]
    v.retain_grad()
    for k in range(writes):
        b[2 * (k % 2)] += 0
        if k:
            assert w.grad_fn is not None
    (by_a,) = vt.autograd.grad(w * 3, a, create_graph=create_graph)
    assert grad_list(v) == [0, 3]
    assert by_a.tolist() == [[0, 0], [0, 3], [0, 0]]


@forgets
def test_a_use_before_the_write_and_one_after_add_up() -> None:
    a = leaf(2, 2)
    b = a.clone()
    v = b[1]
    w = v[:1]
    v.retain_grad()
    early = w * 5
    b[0].mul_(2)
    (early.sum() + (w * 7).sum() + v.sum()).backward()
    assert grad_list(v) == [13, 1]


@forgets
def test_every_view_in_between_retains_its_own() -> None:
    b = leaf(3, 4).clone()
    v = b[1:]
    w = v[1]
    u = w[1:3]
    for view in (v, w, u):
        view.retain_grad()
    b[0] = 0.0
    (u * 2).sum().backward()
    assert grad_list(u) == [2, 2]
    assert grad_list(w) == [0, 2, 2, 0]
    assert grad_list(v) == [[0, 0, 0, 0], [0, 2, 2, 0]]


@forgets
def test_the_base_and_a_view_both_retain() -> None:
    a = leaf(2, 2)
    b = a.clone()
    b.retain_grad()
    v = b[1]
    v.retain_grad()
    w = v[:1]
    b[0].mul_(3)
    (w * 5).sum().backward()
    assert grad_list(v) == [5, 0]
    assert grad_list(b) == [[0, 0], [5, 0]]
    assert grad_list(a) == [[0, 0], [5, 0]]


def test_after_a_write_to_a_part_of_it_it_is_forgotten() -> None:
    # The retained gradient is that of the new value, of which `w` was not made.
    b = leaf(2, 2).clone()
    v = b.view(2, 2)
    w = v[1]
    v.retain_grad()
    b[0] += 0
    w.sum().backward()
    assert v.grad is None


@forgets
def test_a_turned_and_an_expanded_view_land_in_their_elements() -> None:
    b = leaf(3, 2, 2).clone()
    v = b[1]
    v.retain_grad()
    turned, row = v.t(), v[0].expand(3, 2)
    b[0] = 0.0
    weights = vt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=vt.float64)
    ((turned * weights).sum() + (row * 10).sum()).backward()
    assert grad_list(v) == [[31, 33], [2, 4]]


def test_what_was_computed_with_a_value_that_is_gone_adds_nothing() -> None:
    b = leaf(2, 2).clone()
    v = b[1]
    v.retain_grad()
    w = v[:1]
    b[0] += 0
    early = w * 5
    v.mul_(2)
    (early.sum() + v.sum()).backward()
    assert grad_list(v) == [1, 1]


def test_a_sister_adds_nothing() -> None:
    b = leaf(2, 2).clone()
    v, sister = b[1], b[1]
    v.retain_grad()
    w = sister[:1]
    b[0] += 0
    (w.sum() + sister.sum()).backward()
    assert v.grad is None


def test_a_view_that_was_dropped_is_nobodys() -> None:
    a = leaf(2, 2)
    b = a.clone()
    v = b[1]
    v.retain_grad()
    w = v[:1]
    del v
    b[0] += 0
    w.sum().backward()
    assert grad_list(a) == [[0, 0], [1, 0]]


def test_the_graph_looks_as_if_nothing_was_retained() -> None:
    b = leaf(2, 2).clone()
    v = b[1]
    v.retain_grad()
    w = v[:1]
    b[0] += 0
    node = w.grad_fn
    assert node is not None
    assert fn_name(w) == "AsStridedBackward0"
    assert node.next_functions == ((b.grad_fn, 0),)
    (by_base,) = vt.autograd.grad(w.sum(), b)
    assert by_base.tolist() == [[0, 0], [1, 0]]


@forgets
def test_hundreds_of_views_of_views_are_built_again_without_recursion() -> None:
    b = leaf(2, 2).clone()
    views = [b[1]]
    for _ in range(400):
        views.append(views[-1][:])
    for view in views:
        view.retain_grad()
    b[0] += 0
    views[-1].sum().backward()
    assert all(grad_list(view) == [1, 1] for view in views)


@forgets
def test_an_empty_part_behind_the_last_element_adds_zeros() -> None:
    a = leaf(2, 2)
    b = a.clone()
    v = b[1]
    v.retain_grad()
    w = v[2:]
    b[0] = 1.0
    w.sum().backward()
    assert grad_list(v) == [0, 0]


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("reads", [False, True])
def test_a_crossing_view_that_is_written_overwrites_a_part_of_it(
    is_transposed: bool, reads: bool
) -> None:
    # A row and a column share one element. The column's write makes a new value of the row, of
    # which `part` was not made, though none of the elements of `part` was written.
    a = leaf(2, 2)
    b = a.clone().t() if is_transposed else a.clone()
    row = b[0]
    row.retain_grad()
    part = row[0]
    b[:, -1].sub_(part)
    if reads:
        assert fn_name(row) == "AsStridedBackward0"
    part.backward(retain_graph=True)
    # Unless `grad_fn` was read, the former value retains: what the write has read of it got zeros.
    assert (None if row.grad is None else grad_list(row)) == (None if reads else [0, 0])
    row.sum().backward()
    assert grad_list(row) == [1, 1]

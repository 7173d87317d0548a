"""Which values hooks and retained gradients belong to, when tensors and views are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, fn_name, grad_list, leaf, recorded, unreached, vt

# -- tensor hooks stay with the value ----------------------------------------------------------


def test_a_hook_on_a_view_stays_behind_when_the_view_itself_is_written() -> None:
    log: list[object] = []
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    v.register_hook(recorded(log, "before"))
    early = (v * 10).sum()
    v.mul_(2)
    v.register_hook(recorded(log, "after"))
    (early + (v * 3).sum()).backward()
    assert log == [("after", [3, 3]), ("before", [10, 10])]
    assert grad_list(a) == [16, 16, 0]


def test_a_hook_on_a_written_view_sees_what_is_read_through_the_view_only() -> None:
    log: list[object] = []
    b = leaf(3).clone()
    v = b[0:2]
    v.mul_(2)
    v.register_hook(recorded(log, "v"))
    b.sum().backward(retain_graph=True)
    assert log == []
    (v * 5).sum().backward()
    assert log == [("v", [5, 5])]


def test_a_hook_on_a_view_of_a_view_does_not_move_when_the_outer_view_is_written() -> None:
    log: list[object] = []
    a = leaf(2, 2)
    b = a.clone()
    row = b[0]
    cell = row[0:1]
    cell.register_hook(recorded(log, "cell"))
    early = (cell * 10).sum()
    row.mul_(3)
    (early + cell.sum()).backward()
    assert log == [("cell", [10])]
    assert grad_list(a) == [[13, 0], [0, 0]]


def test_a_hook_on_a_view_of_a_leaf_stays_behind_when_the_leaf_is_stepped() -> None:
    log: list[object] = []
    x = leaf(3)
    v = x[:2]
    v.register_hook(recorded(log, "v"))
    with vt.no_grad():
        x.mul_(2)
    v.sum().backward()
    assert log == []
    assert grad_list(x) == [1, 1, 0]


def test_a_hook_on_one_result_of_several_stays_with_the_value_before_the_write() -> None:
    log: list[object] = []
    a = leaf(2, 3)
    values, _ = a.max(1)
    values.register_hook(recorded(log, "old"))
    values.mul_(2)
    values.register_hook(recorded(log, "new"))
    values.sum().backward()
    assert log == [("new", [1, 1]), ("old", [2, 2])]


def test_a_hook_on_a_value_still_runs_after_the_tensor_was_detached_in_place() -> None:
    log: list[object] = []
    a = leaf(2)
    b = a * 1
    y = (b * 3).sum()
    b.register_hook(recorded(log, "b"))
    b.detach_()
    y.backward()
    assert log == [("b", [3, 3])]
    with pytest.raises(RuntimeError):
        b.register_hook(lambda gradient: gradient)


@differs_from_torch("there it joins the hooks of the value before")
def test_a_hook_after_a_turn_belongs_to_the_turned_value() -> None:
    log: list[object] = []
    b = leaf(2, 3).clone()
    b.register_hook(lambda gradient: log.append(("before", tuple(gradient.shape))))
    b.t_()
    b.register_hook(lambda gradient: log.append(("after", tuple(gradient.shape))))
    b.sum().backward()
    assert log == [("after", (3, 2)), ("before", (2, 3))]


WRITES: dict[str, Callable[[vt.Tensor], object]] = {
    "to the base": lambda b: b.mul_(2),
    "through a sister": lambda b: b[0:1].mul_(2),
    "under no_grad": lambda b: _quietly(b),
    "through detach": lambda b: b.detach().mul_(2),
}


def _quietly(b: vt.Tensor) -> None:
    with vt.no_grad():
        b.mul_(2)


@differs_from_torch("there this crashes the interpreter")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_hook_on_a_view_that_has_gone_stale_belongs_to_the_value_it_shows_now(
    write: Callable[[vt.Tensor], object],
) -> None:
    log: list[object] = []
    b = leaf(3).clone()
    v = b[0:2]
    write(b)
    v.register_hook(recorded(log, "v"))
    (v * 7).sum().backward()
    assert log == [("v", [7, 7])]
    assert fn_name(v) == "AsStridedBackward0"


def test_hooks_that_replace_gradients_act_on_their_own_values() -> None:
    a = leaf(2)
    b = a * 1
    b.register_hook(lambda gradient: gradient * 2)
    b.retain_grad()
    b.register_hook(lambda gradient: gradient * 5)
    b.mul_(2)
    b.register_hook(lambda gradient: gradient * 7)
    b.sum().backward()
    assert grad_list(b) == [7, 7]
    assert grad_list(a) == [140, 140]


# -- retain_grad follows the tensor ------------------------------------------------------------


def test_a_retained_gradient_is_not_what_earlier_uses_of_an_older_value_deliver() -> None:
    a = leaf(2)
    b = a.clone()
    b.retain_grad()
    early = (b * 5).sum()
    b.mul_(3)
    (early + b.sum()).backward()
    assert grad_list(b) == [1, 1]
    assert grad_list(a) == [8, 8]


def test_base_view_and_view_of_a_view_each_retain_their_own_present_value() -> None:
    a = leaf(4)
    b = a.clone()
    v = b[:2]
    w = v[1:]
    for tensor in (b, v, w):
        tensor.retain_grad()
    v.mul_(2)
    (b.sum() + (v * 10).sum() + (w * 100).sum()).backward()
    assert grad_list(b) == [11, 111, 1, 1]
    assert grad_list(v) == [10, 10]
    assert grad_list(w) == [100]
    assert grad_list(a) == [22, 222, 1, 1]


def test_a_retained_gradient_follows_through_writes_to_views_of_views() -> None:
    a = leaf(4)
    b = a.clone()
    b.retain_grad()
    v = b[:2]
    w = v[1:]
    v.mul_(2)
    w.add_(1)
    v.mul_(3)
    (b * 2).sum().backward()
    assert grad_list(b) == [2, 2, 2, 2]
    assert grad_list(a) == [12, 12, 2, 2]


def test_a_view_asked_twice_follows_writes_to_the_base_and_to_itself() -> None:
    b = leaf(3).clone()
    v = b[0:2]
    v.retain_grad()
    v.retain_grad()
    b.mul_(2)
    v.mul_(3)
    v.sum().backward()
    assert grad_list(v) == [1, 1]


def test_one_piece_of_several_retains_its_gradient() -> None:
    a = leaf(2, 3)
    first, second = a.clone().unbind(0)
    first.retain_grad()
    (first * 3 + second).sum().backward()
    assert grad_list(first) == [3, 3, 3]
    assert grad_list(a) == [[3, 3, 3], [1, 1, 1]]


def test_a_retained_gradient_of_one_result_follows_its_writes_and_sees_hooks() -> None:
    a = leaf(2, 3)
    values, _ = a.max(1)
    values.retain_grad()
    values.mul_(2)
    values.register_hook(lambda gradient: gradient * 10)
    values.add_(1)
    values.register_hook(lambda gradient: gradient + 1)
    values.sum().backward()
    assert grad_list(values) == [2, 2]
    assert grad_list(a) == [[0, 0, 40], [0, 0, 40]]


def test_a_retained_gradient_accumulates_across_a_write() -> None:
    a = leaf(2)
    b = a.clone()
    b.retain_grad()
    b.sum().backward()
    b.mul_(3)
    (b * 5).sum().backward()
    assert grad_list(b) == [6, 6]


def test_an_older_value_of_a_retaining_tensor_is_still_not_reached_by_name() -> None:
    b = leaf(2).clone()
    b.retain_grad()
    early = (b * 5).sum()
    b.mul_(3)
    assert unreached(early, b)
    early.backward()
    assert b.grad is None


def test_a_no_grad_view_takes_hooks_that_never_run_and_retains_nothing() -> None:
    log: list[object] = []
    x = leaf(2)
    with vt.no_grad():
        v = x[0:1]
    v.register_hook(recorded(log, "v"))
    v.retain_grad()
    assert not v.retains_grad
    (v * 2 + x.sum()).sum().backward()
    assert log == []
    assert v.grad is None
    assert grad_list(x) == [1, 1]

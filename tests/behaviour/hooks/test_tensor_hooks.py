"""Hooks on tensors, `retain_grad`, and what in-place writes do to both."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

from tests.support import (
    collector_off,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    ramp,
    recorded,
    refused,
    vt,
)


def test_a_hook_replaces_the_gradient_that_flows_on() -> None:
    x = leaf(2)
    y = x * 1
    y.register_hook(lambda gradient: gradient * 5)
    y.sum().backward()
    assert grad_list(x) == [5, 5]


def test_a_hook_that_returns_none_changes_nothing() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 3
    y.register_hook(recorded(log, "y"))
    y.backward(ramp(2))
    assert log == [("y", [1, 2])]
    assert grad_list(x) == [3, 6]


def test_hooks_run_in_the_order_of_registration_each_on_the_result_of_the_last() -> None:
    x = leaf(2)
    y = x * 1
    y.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: gradient + 1)
    y.sum().backward()
    assert grad_list(x) == [3, 3]


def test_a_hook_sees_the_sum_over_all_uses_once() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 1
    y.register_hook(recorded(log, "y"))
    (y.sum() + (y * 10).sum()).backward()
    assert log == [("y", [11, 11])]


def test_a_hook_before_a_write_belongs_to_the_old_value_and_one_after_it_to_the_new() -> None:
    log: list[object] = []
    b = leaf(2).clone()
    b.register_hook(recorded(log, "old"))
    b.mul_(3)
    b.register_hook(recorded(log, "new"))
    b.sum().backward()
    assert log == [("new", [1, 1]), ("old", [3, 3])]


def test_a_hook_on_a_base_sees_the_gradient_before_its_view_was_written() -> None:
    log: list[object] = []
    b = leaf(2).clone()
    b.register_hook(recorded(log, "b"))
    b[0].mul_(5)
    b.sum().backward()
    assert log == [("b", [5, 1])]


def test_a_hook_on_a_view_stays_behind_when_the_base_is_written() -> None:
    log: list[object] = []
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    v.register_hook(recorded(log, "v"))
    b.mul_(2)
    v.sum().backward()
    assert log == []
    assert grad_list(a) == [2, 2, 0]


def test_an_earlier_use_of_a_view_still_runs_the_hook_registered_then() -> None:
    log: list[object] = []
    b = leaf(3).clone()
    v = b[0:2]
    v.register_hook(recorded(log, "v"))
    y = (v * 4).sum()
    b.mul_(2)
    y.backward()
    assert log == [("v", [4, 4])]


@differs_from_torch("there this crashes the interpreter")
def test_a_hook_on_a_view_after_a_write_through_an_alias_belongs_to_the_present_value() -> None:
    log: list[object] = []
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    b.detach().mul_(2)
    v.register_hook(recorded(log, "v"))
    (v * 7).sum().backward()
    assert log == [("v", [7, 7])]
    assert grad_list(a) == [7, 7, 0]


def test_a_hook_on_a_leaf_acts_before_accumulation_on_the_new_part_only() -> None:
    x = leaf(1)
    handle = x.register_hook(lambda gradient: gradient * 10)
    (x * 2).backward()
    assert grad_list(x) == [20]
    handle.remove()
    (x * 2).backward()
    assert grad_list(x) == [22]


def test_a_hook_on_a_leaf_survives_a_write_under_no_grad() -> None:
    x = leaf(1)
    x.register_hook(lambda gradient: gradient * 10)
    with vt.no_grad():
        x.mul_(2)
    (x * 2).backward()
    assert grad_list(x) == [20]


def test_a_hook_on_a_leaf_registered_after_its_use_runs() -> None:
    x = leaf(1)
    y = x * 2
    x.register_hook(lambda gradient: gradient * 10)
    y.backward()
    assert grad_list(x) == [20]


def test_a_handle_may_be_removed_twice() -> None:
    log: list[object] = []
    x = leaf(1)
    handle = x.register_hook(recorded(log, "x"))
    handle.remove()
    handle.remove()
    (x * 2).backward()
    assert log == []


def test_a_hook_may_remove_itself_during_backward() -> None:
    calls: list[int] = []
    x = leaf(1)

    def once(_: vt.Tensor) -> None:
        calls.append(1)
        handle.remove()

    handle = x.register_hook(once)
    (x * 2).backward()
    (x * 2).backward()
    assert calls == [1]
    assert grad_list(x) == [4]


def test_grad_runs_the_hooks_of_the_input_and_returns_what_they_made() -> None:
    x = leaf(2)
    y = x * 1
    y.register_hook(lambda gradient: gradient * 5)
    x.register_hook(lambda gradient: gradient + 1)
    total = y.sum()
    assert gradients(total, y, retain_graph=True) == [[5, 5]]
    assert gradients(total, x) == [[6, 6]]
    assert x.grad is None


def test_a_hook_may_not_change_the_shape() -> None:
    x = leaf(2)
    x.register_hook(lambda gradient: gradient.sum())
    with refused(RuntimeError, "hook", [x]):
        (x * 2).sum().backward()
    assert x.grad is None


def test_a_hook_must_return_a_tensor_or_none() -> None:
    x = leaf(2)
    x.register_hook(lambda _: 3.0)  # type: ignore[arg-type, return-value]  # the point of the test
    with refused(TypeError, "argument-type", [x]):
        (x * 2).sum().backward()
    assert x.grad is None


REFUSED_ON_CONSTANTS: dict[str, Callable[[vt.Tensor], object]] = {
    "register_hook": lambda x: x.register_hook(lambda gradient: gradient),
    "retain_grad": lambda x: x.retain_grad(),
}


@pytest.mark.parametrize("call", REFUSED_ON_CONSTANTS.values(), ids=REFUSED_ON_CONSTANTS)
def test_constants_take_no_hooks(call: Callable[[vt.Tensor], object]) -> None:
    x = ramp(1)
    with refused(RuntimeError, "grad-required", [x]):
        call(x)


def test_an_error_in_a_hook_reaches_the_caller_as_it_is() -> None:
    x = leaf(2)

    def fail(_: vt.Tensor) -> None:
        raise KeyError("from the hook")

    x.register_hook(fail)
    with pytest.raises(KeyError, match="from the hook"):
        (x * 2).sum().backward()


def test_hooks_run_without_recording_unless_the_graph_is_created() -> None:
    modes: list[bool] = []
    x = leaf(1)
    x.register_hook(lambda _: modes.append(vt.is_grad_enabled()))
    (x * x).backward()
    vt.autograd.grad(x * x, x, create_graph=True)
    assert modes == [False, True]


# -- retain_grad -------------------------------------------------------------------------------


def test_retain_grad_fills_the_grad_of_a_non_leaf_and_accumulates() -> None:
    x = leaf(2)
    y = x * 2
    y.retain_grad()
    y.backward(ramp(2), retain_graph=True)
    y.backward(ramp(2))
    assert grad_list(y) == [2, 4]
    assert grad_list(x) == [4, 8]


def test_retain_grad_follows_the_tensor_to_its_new_value() -> None:
    a = leaf(2)
    b = a.clone()
    b.retain_grad()
    b.mul_(3)
    b.sum().backward()
    assert grad_list(b) == [1, 1]
    assert grad_list(a) == [3, 3]


def test_retain_grad_sees_all_hooks_also_those_registered_later() -> None:
    x = leaf(2)
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda gradient: gradient * 2)
    y.register_hook(lambda gradient: gradient + 1)
    y.sum().backward()
    assert grad_list(y) == [3, 3]
    assert grad_list(x) == [3, 3]


def test_retain_grad_does_nothing_the_second_time_even_on_a_view_that_cannot_be_used() -> None:
    pieces = (leaf(2, 3) * 1).unbind(0)
    pieces[0].retain_grad()
    with vt.no_grad():
        pieces[0].mul_(2)
    pieces[0].retain_grad()
    with refused(RuntimeError, "multi-output-view"):
        pieces[1].retain_grad()


def test_retain_grad_on_a_leaf_does_nothing() -> None:
    x = leaf(1)
    x.retain_grad()
    assert not x.retains_grad
    (x * 2).backward()
    assert grad_list(x) == [2]


def test_retain_grad_may_be_repeated() -> None:
    x = leaf(2)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.sum().backward()
    assert grad_list(y) == [1, 1]


def test_retain_grad_on_a_view_follows_a_write_to_the_base() -> None:
    b = leaf(3).clone()
    v = b[0:2]
    v.retain_grad()
    b.mul_(2)
    v.sum().backward()
    assert grad_list(v) == [1, 1]


def test_retain_grad_on_a_view_follows_a_write_to_the_view() -> None:
    b = leaf(3).clone()
    v = b[0:2]
    v.retain_grad()
    v.mul_(2)
    v.sum().backward()
    assert grad_list(v) == [1, 1]


def test_retain_grad_on_a_base_follows_a_write_to_a_view() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    b.retain_grad()
    v.mul_(2)
    b.sum().backward()
    assert grad_list(b) == [1, 1, 1]
    assert grad_list(a) == [2, 2, 1]


def test_retain_grad_on_a_view_survives_a_write_to_another_region() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    v.retain_grad()
    b[2] = 0.0
    (v * 4).sum().backward()
    assert grad_list(v) == [4, 4]
    assert grad_list(a) == [4, 4, 0]


def test_retain_grad_on_a_view_keeps_what_a_use_before_an_unrelated_write_delivers() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    v.retain_grad()
    y = (v * 4).sum()
    b[2] = 0.0
    y.backward()
    assert grad_list(v) == [4, 4]


@differs_from_torch("there reading the view's node loses the retained gradient")
def test_reading_a_view_after_an_unrelated_write_does_not_lose_its_retained_gradient() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[0:2]
    v.retain_grad()
    y = (v * 4).sum()
    b[2] = 0.0
    assert fn_name(v) == "AsStridedBackward0"
    y.backward()
    assert grad_list(v) == [4, 4]


@differs_from_torch("there reading the view's node loses the retained gradient")
def test_a_write_to_the_columns_between_is_unrelated_too() -> None:
    a = leaf(2, 2)
    b = a.clone()
    v = b[:, 0]
    v.retain_grad()
    y = (v * 4).sum()
    b[:, 1] = 0.0
    assert fn_name(v) == "AsStridedBackward0"
    y.backward()
    assert grad_list(v) == [4, 4]


def test_retain_grad_follows_one_output_of_several() -> None:
    a = leaf(2, 3)
    values, _ = a.max(1)
    values.retain_grad()
    values.mul_(2)
    values.sum().backward()
    assert grad_list(values) == [1, 1]
    assert grad_list(a) == [[0, 0, 2], [0, 0, 2]]


def test_retains_grad_stays_true_across_writes_and_detach() -> None:
    b = leaf(2).clone()
    seen = [b.retains_grad]
    b.retain_grad()
    b.mul_(2)
    seen.append(b.retains_grad)
    b.detach_()
    seen.append(b.retains_grad)
    assert seen == [False, True, True]


def test_a_retained_gradient_is_that_of_the_value_before_the_tensor_was_detached_in_place() -> None:
    b = leaf(2).clone()
    b.retain_grad()
    y = b * 3
    b.detach_()
    y.sum().backward()
    assert grad_list(b) == [3, 3]


@differs_from_torch("PyTorch fails one of its own assertions")
def test_a_retained_gradient_follows_a_write_after_the_tensor_was_detached_in_place() -> None:
    a = leaf(2)
    b = a.clone()
    b.retain_grad()
    y = b * 3
    b.detach_()
    b.mul_(a)
    (y + b * 10).sum().backward()
    assert grad_list(b) == [10, 10]


def test_retain_grad_follows_several_writes_in_a_row() -> None:
    a = leaf(2)
    b = a.clone()
    b.retain_grad()
    b.mul_(3)
    b[0].mul_(5)
    b.add_(1)
    (b * 7).sum().backward()
    assert grad_list(b) == [7, 7]
    assert grad_list(a) == [105, 21]


# -- lifetime ----------------------------------------------------------------------------------


def test_hooks_die_with_their_graph_without_the_collector() -> None:
    class Mark:
        def __call__(self, gradient: vt.Tensor) -> None:
            return None

    with collector_off():
        mark = Mark()
        alive = weakref.ref(mark)
        x = leaf(2)
        y = x * 2
        y.register_hook(mark)
        y.retain_grad()
        del mark, y
        assert alive() is None
    assert gc.isenabled()


def test_a_hook_may_not_change_the_dtype() -> None:
    x = leaf(2)
    x.register_hook(lambda gradient: gradient.to(vt.float32))
    with refused(RuntimeError, "hook", [x]):
        (x * 2).sum().backward()
    assert x.grad is None


def test_hooks_on_several_outputs_of_one_node_run_in_the_order_of_registration() -> None:
    log: list[object] = []
    first, second = leaf(4).split(2)
    second.register_hook(recorded(log, "second"))
    first.register_hook(recorded(log, "first"))
    (first + second * 2).sum().backward()
    assert log == [("second", [2, 2]), ("first", [1, 1])]


def test_a_handle_is_a_context_that_removes_its_hook() -> None:
    log: list[object] = []
    x = leaf(2)
    with x.register_hook(recorded(log, "inside")):
        (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert log == [("inside", [2, 2])]

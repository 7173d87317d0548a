"""Hooks on several tensors together, and callbacks at the end of a backward."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.support import (
    ON_TORCH,
    collector_off,
    differs_from_torch,
    grad_list,
    gradients,
    leaf,
    needs_global_lock,
    ramp,
    refused,
    vt,
)

if TYPE_CHECKING or not ON_TORCH:
    from vtgrad.autograd.graph import queue_callback, register_multi_grad_hook
else:
    from torch.autograd import Variable
    from torch.autograd.graph import register_multi_grad_hook

    queue_callback = Variable._execution_engine.queue_callback


def _all_into(log: list[object]) -> Callable[[list[vt.Tensor | None]], None]:
    def hook(gradients: list[vt.Tensor | None]) -> None:
        log.append([None if g is None else g.tolist() for g in gradients])

    return hook


def _first_into(log: list[object]) -> Callable[[vt.Tensor], None]:
    def hook(gradient: vt.Tensor) -> None:
        log.append(gradient.tolist())

    return hook


# -- all ---------------------------------------------------------------------------------------


def test_all_waits_for_every_gradient_that_will_arrive_and_runs_once_in_each_backward() -> None:
    log: list[object] = []
    a, b, c = leaf(2), leaf(2), leaf(2)
    register_multi_grad_hook((a, b, c), _all_into(log))
    (a * 2 + b).sum().backward()
    (a * 2).sum().backward()
    (a * 2 + b + c).sum().backward()
    assert log == [
        [[2, 2], [1, 1], None],
        [[2, 2], None, None],
        [[2, 2], [1, 1], [1, 1]],
    ]


def test_all_does_not_wait_for_what_the_inputs_of_the_backward_leave_out() -> None:
    log: list[object] = []
    a, b, c = leaf(2), leaf(2), leaf(2)
    register_multi_grad_hook((a, b, c), _all_into(log))
    ((a + b) * c).sum().backward(inputs=[a])
    assert log == [[[1, 2], None, None]]


@differs_from_torch("there leaves are not supported together with grad")
@pytest.mark.parametrize("create_graph", [False, True])
def test_all_runs_for_grad_with_the_gradients_that_are_handed_out(create_graph: bool) -> None:
    log: list[object] = []
    a, b, c = leaf(2), leaf(2), leaf(2)
    register_multi_grad_hook((a, b, c), _all_into(log))
    gradients(((a + b) * c).sum(), a, c, create_graph=create_graph)
    assert log == [[[1, 2], None, [2, 4]]]


def test_all_runs_for_grad_with_results_among_its_tensors() -> None:
    log: list[object] = []
    a = leaf(2)
    x, y = a * 2, a * 3
    register_multi_grad_hook((x, y), _all_into(log))
    assert gradients((x * 5 + y).sum(), a) == [[13, 13]]
    assert log == [[[5, 5], [1, 1]]]


def test_all_runs_when_the_last_gradient_is_there_and_before_the_backward_goes_on() -> None:
    log: list[object] = []
    a = leaf(2)
    a.register_hook(lambda _: log.append("a"))
    x = a * 2
    y = a * 3
    register_multi_grad_hook((x, y), lambda _: log.append("both"))
    z = y * 1
    z.register_hook(lambda _: log.append("z"))
    (x + z).sum().backward()
    assert log == ["z", "both", "a"]


def test_a_hook_on_several_tensors_belongs_to_their_values_at_registration() -> None:
    log: list[object] = []
    a = leaf(2)
    x, y = a * 2, a * 3
    register_multi_grad_hook((x, y), _all_into(log))
    x.mul_(5)
    (x + y).sum().backward()
    assert log == [[[5, 5], [1, 1]]]


def test_a_tensor_named_twice_is_given_twice() -> None:
    log: list[object] = []
    a = leaf(2)
    register_multi_grad_hook((a, a), _all_into(log))
    (a * 2).sum().backward()
    assert log == [[[2, 2], [2, 2]]]


def test_a_piece_without_gradient_counts_as_arrived_with_its_node() -> None:
    log: list[object] = []
    first, second = (leaf(2, 2) * 1).unbind(0)
    register_multi_grad_hook((first, second), _all_into(log))
    (first * 3).sum().backward()
    assert log == [[[3, 3], None]]


def test_what_a_hook_on_several_tensors_returns_changes_nothing() -> None:
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a, b), lambda grads: grads)
    register_multi_grad_hook((a, b), lambda grad: grad * 2, mode="any")
    (a + b).sum().backward()
    assert (grad_list(a), grad_list(b)) == ([1, 1], [1, 1])


@differs_from_torch("there the inner backward takes the count of the outer one along")
def test_a_backward_inside_another_counts_for_itself() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a, b), _all_into(log))
    y = b * 1

    def inner(_: vt.Tensor) -> None:
        with vt.enable_grad():
            (a * 7).sum().backward()

    y.register_hook(inner)
    x = a * 1
    (x + y).sum().backward()
    assert log == [[[7, 7], None], [[1, 1], [1, 1]]]


def test_a_backward_that_fails_halfway_does_not_count_for_the_next() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a, b), _all_into(log))
    y = b * 1

    def fail(_: vt.Tensor) -> None:
        raise KeyError("between the two")

    handle = y.register_hook(fail)
    with pytest.raises(KeyError):
        (a * 1 + y).sum().backward()
    handle.remove()
    (a * 2 + b * 3).sum().backward()
    assert log == [[[2, 2], [3, 3]]]


@needs_global_lock
@differs_from_torch("there a second thread takes the count of the first one along")
def test_backwards_on_two_threads_count_for_themselves() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a, b), _all_into(log))
    halfway, may_go_on = threading.Event(), threading.Event()
    y = b * 1

    def hold(_: vt.Tensor) -> None:
        halfway.set()
        assert may_go_on.wait(30)

    y.register_hook(hold)
    total = (a * 1 + y).sum()
    thread = threading.Thread(target=total.backward)
    thread.start()
    try:
        assert halfway.wait(30)
        (b * 5).sum().backward()
    finally:
        may_go_on.set()
        thread.join()
    assert log == [[None, [5, 5]], [[1, 1], [1, 1]]]


def test_a_hook_registered_by_a_hook_waits_for_what_is_still_to_come() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a,), _all_into(log))  # has asked what will run before the other

    def register(_: vt.Tensor) -> None:
        register_multi_grad_hook((a, b), _all_into(log))

    y = (a * 1 + b * 1) * 1
    y.register_hook(register)
    y.sum().backward()
    assert log == [[[1, 1]], [[1, 1], [1, 1]]]


# -- any ---------------------------------------------------------------------------------------


def test_any_runs_once_in_each_backward_on_the_first_gradient() -> None:
    log: list[object] = []
    a, b, c = leaf(2), leaf(2), leaf(2)
    register_multi_grad_hook((a, b, c), _first_into(log), mode="any")
    (a * 2 + b * 2).sum().backward()
    (c * 3).sum().backward()
    assert log == [[2, 2], [3, 3]]


def test_any_is_counted_anew_inside_another_backward() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    register_multi_grad_hook((a, b), _first_into(log), mode="any")
    y = b * 1

    def inner(_: vt.Tensor) -> None:
        with vt.enable_grad():
            (a * 7).sum().backward()

    y.register_hook(inner)
    x = a * 1
    (x + y).sum().backward()
    assert log == [[1, 1], [7, 7]]


def test_any_passes_over_constants() -> None:
    log: list[object] = []
    a = leaf(2)
    register_multi_grad_hook((ramp(2), a), _first_into(log), mode="any")
    (a * 2).sum().backward()
    assert log == [[2, 2]]


# -- both --------------------------------------------------------------------------------------


def test_all_needs_tensors_that_require_grad() -> None:
    a = leaf(2)
    with pytest.raises((RuntimeError, AssertionError)):
        register_multi_grad_hook((a, ramp(2)), lambda grads: None)
    (a * 2).sum().backward()
    assert grad_list(a) == [2, 2]


def test_there_are_two_modes() -> None:
    with refused(ValueError, "argument-value"):
        register_multi_grad_hook((leaf(2),), print, mode="most")  # type: ignore[arg-type]  # on purpose


@differs_from_torch("there the first check is made when the first gradient arrives")
def test_only_tensors_have_gradients() -> None:
    with refused(TypeError, "argument-type"):
        register_multi_grad_hook((leaf(2), 3.0), print)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("mode", ["all", "any"])
def test_the_handle_may_be_used_twice_and_removes_the_hook_from_all(mode: str) -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    if mode == "all":
        handle = register_multi_grad_hook((a, b), lambda grads: log.append("run"))
    else:
        handle = register_multi_grad_hook((a, b), lambda grad: log.append("run"), mode="any")
    handle.remove()
    handle.remove()
    (a + b).sum().backward()
    assert log == []


def test_the_handle_is_a_context_that_removes_the_hook() -> None:
    log: list[object] = []
    a, b = leaf(2), leaf(2)
    with register_multi_grad_hook((a, b), _all_into(log)):
        (a + b).sum().backward()
    (a + b).sum().backward()
    assert log == [[[1, 1], [1, 1]]]


def test_a_hook_on_several_tensors_dies_with_their_graphs_without_the_collector() -> None:
    class Mark:
        def __call__(self, grads: list[vt.Tensor | None]) -> None:
            return None

    with collector_off():
        mark = Mark()
        alive = weakref.ref(mark)
        x = leaf(2)
        y, z = x * 2, x * 3
        handle = register_multi_grad_hook((y, z), mark)
        (y + z).sum().backward()
        del mark, y, z, handle
        assert ON_TORCH or alive() is None


# -- the end of a backward ---------------------------------------------------------------------


def test_a_queued_callback_runs_once_when_everything_has_run() -> None:
    log: list[object] = []
    a = leaf(2)
    y = a * 1

    def hook(_: vt.Tensor) -> None:
        queue_callback(lambda: log.append(("end", grad_list(a))))
        log.append("hook")

    y.register_hook(hook)
    total = y.sum()
    total.backward(retain_graph=True)
    assert log == ["hook", ("end", [1, 1])]
    a.grad = None
    total.backward()
    assert log == ["hook", ("end", [1, 1])] * 2


def test_a_callback_may_queue_more() -> None:
    log: list[object] = []
    a = leaf(2)

    def first() -> None:
        log.append("first")
        queue_callback(lambda: log.append("second"))

    def hook(_: vt.Tensor) -> None:
        queue_callback(first)
        queue_callback(first)

    a.register_hook(hook)
    (a * 2).sum().backward()
    assert log == ["first", "first", "second", "second"]


def test_a_callback_belongs_to_the_backward_that_was_running_when_it_was_queued() -> None:
    log: list[object] = []
    a, z = leaf(2), leaf(2)
    y = a * 1

    def inner_hook(_: vt.Tensor) -> None:
        queue_callback(lambda: log.append("end of the inner"))

    def outer_hook(_: vt.Tensor) -> None:
        queue_callback(lambda: log.append("end of the outer"))
        with vt.enable_grad():
            w = z * 1
            w.register_hook(inner_hook)
            w.sum().backward()
        log.append("inner is over")

    y.register_hook(outer_hook)
    y.sum().backward()
    assert log == ["end of the inner", "inner is over", "end of the outer"]


@pytest.mark.parametrize("create_graph", [False, True])
def test_callbacks_run_for_grad_too_and_in_the_mode_of_the_hooks(create_graph: bool) -> None:
    log: list[object] = []
    a = leaf(2)
    y = a * 1

    def hook(_: vt.Tensor) -> None:
        queue_callback(lambda: log.append(vt.is_grad_enabled()))

    y.register_hook(hook)
    gradients(y.sum(), a, create_graph=create_graph)
    assert log == [create_graph]


def test_a_backward_that_fails_calls_no_callbacks() -> None:
    log: list[object] = []
    y = leaf(2) * 1

    def hook(_: vt.Tensor) -> None:
        queue_callback(lambda: log.append("end"))
        raise KeyError("from the hook")

    y.register_hook(hook)
    with pytest.raises(KeyError, match="from the hook"):
        y.sum().backward()
    assert log == []


def test_the_error_of_a_callback_reaches_the_caller() -> None:
    y = leaf(2) * 1

    def fail() -> None:
        raise KeyError("from the callback")

    y.register_hook(lambda _: queue_callback(fail))
    with pytest.raises(KeyError, match="from the callback"):
        y.sum().backward()
    with refused(RuntimeError, "outside-backward"):
        queue_callback(fail)


def test_callbacks_are_queued_during_a_backward_only() -> None:
    with refused(RuntimeError, "outside-backward"):
        queue_callback(lambda: None)

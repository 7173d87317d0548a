"""no_grad, enable_grad and set_grad_enabled: as contexts, as decorators, per thread."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from tests.support import differs_from_torch, fn_name, gradients, leaf, needs_global_lock, ramp, vt


def test_results_under_no_grad_are_constants_and_leaves_keep_their_mark() -> None:
    x = leaf(2)
    with vt.no_grad():
        y = x * 2
        made = vt.zeros(2, requires_grad=True)
    assert not y.requires_grad
    assert y.grad_fn is None
    assert made.requires_grad
    assert x.requires_grad


def test_a_write_under_no_grad_keeps_the_gradient_function_of_the_target() -> None:
    a = leaf(2)
    b = a * 2
    with vt.no_grad():
        b.mul_(10)
    assert b.tolist() == [20, 40]
    assert fn_name(b) == "MulBackward0"
    assert gradients(b.sum(), a) == [[2, 2]]


def test_a_constant_written_under_no_grad_stays_a_constant() -> None:
    b = ramp(2)
    with vt.no_grad():
        b.mul_(leaf(2))
    assert not b.requires_grad
    assert b.grad_fn is None
    assert b._version == 1


def test_views_made_under_no_grad_have_a_base_and_views_of_detach_do_not() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b.view(6)
        d = b.detach()
    assert v._base is b
    assert b.detach().view(6)._base is not b
    assert d.grad_fn is None
    assert not d.requires_grad
    assert not d._is_view()


def test_enable_grad_inside_no_grad_records() -> None:
    x = leaf(2)
    with vt.no_grad():
        with vt.enable_grad():
            y = x * 2
        z = x * 2
    assert y.requires_grad
    assert not z.requires_grad


def test_a_context_restores_the_mode_also_after_an_error() -> None:
    def fail() -> None:
        with vt.no_grad():
            assert not vt.is_grad_enabled()
            raise KeyError("inside")

    with pytest.raises(KeyError):
        fail()
    assert vt.is_grad_enabled()


def test_one_context_object_may_be_used_again() -> None:
    quiet = vt.no_grad()
    for _ in range(2):
        with quiet:
            assert not vt.is_grad_enabled()
        assert vt.is_grad_enabled()


@differs_from_torch("there the inner use overwrites what the outer one has to restore")
def test_one_context_object_may_be_nested_in_itself() -> None:
    quiet = vt.no_grad()
    with quiet:
        with quiet:
            assert not vt.is_grad_enabled()
        assert not vt.is_grad_enabled()
    assert vt.is_grad_enabled()


def test_set_grad_enabled_acts_at_once_and_its_context_restores() -> None:
    with vt.set_grad_enabled(False):
        assert not vt.is_grad_enabled()
        with vt.set_grad_enabled(True):
            assert vt.is_grad_enabled()
        assert not vt.is_grad_enabled()
    assert vt.is_grad_enabled()
    vt.set_grad_enabled(False)
    try:
        assert not vt.is_grad_enabled()
    finally:
        vt.set_grad_enabled(True)
    assert vt.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_does_not_leak() -> None:
    @vt.set_grad_enabled(False)
    def inside() -> bool:
        return vt.is_grad_enabled()

    assert vt.is_grad_enabled()
    assert inside() is False
    assert vt.is_grad_enabled()


def test_decorators_work_with_and_without_parentheses() -> None:
    x = leaf(2)

    @vt.no_grad()
    def with_parentheses() -> vt.Tensor:
        return x * 2

    @vt.no_grad
    def without() -> vt.Tensor:
        return x * 2

    @vt.enable_grad()
    def recording() -> vt.Tensor:
        return x * 2

    assert not with_parentheses().requires_grad
    assert not without().requires_grad
    with vt.no_grad():
        assert recording().requires_grad


def test_a_decorated_function_keeps_its_name_and_result() -> None:
    @vt.no_grad()
    def documented(value: int) -> int:
        """Say something."""
        return value + 1

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Say something."
    assert documented(2) == 3


def test_a_decorated_generator_sets_the_mode_only_while_it_runs() -> None:
    modes: list[bool] = []

    @vt.no_grad()
    def steps() -> Generator[int, str, str]:
        modes.append(vt.is_grad_enabled())
        answer = yield 1
        modes.append(vt.is_grad_enabled())
        yield 2
        return answer

    running = steps()
    assert next(running) == 1
    assert vt.is_grad_enabled()
    assert running.send("sent") == 2
    assert vt.is_grad_enabled()
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == "sent"
    assert modes == [False, False]
    assert vt.is_grad_enabled()


def test_a_decorated_generator_passes_on_throw_and_close() -> None:
    seen: list[object] = []

    @vt.no_grad()
    def steps() -> Generator[int, None, None]:
        try:
            yield 1
        except KeyError:
            seen.append(("throw", vt.is_grad_enabled()))
        try:
            yield 2
        finally:
            seen.append(("close", vt.is_grad_enabled()))

    running = steps()
    assert next(running) == 1
    assert running.throw(KeyError("in")) == 2
    assert vt.is_grad_enabled()
    running.close()
    assert seen == [("throw", False), ("close", False)]
    assert vt.is_grad_enabled()


@needs_global_lock
def test_each_thread_has_a_mode_of_its_own_that_starts_enabled() -> None:
    modes: list[bool] = []
    with vt.no_grad():
        thread = threading.Thread(target=lambda: modes.append(vt.is_grad_enabled()))
        thread.start()
        thread.join()
        assert not vt.is_grad_enabled()
    assert modes == [True]


@needs_global_lock
def test_a_thread_that_switches_the_mode_off_does_not_switch_it_off_elsewhere() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with vt.no_grad():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert inside.wait(10)
        assert vt.is_grad_enabled()
        assert (leaf(2) * 2).requires_grad
    finally:
        leave.set()
        thread.join()


def test_the_mode_is_restored_after_a_backward_with_a_failing_hook() -> None:
    x = leaf(2)

    def fail(_: vt.Tensor) -> None:
        raise KeyError("stop")

    x.register_hook(fail)
    with pytest.raises(KeyError):
        (x * 2).sum().backward()
    assert vt.is_grad_enabled()
    assert (x * 2).requires_grad

"""After an interrupt a thread is in the mode that it was in before.

What breaks it: a mode that is switched before ``try``, or brought back by a call.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.graph.grad_mode import ModeScope
from vtgrad.storage.mode import mode_of, switched
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import Settings, carried, changed, run_with, settle

Scope = Callable[[], ModeScope]
Call = Callable[[], object]


class Twice(vt.autograd.Function):
    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad * 2


def modes() -> tuple[bool, bool]:
    return vt.is_grad_enabled(), vt.is_inference_mode_enabled()


def leaf() -> vt.Tensor:
    return vt.ones(2, requires_grad=True)


def a_backward() -> Call:
    x = leaf()
    return (x * x).sum().backward


def a_recorded_backward() -> Call:
    x = leaf()
    y = (x * x).sum()
    return lambda: vt.autograd.grad(y, x, create_graph=True)


def a_backward_with_a_hook() -> Call:
    x = leaf()
    y = x * x
    y.register_hook(lambda grad: None)
    return y.sum().backward


def a_function() -> Call:
    x = leaf()
    return lambda: Twice.apply(x)


def a_backward_of_a_function() -> Call:
    y = Twice.apply(leaf())
    assert isinstance(y, vt.Tensor)
    return y.sum().backward


def a_stale_view() -> Call:
    """Its producer is made again by a view function that runs with recording on."""
    base = leaf().clone()
    view = base.view(2)
    base.mul_(2)
    return lambda: view.grad_fn


CALLS = [
    a_backward,
    a_recorded_backward,
    a_backward_with_a_hook,
    a_function,
    a_backward_of_a_function,
    a_stale_view,
]
SCOPES: list[Scope] = [vt.no_grad, vt.enable_grad, vt.inference_mode]

pytestmark = pytest.mark.slow

interrupting = NEEDS_TRACE


def recording(prepare: Callable[[], Call]) -> Callable[[], Call]:
    def prepared() -> Call:
        with vt.enable_grad():
            return prepare()

    return prepared


def assert_modes_come_back(prepare: Callable[[], Call]) -> None:
    for outside in (vt.enable_grad, vt.no_grad):
        with outside():
            before = modes()

            def check(over: bool, before: tuple[bool, bool] = before) -> None:
                assert modes() == before

            assert interrupted_everywhere(recording(prepare), check) > 5
    assert modes() == (True, False)
    # What an interrupt has left too high goes with the next switch.
    with vt.inference_mode():
        pass
    assert not switched.silent
    assert not switched.inference


@interrupting
@pytest.mark.parametrize("prepare", CALLS)
def test_after_a_call(prepare: Callable[[], Call]) -> None:
    assert_modes_come_back(prepare)


@interrupting
def test_after_a_call_with_other_settings() -> None:
    """All settings at once, those of a call inside of the call among them."""
    other = {name: object() for name in carried().values} | {
        "mode": mode_of(grad=False, inference=True)
    }
    before = carried()

    def inner() -> None:
        run_with(changed(mode=mode_of(grad=True, inference=False), keeps=True), carried)

    def prepare() -> Call:
        return lambda: run_with(Settings(other), inner)

    def check(over: bool) -> None:
        assert carried().values == before.values
        assert modes() == (True, False)
        settle(thread.ident)
        assert not switched.silent
        assert not switched.inference

    assert interrupted_everywhere(prepare, check) > 10


@interrupting
@pytest.mark.parametrize("scope", SCOPES)
def test_after_a_block(scope: Scope) -> None:
    def call() -> None:
        with scope():
            leaf()

    assert_modes_come_back(lambda: call)


@interrupting
@pytest.mark.parametrize("scope", SCOPES)
def test_after_blocks_of_one_object_inside_each_other(scope: Scope) -> None:
    def prepare() -> Call:
        one = scope()

        def call() -> None:
            with one, vt.set_grad_enabled(True), one:
                leaf()

        return call

    # An interrupt between the call of `set_grad_enabled` and the block finds the mode switched.
    def check(over: bool) -> None:
        with vt.enable_grad():
            assert not vt.is_inference_mode_enabled()
            assert (leaf() * 2).requires_grad

    interrupted_everywhere(prepare, check)
    vt.set_grad_enabled(True)


@interrupting
@pytest.mark.parametrize("scope", SCOPES)
def test_after_a_decorated_function(scope: Scope) -> None:
    def prepare() -> Call:
        x = leaf()
        return scope()(lambda: x * 2)

    assert_modes_come_back(prepare)


@interrupting
@pytest.mark.parametrize("scope", SCOPES)
def test_after_a_decorated_generator(scope: Scope) -> None:
    def prepare() -> Call:
        @scope()
        def steps() -> Iterator[vt.Tensor]:
            yield leaf() * 2
            yield leaf() * 3

        return lambda: list(steps())

    assert_modes_come_back(prepare)


def test_a_scope_is_a_context_manager_for_those_who_call_its_methods() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(vt.no_grad())
        assert modes() == (False, False)
        stack.enter_context(vt.inference_mode())
        assert modes() == (False, True)
    assert modes() == (True, False)
    scope = vt.no_grad()
    scope.__enter__()
    assert modes() == (False, False)
    scope.__exit__(None, None, None)
    assert modes() == (True, False)


def test_looking_at_the_end_of_an_open_block_does_not_end_it() -> None:
    x = vt.ones(2, requires_grad=True)
    with vt.autograd.graph.allow_mutation_on_saved_tensors() as block:
        assert hasattr(block, "__exit__")
        y = x.clone()
        z = y * y
        y.mul_(10)
    z.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]


class _Signal(Exception):
    pass


# An interrupt that arrives in a callback of the collector or of a weak reference is lost.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
@pytest.mark.parametrize("prepare", CALLS)
def test_signals_at_random(prepare: Callable[[], Call]) -> None:
    def handler(number: int, frame: FrameType | None) -> None:
        raise _Signal

    before = signal.signal(signal.SIGALRM, handler)
    end = time.monotonic() + 0.3
    delay, interrupted = 1e-6, 0
    try:
        while time.monotonic() < end:
            try:
                call = prepare()
                signal.setitimer(signal.ITIMER_REAL, delay)
                with vt.inference_mode(False):
                    call()
                signal.setitimer(signal.ITIMER_REAL, 0)
                delay = 1e-6
            except _Signal:
                interrupted += 1
                delay += 1e-6
            assert modes() == (True, False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 0

"""After an interrupt of a checkpoint the thread is as before, and backward can be run.

What breaks it: a mode, a pair of hooks or a random generator that is switched by a function which
may be interrupted before it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.engine.current_graph_task import running
from vtgrad.generator import default_generator
from vtgrad.graph.packing import packing
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.rewind import saves_observed
from vtgrad.utils.checkpoint import (
    checkpoint,
    checkpoint_loop,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)
from vtgrad.utils.checkpoint.settings import settings

pytestmark = [pytest.mark.slow, NEEDS_TRACE]

Call = Callable[[], object]


@pytest.fixture(autouse=True)
def _errors_in_finalizers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python only prints them; pytest would keep them, with all that their frames refer to."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


def state() -> tuple[object, ...]:
    return (
        vt.is_grad_enabled(),
        vt.is_inference_mode_enabled(),
        (packing.pair, packing.disabled, saves_observed.reasons, dict(this_thread.unpacked)),
        (settings.early_stop, settings.debug),
        (default_generator._seed, id(default_generator._source)),
        running.task,
    )


def settled() -> Call:
    def call() -> None:
        with set_checkpoint_early_stop(False), set_checkpoint_debug_enabled(True):
            with set_checkpoint_early_stop(True):
                pass

    return call


def forward() -> Call:
    x = vt.ones(2, requires_grad=True)
    return lambda: checkpoint(lambda t: t.sin(), x, use_reentrant=False)


def backward() -> Call:
    x = vt.ones(2, requires_grad=True)
    y: vt.Tensor = checkpoint(lambda t: t.sin(), x, use_reentrant=False)
    return y.sum().backward


def reentrant_backward() -> Call:
    x = vt.ones(2, requires_grad=True)
    y: vt.Tensor = checkpoint(lambda t: t.sin(), x, use_reentrant=True)
    return y.sum().backward


def loop() -> Call:
    x = vt.ones(2, requires_grad=True)
    return lambda: checkpoint_loop(lambda u: u.sin(), x, 2, snapshots=1)


def loop_backward() -> Call:
    x = vt.ones(2, requires_grad=True)
    return checkpoint_loop(lambda u: u.sin(), x, 2, snapshots=1).sum().backward


@pytest.mark.parametrize(
    "prepare", [settled, forward, backward, reentrant_backward, loop, loop_backward]
)
def test_the_thread_is_as_before(prepare: Callable[[], Call]) -> None:
    vt.rand(1)
    before = state()

    def check(over: bool) -> None:
        assert state() == before

    assert interrupted_everywhere(prepare, check) > 5


def test_a_loop_can_be_run_backward_again() -> None:
    x = vt.ones(2, requires_grad=True)
    made: list[vt.Tensor] = []

    def prepare() -> Call:
        x.grad = None
        made[:] = [checkpoint_loop(lambda u: u.sin(), x, 3, snapshots=1).sum()]
        return lambda: made[0].backward(retain_graph=True)

    def gradient() -> vt.Tensor:
        assert x.grad is not None
        return x.grad

    expected = x.sin().sin().sin().sum()
    (right,) = vt.autograd.grad(expected, x)

    def check(over: bool) -> None:
        if x.grad is None:
            made[0].backward()
        assert gradient().equal(right)

    assert interrupted_everywhere(prepare, check) > 5


def test_no_file_is_left(tmp_path: Path) -> None:
    schedules = pytest.importorskip("checkpoint_schedules")
    x = vt.ones(2, requires_grad=True)

    def prepare() -> Call:
        def call() -> None:
            checkpoint_loop(
                lambda u: u.sin(),
                x,
                2,
                schedule=lambda n: schedules.MultistageCheckpointSchedule(n, 0, 1),
                folder=tmp_path,
            )

        return call

    def check(over: bool) -> None:
        # After an interrupt in a finalizer a folder is removed with the next one.
        prepare()()
        assert list(tmp_path.iterdir()) == []

    assert interrupted_everywhere(prepare, check) > 5

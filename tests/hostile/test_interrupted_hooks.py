"""After an interrupt the hooks of saved values are those from before, and no file is left.

What breaks it: a block that is entered or left by two stores with a call between; a file that
exists before the object that removes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import vtgrad as vt
from tests.hostile.interrupting import NEEDS_TRACE, interrupted_everywhere
from vtgrad.graph.packing import packing
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.rewind import saves_observed

pytestmark = [pytest.mark.slow, NEEDS_TRACE]

graph = vt.autograd.graph
Call = Callable[[], object]


@pytest.fixture(autouse=True)
def _errors_in_finalizers_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python only prints them; pytest would keep them, with all that their frames refer to."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


def unchanged(x: vt.Tensor) -> vt.Tensor:
    return x


def clone(x: vt.Tensor) -> vt.Tensor:
    return x.detach().clone()


def hooks() -> graph.saved_tensors_hooks[vt.Tensor]:
    return graph.saved_tensors_hooks(clone, unchanged)


def state() -> tuple[object, ...]:
    return packing.pair, packing.disabled, saves_observed.reasons, dict(this_thread.unpacked)


def assert_hooks_come_back(prepare: Callable[[], Call]) -> None:
    before = state(), vt.is_grad_enabled()

    def check(over: bool) -> None:
        assert (state(), vt.is_grad_enabled()) == before

    assert interrupted_everywhere(prepare, check) > 5


def in_each_other() -> Call:
    one = hooks()

    def call() -> None:
        with one, hooks(), one:
            vt.ones(2)

    return call


def disabled() -> Call:
    def call() -> None:
        with graph.disable_saved_tensors_hooks("one"), graph.disable_saved_tensors_hooks("two"):
            vt.ones(2)

    return call


def registered() -> Call:
    y = vt.ones(2, requires_grad=True).sin()
    assert y.grad_fn is not None
    raw: vt.autograd.SavedTensor = getattr(y.grad_fn, "_raw_saved_self")  # noqa: B009
    return lambda: raw.register_hooks(clone, unchanged)


def a_backward() -> Call:
    x = vt.ones(2, requires_grad=True)
    with hooks():
        y = (x.exp() * x).sum()
    return y.backward


def a_recorded_backward() -> Call:
    x = vt.ones(2, requires_grad=True)
    with hooks():
        y = (x.exp() * x).sum()

    def call() -> None:
        with hooks():
            vt.autograd.grad(y, x, create_graph=True)

    return call


@pytest.mark.parametrize(
    "prepare", [in_each_other, disabled, registered, a_backward, a_recorded_backward]
)
def test_after_a_call(prepare: Callable[[], Call]) -> None:
    assert_hooks_come_back(prepare)


@pytest.mark.parametrize(
    ("step", "after"),
    [
        (lambda z: z.sin(), [1.0, 1.0]),
        (lambda z: z.square_(), [2.0, 2.0]),
        (lambda z: z.sqrt_(), [0.5, 0.5]),
        (lambda z: z[1:].sqrt_(), [1.0, 0.5]),
    ],
    ids=["sin", "square_", "sqrt_", "sqrt_ of a part"],
)
@pytest.mark.parametrize("scope", [hooks, None], ids=["clones", "files"])
def test_after_an_operator(
    step: Callable[[vt.Tensor], vt.Tensor],
    after: list[float],
    scope: Callable[[], AbstractContextManager[object]] | None,
    tmp_path: Path,
) -> None:
    made: list[vt.Tensor] = []
    before = state()

    def prepare() -> Call:
        x = vt.ones(2, dtype=vt.float64, requires_grad=True)
        made[:] = [x, x.clone()]

        def call() -> None:
            with scope() if scope is not None else graph.save_to_disk(tmp_path):
                step(made[1])

        return call

    def check(over: bool) -> None:
        assert state() == before
        assert vt.is_grad_enabled()
        x, z = made
        try:
            found = vt.autograd.grad(z.sum(), x)[0].tolist()
        except vt.errors.InterruptedWriteError:
            assert not over
        else:
            assert found == (after if z._version else [1.0, 1.0])
        made.clear()
        del x, z
        # After an interrupt in a finalizer a file is removed with the next one.
        with graph.save_to_disk(tmp_path):
            vt.ones(2, requires_grad=True).exp()
        assert os.listdir(tmp_path) == []

    assert interrupted_everywhere(prepare, check) > 20

"""A signal handler may use the library at any time, in the midst of an operator or of a backward.

What breaks it: a context that is entered twice, a mode of the engine that the handler sees, a lock
that its own thread holds.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType

import numpy as np
import pytest

import vtgrad as vt

from .interrupting import NEEDS_TRACE, interrupted_everywhere

interrupting = NEEDS_TRACE

Call = Callable[[], object]


class Used:
    """What a handler does, and what came of it."""

    def __init__(self) -> None:
        self.gradients: list[object] = []

    def __call__(self) -> None:
        x = vt.ones(2, requires_grad=True)
        y = (x * 3).clone()
        y[0] = 0
        y.add_(x)
        y.sum().backward()
        assert x.grad is not None
        self.gradients.append(x.grad.tolist())
        with vt.no_grad():
            z = vt.exp(x)
            z.mul_(2)
            z[0] = 1
            vt.equal(z, z)
            vt.rand(1)
        # Nothing is said of a division by zero, in the handler either.
        assert vt.ones(1).div(0.0).tolist() == [np.inf]


def leaf() -> vt.Tensor:
    return vt.ones(3, requires_grad=True)


def an_operator() -> Call:
    x = leaf()
    return lambda: x.pow(2.5)


def a_reduction() -> Call:
    x = leaf()
    return lambda: vt.logsumexp(x, 0)


def a_backward() -> Call:
    x = leaf()
    y = (x * x).pow(1.5).sum()
    return y.backward


def a_backward_that_adds() -> Call:
    x = leaf()
    x.grad = vt.ones(3)
    y = (x * x).sum()
    return y.backward


@interrupting
@pytest.mark.parametrize("prepare", [an_operator, a_reduction, a_backward, a_backward_that_adds])
def test_operators_and_backward_in_a_handler(prepare: Callable[[], Call]) -> None:
    used = Used()

    def check(over: bool) -> None:
        assert over
        assert vt.is_grad_enabled()

    count = interrupted_everywhere(prepare, check, used)
    assert all(gradient == used.gradients[0] for gradient in used.gradients)
    assert len(used.gradients) == count > 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_signals_at_random() -> None:
    used = Used()

    busy = False

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal busy
        # Within its own no_grad, nothing would be recorded.
        if not busy:
            busy = True
            used()
            busy = False

    x = vt.ones(20, requires_grad=True)
    before = signal.signal(signal.SIGALRM, handler)
    end = time.monotonic() + 1.5
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0011)
    try:
        while time.monotonic() < end:
            x.grad = None
            (x.pow(2.5).exp() * x).sum().backward()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(used.gradients) > 100
    assert all(gradient == used.gradients[0] for gradient in used.gradients)

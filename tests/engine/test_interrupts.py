"""A signal that arrives while a long backward runs is handled then, not when all is done.

What breaks it: a loop over nodes that never calls an interpreted function. In the compiled build
the handler would then run after the last node, when ``.grad`` has been filled.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

import vtgrad as vt

NODES = 100_000

needs_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="no timers on this platform"
)


# Interpreted, a loop is seen on the stack; compiled, only what it calls to give signals a chance.
LOOPS = {"run_unobserved", "run_recorded", "look_for_signals"}


class Interrupted(BaseException):
    """What the handler raises, as Python's own for SIGINT raises KeyboardInterrupt.

    Attributes
    ----------
    stack : set of str
        The functions that were running.
    """

    def __init__(self, stack: set[str]) -> None:
        self.stack = stack


def handler(number: int, frame: FrameType | None) -> None:
    stack = set()
    while frame is not None:
        stack.add(frame.f_code.co_name)
        frame = frame.f_back
    raise Interrupted(stack)


@contextmanager
def handled() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, handler)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def send_a_signal(gradient: vt.Tensor) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.001)


def chain(x: vt.Tensor) -> vt.Tensor:
    """A long chain of nodes that pass their gradient on and compute nothing.

    The first of them to run sends a signal after a moment. It counts in processor time, so that a
    busy machine changes nothing.
    """
    y = x + 1
    for _ in range(NODES):
        y = y + 1
    y.register_hook(send_a_signal)
    return y


@pytest.mark.slow
@needs_timers
@pytest.mark.parametrize("create_graph", [False, True], ids=["arrays", "recorded"])
def test_a_signal_is_handled_among_the_nodes(create_graph: bool) -> None:
    x = vt.ones(1, requires_grad=True)
    y = chain(x)
    with pytest.raises(Interrupted) as caught, handled():
        vt.autograd.grad(y, x, create_graph=create_graph)
    assert caught.value.stack & LOOPS
    # The thread is as it was: what follows records, and runs.
    assert vt.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0]


@pytest.mark.slow
@needs_timers
def test_an_interrupted_backward_leaves_the_gradients_of_leaves_alone() -> None:
    x = vt.ones(1, requires_grad=True)
    y = chain(x)
    with pytest.raises(Interrupted), handled():
        y.backward(retain_graph=True)
    assert x.grad is None

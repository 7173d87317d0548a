"""A backward so deep inside others that it runs on a thread of its own ends with its caller.

What breaks it: a wait that ends by an interrupt while the thread goes on and fills ``.grad`` later.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

import vtgrad as vt
from tests.support import needs_global_lock

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="no timers on this platform"
)


class Interrupted(BaseException):
    """What the handler raises, as Python's own for SIGINT raises KeyboardInterrupt."""


def handler(number: int, frame: FrameType | None) -> None:
    raise Interrupted


@contextmanager
def handled() -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def nested(depth: int, y: vt.Tensor, threads: set[int]) -> None:
    """Run the backward of `y` inside that many others."""
    threads.add(threading.get_ident())
    if depth == 0:
        y.backward(retain_graph=True)
        return
    x = vt.ones(1, requires_grad=True)
    with vt.enable_grad():
        outer = x * 2
    outer.register_hook(lambda grad: nested(depth - 1, y, threads))
    outer.backward()


def gradient_of(x: vt.Tensor) -> object:
    return None if x.grad is None else x.grad.tolist()


def send_a_signal(grad: vt.Tensor) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.005)


def chain(x: vt.Tensor, nodes: int) -> vt.Tensor:
    y = x
    for _ in range(nodes):
        y = y + 1
    return y


# Without the lock the waiting thread gives way at locks of the interpreter's own: its order to stop
# may come when the pass has ended.
@pytest.mark.parametrize(
    ("depth", "threads"), [(25, 2), pytest.param(45, 3, marks=needs_global_lock)]
)
def test_an_interrupt_ends_the_pass_that_is_waited_for(depth: int, threads: int) -> None:
    x = vt.ones(1, requires_grad=True)
    y = chain(x, 400_000 if vt.__compiled__ else 20_000)
    seen: set[int] = set()
    nested(depth, y, seen)
    assert len(seen) == threads
    x.grad = None
    # The pass alone takes longer than that, and the way to it less.
    y.register_hook(send_a_signal)
    with pytest.raises(Interrupted), handled():
        nested(depth, y, seen)
    time.sleep(0.05)
    assert seen & sys._current_frames().keys() == {threading.get_ident()}
    assert gradient_of(x) is None
    assert vt.is_grad_enabled()
    # What follows works, on threads of its own too.
    nested(depth, (x * 3).sum(), seen)
    assert gradient_of(x) == [3]


def test_a_signal_that_the_working_thread_receives_ends_the_wait() -> None:
    """The system may choose that thread; see Note [Signals that another thread receives]."""
    x = vt.ones(1, requires_grad=True)
    y = x * 2
    over = [False]

    def receive(grad: vt.Tensor) -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGALRM)
        with vt.enable_grad():
            for _ in range(20_000):
                (vt.ones(1, requires_grad=True) * 2).backward()
                time.sleep(0.001)
        over[0] = True

    y.register_hook(receive)
    with pytest.raises(Interrupted), handled():
        nested(25, y, set())
    assert not over[0]
    assert gradient_of(x) is None


@pytest.mark.slow
# An interrupt that arrives in a callback of the collector or of a weak reference is lost.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_at_random() -> None:
    x, z = vt.ones(1, requires_grad=True), vt.ones(1, requires_grad=True)
    y = chain(x, 100) + z
    end = time.monotonic() + 1.5
    delay, interrupted = 1e-4, 0
    while time.monotonic() < end:
        x.grad = z.grad = None
        try:
            with handled():
                signal.setitimer(signal.ITIMER_REAL, delay)
                nested(22, y, set())
            delay = 1e-4
        except Interrupted:
            interrupted += 1
            delay += 3e-5
        found = [x.grad, z.grad]
        time.sleep(0.0005)
        assert [x.grad, z.grad] == found
        assert (x.grad is None) == (z.grad is None)
        assert vt.is_grad_enabled()
    assert interrupted > 5


def test_an_error_comes_out_of_the_threads() -> None:
    x = vt.ones(1, requires_grad=True)

    def fail(grad: vt.Tensor) -> None:
        raise KeyError("innermost")

    y = x * 2
    y.register_hook(fail)
    with pytest.raises(KeyError, match="innermost"):
        nested(45, y, set())
    assert x.grad is None

"""A version number is used once, and no write is missed, whatever other threads do.

What breaks it: a number that is taken back when a write is refused, or a version that moves before
the elements are marked.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

import vtgrad as vt
from tests.support import needs_global_lock
from vtgrad.errors import StaleSavedError, VtgradError

COUNT = 400


@pytest.fixture(autouse=True)
def short_turns() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def while_another_thread(does: Callable[[], object], then: Callable[[], None]) -> None:
    """Run `then` while another thread does something again and again."""
    over = threading.Event()
    failures: list[BaseException] = []

    def again() -> None:
        try:
            while not over.is_set():
                does()
        except BaseException as error:  # shown by the test
            failures.append(error)

    thread = threading.Thread(target=again)
    thread.start()
    try:
        then()
    finally:
        over.set()
        thread.join()
    assert not failures


def refused(x: vt.Tensor) -> None:
    with pytest.raises(VtgradError):
        x.add_(vt.ones(7))
    with pytest.raises(VtgradError):
        x[0] = vt.ones(9)
    with pytest.raises(VtgradError):
        x.clamp_()


def test_writes_that_another_thread_is_refused_hide_no_real_one() -> None:
    x, w = vt.ones(COUNT, 4), vt.tensor(2.0, requires_grad=True)

    def run() -> None:
        before = x._version
        for row in range(COUNT):
            y = (w * x[row]).sum()
            x[row].mul_(3)
            with pytest.raises(StaleSavedError):
                vt.autograd.grad(y, w)
            beside = (w * x[row]).sum()
            x[row - 1].add_(1)
            vt.autograd.grad(beside, w)
        assert x._version == before + 2 * COUNT

    while_another_thread(lambda: refused(x), run)


@pytest.mark.slow
def test_writes_of_another_thread_beside_what_is_saved_do_no_harm() -> None:
    x, w = vt.ones(2, COUNT), vt.tensor(2.0, requires_grad=True)

    def run() -> None:
        for column in range(COUNT):
            kept, lost = w * x[0, column], w * x[0, column]
            kept_at = w * x[0, : column + 1]
            vt.autograd.grad(kept, w)
            vt.autograd.grad(kept_at.sum(), w)
            x[0, column] = 5.0
            with pytest.raises(StaleSavedError):
                vt.autograd.grad(lost, w)

    while_another_thread(lambda: x[1].add_(1), run)


@needs_global_lock
def test_every_write_of_many_threads_is_counted_once() -> None:
    x, w = vt.ones(4, 8), vt.tensor(2.0, requires_grad=True)
    y = w * x

    def write(row: int) -> None:
        for column in range(COUNT):
            x[row, column % 8] = 1.0

    threads = [threading.Thread(target=write, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x._version == 4 * COUNT
    with pytest.raises(StaleSavedError):
        y.sum().backward()

"""A thread that does work while another thread waits for it. This file is never compiled.

The functions of `threading` cannot be used here: if they are interrupted, it is unknown whether the
thread was started. See Note [Abandoned passes].

The child of a fork has only the thread that forked. If that one waits for a helper, it gets a
`ForkedPassError` in the child.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from typing import Final

from vtgrad.engine.signals import Order, acquire_watchfully, look_for_signals, this_thread
from vtgrad.errors import ForkedPassError
from vtgrad.storage.thread_state import after_fork, as_worker

__all__ = ["run_on_helper_thread", "stop_helper_of"]


class _Helper:
    """A thread, and the work that it does.

    Attributes
    ----------
    order : Order
        The flag that stops the work.
    ident : int
        The thread, once it runs; 0 before.
    is_over : bool
        Whether the work is done.
    failure : BaseException or None
        The error that the work raised.
    started : list of int
        The thread, once it is started.
    """

    __slots__ = ("_over", "_work", "failure", "ident", "is_over", "order", "started")

    order: Order
    ident: int
    is_over: bool
    failure: BaseException | None
    started: list[int]
    _work: Callable[[], object]

    def __init__(self, work: Callable[[], object]) -> None:
        self.order = Order()
        self.ident = 0
        self.is_over = False
        self.failure = None
        self.started = []
        self._work = work
        self._over = allocate_lock()
        self._over.acquire()

    def run(self) -> None:
        """Do the work; the function that the thread runs."""
        try:
            this_thread.order = self.order
            self.ident = get_ident()
            look_for_signals()
            self._work()
        except BaseException as error:  # noqa: BLE001  # raised again on the waiting thread
            self.failure = error
        finally:
            self.is_over = True
            self._over.release()

    def wait(self) -> None:
        """Wait until the work is over."""
        acquire_watchfully(self._over)

    def be_lost(self) -> None:
        """End the wait in the child of a fork, which does not have the thread."""
        if not self.is_over:
            self.failure = ForkedPassError(
                "the process was forked while this backward ran on a thread of its own, which the "
                "child of a fork does not have"
            )
            self.is_over = True
        if self._over.locked():
            self._over.release()

    def abandon(self) -> None:
        """Stop the thread, and the thread for which it waits; then wait."""
        _stop(self)
        self.wait()


def _stop(helper: _Helper | None) -> None:
    while helper is not None:
        order = helper.order
        order.stop = True
        wake = order.wake
        if wake is not None:
            wake()
        helper = _waiting.get(helper.ident)


def stop_helper_of(ident: int) -> None:
    """Stop the work for which a thread waits, if it does."""
    _stop(_waiting.get(ident))


# For each waiting thread: the helper for which it waits.
_waiting: Final[dict[int, _Helper]] = {}


def run_on_helper_thread(work: Callable[[], object]) -> None:
    """Do work on a new thread, whose stack is empty.

    If the calling thread is interrupted meanwhile, the work is stopped, and the interrupt is raised
    after it has stopped.

    Raises
    ------
    BaseException
        The error that the work raises.
    """
    own = get_ident()
    helper = _Helper(work)
    try:
        _waiting[own] = helper
        # One call of a C function, after which `started` shows whether there is a thread.
        helper.started.extend(map(start_new_thread, (as_worker,), ((helper.run,),)))
        # This thread may have been abandoned before it was entered as waiting.
        look_for_signals()
        helper.wait()
    except BaseException:
        while helper.started and not helper.is_over:
            # Another interrupt changes nothing: the work must end before this thread continues.
            try:
                helper.abandon()
            except BaseException:  # noqa: BLE001  # the first interrupt is raised below
                continue
        raise
    finally:
        _waiting.pop(own, None)
    if helper.failure is not None:
        raise helper.failure


def _forget_helpers() -> None:
    """Forget the threads that the child of a fork does not have."""
    own = get_ident()
    helper = _waiting.get(own)
    _waiting.clear()
    if helper is not None:
        _waiting[own] = helper
        if helper.started:
            helper.be_lost()


after_fork(_forget_helpers)

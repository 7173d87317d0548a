"""A thread that works while another one waits for it. This file is never compiled.

The functions of `threading` cannot be used here: interrupted, they may leave a thread of which
nothing is known, not even whether it was started. See Note [Abandoned passes].
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from typing import Final

from .signals import Order, look_for_signals, this_thread

__all__ = ["run_on_helper_thread"]


class _Helper:
    """A thread, and the work that it does.

    Attributes
    ----------
    order : Order
        Tells the work to stop.
    ident : int
        The thread, as soon as it runs; before that 0.
    is_over : bool
        Whether it has done its work.
    failure : BaseException or None
        What the work has raised.
    """

    __slots__ = ("_over", "_work", "failure", "ident", "is_over", "order")

    order: Order
    ident: int
    is_over: bool
    failure: BaseException | None
    _work: Callable[[], object]

    def __init__(self, work: Callable[[], object]) -> None:
        self.order = Order()
        self.ident = 0
        self.is_over = False
        self.failure = None
        self._work = work
        self._over = allocate_lock()
        self._over.acquire()

    def run(self) -> None:
        """Do the work; this is what the thread runs."""
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
        self._over.acquire()

    def abandon(self) -> None:
        """Tell the thread, and the one that it waits for, to stop; then wait."""
        helper: _Helper | None = self
        while helper is not None:
            helper.order.stop = True
            helper = _waiting.get(helper.ident)
        self.wait()


# For each thread that waits: the one that it waits for.
_waiting: Final[dict[int, _Helper]] = {}


def run_on_helper_thread(work: Callable[[], object]) -> None:
    """Do some work on a thread of its own, whose stack is empty.

    If this thread is interrupted meanwhile, the work is told to stop, and the interrupt is raised
    when it has.

    Raises
    ------
    BaseException
        What the work raises.
    """
    own = get_ident()
    helper = _Helper(work)
    started: list[int] = []
    try:
        _waiting[own] = helper
        # One call of a C function, after which it is known whether there is a thread.
        started.extend(map(start_new_thread, (helper.run,), ((),)))
        # This thread may have been abandoned before it was known that it waits.
        look_for_signals()
        helper.wait()
    except BaseException:
        while started and not helper.is_over:
            # Another interrupt changes nothing: the work must be over before this thread goes on.
            try:
                helper.abandon()
            except BaseException:  # noqa: BLE001  # the first interrupt is raised below
                continue
        raise
    finally:
        _waiting.pop(own, None)
    if helper.failure is not None:
        raise helper.failure

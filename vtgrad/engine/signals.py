"""Running signal handlers in long loops, and stopping passes. This file is never compiled.

Note [Interrupts in long loops]

Python runs the handlers of signals, the one that raises KeyboardInterrupt among them, when the
interpreter begins a function or goes round a loop. Compiled code does neither: a million nodes that
call no Python function would all run first. So the loops over nodes call `look_for_signals` at
intervals, and an error of a handler is raised by that call. Interpreted loops do the same.

Note [Abandoned passes]

A pass that runs on a thread of its own (Note [Backward inside backward]) gets no signals: Python
handles them on the main thread, which waits for it. If a handler raises there, the pass must not
continue and fill ``.grad`` later. So the waiting thread abandons the working one, and waits until
that has stopped: it stops where loops look for signals, and before ``.grad`` is filled. If the
working thread waits for another thread itself, that one is abandoned too.

Note [Signals that another thread receives]

The system gives a signal to any one thread of the process. It prefers the main thread, but a thread
that starts another one at that moment may be faster. Python notes the signal, and the main thread
runs the handler when it next runs anything: if it waits for a lock, after the wait, which may be as
long as the pass. So `acquire_watchfully` ends the wait of the main thread ten times a second.
"""

from __future__ import annotations

import threading
from _thread import LockType, get_ident
from collections.abc import Callable
from typing import Final

from vtgrad.storage.thread_state import own, part_of_thread

__all__ = [
    "NODES_BETWEEN_LOOKS",
    "AbandonedError",
    "Order",
    "acquire_watchfully",
    "look_for_signals",
    "this_thread",
]

# Nodes that take some tens of microseconds.
NODES_BETWEEN_LOOKS: Final = 64
_SECONDS_BETWEEN_LOOKS: Final = 0.1


class Order:
    """The message of a waiting thread to the working thread.

    Attributes
    ----------
    stop : bool
        Whether the work is abandoned.
    wake : callable or None
        Lets the working thread look for that, while it waits for threads of lanes.
    """

    __slots__ = ("stop", "wake")

    stop: bool
    wake: Callable[[], None] | None

    def __init__(self) -> None:
        self.stop = False
        self.wake = None


class _ThisThread:
    """See Note [The state of a thread].

    Attributes
    ----------
    order : Order or None
        The order of the thread that waits for this one; see Note [Abandoned passes].
    """

    order: Order | None = own(None)


this_thread: _ThisThread = part_of_thread(_ThisThread)


class AbandonedError(BaseException):
    """Ends an abandoned pass; the waiting thread raises its own interrupt."""


def look_for_signals() -> None:
    """Let the handlers of pending signals run.

    Raises
    ------
    AbandonedError
        On a thread that was abandoned.
    """
    order = this_thread.order
    if order is not None and order.stop:
        raise AbandonedError


def acquire_watchfully(lock: LockType) -> None:
    """Acquire a lock that another thread releases, and let handlers of signals run meanwhile.

    See Note [Signals that another thread receives].
    """
    if get_ident() != threading.main_thread().ident:
        lock.acquire()
        return
    while not lock.acquire(timeout=_SECONDS_BETWEEN_LOOKS):
        pass

"""Giving the interpreter its turn in long loops, and stopping passes. This file is never compiled.

NOTE [ Interrupts in long loops ]

Python runs the handlers of signals, the one that raises KeyboardInterrupt among them, when the
interpreter begins a function or goes round a loop. Compiled code does neither: a million nodes
that call no Python function would run to their end first. So the loops over nodes call the
function below now and then, and whatever a handler raises comes out of that call. Interpreted
loops do the same.

NOTE [ Abandoned passes ]

A pass that runs on a thread of its own (Note [Backward inside backward]) gets no signals: Python
handles them on the main thread, which waits for it. If a handler raises there, the pass must not go
on by itself and fill ``.grad`` later. So the thread that waits abandons the one that works, and
waits on until that has noticed: where loops look for signals, and before anything is filled. A pass
on a thread that waits itself is abandoned together with the one that it waits for.
"""

from __future__ import annotations

import threading
from typing import Final

__all__ = ["NODES_BETWEEN_LOOKS", "AbandonedError", "Order", "look_for_signals", "this_thread"]

# Some tens of microseconds.
NODES_BETWEEN_LOOKS: Final = 64


class Order:
    """What the thread that waits tells the thread that works.

    Attributes
    ----------
    stop : bool
        Whether the work is abandoned.
    """

    __slots__ = ("stop",)

    stop: bool

    def __init__(self) -> None:
        self.stop = False


class _ThisThread(threading.local):
    """State of one thread.

    Attributes
    ----------
    order : Order or None
        That of the thread that waits for this one; see Note [Abandoned passes].
    """

    order: Order | None = None


this_thread: _ThisThread = _ThisThread()


class AbandonedError(BaseException):
    """Ends a pass that was abandoned; its caller raises what it was interrupted by."""


def look_for_signals() -> None:
    """Let the handlers of signals that have arrived run.

    Raises
    ------
    AbandonedError
        On a thread that was abandoned.
    """
    order = this_thread.order
    if order is not None and order.stop:
        raise AbandonedError

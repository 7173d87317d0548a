"""The switch behind the grad modes.

NOTE [ Reading the grad mode ]

Every operator asks whether it should record, and a thread-local read is a good part of a small
operator's time. So `_Modes.disabled_threads` counts the threads that have recording switched
off; while it is zero nobody has to look at the thread-local. The count is only a shortcut: a
thread that ended while recording was off leaves it too high, which costs time and nothing else.
"""

from __future__ import annotations

import threading

from .this_thread import this_thread

__all__ = ["is_grad_enabled", "set_mode"]


class _Modes:
    __slots__ = ("disabled_threads", "lock")

    disabled_threads: int
    lock: threading.Lock

    def __init__(self) -> None:
        self.disabled_threads = 0
        self.lock = threading.Lock()


_modes = _Modes()


def is_grad_enabled() -> bool:
    """Whether operators on this thread record a graph."""
    return _modes.disabled_threads == 0 or this_thread.records


def set_mode(enabled: bool) -> bool:
    """Switch recording on this thread; returns how it was."""
    before = this_thread.records
    if before is not enabled:
        with _modes.lock:
            _modes.disabled_threads += -1 if enabled else 1
        this_thread.records = enabled
    return before

"""The switches behind the grad modes.

NOTE [ Reading the grad mode ]

Every operator asks whether it should record, and a thread-local read is a good part of a small
operator's time. So `recording.disabled_threads` counts the threads on which nothing is recorded;
while it is zero nobody has to look at the thread-local. The count is only a shortcut: a
thread that ended while recording was off leaves it too high, which costs time and nothing else.

Two switches decide: the grad mode, which users read and set, and inference mode, in which nothing
is recorded whatever the grad mode is. Operators ask only whether they record.
"""

from __future__ import annotations

import threading
from typing import Final

from ..storage.inference import is_inference_mode_enabled, switch_inference_mode
from ..storage.version_counter import inference_threads
from .this_thread import this_thread

__all__ = [
    "Recording",
    "is_grad_enabled",
    "is_recording",
    "modes",
    "recording",
    "set_mode",
    "set_modes",
]


class Recording:
    """On how many threads nothing is recorded; see Note [Reading the grad mode].

    Attributes
    ----------
    disabled_threads : int
        How many, or more.
    lock : threading.Lock
        Held while the count is changed.
    """

    __slots__ = ("disabled_threads", "lock")

    disabled_threads: int
    lock: threading.Lock

    def __init__(self) -> None:
        self.disabled_threads = 0
        self.lock = threading.Lock()


recording: Final[Recording] = Recording()


def is_recording() -> bool:
    """Whether operators on this thread record a graph."""
    return recording.disabled_threads == 0 or this_thread.records


def is_grad_enabled() -> bool:
    """Whether the grad mode of this thread is on."""
    return this_thread.grad_enabled


def set_mode(enabled: bool) -> bool:
    """Set the grad mode of this thread; returns how it was."""
    before = this_thread.grad_enabled
    if before is not enabled:
        this_thread.grad_enabled = enabled
        # Outside of inference mode operators record if the grad mode is on.
        if not inference_threads.count or not is_inference_mode_enabled():
            with recording.lock:
                recording.disabled_threads += -1 if enabled else 1
            this_thread.records = enabled
    return before


def modes() -> tuple[bool, bool]:
    """The grad mode and the inference mode of this thread."""
    return this_thread.grad_enabled, is_inference_mode_enabled()


def set_modes(grad: bool, inference: bool) -> tuple[bool, bool]:
    """Set the grad mode and the inference mode of this thread; returns how they were."""
    before = this_thread.grad_enabled
    this_thread.grad_enabled = grad
    inference_before = switch_inference_mode(inference)
    records = grad and not inference
    if this_thread.records is not records:
        with recording.lock:
            recording.disabled_threads += -1 if records else 1
        this_thread.records = records
    return before, inference_before

"""Tensors that gradients will never be asked for.

NOTE [ Inference tensors ]

What is made in inference mode is an inference tensor: nothing that is recorded may depend on its
values staying as they are, so nobody counts its writes. In the place of a version counter it has
`INFERENCE`, one object for all inference tensors, which is passed on to their views as counters
are. Its value means nothing and is never read: whoever would have to read it (a saved value, the
version attribute) refuses. Writes are refused outside of inference mode before anything else is
looked at, so that a value that a graph does not know to be of this kind cannot change under it.

The mode is a switch of each thread. `inference_threads.count` is a shortcut: while it is zero,
which is nearly always, a new tensor costs one look at it and no more. The count is too high after
a thread has ended inside the mode, which costs time and nothing else.

This file is never compiled, because it has a thread-local; see Note [One source, two builds].
"""

from __future__ import annotations

import threading

from ..errors import InferenceWriteError
from .version_counter import INFERENCE, VersionCounter, inference_threads

__all__ = [
    "counter_of_new",
    "is_inference_mode_enabled",
    "refuse_outside_inference_mode",
    "switch_inference_mode",
]


class _ThisThread(threading.local):
    """Whether one thread is in inference mode."""

    active: bool = False


_this_thread = _ThisThread()


def is_inference_mode_enabled() -> bool:
    """Whether what this thread makes are inference tensors."""
    return inference_threads.count != 0 and _this_thread.active


def switch_inference_mode(enabled: bool) -> bool:
    """Switch the mode on this thread; returns how it was."""
    before = _this_thread.active
    if before is not enabled:
        with inference_threads.lock:
            inference_threads.count += 1 if enabled else -1
            inference_threads.entered = True
        _this_thread.active = enabled
    return before


def counter_of_new() -> VersionCounter | None:
    """What a tensor made on this thread has for a counter to begin with."""
    return INFERENCE if is_inference_mode_enabled() else None


def refuse_outside_inference_mode() -> None:
    """Raise if an inference tensor may not be written now.

    Raises
    ------
    InferenceWriteError
        Outside of inference mode, also while nothing is recorded.
    """
    if not is_inference_mode_enabled():
        raise InferenceWriteError(
            "cannot write to an inference tensor outside of inference mode: nobody counts its "
            "writes, so a graph that uses it could not tell. Write inside inference_mode, or to "
            "a clone, which is a normal tensor"
        )

"""What a thread knows of recordings. This file is never compiled."""

from __future__ import annotations

from vtgrad.graph.observer import observer_of_thread
from vtgrad.jit.operators import OperatorTrace
from vtgrad.storage.thread_state import part_of_thread

__all__ = ["is_tracing", "thread"]


class _Recording:
    """See Note [The state of a thread].

    Attributes
    ----------
    records_calls : bool
        Whether a function is being recorded.
    """

    records_calls: bool = False


thread: _Recording = part_of_thread(_Recording)


def is_tracing() -> bool:
    """Whether this thread is recording a function, or listing its operators.

    Returns
    -------
    bool
        True inside of a function that `trace` or `replay` records; it may run several times then.

    Examples
    --------
    >>> vt.jit.is_tracing()
    False
    """
    return thread.records_calls or isinstance(observer_of_thread(), OperatorTrace)

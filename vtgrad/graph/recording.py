# Compiled by mypyc.
"""Predicates by which operators decide whether to record.

Two switches decide: the grad mode, which users read and set, and inference mode, in which nothing
is recorded in any grad mode. Operators only read whether they record. See Note [Reading the mode]
and Note [Switching a mode].
"""

from __future__ import annotations

from vtgrad.storage.mode import switched
from vtgrad.storage.thread_mode import thread

__all__ = ["is_grad_enabled", "is_recording"]


def is_recording() -> bool:
    """Whether operators on this thread record a graph."""
    return not switched.silent or thread.mode.records


def is_grad_enabled() -> bool:
    """Whether the grad mode of this thread is on.

    Returns
    -------
    bool
        True at first, in every thread. `no_grad` and its like switch it.

    Examples
    --------
    >>> with vt.no_grad():
    ...     vt.is_grad_enabled()
    False
    """
    return thread.mode.grad

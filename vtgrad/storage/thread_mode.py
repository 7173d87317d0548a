"""The mode of each thread.

This file is never compiled, because it has a thread-local; see Note [One source, two builds].
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final, NamedTuple

from .extra_meta import ExtraMeta
from .mode import Mode, mode_of, switched

if TYPE_CHECKING:
    from .batch import BatchLevel
    from .tracer import Tracer
    from .transform_record import TransformRecord

__all__ = ["NO_LIMIT", "OUTSIDE", "Levels", "enter_levels", "levels_of_thread", "settle", "thread"]

# Larger than the number of any level.
NO_LIMIT: Final = 2**62


class Levels(NamedTuple):
    """What a thread hands to another one that works for it, beside its mode.

    The attributes are those of the same names below.
    """

    excluded_keys: int = 0
    forward_limit: int = NO_LIMIT
    reverse_level: int = 0
    transform: TransformRecord | None = None
    batch_levels: tuple[BatchLevel, ...] = ()
    tracer: Tracer | None = None


# Of a thread that is in no level.
OUTSIDE: Final = Levels()


class _ThreadMode(threading.local):
    """State of one thread.

    Attributes
    ----------
    mode : Mode
        Stored as in Note [Switching a mode].
    ident : int
        The thread, as `threading.get_ident` numbers it.
    excluded_keys : int
        The keys by which no tensor takes an operator over at this moment, see Note [Keys].
    forward_limit : int
        The operators of this thread see tangents of lower levels only; see Note [Levels].
    reverse_level : int
        The number of the innermost transform of `vtgrad.func`, or function of
        `vtgrad.autograd.functional`, that differentiates in reverse mode on this thread; 0 for
        none. Levels of forward mode and of batches are numbered with it.
    transform : TransformRecord or None
        What that transform has to leave; see Note [What a transform leaves behind].
    batch_levels : tuple of BatchLevel
        The running `vmap` of this thread, the innermost last; see Note [Batched tensors].
    tracer : Tracer or None
        What follows the operators of this thread; see Note [Tracing].
    extra_of_new : ExtraMeta or None
        What new tensors have at this moment; see Note [Tensors made on a lane].
    """

    mode: Mode
    ident: int
    excluded_keys: int
    forward_limit: int
    reverse_level: int
    transform: TransformRecord | None
    batch_levels: tuple[BatchLevel, ...]
    tracer: Tracer | None
    extra_of_new: ExtraMeta | None

    def __init__(self) -> None:
        self.mode = mode_of(grad=True, inference=False)
        self.ident = threading.get_ident()
        self.excluded_keys = 0
        self.forward_limit = NO_LIMIT
        self.reverse_level = 0
        self.transform = None
        self.batch_levels = ()
        self.tracer = None
        self.extra_of_new = None


thread: _ThreadMode = _ThreadMode()


def levels_of_thread() -> Levels:
    """The levels of this thread."""
    return Levels(
        thread.excluded_keys,
        thread.forward_limit,
        thread.reverse_level,
        thread.transform,
        thread.batch_levels,
        thread.tracer,
    )


def enter_levels(levels: Levels) -> None:
    """Put this thread, which no signal handler interrupts, into levels of another one."""
    thread.excluded_keys, thread.forward_limit = levels.excluded_keys, levels.forward_limit
    thread.reverse_level, thread.transform = levels.reverse_level, levels.transform
    thread.batch_levels, thread.tracer = levels.batch_levels, levels.tracer


def settle(ident: int) -> None:
    """Remove this thread from `switched` where its mode allows; see Note [Reading the mode].

    Parameters
    ----------
    ident : int
        ``thread.ident``.
    """
    # The mode is read right before each call: a handler that runs after a call may switch it.
    if thread.mode.records:
        switched.silent.pop(ident, None)
    if switched.inference and not thread.mode.inference and thread.extra_of_new is None:
        switched.inference.pop(ident, None)


def _forget_other_threads() -> None:
    """Forget the threads that the child of a fork does not have; new ones may get their numbers."""
    own = thread.ident
    for threads in (switched.silent, switched.inference):
        for ident in [ident for ident in threads if ident != own]:
            del threads[ident]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)

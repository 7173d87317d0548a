"""The settings of each thread that all layers read.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from _thread import get_ident

from vtgrad.storage.extra_meta import ExtraMeta
from vtgrad.storage.mode import Mode, mode_of
from vtgrad.storage.thread_state import made, own, part_of_thread
from vtgrad.storage.thread_state import settle as settle

__all__ = ["ThreadMode", "settle", "thread"]


class ThreadMode:
    """See Note [The state of a thread].

    Attributes
    ----------
    mode : Mode
        Stored as in Note [Switching a mode].
    ident : int
        The thread, as `threading.get_ident` numbers it.
    excluded_keys : int
        The keys by which no tensor takes an operator over at this moment, see Note [Keys].
    extra_of_new : ExtraMeta or None
        What new tensors have at this moment; see Note [Tensors made on a lane].
    """

    mode: Mode = mode_of(grad=True, inference=False)
    ident: int = own(made(get_ident))
    excluded_keys: int = 0
    extra_of_new: ExtraMeta | None = None


thread: ThreadMode = part_of_thread(ThreadMode)

"""What the threads of lanes take over from the thread that called backward. Never compiled."""

from __future__ import annotations

import contextvars
from collections.abc import Callable

from vtgrad.engine import signals
from vtgrad.lanes.device_threads import this_worker
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.thread_state import Settings, carried, changed, run_with

__all__ = ["OwnerState"]


class OwnerState:
    """The state of the thread that has called backward, for user code on the threads of lanes.

    User code runs as if the calling thread ran it: with its settings and its context, and the nodes
    that it records get the numbers of the calling thread. Two threads never use these numbers at
    once: user code runs alone, see Note [The order of one thread]. What runs between two nodes, a
    finalizer for example, sees the same settings, as on the calling thread.

    Attributes
    ----------
    ident : int
        The calling thread.
    order : Order
        Stops user code where it looks for signals, see Note [Abandoned passes].
    """

    __slots__ = ("_context", "_settings", "ident", "order")

    ident: int
    order: signals.Order
    _settings: Settings
    _context: contextvars.Context

    def __init__(self) -> None:
        self.ident = thread.ident
        self.order = signals.Order()
        self._settings = carried().but(order=self.order)
        self._context = contextvars.copy_context()

    def run_on_lane(self, function: Callable[..., None], *args: object) -> None:
        """Call a function on the thread of a lane, in the state of the calling thread."""
        run_with(self._settings, function, *args)

    def call_users_code(self, function: Callable[..., None], *args: object, is_alone: bool) -> None:
        """Call a function that calls user code; recording is off.

        Parameters
        ----------
        is_alone : bool
            Whether no other user code of this pass runs, and nothing else.
        """
        silent = changed(mode=thread.mode.by_grad[False])
        if this_worker.device is None:
            run_with(silent, function, *args)
            return
        # A context cannot be entered by two threads.
        context = self._context if is_alone else self._context.copy()
        context.run(run_with, silent, function, *args)

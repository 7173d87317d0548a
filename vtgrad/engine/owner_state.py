"""What the threads of lanes take over from the thread that called backward. Never compiled."""

from __future__ import annotations

import contextvars
from collections.abc import Callable

from ..graph.packing import HookPair, packing
from ..graph.sequence_nr import Numbering
from ..graph.thread_local_state import this_thread
from ..storage.mode import Mode, mode_of, switched
from ..storage.thread_mode import (
    OUTSIDE,
    Levels,
    enter_levels,
    levels_of_thread,
    settle,
    thread,
)
from . import signals
from .current_graph_task import running
from .device_threads import this_worker
from .graph_task import GraphTask

__all__ = ["OwnerState"]


class OwnerState:
    """The state of the thread that has called backward, for user code on the threads of lanes.

    User code runs as if the calling thread ran it: in its modes, its levels and its context, with
    its hooks of saved values, and the nodes that it records get the numbers of the calling thread.
    Two threads never use these numbers at once: user code runs alone, see Note [The order of one
    thread].

    Attributes
    ----------
    ident : int
        The calling thread.
    order : Order
        Stops user code where it looks for signals, see Note [Abandoned passes].
    """

    __slots__ = (
        "_context",
        "_disabled",
        "_levels",
        "_mode",
        "_numbering",
        "_pair",
        "_task",
        "ident",
        "order",
    )

    ident: int
    order: signals.Order
    _task: GraphTask
    _mode: Mode
    _levels: Levels
    _context: contextvars.Context
    _pair: HookPair | None
    _disabled: str | None
    _numbering: Numbering

    def __init__(self, task: GraphTask) -> None:
        self.ident = thread.ident
        self.order = signals.Order()
        self._task = task
        self._mode = thread.mode
        self._levels = levels_of_thread()
        self._context = contextvars.copy_context()
        self._pair, self._disabled = packing.pair, packing.disabled
        self._numbering = this_thread.numbering

    def _run_here(self, function: Callable[..., None], *args: object) -> None:
        """Call a function on the calling thread, in its own state; recording is off."""
        before, ident = thread.mode.grad, thread.ident
        try:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[False]
            function(*args)
        finally:
            thread.mode = switched.silent[ident] = thread.mode.by_grad[before]
            settle(ident)

    def run_on_lane(self, function: Callable[..., None], *args: object) -> None:
        """Call a function on the thread of a lane, in the state of the calling thread."""
        ident, numbering = thread.ident, this_thread.numbering
        try:
            mode = self._mode.by_grad[False]
            thread.mode = switched.silent[ident] = switched.inference[ident] = mode
            settle(ident)
            enter_levels(self._levels)
            packing.pair, packing.disabled = self._pair, self._disabled
            this_thread.numbering = self._numbering
            signals.this_thread.order = self.order
            running.task = self._task
            function(*args)
        finally:
            running.task = None
            signals.this_thread.order = None
            this_thread.numbering = numbering
            packing.pair = packing.disabled = None
            enter_levels(OUTSIDE)
            thread.mode = mode_of(grad=True, inference=False)
            settle(ident)

    def call_users_code(self, function: Callable[..., None], *args: object, is_alone: bool) -> None:
        """Call a function that calls user code.

        Parameters
        ----------
        is_alone : bool
            Whether no other user code of this pass runs, and nothing else.
        """
        if this_worker.device is None:
            self._run_here(function, *args)
            return
        # A context cannot be entered by two threads.
        context = self._context if is_alone else self._context.copy()
        context.run(function, *args)

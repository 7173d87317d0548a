"""The graph task that a thread is running: of nested backward passes, the innermost.

A file of its own, which is never compiled; see Note [One source, two builds].
"""

from __future__ import annotations

import threading

from ..storage.no_fp_warnings import Runner, no_fp_warnings_runner
from .graph_task import GraphTask

__all__ = ["running"]


class _Running(threading.local):
    """State of one thread.

    Attributes
    ----------
    task : GraphTask or None
        The innermost running pass.
    passes : int
        How many passes this thread has begun.
    multithreading : bool
        Whether a pass may use threads of lanes.
    quietly : Runner
        Runs the arithmetic of the outermost pass; a context cannot be entered twice.
    """

    task: GraphTask | None
    passes: int
    multithreading: bool
    quietly: Runner

    def __init__(self) -> None:
        self.task = None
        self.passes = 0
        self.multithreading = True
        self.quietly = no_fp_warnings_runner()


running: _Running = _Running()

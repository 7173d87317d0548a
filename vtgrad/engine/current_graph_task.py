"""The graph task that a thread is running: of nested backward passes, the innermost.

This file is never compiled: mypyc would make a native class of the declaration.
"""

from __future__ import annotations

from vtgrad.engine.graph_task import GraphTask
from vtgrad.storage.no_fp_warnings import KernelRunner, no_fp_warnings_runner
from vtgrad.storage.thread_state import made, own, part_of_thread

__all__ = ["running"]


class _Running:
    """See Note [The state of a thread].

    Attributes
    ----------
    task : GraphTask or None
        The innermost running pass.
    passes : int
        How many passes this thread has begun.
    multithreading : bool
        Whether a pass may use threads of lanes.
    quietly : KernelRunner
        Runs the arithmetic of the outermost pass, or that of a lane; a context cannot be entered
        twice.
    """

    task: GraphTask | None = None
    passes: int = own(0)
    multithreading: bool = True
    quietly: KernelRunner = own(made(no_fp_warnings_runner))


running: _Running = part_of_thread(_Running)

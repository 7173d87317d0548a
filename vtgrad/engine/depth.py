"""How many backward passes are running inside each other on a thread.

A file of its own, which is never compiled; see Note [One source, two builds].
"""

from __future__ import annotations

import threading

from ..storage.quiet import Runner, quiet_runner

__all__ = ["depth"]


class _Depth(threading.local):
    """State of one thread.

    Attributes
    ----------
    value : int
        How many passes are running inside each other.
    quietly : Runner
        For the arithmetic of the outermost; a context cannot be entered twice.
    """

    value: int
    quietly: Runner

    def __init__(self) -> None:
        self.value = 0
        self.quietly = quiet_runner()


depth: _Depth = _Depth()

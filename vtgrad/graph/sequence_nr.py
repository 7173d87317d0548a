# Compiled by mypyc.
"""The sequence numbers that a thread gives to its nodes."""

from __future__ import annotations

import itertools
from typing import Final

__all__ = ["Numbering"]

# Threads are numbered from 1 on, each once: unlike the identifier of a thread, the number does not
# come back when the thread has ended, and nodes outlive the threads that made them.
_thread_ids: Final = itertools.count(1)


class Numbering:
    """A count of the nodes that one thread has made.

    Attributes
    ----------
    next_nr : int
        The sequence number of the thread's next node.
    thread_id : int
        The number of the thread.
    """

    __slots__ = ("next_nr", "thread_id")

    next_nr: int
    thread_id: int

    def __init__(self) -> None:
        self.next_nr = 0
        self.thread_id = next(_thread_ids)

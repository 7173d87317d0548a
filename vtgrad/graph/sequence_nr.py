"""The sequence numbers that a thread gives to its nodes."""

from __future__ import annotations

__all__ = ["Numbering"]


class Numbering:
    """A count of the nodes that one thread has made.

    Attributes
    ----------
    next_nr : int
        The sequence number of the thread's next node.
    thread_id : int
        The thread, as `threading.get_ident` numbers it.
    """

    __slots__ = ("next_nr", "thread_id")

    next_nr: int
    thread_id: int

    def __init__(self, thread_id: int) -> None:
        self.next_nr = 0
        self.thread_id = thread_id

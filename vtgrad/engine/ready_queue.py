# Compiled by mypyc.
"""Nodes whose gradients have all arrived."""

from __future__ import annotations

import heapq

from vtgrad.engine.input_buffer import InputBuffer

__all__ = ["ReadyQueue"]


class ReadyQueue:
    """A queue by sequence number: leaves first, then the nodes that were recorded last.

    Note [The next node does not queue]

    Most nodes make exactly one other node ready, which runs next. It waits in `first`, and only
    other ready nodes are in the heap: a chain of nodes never uses the heap. The task in `first`
    comes before all in the heap.
    """

    __slots__ = ("_heap", "_ties", "first")

    first: InputBuffer | None
    _heap: list[tuple[int, int, InputBuffer]]
    _ties: int

    def __init__(self) -> None:
        self.first = None
        self._heap = []
        self._ties = 0

    def push(self, task: InputBuffer) -> None:
        """Add a node that is ready."""
        first, heap = self.first, self._heap
        if first is None and not heap:
            self.first = task
            return
        number = task.function.sequence_nr
        if first is None:
            if number > -heap[0][0]:
                self.first = task
                return
        elif number > first.function.sequence_nr:
            self.first = task
            task = first
            number = task.function.sequence_nr
        self._ties += 1
        heapq.heappush(heap, (-number, self._ties, task))

    def pop(self) -> InputBuffer | None:
        """The next node to run; None if there is none."""
        first = self.first
        if first is not None:
            self.first = None
            return first
        return heapq.heappop(self._heap)[2] if self._heap else None

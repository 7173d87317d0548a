"""What a program that is recorded changes, while other threads change other tensors.

Note [Recording beside other threads]

Version counters stay in their places, so that no write of another thread is missed. A change
belongs to the program if one of its threads made it, and only such changes are put back:

- Each counter gets a `CountedWrites` for its records, which counts the writes of the threads that
  run the program. If these have made all moves of a counter, its number is put back; else it stays
  where it is, and what was saved before from written elements is stale. So it is after an interrupt
  between a move and its record. Compiled code stores into the list without asking its class. There
  the records say which thread wrote, as far as they are remembered, and the number stays if more
  moves than these were made while other threads run.
- A log of written elements would have marks of the program afterwards. If no other thread runs,
  there is another one meanwhile; else the number of a counter with a log stays too.
- Those threads note in `Changes` each ``.grad`` and ``requires_grad`` that they set. A ``.grad`` is
  put back if it is still what they put there.
- What an object is made of at first use stays, see Note [Made once].

A check and the stores that follow it have no call between them, so no other thread and no signal
handler comes between. A program and another thread that change one tensor cannot both be right:
then the recording is refused. That another thread *reads* what the program writes is not seen; it
may read values of the recording.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, Final

from vtgrad.graph.hooks import GradCell
from vtgrad.graph.thread_local_state import Changes, this_thread
from vtgrad.storage.recent_writes import recent_writes
from vtgrad.storage.record_write import KEPT, OUTERMOST, count_write, record_write
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_mode import thread
from vtgrad.storage.version_counter import INFERENCE, Record, VersionCounter
from vtgrad.storage.write_log import SAVED, WriteLog

__all__ = ["Witness", "are_alone"]


# Whether writes are counted by compiled code.
_NATIVE: Final = not isinstance(record_write, FunctionType)

_NO_RECORDS: Final[list[Record | None]] = [None] * KEPT


def are_alone() -> bool:
    """Whether no other thread runs Python code."""
    return len(sys._current_frames()) == 1


class CountedWrites(list[Record | None]):
    """The records of a counter, which counts those of the threads that run a program.

    Attributes
    ----------
    own : int
        Their number.
    """

    __slots__ = ("_changes", "own")

    own: int
    _changes: Changes

    def __init__(self, records: Sequence[Record | None], changes: Changes) -> None:
        super().__init__(records)
        self._changes = changes
        self.own = 0

    def __setitem__(self, index: Any, record: Any) -> None:
        super().__setitem__(index, record)
        if this_thread.changes is self._changes:
            self.own += 1


class _Watched:
    """A counter that is watched, and what it had before."""

    __slots__ = (
        "counted",
        "counter",
        "impl",
        "is_alone",
        "is_replaced",
        "log",
        "settled",
        "value",
        "writes",
    )

    counted: CountedWrites
    counter: VersionCounter
    impl: TensorImpl
    is_alone: bool
    is_replaced: bool
    log: WriteLog | None
    # The result of `own` at the end of the program; -1 before it.
    settled: int
    value: int
    writes: list[Record | None] | None

    def __init__(self, impl: TensorImpl, counter: VersionCounter) -> None:
        self.impl = impl
        self.counter = counter
        self.counted = CountedWrites((), Changes())
        self.value = counter.value
        self.writes = self.log = None
        self.is_alone, self.is_replaced, self.settled = False, False, -1

    def begin(self, changes: Changes, alone: bool) -> None:
        """Count from now on."""
        counter = self.counter
        log = self.log = counter.log
        writes = self.writes = counter.writes
        counted = CountedWrites(_NO_RECORDS if writes is None else writes, changes)
        self.counted = counted
        self.value = counter.value
        self.is_alone, self.settled = alone, -1
        # Whether the log is out of its place.
        replaced = self.is_replaced = alone and log is not None and log is not SAVED
        if counter.writes is writes:
            if replaced:
                counter.log = None
            counter.writes = counted

    def own(self) -> int:
        """How many moves are those of the program."""
        if self.settled >= 0:
            return self.settled
        if not _NATIVE:
            return self.counted.own
        moves = self.counter.value - self.value
        if not moves or (self.is_alone and are_alone()):
            return moves
        # A record begins with its version; its fifth part is the thread.
        new = [x for x in self.counted if x is not None and x[0] > self.value]
        return moves - len([x for x in new if x[4] != thread.ident])

    def others(self) -> int:
        """How many moves other threads have made."""
        return self.counter.value - self.value - self.own()

    def is_known(self) -> bool:
        """Whether it is certain which moves are the program's."""
        return not _NATIVE or self.is_alone or self.own() <= KEPT

    def is_undone(self) -> bool:
        """Whether the number is to be put back."""
        log = self.log
        if self.others() or not self.is_known():
            return False
        return self.is_replaced or log is None or log is SAVED

    def settle(self) -> None:
        """Count a write of memory that is put back, if the number stays."""
        counter = self.counter
        self.settled = self.own()
        if counter.writes is self.counted and self.settled and not self.is_undone():
            count_write(self.impl, "trace", OUTERMOST)

    def end(self) -> None:
        """Put the counter back, as far as only the program has moved it."""
        counter, counted = self.counter, self.counted
        before, after = self.value, self.value + self.own()
        log, writes = self.log, self.writes
        if after == before or self.is_undone():
            if counter.writes is counted and counter.value == after:
                counter.value -= after - before
                counter.writes = writes
                if after != before or self.is_replaced:
                    counter.log = log
        if counter.writes is counted:
            stays = list(counted)
            if self.is_replaced and log is not None:
                # It has missed writes, so all elements count as written.
                log.whole = counter.value
                counter.log = log
            counter.writes = stays


class Witness:
    """What the threads of a program change in one run after another.

    Attributes
    ----------
    changes : Changes
        What they have noted in this run.
    """

    changes: Changes

    def __init__(self, impls: Sequence[TensorImpl]) -> None:
        self.changes = Changes()
        self._watched: dict[int, _Watched] = {}
        self._begun: list[_Watched] = []
        for impl in impls:
            counter = impl.counter
            if counter is not INFERENCE and id(counter) not in self._watched:
                self._watched[id(counter)] = _Watched(impl, counter)

    def begin(self) -> None:
        """Begin a run on this thread."""
        changes = self.changes = Changes()
        begun, alone = self._begun, are_alone()
        begun.clear()
        for watched in self._watched.values():
            begun.append(watched)
            watched.begin(changes, alone)
        this_thread.changes = changes

    def settle(self) -> None:
        """Move the numbers that stay, before memory is put back."""
        this_thread.changes = None
        for watched in self._begun:
            watched.settle()

    def end(self) -> None:
        """Put the counters back."""
        for watched in self._begun:
            watched.end()

    def is_own(self, impl: TensorImpl) -> bool:
        """Whether the program has written a tensor, or set its ``requires_grad``."""
        return id(impl) in self.changes.impls or self.moves(impl) > 0

    def moves(self, impl: TensorImpl) -> int:
        """How many writes of the program the counter of a tensor has counted."""
        watched = self._watched.get(id(impl.version_counter))
        return 0 if watched is None else watched.own()

    def moved(self) -> dict[int, int]:
        """For each counter that the program has moved, by ``id``, how far."""
        return {key: own for key, x in self._watched.items() if (own := x.own())}

    def foreign_write(self, used: Iterable[TensorImpl]) -> str | None:
        """What another thread wrote to a tensor that the program writes, or that it uses."""
        keys = {id(impl.version_counter) for impl in used}
        for key, watched in self._watched.items():
            if (watched.own() or key in keys) and watched.others():
                for write in reversed(recent_writes(watched.counter, watched.value)):
                    if write.thread != thread.ident:
                        return write.described
                return "a write that is not remembered"
        return None

    def put_grads_back(self, before: Mapping[GradCell, TensorBase | None]) -> bool:
        """Put back what ``.grad`` was; False if another thread has changed one of them.

        Parameters
        ----------
        before : mapping
            The cells of tensors that existed before, with what was in them.
        """
        own: dict[GradCell, list[TensorBase | None]] = {}
        for cell, grad in self.changes.grads:
            if cell in before:
                own.setdefault(cell, []).append(grad)
        undisturbed = True
        for cell, grads in own.items():
            old = before[cell]
            now = cell.grad
            if now is old:
                continue
            if any(now is grad for grad in grads):
                if cell.grad is now:
                    cell.grad = old
            else:
                undisturbed = False
        return undisturbed

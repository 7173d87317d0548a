"""The counter by which a saved value learns that it was overwritten.

NOTE [ Saved during a write ]

A signal handler may run in the midst of a write, and save what is being written: the version has
moved, but some elements, or all, are still the old ones. So before anything else a write puts the
present version in `storing`, and takes it out when the elements are there. What its thread saves
meanwhile takes that number instead of `value`: it is older than the write, and so stale if one of
its elements is written. If the write has found no log to leave its mark in, because nothing had
been saved before, the save makes one in which everything is written.

What other threads save is not touched by this. They may write and save other parts of the buffer
all the while, and these saves must not be older than their own writes. A process that is forked in
the midst of a write keeps the number of a thread that it does not have, which does no harm.

Where no handler can run between the version and the end of the store, because that is one call of
a C function, nothing needs to be said (`write_ufunc`, `write_part`). Of several writes of a thread
the first one says it, and takes it back; nested ones in a handler end before it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from types import CodeType
from typing import TYPE_CHECKING, Final, TypeAlias

from .arrays import Shape
from .layout import Layout
from .quiet import quiet

if TYPE_CHECKING:
    from .write_log import WriteLog

__all__ = [
    "INFERENCE",
    "Record",
    "Site",
    "Storing",
    "VersionCounter",
    "WrittenPart",
]

# A line of a program: its code, and which of its instructions; see Note [Who wrote].
Site: TypeAlias = tuple[CodeType, int]

# A view that was written through: its layout, or its shape and the size of its elements if it has
# none of its own; its offset in bytes; the class of the node that produced it; and the place where
# that was made, which is known in anomaly mode only.
WrittenPart: TypeAlias = tuple[Layout | tuple[Shape, int], int, type[object] | None, object]

# One write: the version that it made, the operator, where (if anybody called), on which thread, and
# through which view.
Record: TypeAlias = tuple[int, str, CodeType | None, int, int, WrittenPart | None]


class VersionCounter:
    """How often a buffer was written; one object for a tensor and all its aliases.

    Attributes
    ----------
    value : int
        Number of writes so far. Changed by the write funnel and by `count_write`, see
        Note [The write funnel]; a number is never used twice.
    writes : list of Record, optional
        The last writes, by version; made by the first write. See Note [Who wrote].
    log : WriteLog or None
        Which elements were written, once something was saved: see Note [Exact staleness].
    storing : dict of int to int, or None
        For each thread that is at a write, by its number, the version before that; made by the
        first write. See Note [Saved during a write].
    """

    __slots__ = ("log", "storing", "value", "writes")

    log: WriteLog | None
    storing: dict[int, int] | None
    value: int
    writes: list[Record | None] | None

    def __init__(self, value: int = 0) -> None:
        self.value = value
        self.writes = None
        self.log = None
        self.storing = None


class Storing:
    """Counters of several buffers that are written; see Note [Saved during a write].

    Attributes
    ----------
    ends : iterator
        To be drained when the writes are over, by ``deque(ends, 0)``: one call, in which no signal
        handler can raise.
    """

    __slots__ = ("_begun", "_number", "ends")

    ends: Iterator[int | None]
    _begun: list[dict[int, int]]
    _number: int

    def __init__(self) -> None:
        # `storing` of the counters whose first write on this thread this is.
        self._begun = []
        self._number = quiet.thread.number
        self.ends = map(dict.pop, self._begun, repeat(self._number), repeat(None))

    def begin(self, counter: VersionCounter) -> None:
        """Say that a write is under way."""
        storing = counter.storing
        if storing is None:
            storing = counter.storing = {}
        if self._number not in storing:
            self._begun.append(storing)
            storing[self._number] = counter.value


# In the place of the counter of every inference tensor; see Note [Inference tensors].
INFERENCE: Final = VersionCounter()

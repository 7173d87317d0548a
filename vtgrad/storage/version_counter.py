# Compiled by mypyc.
"""The counter that shows whether a saved value was overwritten.

Note [Saved during a write]

A signal handler may run in the midst of a write, and save what is being written: the version has
moved, but some elements, or all, are still the old ones. So a write first puts the present version
in `storing`, and removes it when the elements are stored. A value that its thread saves in between
takes that number instead of `value`: it is older than the write, and so stale if one of its
elements is written. If the write had no log to mark, because nothing had been saved before, the
save makes a log in which everything is written.

Saves of other threads do not take that number. They may write and save other parts of the buffer at
the same time, and these saves must not be older than their own writes. A process that is forked in
the midst of a write keeps the number of a thread that it does not have, which is harmless.

Where no handler can run between the move of the version and the end of the store, because the store
is one call of a C function, `storing` is not needed (`write_ufunc`, `write_part`, `write_at_index`,
`write_recorded_part`). Of several nested writes of a thread the first one sets and removes the
entry; nested ones, in a handler, end before it does.

Note [Borrowed memory]

The constant that an operator makes of an array of NumPy stands on the array's memory, and the
program may write to it by NumPy at any time, which no counter shows. So what is saved of it, or of
a view of it, is a copy of its own, made when it is saved: later writes of either kind do not change
it. Its storage is `borrowed`. Every counter of a tensor on it, also of a tensor that is given the
memory later, has an entry in its `storing` that no thread removes. So a save finds it where it
looks for writes that have not ended, and other saves are asked nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from types import CodeType
from typing import TYPE_CHECKING, Final, TypeAlias

from vtgrad.storage.arrays import Shape
from vtgrad.storage.layout import Layout
from vtgrad.storage.no_fp_warnings import no_fp_warnings

if TYPE_CHECKING:
    from vtgrad.storage.write_log import WriteLog

__all__ = [
    "INFERENCE",
    "Record",
    "Site",
    "Storing",
    "VersionCounter",
    "WrittenPart",
]

# A line of a program: its code object and the offset of an instruction; see Note [Who wrote].
Site: TypeAlias = tuple[CodeType, int]

# A view through which a write went: its layout, or its shape and item size if its layout is
# `PECULIAR`; its offset in bytes; the class of the node that produced it; and the line of the
# program that made this node, which is known in anomaly mode only.
WrittenPart: TypeAlias = tuple[Layout | tuple[Shape, int], int, type[object] | None, object]

# One write: the version that it made, the operator, the caller's code (None if no Python code
# called) and instruction, the thread, and the view.
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
        The elements that were written, since a value was first saved: see Note [Exact staleness].
    storing : dict of int to int, or None
        For each thread inside a write, by its number, the version before the write; made by the
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

    def never_end_writing(self) -> None:
        """Let each save look whether its memory is borrowed; see Note [Borrowed memory]."""
        # No thread has this number.
        if self.storing is None:
            self.storing = {-1: 0}
        else:
            self.storing[-1] = 0


class Storing:
    """Counters of the buffers that one operation writes; see Note [Saved during a write].

    Attributes
    ----------
    ends : iterator
        Drained after the writes by ``deque(ends, 0)``: one call, in which no signal handler can
        raise.
    """

    __slots__ = ("_begun", "_number", "ends")

    ends: Iterator[int | None]
    _begun: list[dict[int, int]]
    _number: int

    def __init__(self) -> None:
        # `storing` of the counters that no outer write of this thread has entered.
        self._begun = []
        self._number = no_fp_warnings.thread.number
        self.ends = map(dict.pop, self._begun, repeat(self._number), repeat(None))

    def begin(self, counter: VersionCounter) -> None:
        """Begin a write."""
        storing = counter.storing
        if storing is None:
            storing = counter.storing = {}
        if self._number not in storing:
            self._begun.append(storing)
            storing[self._number] = counter.value


# The counter of every inference tensor; see Note [Inference tensors].
INFERENCE: Final = VersionCounter()

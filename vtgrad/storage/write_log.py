# Compiled by mypyc.
"""The bytes of a buffer that were written, with the versions of the writes.

Note [Exact staleness]

A saved value is stale if one of its *elements* was written after it was saved; a write of other
elements does no harm. So a counter from which a value was saved has a `WriteLog`, and each write
records in it which elements it writes:

- The entry is appended before the version moves, and the version moves before memory changes.
  A comparison reads the version first and the log afterwards, so it misses no write that the
  version counts.
- An entry is never removed. A write that is interrupted leaves its elements marked.
- A value saved during a write is older than that write's entry, see Note [Saved during a write].
- Unknown elements count as written: an operator that does not state which elements it writes writes
  its whole view. A change of geometry writes nothing.
- A counter without a log, from which nothing was saved, records no elements. A moved version
  without a log therefore means stale.

An entry is a range of bytes of the storage; a range with gaps has a geometry or an index too. The
log stays small in two ways. A write of the whole storage is one number, `whole`, since everything
saved before is stale by it. And when there are many entries, they are folded into `last`: for each
granule (8 bytes, or fewer where elements are smaller) the version of the last write. So the time of
all marks and comparisons is proportional to the elements written and compared, and the memory is
bounded by the storage's: three quarters of it for elements of 8 bytes, 2.5 times it for single
bytes; 1 and 4.5 from the 32,768th write on.

Offsets are bytes of the storage, not addresses, so that a buffer may grow. After ``set_`` or an
assignment to ``.data``, tensors of one counter have different storages. Their offsets are compared
nevertheless, which finds too many writes, never too few.
"""

from __future__ import annotations

import math
import threading
import weakref
from array import array
from types import CodeType
from typing import Final, TypeAlias, cast

import numpy as np

from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.kept_bytes import Token
from vtgrad.storage.lazy_array import physical
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.strides import reach
from vtgrad.storage.thread_state import after_fork
from vtgrad.storage.version_counter import Record, VersionCounter

__all__ = ["SAVED", "Region", "WriteLog", "log_lock", "region_of"]

# Operator, code, instruction and thread of a write; see `Record`.
_Line: TypeAlias = tuple[str, CodeType | None, int, int]

# The same behind the version.
_Version: TypeAlias = tuple[int, str, CodeType | None, int, int]

# Offset, shape, strides in bytes, item size, and the index of the elements; None for all.
_Detail: TypeAlias = tuple[int, Shape, Shape, int, WrittenIndex | None]

# The first byte and one past the last, with details if not all bytes between belong to the region.
Region: TypeAlias = tuple[int, int, _Detail | None]

_Entry: TypeAlias = tuple[int, int, int, _Detail | None]

# The number of entries that are compared one by one before `last` is made.
_FEW: Final = 16
# Entries are folded when there are more: folding one costs as much as comparing it.
_MANY: Final = 256
_LARGEST_GRANULE: Final = 8
# The number of writes whose regions are remembered; a power of two.
_RECENT: Final = 8
_LAST_RECENT: Final = _RECENT - 1
# A recording replaces NumPy's attributes, to see the user's calls. Logs are no part of a program,
# and compiled code has no frames that would tell it from the user's.
_copy: Final = np.array
_zeros: Final = np.zeros
# Longer indices, in bytes, are not remembered there.
_SMALL_INDEX: Final = 4096
# The smallest number of program lines that are remembered.
_LINES: Final = 4096
_INT32: Final = 2**31 - 1
# What is kept of a record until it is filed, and of how many records at most.
_FIELDS: Final = 5
_UNFILED: Final = 1024 * _FIELDS


class LogLock:
    """Lock for making a log and for folding its entries; a child process gets a new one.

    Attributes
    ----------
    lock : threading.RLock
        Reentrant, because a signal handler may write.
    folds : int
        The thread that folds entries; 0 if none does.
    """

    lock: threading.RLock
    folds: int

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.folds = 0

    def renew(self) -> None:
        """Make a new lock: a thread that the child process does not have may hold the old one."""
        self.lock = threading.RLock()
        self.folds = 0


log_lock: Final = LogLock()
after_fork(log_lock.renew)


def region_of(array: Array, offset: int, index: WrittenIndex | None = None) -> Region:
    """The bytes of an array's elements.

    Parameters
    ----------
    array : ndarray
        The array.
    offset : int
        Offset of its first element in the storage, in bytes.
    index : WrittenIndex, optional
        The elements; all by default.
    """
    if index is None and array.flags.c_contiguous:
        return offset, offset + array.nbytes, None
    shape, strides, item = array.shape, array.strides, array.itemsize
    if not array.size or (isinstance(index, np.ndarray) and not index.size):
        return offset, offset, None
    if index is None and 0 in strides:
        # Elements of an expanded array that are one in memory are looked at once.
        shape = tuple([n if step else 1 for n, step in zip(shape, strides, strict=True)])
    low, high = reach(shape, strides, offset)
    return low, high + item, (offset, shape, strides, item, index)


class WriteLog:
    """The writes to a storage since a value was first saved from it; see Note [Exact staleness].

    Attributes
    ----------
    nbytes : int
        The length of the storage, as far as the writes show it.
    whole : int
        The version of the last write of the whole storage.
    entries : list
        Version and region of each write that is not folded yet.
    records : list
        The records of versions that are not filed yet: version, operator, code, instruction and
        thread of each, one behind the other. A list of tuples would be as many objects that the
        garbage collector visits.
    token : weak reference to Token, or None
        The present state, if a value that rewind keeps was saved in it; see Note [Rewind].
    marked : int
        The version of the last entry. It is above the counter's between a mark and its write.
    recent : list of entries
        Version and region of the last writes, at the version modulo the length of the list. For
        messages, see Note [Which writes are named].
    """

    __slots__ = (
        "_base",
        "_filed",
        "_granule",
        "_held",
        "_last",
        "_line_of",
        "_lines",
        "_numbers",
        "entries",
        "marked",
        "nbytes",
        "recent",
        "records",
        "token",
        "whole",
    )

    nbytes: int
    whole: int
    entries: list[_Entry]
    marked: int
    records: list[object]
    token: weakref.ref[Token] | None
    recent: list[_Entry | None]
    _base: int
    _granule: int
    _held: int
    _last: Array | None
    _filed: int
    _line_of: array[int]
    _lines: list[_Line]
    _numbers: dict[tuple[int, int, str, int], int]

    def __init__(self, version: int, nbytes: int) -> None:
        self.nbytes = nbytes
        self.whole = -1
        self.entries = []
        self.marked = 0
        self.records = []
        self.token = None
        self.recent = [None] * _RECENT
        # Versions in `last` are counted from here.
        self._base = version
        self._granule = _LARGEST_GRANULE
        # Bytes that the indices of the entries take.
        self._held = 0
        self._last = None
        # For the last versions up to `_filed`, the index of the program line that wrote each.
        self._filed = version
        self._line_of = array("i")
        self._lines = []
        self._numbers = {}

    # -- writing ---------------------------------------------------------------------------

    def note(self, counter: VersionCounter, region: Region) -> int:
        """Mark a region as written by the version that comes next.

        The version is read last, because a write of a signal handler in between moves it too.

        Returns
        -------
        int
            The version.
        """
        start, stop, detail = region
        if start == stop:
            return counter.value + 1
        if detail is None and start == 0 and stop >= self.nbytes:
            self.nbytes = stop
            version = self.marked = self.whole = counter.value + 1
            self.recent[version & _LAST_RECENT] = version, start, stop, None
            return version
        if stop > self.nbytes:
            self.nbytes = stop
        size = 0
        if detail is not None and detail[4] is not None:
            index, size = _own_index(detail[4])
            detail = (*detail[:4], index)
            self._held += size
        entries = self.entries
        if len(entries) > _MANY + self.nbytes // 400 or self._held > 65536 + self.nbytes:
            self._fold()
        version = self.marked = counter.value + 1
        entry = version, start, stop, detail
        entries.append(entry)
        if size <= _SMALL_INDEX:
            self.recent[version & _LAST_RECENT] = entry
        return version

    def remember(self, record: Record) -> None:
        """Keep the record of a version, for messages."""
        records = self.records
        # In one call, so that no thread and no signal handler finds a part.
        records += record[:_FIELDS]
        if len(records) > _UNFILED:
            self._file_records()

    # -- comparing -------------------------------------------------------------------------

    def is_written(self, region: Region, after: int) -> bool:
        """Whether an element of a region was written after a version."""
        start, stop, detail = region
        if start == stop:
            return False
        # In this order: a fold on another thread makes `last`, or finds all entries covered by
        # `whole`, before it drops entries.
        entries = tuple(self.entries)
        last = self._last
        if self.whole > after:
            return True
        if last is None and len(entries) <= _FEW:
            for version, low, high, inner in entries:
                if version > after and low < stop and start < high:
                    if inner is None and detail is None:
                        return True
                    break
            else:
                return False
        with log_lock.lock:
            last = self._folded(region)
            if last is None:
                # Called from a signal handler that interrupts a fold: not all writes are marked
                # yet.
                return True
            # Zero means never written, also for values saved before this log was made.
            return int(last.max()) > max(after - self._base, 0)

    def written_versions(self, region: Region, after: int) -> Array | None:
        """For each element of a region the version of its last write, 0 if not after `after`.

        Returns
        -------
        ndarray or None
            Of the region's shape; of flat bytes for a region without gaps. None during a fold.
        """
        with log_lock.lock:
            last = self._folded(region)
            if last is None:
                return None
            versions: Array = last.astype(np.int64) + self._base
            versions[last == 0] = 0
        np.maximum(versions, self.whole, out=versions)
        versions[versions <= after] = 0
        return versions

    def _folded(self, region: Region) -> Array | None:
        """Fold all entries, and return `last` for the granules of a region; under the lock."""
        last, granule = self._last, self._granule
        start, stop, detail = region
        if not self.entries and last is not None and detail is None and not log_lock.folds:
            # The common case: one row after another is compared.
            if (start | stop) % granule == 0 and stop <= last.size * granule:
                return last[start // granule : stop // granule]
        if not self._fold(region):
            return None
        last = self._last
        assert last is not None
        return self._granules(last, region)

    def _fold(self, region: Region | None = None) -> bool:
        """Put the entries into `last`, with granules small enough for comparing a region.

        Returns
        -------
        bool
            False if this thread is folding already.
        """
        if log_lock.folds == threading.get_ident():
            return False
        with log_lock.lock:
            try:
                log_lock.folds = threading.get_ident()
                self._fold_entries(region)
            finally:
                log_lock.folds = 0
        return True

    def _fold_entries(self, region: Region | None) -> None:
        entries = self.entries
        count = len(entries)
        whole, base = self.whole, self._base
        batch = [entry for entry in entries[:count] if entry[0] > whole]
        if batch or region is not None:
            ends = 0
            for _, start, stop, detail in batch:
                if detail is None:
                    ends |= start | stop
                else:
                    self._fit((start, stop, detail))
            self._fit((ends, ends, None))
            if region is not None:
                self._fit(region)
                self.nbytes = max(self.nbytes, region[1])
            last = self._make_last(max([entry[0] for entry in batch], default=0) - base)
            granule = self._granule
            for version, start, stop, detail in batch:
                if detail is None:
                    last[start // granule : stop // granule] = version - base
                else:
                    self._mark(last, (start, stop, detail), version - base)
        # In one call, and only the folded ones: another thread may have appended.
        del entries[:count]
        if not entries:
            self._held = 0

    def _fit(self, region: Region) -> None:
        """Make granules small enough that none is shared by an element inside and one outside."""
        start, stop, detail = region
        if detail is None:
            granule = math.gcd(self._granule, start, stop)
        else:
            offset, shape, strides, item, _ = detail
            steps = [s for n, s in zip(shape, strides, strict=True) if n > 1]
            granule = math.gcd(self._granule, offset, item, *steps)
        if granule != self._granule:
            if self._last is not None:
                self._last = np.repeat(self._last, self._granule // granule)
            self._granule = granule

    def _make_last(self, largest: int) -> Array:
        """Make `last` as long as the storage, with a dtype for numbers up to the largest."""
        last, size = self._last, -(-self.nbytes // self._granule)
        if last is None:
            last = _zeros(size, np.int16)
        elif last.size < size:
            grown: Array = _zeros(size, last.dtype)
            grown[: last.size] = last
            last = grown
        own: NumpyDType = last.dtype
        if largest > np.iinfo(own).max:
            last = last.astype(np.int32 if largest <= _INT32 else np.int64)
        self._last = last
        return last

    def _granules(self, last: Array, region: Region) -> Array:
        """The granules of a region, as a view of `last`; those of one element come last."""
        granule = self._granule
        start, stop, detail = region
        if detail is None:
            return last[start // granule : stop // granule]
        offset, shape, strides, item, _ = detail
        width = last.itemsize
        steps = [s // granule * width if n > 1 else 0 for n, s in zip(shape, strides, strict=True)]
        view: Array = np.ndarray(
            (*shape, item // granule), last.dtype, last, offset // granule * width, (*steps, width)
        )
        return view

    def _mark(self, last: Array, region: Region, number: int) -> None:
        granules = self._granules(last, region)
        detail = region[2]
        index = None if detail is None else detail[4]
        if detail is None or index is None:
            granules[...] = number
        elif isinstance(index, tuple):
            granules[index] = number
        elif index.dtype == np.bool_:
            granules[np.broadcast_to(index, detail[1])] = number
        elif detail[1]:
            granules[np.unravel_index(index, detail[1])] = number
        elif index.size:
            granules[...] = number

    # -- records of writes -----------------------------------------------------------------

    def record_of(self, version: int) -> Record | None:
        """The record of a version, if it is remembered; without the view."""
        self._file_records()
        table = self._line_of
        if not self._filed - len(table) < version <= self._filed:
            return None
        line_nr = table[version % len(table)]
        if line_nr < 0:
            return None
        operator, code, instruction, thread = self._lines[line_nr]
        return version, operator, code, instruction, thread, None

    def _file_records(self) -> None:
        """Keep of each version only the index of its program line."""
        records, self.records = self.records, []
        if not records:
            return
        table = self._line_of
        size = max(_LINES, self.nbytes // _LARGEST_GRANULE)
        if len(table) < size:
            longer = array("i", [-1]) * size
            for version in range(max(0, self._filed - len(table)) + 1, self._filed + 1):
                longer[version % size] = table[version % len(table)]
            table = self._line_of = longer
        size = len(table)
        numbers, lines, filed = self._numbers, self._lines, self._filed
        for start in range(0, len(records), _FIELDS):
            record = cast("_Version", tuple(records[start : start + _FIELDS]))
            version, operator, code, instruction, thread = record
            # By identity, because hashing code objects is slow; `lines` keeps the object alive.
            key = (id(code), instruction, operator, thread)
            line_nr = numbers.get(key, -1)
            if line_nr < 0 and len(lines) < _LINES:
                line_nr = numbers[key] = len(lines)
                lines.append((operator, code, instruction, thread))
            if version > filed:
                # A version without a record, because its write was interrupted, has no line.
                for missing in range(max(filed + 1, version - size + 1), version):
                    table[missing % size] = -1
                filed = version
            table[version % size] = line_nr
        self._filed = filed


def _own_index(index: WrittenIndex) -> tuple[WrittenIndex, int]:
    """A copy of an index, whose owner may change the original, and the bytes of the copy."""
    if isinstance(index, tuple):
        parts = tuple([k if isinstance(k, slice) else _copy(physical(k)) for k in index])
        return parts, sum([0 if isinstance(k, slice) else k.nbytes for k in parts])
    own: Array = _copy(physical(index))
    return own, own.nbytes


# The log of a counter from which a value was saved, until the next write.
SAVED: Final = WriteLog(0, 0)

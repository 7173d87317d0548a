"""Faults in what a write leaves in the log, and in what a saved value reads there.

See Note [Exact staleness]. Most need a program that was made for them: `test_smallest_programs`.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.stateful.faults import Fault
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.storage import mark_written, write_log
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import Region, WriteLog

__all__ = ["FAULTS_OF_MARKS", "RARE_FAULTS_OF_MARKS"]

_REGION_OF = write_log.region_of


def index_write_marks_nothing(patch: pytest.MonkeyPatch) -> None:
    """A write at indices leaves no entry."""

    def planted(array: Array, offset: int, index: WrittenIndex | None = None) -> Region:
        return _REGION_OF(array, offset, index) if index is None else (offset, offset, None)

    patch.setattr(mark_written, "region_of", planted)


def index_write_marks_its_first_element(patch: pytest.MonkeyPatch) -> None:
    """Of several indices only the first counts."""

    def first(index: WrittenIndex | None) -> WrittenIndex | None:
        if isinstance(index, tuple):
            return tuple([k if isinstance(k, slice) else k.ravel()[:1] for k in index])
        if index is None:
            return None
        if index.dtype != np.bool_:
            return index[:1]
        kept = np.zeros(index.shape, np.bool_)
        kept.ravel()[np.flatnonzero(index)[:1]] = True
        return kept

    def planted(array: Array, offset: int, index: WrittenIndex | None = None) -> Region:
        return _REGION_OF(array, offset, first(index))

    patch.setattr(mark_written, "region_of", planted)


def strided_write_marks_adjacent_elements(patch: pytest.MonkeyPatch) -> None:
    """A write with gaps counts as one without, from its first element on."""

    def planted(array: Array, offset: int, index: WrittenIndex | None = None) -> Region:
        region = _REGION_OF(array, offset, index)
        return region if region[2] is None else (offset, offset + array.nbytes, None)

    patch.setattr(mark_written, "region_of", planted)


def write_marks_all_that_lies_between(patch: pytest.MonkeyPatch) -> None:
    """A write with gaps counts as one without, up to its last element."""

    def planted(array: Array, offset: int, index: WrittenIndex | None = None) -> Region:
        start, stop, _ = _REGION_OF(array, offset, index)
        return start, stop, None

    patch.setattr(mark_written, "region_of", planted)


def every_write_counts_as_whole(patch: pytest.MonkeyPatch) -> None:
    """The short cut for a write of the whole storage is taken by every write."""

    def planted(self: WriteLog, counter: VersionCounter, region: Region) -> int:
        self.whole = counter.value + 1
        return self.whole

    patch.setattr(WriteLog, "note", planted)


def whole_write_is_lost(patch: pytest.MonkeyPatch) -> None:
    """A write of the whole storage leaves nothing."""
    note = WriteLog.note

    def planted(self: WriteLog, counter: VersionCounter, region: Region) -> int:
        version = note(self, counter, region)
        self.whole = -1
        return version

    patch.setattr(WriteLog, "note", planted)


def first_write_after_a_save_is_lost(patch: pytest.MonkeyPatch) -> None:
    """The write that makes the log does not put itself in."""
    note = WriteLog.note

    def planted(self: WriteLog, counter: VersionCounter, region: Region) -> int:
        if counter.value == self._base:
            return counter.value + 1
        return note(self, counter, region)

    patch.setattr(WriteLog, "note", planted)


def vouching_keeps_the_tensor(patch: pytest.MonkeyPatch) -> None:
    """A value that is found intact is still asked of the tensor, which shows something else."""
    settle = SavedVariable._settle

    def planted(self: SavedVariable, node: object) -> None:
        kept = self._tensor
        settle(self, node)  # type: ignore[arg-type]  # a node
        self._tensor = kept

    patch.setattr(SavedVariable, "_settle", planted)


def save_counts_as_made_before_the_last_write(patch: pytest.MonkeyPatch) -> None:
    """A value is saved with a version that is too small by one."""
    make = SavedVariable.__init__

    def planted(self: SavedVariable, tensor: TensorBase, edge: object) -> None:
        make(self, tensor, edge)  # type: ignore[arg-type]  # an edge
        self.version -= 1

    patch.setattr(SavedVariable, "__init__", planted)


def save_counts_as_made_after_the_next_write(patch: pytest.MonkeyPatch) -> None:
    """A write counts only if another one has followed."""
    is_written = WriteLog.is_written

    def planted(self: WriteLog, region: Region, after: int) -> bool:
        return is_written(self, region, after + 1)

    patch.setattr(WriteLog, "is_written", planted)


def fold_marks_newer_versions_first(patch: pytest.MonkeyPatch) -> None:
    """Entries are folded from the last to the first, so that an older version stays."""
    fold = WriteLog._fold_entries

    def planted(self: WriteLog, region: Region | None) -> None:
        self.entries.reverse()
        fold(self, region)

    patch.setattr(write_log, "_FEW", 0)
    patch.setattr(WriteLog, "_fold_entries", planted)


def fold_drops_the_last_entry(patch: pytest.MonkeyPatch) -> None:
    """An entry is dropped that was appended after the folded ones were read."""
    fold = WriteLog._fold_entries

    def planted(self: WriteLog, region: Region | None) -> None:
        late = self.entries.pop() if self.entries else None
        fold(self, region)
        assert late is None or not self.entries

    patch.setattr(write_log, "_FEW", 0)
    patch.setattr(WriteLog, "_fold_entries", planted)


FAULTS_OF_MARKS = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (every_write_counts_as_whole, "got stale-saved", 9),
        (whole_write_is_lost, "expected stale-saved", 6),
        (first_write_after_a_save_is_lost, "expected stale-saved", 6),
        (save_counts_as_made_before_the_last_write, "got stale-saved", 6),
        (save_counts_as_made_after_the_next_write, "expected stale-saved", 6),
        (fold_drops_the_last_entry, "expected stale-saved", 6),
        (index_write_marks_nothing, "expected stale-saved", 6),
        (strided_write_marks_adjacent_elements, "stale-saved", 9),
        (write_marks_all_that_lies_between, "got stale-saved", 9),
    )
]

#: Found by random programs, but late; `test_smallest_programs` has the program.
RARE_FAULTS_OF_MARKS = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (index_write_marks_its_first_element, "expected stale-saved", 6),
        (vouching_keeps_the_tensor, "expected [", 5),
        (fold_marks_newer_versions_first, "expected stale-saved", 8),
    )
]

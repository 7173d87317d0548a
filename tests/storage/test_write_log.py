"""The log of writes, held against a plain table: for each byte the version of its last write.

What breaks it: a region that loses or gains a byte, an entry that is lost or marked with another
version when entries are folded, granules that are shared by an element inside and one outside.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vtgrad
from vtgrad.storage import write_log
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.version_counter import VersionCounter
from vtgrad.storage.write_log import WriteLog, region_of

LENGTHS = (48, 96, 160)
ITEMS = ("u1", "<i2", "<f4", "<f8", "<c16")


@dataclass
class Table:
    """A buffer, its log, and what the log ought to say."""

    memory: Array
    counter: VersionCounter
    log: WriteLog
    last: Array

    @classmethod
    def of(cls, length: int, version: int) -> "Table":
        """A buffer of so many bytes that was never written since this version."""
        counter = VersionCounter(version)
        log = WriteLog(version, length)
        return cls(np.zeros(length, np.uint8), counter, log, np.full(length, -1, np.int64))

    def part(self, draw: st.DataObject) -> tuple[Array, int]:
        """Draw a view of the buffer, and its offset in bytes."""
        item = np.dtype(draw.draw(st.sampled_from(ITEMS)))
        start = draw.draw(st.integers(0, 7))
        count = (self.memory.size - start) // item.itemsize
        elements: Array = self.memory[start : start + count * item.itemsize]
        view: Array = elements.view(item)
        lead = draw.draw(st.sampled_from((1, 2, 3)))
        if draw.draw(st.booleans()):
            view = view[: view.size // lead * lead].reshape(lead, -1)
        view = view[tuple(self.slices(draw, view.shape))]
        if draw.draw(st.booleans()):
            view = view.T
        address = view.__array_interface__["data"][0] - self.memory.__array_interface__["data"][0]
        return view, address if view.size else 0

    @staticmethod
    def slices(draw: st.DataObject, shape: tuple[int, ...]) -> list[slice]:
        """Draw a slice for each dimension, of positive and negative steps."""
        found = []
        for size in shape:
            if draw.draw(st.booleans()):
                found.append(slice(None))
                continue
            low = draw.draw(st.integers(0, max(size - 1, 0)))
            high = draw.draw(st.integers(low, size))
            found.append(slice(low, high, draw.draw(st.sampled_from((1, 2, 3)))))
            if draw.draw(st.integers(0, 3)) == 0:
                found[-1] = slice(None, None, draw.draw(st.sampled_from((-1, -2))))
        return found

    def bytes_of(self, view: Array, offset: int, chosen: Array | None = None) -> Array:
        """The numbers of all bytes of a view's elements, or of those where `chosen` is true."""
        offsets = np.array(offset, np.int64)
        for size, stride in zip(view.shape, view.strides, strict=True):
            offsets = offsets[..., None] + np.arange(size) * stride
        if chosen is not None:
            offsets = offsets[chosen]
        return (offsets.reshape(-1, 1) + np.arange(view.itemsize)).ravel()

    def index(self, draw: st.DataObject, view: Array) -> WrittenIndex | None:
        """Draw which elements are written; None for all."""
        sort = draw.draw(st.sampled_from(("all", "all", "mask", "row", "positions", "at")))
        rng = np.random.default_rng(draw.draw(st.integers(0, 2**16)))
        if sort == "mask":
            return np.asarray(rng.random(view.shape) < 0.3)
        if sort == "row":
            return np.asarray(rng.random(view.shape[-1:]) < 0.5)
        if sort == "positions":
            return rng.integers(0, max(view.size, 1), rng.integers(0, 4) if view.size else 0)
        if sort == "at" and view.size:
            picks = rng.integers(0, view.shape[0], 2)
            return (picks, slice(0, 1)) if view.ndim == 2 and rng.random() < 0.5 else (picks,)
        return None

    def write(self, draw: st.DataObject) -> None:
        """Write something, through the log and in the table."""
        if draw.draw(st.integers(0, 7)) == 0:
            view, offset, index = self.memory, 0, None
        else:
            view, offset = self.part(draw)
            index = self.index(draw, view)
        chosen = None
        if index is not None:
            chosen = np.zeros(view.shape, np.bool_)
            if isinstance(index, tuple):
                chosen[index] = True
            elif index.dtype == np.bool_:
                chosen[...] = index
            else:
                chosen.reshape(-1)[index] = True
        self.log.note(self.counter, region_of(view, offset, index))
        self.counter.value += 1
        self.last[self.bytes_of(view, offset, chosen)] = self.counter.value
        if isinstance(index, np.ndarray) and index.size:
            index[...] = 0  # its owner may go on using it

    def grow(self) -> None:
        """Let the buffer be longer, as `resize_` does."""
        self.memory = np.concatenate([self.memory, np.zeros(32, np.uint8)])
        self.last = np.concatenate([self.last, np.full(32, -1, np.int64)])


def agrees(table: Table, data: st.DataObject, saves: list[tuple[Array, int, int]]) -> None:
    """Write, save, look and grow for a while; the log says what the table says."""
    for _ in range(data.draw(st.integers(1, 25))):
        act = data.draw(
            st.sampled_from(("write", "write", "write", "save", "look", "look", "grow"))
        )
        if act == "write":
            table.write(data)
        elif act == "save":
            saves.append((*table.part(data), table.counter.value))
        elif act == "grow" and table.memory.size < 224:
            table.grow()
        elif saves:
            look(table, *data.draw(st.sampled_from(saves)))
    for view, offset, version in saves:
        look(table, view, offset, version)


def look(table: Table, view: Array, offset: int, version: int) -> None:
    """Compare what the log says of one saved part."""
    mine = table.last[table.bytes_of(view, offset)]
    region = region_of(view, offset)
    assert table.log.is_written(region, version) is bool((mine > version).any())
    found = table.log.written_versions(region, version)
    if view.size:
        assert found is not None
        written = np.where(mine > version, mine, 0)
        # Granule by granule, each as many bytes.
        assert np.repeat(found.ravel(), view.nbytes // found.size).tolist() == written.tolist()


@pytest.mark.skipif(vtgrad.__compiled__, reason="native code has its constants built in")
@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("many", [1, 3, 1000])
def test_the_log_says_what_a_table_of_bytes_says(
    few: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_log, "_FEW", few)
    monkeypatch.setattr(write_log, "_MANY", many)

    @given(st.data())
    @settings(max_examples=min(40, settings().max_examples))
    def run(data: st.DataObject) -> None:
        length = data.draw(st.sampled_from(LENGTHS))
        version = data.draw(st.sampled_from((0, 7, 2**15 - 3, 2**31 - 3, 2**40)))
        # The log is made by the first write; what moved the version before that wrote nothing.
        moved = data.draw(st.integers(0, 2))
        table = Table.of(length, version + moved)
        agrees(table, data, [(*table.part(data), version)])

    run()


@pytest.mark.parametrize("start", [0, 5])
def test_versions_beyond_what_32_bits_hold_are_told_apart(start: int) -> None:
    table = Table.of(64, start)
    halves = table.memory[:32].view("<f8"), table.memory[32:].view("<f8")
    for offset, half, version in ((0, halves[0], 1), (32, halves[1], 2**31 + 5)):
        table.counter.value = start + version - 1
        table.log.note(table.counter, region_of(half, offset))
        table.counter.value += 1
    # Two more than are compared one by one, so that they are folded.
    for _ in range(20):
        table.log.note(table.counter, region_of(halves[0][1:2], 8))
        table.counter.value += 1
    assert table.log.is_written((0, 8, None), start)
    assert not table.log.is_written((0, 8, None), start + 1)
    assert table.log.is_written((32, 64, None), start + 2**31 + 4)
    assert not table.log.is_written((32, 64, None), start + 2**31 + 5)
    assert table.log.is_written((8, 16, None), start + 2**31 + 6)
    assert not table.log.is_written((16, 32, None), start + 2**31)


def test_what_was_saved_before_the_log_was_made_is_stale_by_its_own_elements_only() -> None:
    table = Table.of(64, 3)
    table.log.note(table.counter, region_of(table.memory.view("<f8"), 0, np.array([1, 4])))
    table.counter.value += 1
    assert not table.log.is_written((16, 32, None), 0)
    assert table.log.is_written((16, 40, None), 0)


def test_an_index_that_its_owner_changes_marks_what_was_written() -> None:
    table = Table.of(80, 0)
    view = table.memory.view("<f8")
    index = np.array([1, 3])
    table.log.note(table.counter, region_of(view, 0, index))
    table.counter.value += 1
    index[:] = 7
    assert table.log.is_written((8, 16, None), 0)
    assert table.log.is_written((24, 32, None), 0)
    assert not table.log.is_written((32, 80, None), 0)


def test_a_write_of_all_but_the_last_byte_is_not_whole() -> None:
    table = Table.of(16, 0)
    table.log.note(table.counter, region_of(table.memory[:15], 0))
    table.counter.value += 1
    assert not table.log.is_written((15, 16, None), 0)
    table.log.note(table.counter, region_of(table.memory, 0))
    assert table.log.is_written((15, 16, None), 1)

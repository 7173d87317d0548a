"""What a replay changes for its caller: memory, versions, ``.grad``.

Note [Committed in one call]

A replay that is interrupted has changed all or nothing. So everything is prepared first, and then
executed in one call of a C function that drains iterators over C functions only: no signal handler
runs in it, and no other thread either. Before that call the elements are marked, and a version has
moved by as many writes as the program makes but one: what may have been touched counts as
overwritten.

Memory and gradients that others have changed since the call began would be lost. So the commit
compares versions and ``.grad`` with those at the beginning, under `graph_lock`, under which the
engine adds to gradients, and declines if one differs; the caller then runs the function itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, repeat, starmap
from operator import attrgetter, setitem
from threading import get_ident
from typing import Final, NamedTuple

import numpy as np

from vtgrad.graph.hooks import GradCell, graph_lock
from vtgrad.jit.steps import Place
from vtgrad.storage.arrays import Array
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.record_write import KEPT, OUTERMOST, SLOT_MASK, caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE, Record, Storing, VersionCounter

__all__ = ["GradStore", "Moved", "WrittenMemory", "commit", "part_of"]

_value: Final = attrgetter("value")
_next: Final = (1).__add__


class WrittenMemory(NamedTuple):
    """Memory that the program has written in its copy.

    Attributes
    ----------
    live, copy : numpy.ndarray
        The bytes of the caller, and those of the copy.
    places : tuple of Place
        What was written.
    """

    live: Array
    copy: Array
    places: tuple[Place, ...]


class Moved(NamedTuple):
    """A version that a replay moves.

    Attributes
    ----------
    counter : VersionCounter
        The counter.
    before : int
        The version when the call began.
    by : int
        How far it moves.
    parts : list of (TensorImpl, WrittenMemory)
        What is written of the memory of its tensors, each with one of them.
    """

    counter: VersionCounter
    before: int
    by: int
    parts: list[tuple[TensorImpl, WrittenMemory]]


class GradStore(NamedTuple):
    """A ``.grad`` that a replay replaces.

    Attributes
    ----------
    cell : GradCell
        Where it is.
    before : TensorBase or None
        What was there when the call began.
    grad : TensorBase or None
        The new one.
    """

    cell: GradCell
    before: TensorBase | None
    grad: TensorBase | None


def part_of(memory: Array, place: Place) -> Array:
    """The elements of a place in the bytes of its buffer."""
    if place.strides == (1,) and place.dtype.itemsize == 1:
        if place.shape[0] == memory.size:
            return memory
        part: Array = memory[place.offset : place.offset + place.shape[0]]
        return part
    return np.ndarray(place.shape, place.dtype, memory, place.offset, place.strides)


def commit(
    written: Sequence[WrittenMemory],
    moved: Sequence[Moved],
    grads: Sequence[GradStore],
    operator: str,
) -> bool:
    """Change everything at once; see Note [Committed in one call].

    Parameters
    ----------
    written, moved, grads : sequence
        What changes.
    operator : str
        The writer, for the record of each version.

    Returns
    -------
    bool
        False if others have changed some of it since the call began; then nothing has changed.
    """
    copies = [
        (part_of(memory.live, place), ..., part_of(memory.copy, place))
        for memory in written
        for place in memory.places
    ]
    with graph_lock:
        for change in moved:
            if change.counter.value != change.before:
                return False
        for store in grads:
            if store.cell.grad is not store.before:
                return False
        fill = map(
            setattr,
            [store.cell for store in grads],
            repeat("grad"),
            [store.grad for store in grads],
        )
        if moved:
            _carry_out(moved, operator, chain(starmap(setitem, copies), fill))
        else:
            deque(chain(starmap(setitem, copies), fill), 0)
    return True


def _carry_out(moved: Sequence[Moved], operator: str, stores: Iterable[object]) -> None:
    """Mark what will be written, and drain the stores together with records and versions."""
    code, instruction = caller(OUTERMOST) or (None, -1)
    ident = get_ident()
    storing = Storing()
    try:
        counters: list[VersionCounter] = []
        records: list[tuple[list[Record | None], int, Record]] = []
        for change in moved:
            counter = change.counter
            if counter is INFERENCE:
                continue
            storing.begin(counter)
            counter.value += change.by - 1
            if counter.log is not None:
                _mark(change)
            version = counter.value + 1
            writes = counter.writes
            if writes is None:
                none_yet: list[Record | None] = [None] * KEPT
                writes = counter.writes = none_yet
            record: Record = version, operator, code, instruction, ident, None
            records.append((writes, version & SLOT_MASK, record))
            counters.append(counter)
        everything = chain(
            starmap(setitem, records),
            map(setattr, counters, repeat("value"), map(_next, map(_value, counters))),
            stores,
        )
        deque(everything, 0)
    finally:
        deque(storing.ends, 0)


def _mark(change: Moved) -> None:
    """Mark the elements that will be written, see Note [Exact staleness]."""
    for impl, memory in change.parts:
        own = _address(impl.array)
        for place in memory.places:
            part = part_of(memory.live, place)
            alias = impl.alias(part, impl.byte_offset + _address(part) - own)
            mark_written(alias, change.counter)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address

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
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat, starmap
from operator import attrgetter, call, setitem
from threading import get_ident
from types import CodeType
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.graph.hooks import GradCell, graph_lock
from vtgrad.jit.steps import Place
from vtgrad.storage.arrays import Array
from vtgrad.storage.mark_written import mark_written
from vtgrad.storage.record_write import KEPT, OUTERMOST, SLOT_MASK, caller
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import Record, Storing, VersionCounter

__all__ = ["Change", "GradStore", "commit", "commit_grads", "mark_places", "part_of"]

# A function of C and its arguments, which `operator.call` calls.
Change: TypeAlias = tuple[Any, ...]

_value: Final = attrgetter("value")
_next: Final = (1).__add__


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
    copies: Sequence[Change],
    counters: Sequence[VersionCounter],
    versions: Sequence[int],
    grads: Sequence[GradStore],
    operator: str,
    by: Sequence[int],
    final: Sequence[Change],
    mark: Callable[[int], None],
) -> bool:
    """Change everything at once; see Note [Committed in one call].

    Parameters
    ----------
    copies : sequence of Change
        The stores of elements.
    counters : sequence of VersionCounter
        The counters that move.
    versions, by : sequence of int
        Where they were when the call began, and how far each moves.
    grads : sequence of GradStore
        The gradients that change.
    operator : str
        The writer, for the record of each version.
    final : sequence of Change
        Made after all, in the same call.
    mark : callable
        Marks the elements that will be written on the counter of a number, which has a log.

    Returns
    -------
    bool
        False if others have changed some of it since the call began; then nothing has changed.
    """
    with graph_lock:
        for cell, present, _ in grads:
            if cell.grad is not present:
                return False
        code, instruction = caller(OUTERMOST) or (None, -1)
        site = code, instruction, get_ident(), None
        if len(counters) == 1 and by[0] == 1:
            counter, before = counters[0], versions[0]
            version = before + 1
            changes = [
                (setitem, *_record(counter, version, operator, site)),
                (setattr, counter, "value", version),
                *copies,
                *[(setattr, cell, "grad", grad) for cell, _, grad in grads],
                *final,
            ]
            made = starmap(call, changes)
            # No handler runs between these looks and the call: see Note [Saved during a write].
            if counter.log is None and counter.value == before:
                deque(made, 0)
                return True
        for counter, before in zip(counters, versions, strict=True):
            if counter.value != before:
                return False
        storing = Storing()
        try:
            stores: list[tuple[object, object, object]] = []
            for number, counter in enumerate(counters):
                storing.begin(counter)
                if by[number] > 1:
                    counter.value += by[number] - 1
                if counter.log is not None:
                    mark(number)
                stores.append(_record(counter, counter.value + 1, operator, site))
            moving = map(setattr, counters, repeat("value"), map(_next, map(_value, counters)))
            # Versions before memory, as in any write: see Note [The write funnel].
            iterators = starmap(setitem, stores), moving, starmap(call, copies)
            deque(chain(*iterators, _filling(grads), starmap(call, final)), 0)
        finally:
            deque(storing.ends, 0)
    return True


def _record(
    counter: VersionCounter,
    version: int,
    operator: str,
    site: tuple[CodeType | None, int, int, None],
) -> tuple[list[Record | None], int, Record]:
    """Where the record of a version goes, and the record."""
    writes = counter.writes
    if writes is None:
        none_yet: list[Record | None] = [None] * KEPT
        writes = counter.writes = none_yet
    return writes, version & SLOT_MASK, (version, operator, *site)


def commit_grads(grads: Sequence[GradStore], final: Sequence[Change]) -> bool:
    """As `commit`, where nothing is written."""
    if not grads:
        deque(starmap(call, final), 0)
        return True
    with graph_lock:
        for cell, present, _ in grads:
            if cell.grad is not present:
                return False
        deque(chain(_filling(grads), starmap(call, final)), 0)
    return True


def _filling(grads: Sequence[GradStore]) -> Iterator[None]:
    """The stores of all gradients."""
    return map(
        setattr,
        [store.cell for store in grads],
        repeat("grad"),
        [store.grad for store in grads],
    )


def mark_places(impl: TensorImpl, live: Array, places: Sequence[Place]) -> None:
    """Mark places in the memory of a tensor as written, see Note [Exact staleness].

    Parameters
    ----------
    impl : TensorImpl
        A tensor in the buffer, whose counter has a log.
    live : numpy.ndarray
        The bytes of the buffer.
    places : sequence of Place
        What will be written.
    """
    own = _address(impl.array)
    for place in places:
        part = part_of(live, place)
        mark_written(impl.alias(part, impl.byte_offset + _address(part) - own), impl.counter)


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address

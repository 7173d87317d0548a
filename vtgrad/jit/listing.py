"""Steps and guards of a program as rows of numbers, in which repeated stretches are found.

Two lines of a listing are alike if they differ in nothing but the buffers, the offsets and the
Python floats that they name. What differs stands in flat arrays: line ``n`` has the places
``first_slot[n]`` to ``first_slot[n + 1]`` of ``buffers`` and ``offsets``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtgrad.jit.steps import Fixed, Guard, Kind, Line, Operand, Place, Program, Step
from vtgrad.storage.arrays import NumpyDType, Shape

__all__ = [
    "Geometry",
    "Integers",
    "Item",
    "Listing",
    "fixed_key",
    "items_of",
    "listing_of",
    "operands_of",
]

Integers: TypeAlias = NDArray[np.int64]
Item: TypeAlias = Step | Guard
Geometry: TypeAlias = tuple[NumpyDType, Shape, Shape]


@dataclass(frozen=True, slots=True)
class Listing:
    """A program in numbers.

    Attributes
    ----------
    items : list of Step and Guard
        The lines, in the order in which they run.
    alike : array of int
        Equal numbers for lines that are alike.
    lines : array of int
        A number for the user's line of each item; -1 if it is not known.
    first_slot, first_float : array of int
        Where the places, and the Python floats, of each item begin; one number more than items.
    buffers, offsets, seen_as : array of int
        Of all places, in the order of `operands_of`; the last one is the number of the geometry.
    geometries : list of (dtype, shape, strides)
        Those of all places, the results included.
    floats : list of float
        All Python floats among the operands.
    births : array of int
        For each buffer that the program makes, the slot that names it first. -1 for one that no
        step names, and -2 minus its number for a buffer of another kind.
    last_items : array of int
        For each buffer, the item that names it last; the number of items for a result, and -1 for
        one that nothing names.
    """

    items: list[Item]
    alike: Integers
    lines: Integers
    first_slot: Integers
    first_float: Integers
    buffers: Integers
    offsets: Integers
    seen_as: Integers
    geometries: list[Geometry]
    floats: list[float]
    births: Integers
    last_items: Integers


def items_of(program: Program) -> list[Item]:
    """Steps and guards in the order in which they run."""
    items: list[Item] = []
    guards = iter(program.guards)
    due = next(guards, None)
    for number, step in enumerate([*program.steps, None]):
        while due is not None and due.before <= number:
            items.append(due)
            due = next(guards, None)
        if step is not None:
            items.append(step)
    return items


def operands_of(item: Item) -> Iterator[Operand]:
    """All operands of a line: what it reads, then what it writes."""
    yield from item.inputs
    if isinstance(item, Step):
        for _, operand in item.keywords:
            yield operand
        yield from item.outputs
        yield from item.writes


def listing_of(program: Program) -> Listing:
    """Write a program down as rows of numbers."""
    return _Lister(program).listing()


class _Lister:
    """The rows of a listing, while they are written."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._items = items_of(program)
        self._numbers: dict[Hashable, int] = {}
        self._geometries: dict[Geometry, int] = {}
        self._buffers: list[int] = []
        self._offsets: list[int] = []
        self._seen_as: list[int] = []
        self._floats: list[float] = []

    def listing(self) -> Listing:
        """All rows."""
        user_lines: dict[Line | None, int] = {None: -1}
        alike, lines, first_slot, first_float = [], [], [0], [0]
        for item in self._items:
            form = self._form_of_item(item)
            alike.append(self._numbers.setdefault(form, len(self._numbers)))
            lines.append(user_lines.setdefault(item.line, len(user_lines) - 1))
            first_slot.append(len(self._buffers))
            first_float.append(len(self._floats))
        for place in self._program.results:
            geometry = (place.dtype, place.shape, place.strides)
            self._geometries.setdefault(geometry, len(self._geometries))
        slots = np.array(first_slot, np.int64)
        buffers = np.array(self._buffers, np.int64)
        births, last_items = self._lives(buffers, slots)
        return Listing(
            self._items,
            np.array(alike, np.int64),
            np.array(lines, np.int64),
            slots,
            np.array(first_float, np.int64),
            buffers,
            np.array(self._offsets, np.int64),
            np.array(self._seen_as, np.int64),
            list(self._geometries),
            self._floats,
            births,
            last_items,
        )

    def _lives(self, buffers: Integers, first_slot: Integers) -> tuple[Integers, Integers]:
        """For each buffer, the slot of its birth and the last item that names it."""
        count = len(self._program.buffers)
        births, last_items = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        named, first = np.unique(buffers, return_index=True)
        births[named] = first
        foreign = [n for n, x in enumerate(self._program.buffers) if x.kind is not Kind.FRESH]
        births[foreign] = -2 - np.array(foreign, np.int64)
        # Of equal indices the last assignment counts.
        last_items[buffers] = np.searchsorted(first_slot, np.arange(buffers.size), "right") - 1
        last_items[[place.buffer for place in self._program.results]] = len(self._items)
        return births, last_items

    def _form_of_item(self, item: Item) -> Hashable:
        """What lines that are alike have in common; notes places and floats."""
        forms = tuple([self._form(operand) for operand in operands_of(item)])
        if isinstance(item, Step):
            names = tuple([name for name, _ in item.keywords])
            return (item.function, len(item.inputs), names, len(item.outputs), forms)
        return (item.function, len(item.inputs), fixed_key(item.value), forms)

    def _form(self, operand: Operand) -> Hashable:
        """What lines that are alike have in common in an operand."""
        if isinstance(operand, Place):
            geometry = (operand.dtype, operand.shape, operand.strides)
            number = self._geometries.setdefault(geometry, len(self._geometries))
            self._buffers.append(operand.buffer)
            self._offsets.append(operand.offset)
            self._seen_as.append(number)
            return number
        if isinstance(operand, Fixed):
            if type(operand.value) is float:
                self._floats.append(operand.value)
                return float
            return ("fixed", fixed_key(operand.value))
        return (operand.type, *map(self._form, operand.parts))


def fixed_key(value: object) -> Hashable:
    """Equal for values of one type and with the same bits, and for nothing else."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes, type):
        return (kind, value)
    if isinstance(value, (float, complex, np.generic)):
        return (kind, np.asarray(value).dtype, np.asarray(value).tobytes())
    if isinstance(value, (tuple, list)):
        return (kind, *map(fixed_key, value))
    if isinstance(value, slice):
        return (kind, fixed_key(value.start), fixed_key(value.stop), fixed_key(value.step))
    if isinstance(value, np.dtype):
        return (kind, value)
    # The program holds the object, so that no other has its number.
    return (kind, id(value))

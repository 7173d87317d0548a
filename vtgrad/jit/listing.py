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

from vtgrad.jit.steps import Fixed, Group, Guard, Kind, Operand, Place, Program, Step, places_in

__all__ = ["Integers", "Item", "Listing", "fixed_key", "items_of", "listing_of", "operands_of"]

Integers: TypeAlias = NDArray[np.int64]
Item: TypeAlias = Step | Guard


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
    buffers, offsets : array of int
        Of all places, in the order of `operands_of`.
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


def floats_in(operand: Operand) -> Iterator[float]:
    """The Python floats that an operand consists of."""
    if isinstance(operand, Fixed):
        if type(operand.value) is float:
            yield operand.value
    elif isinstance(operand, Group):
        for part in operand.parts:
            yield from floats_in(part)


def listing_of(program: Program) -> Listing:
    """Write a program down as rows of numbers."""
    items = items_of(program)
    numbers: dict[Hashable, int] = {}
    user_lines: dict[Hashable, int] = {None: -1}
    alike, lines, first_slot, first_float = [], [], [0], [0]
    buffers: list[int] = []
    offsets: list[int] = []
    floats: list[float] = []
    births = [-1 if x.kind is Kind.FRESH else -2 - n for n, x in enumerate(program.buffers)]
    last_items = [-1] * len(births)
    for number, item in enumerate(items):
        forms: list[Hashable] = [isinstance(item, Step), item.function]
        for operand in operands_of(item):
            forms.append(_form(operand))
            floats.extend(floats_in(operand))
            for place in places_in(operand):
                buffer = place.buffer
                if births[buffer] == -1:
                    births[buffer] = len(buffers)
                last_items[buffer] = number
                buffers.append(buffer)
                offsets.append(place.offset)
        if isinstance(item, Step):
            names = tuple([name for name, _ in item.keywords])
            forms += [len(item.inputs), names, len(item.outputs)]
        else:
            forms += [len(item.inputs), fixed_key(item.value)]
        alike.append(numbers.setdefault(tuple(forms), len(numbers)))
        lines.append(user_lines.setdefault(item.line, len(user_lines) - 1))
        first_slot.append(len(buffers))
        first_float.append(len(floats))
    for place in program.results:
        last_items[place.buffer] = len(items)
    return Listing(
        items,
        np.array(alike, np.int64),
        np.array(lines, np.int64),
        np.array(first_slot, np.int64),
        np.array(first_float, np.int64),
        np.array(buffers, np.int64),
        np.array(offsets, np.int64),
        floats,
        np.array(births, np.int64),
        np.array(last_items, np.int64),
    )


def _form(operand: Operand) -> Hashable:
    """What lines that are alike have in common in an operand."""
    if isinstance(operand, Place):
        return (operand.dtype, operand.shape, operand.strides)
    if isinstance(operand, Fixed):
        return float if type(operand.value) is float else fixed_key(operand.value)
    return (operand.type, *map(_form, operand.parts))


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

"""Where the buffers of a program lie in one block of memory, the arena.

Note [Memory of a run]

All buffers have a place in the arena, those of arguments, outside tensors and constants too: the
steps then are calls on arrays that are made once. A run copies arguments and outside tensors in,
and copies those that were written out at its end. A fresh buffer has its place from the first step
that meets it to the last one; then another one gets it.

The result of an elementwise ufunc may lie where an operand of it has lain that no later step reads,
if both have one geometry and the ufunc rounds each element in one way, in whatever order they are
computed, see `EXACT`: NumPy computes some others with other code in place.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Final, NamedTuple

import numpy as np

from vtgrad.jit.steps import Fixed, Kind, Place, Program, Step, places_in
from vtgrad.storage.arrays import Array

__all__ = ["ALIGNMENT", "EXACT", "Layout", "lay_out", "lifetimes", "new_arena"]

# Buffers begin at multiples of this: a line of the cache, and more than any dtype needs.
ALIGNMENT: Final = 64

# A free place is given to a smaller buffer, if it is at most this many times as large.
_LARGEST_WASTE: Final = 2

# Ufuncs that compute an element in one way: the result is exact, or rounded from the exact one.
EXACT: Final = frozenset(
    {
        np.add,
        np.subtract,
        np.multiply,
        np.true_divide,
        np.negative,
        np.square,
        np.sqrt,
        np.equal,
        np.not_equal,
        np.less,
        np.less_equal,
        np.greater,
        np.greater_equal,
        np.logical_and,
        np.logical_or,
        np.logical_xor,
        np.logical_not,
        np.bitwise_and,
        np.bitwise_or,
        np.bitwise_xor,
        np.invert,
        np.isnan,
        np.isinf,
        np.isfinite,
        np.signbit,
    }
)


class Layout(NamedTuple):
    """Where the buffers lie.

    Attributes
    ----------
    offsets : list of int
        The first byte of each buffer in the arena; -1 for a buffer that no step meets.
    nbytes : int
        The size of the arena.
    """

    offsets: list[int]
    nbytes: int


def new_arena(layout: Layout) -> Array:
    """The memory for a layout, not initialised, as bytes."""
    memory = np.empty(layout.nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + layout.nbytes]


def lay_out(program: Program) -> Layout:
    """Give each buffer that is used a place; see Note [Memory of a run]."""
    first, last = lifetimes(program)
    free = _Free()
    offsets = [-1] * len(program.buffers)
    for number, buffer in enumerate(program.buffers):
        if buffer.kind is not Kind.FRESH and number in last:
            offsets[number] = free.take(buffer.nbytes)
    fresh = [buffer.kind is Kind.FRESH for buffer in program.buffers]
    begins: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for buffer_number, start in first.items():
        if fresh[buffer_number]:
            begins.setdefault(start, []).append(buffer_number)
            ends.setdefault(last[buffer_number], []).append(buffer_number)
    for number in range(len(program.steps) + 1):
        dying = ends.get(number, [])
        for born in begins.get(number, ()):
            heir = None
            if dying and number < len(program.steps):
                heir = _replaced(program, program.steps[number], born, dying)
            if heir is None or offsets[heir] < 0:
                offsets[born] = free.take(program.buffers[born].nbytes)
            else:
                offsets[born] = offsets[heir]
                dying = [x for x in dying if x != heir]
        for buffer_number in dying:
            free.give(offsets[buffer_number])
    return Layout(offsets, free.end)


def lifetimes(program: Program) -> tuple[dict[int, int], dict[int, int]]:
    """The first and the last step that meets each buffer."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, step in enumerate(program.steps):
        for operand in (*step.inputs, *step.outputs, *step.writes):
            if type(operand) is Place:
                first.setdefault(operand.buffer, number)
                last[operand.buffer] = number
            elif type(operand) is not Fixed:
                for place in places_in(operand):
                    first.setdefault(place.buffer, number)
                    last[place.buffer] = number
        for _, operand in step.keywords:
            if type(operand) is not Fixed:
                for place in places_in(operand):
                    first.setdefault(place.buffer, number)
                    last[place.buffer] = number
    for guard in program.guards:
        for operand in guard.inputs:
            for place in places_in(operand):
                first[place.buffer] = min(first.get(place.buffer, guard.before), guard.before)
                last[place.buffer] = max(last.get(place.buffer, 0), guard.before)
    for place in program.results:
        first.setdefault(place.buffer, len(program.steps))
        last[place.buffer] = len(program.steps)
    return first, last


def _replaced(program: Program, step: Step, born: int, dying: list[int]) -> int | None:
    """The buffer whose memory the result of a step may take, if there is one."""
    if step.function not in EXACT or step.keywords or len(step.outputs) != 1:
        return None
    output = step.outputs[0]
    if output.buffer != born or output.dtype.kind not in "biuf":
        return None
    reads = [x for x in step.inputs if isinstance(x, Place)]
    for place in reads:
        buffer = place.buffer
        if buffer in dying and program.buffers[buffer].nbytes == program.buffers[born].nbytes:
            if all(x.buffer != buffer or _have_one_geometry(x, output) for x in reads):
                return buffer
    return None


def _have_one_geometry(a: Place, b: Place) -> bool:
    return (
        a.offset == b.offset
        and a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
        # NumPy computes a single element in another way if it is written in place.
        and a.shape.count(1) < len(a.shape)
    )


class _Free:
    """The places of the arena that no buffer has at this step."""

    __slots__ = ("_by_size", "_places", "_sizes", "end")

    # Free places by size, and the sizes of which there is one; and the size of each place.
    _by_size: dict[int, list[int]]
    _sizes: list[int]
    _places: dict[int, int]
    end: int

    def __init__(self) -> None:
        self._by_size = {}
        self._sizes = []
        self._places = {}
        self.end = 0

    def take(self, nbytes: int) -> int:
        """A place for a buffer."""
        size = max(-(-nbytes // ALIGNMENT) * ALIGNMENT, ALIGNMENT)
        i = bisect_left(self._sizes, size)
        if i < len(self._sizes) and self._sizes[i] <= _LARGEST_WASTE * size:
            found = self._by_size[self._sizes[i]]
            place = found.pop()
            if not found:
                del self._sizes[i]
            return place
        place = self.end
        self.end += size
        self._places[place] = size
        return place

    def give(self, place: int) -> None:
        """Take a place back."""
        size = self._places[place]
        found = self._by_size.setdefault(size, [])
        if not found:
            insort(self._sizes, size)
        found.append(place)

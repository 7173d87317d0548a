"""Loops of a recorded program: stretches of steps that repeat, found in its listing.

Note [Rolling a program up]

A recording of a loop is its body, written once for each repetition. To find the body again:

1. Lines of the listing that are alike get one number (`listing.py`).
2. Periods that may be right are the distances between equal words of 1, 2, 4, 8... lines. Words of
   one line are not enough: where two products and three sums repeat, no distance between two
   neighbouring products is the period.
3. Of the stretches with such a period, the one that saves most lines is rolled up: a loop. What is
   left of it, right of it, and within its body is searched in the same way.
4. A stretch of period ``p`` can begin at each of its first lines. The loop begins where fewest
   buffers cross from one repetition to the next, and not in the middle of a line of the user's.
   An odd first or last repetition is left out of the loop if that is shorter.
5. What a repetition names is *regular* if its buffers are born at equal distances in the program,
   and its offsets are equal steps apart. What is not regular costs a line, for a list; a loop that
   saves fewer lines than it costs is none.

The loops change nothing but how the program is written: a loop stands for its lines, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vtgrad.jit.listing import Integers, Listing

__all__ = ["Leaf", "Loop", "Node", "flat_items", "items_at", "roll"]

# A loop that saves fewer lines is harder to read than the lines.
_LEAST: Final = 3
# How many periods are tried for each length of words, and how many stretches are looked at closely.
_PERIODS: Final = 6
_STRETCHES: Final = 4
# How many first lines of a stretch are tried, and, if it is longer than so many lines, on how many
# repetitions.
_PHASES: Final = 64
_WHOLE: Final = 1000
_REPETITIONS: Final = 6
# How many entries of a list are as hard to read as one line.
_ENTRIES: Final = 8


@dataclass(frozen=True, slots=True)
class Leaf:
    """A line.

    Attributes
    ----------
    first : int
        Its item in the first repetition of all loops around it.
    loops : tuple of Loop
        The loops around it, from the outermost.
    """

    first: int
    loops: tuple[Loop, ...]


@dataclass(eq=False, slots=True)
class Loop:
    """A stretch of lines that repeats.

    Attributes
    ----------
    first : int
        Its first item, in the first repetition of all loops around it.
    count : int
        The number of repetitions.
    period : int
        The number of items of each.
    body : list of Leaf and Loop
        What is repeated.
    """

    first: int
    count: int
    period: int
    body: list[Node]


Node: TypeAlias = Leaf | Loop


def items_at(first: int, loops: tuple[Loop, ...]) -> Integers:
    """The items of one place of the program, with an axis for each loop around it."""
    found = np.full((), first, np.int64)
    for loop in loops:
        found = found[..., None] + loop.period * np.arange(loop.count)
    return found


def flat_items(nodes: list[Node]) -> list[int]:
    """The items that nodes stand for, in the order in which they run."""
    found: list[int] = []

    def visit(nodes: list[Node], shift: int) -> None:
        for node in nodes:
            if isinstance(node, Leaf):
                found.append(node.first + shift)
            else:
                for number in range(node.count):
                    visit(node.body, shift + number * node.period)

    visit(nodes, 0)
    return found


def roll(listing: Listing) -> list[Node]:
    """The lines of a program with its loops rolled up; see Note [Rolling a program up].

    Parameters
    ----------
    listing : Listing
        Of the program.

    Returns
    -------
    list of Leaf and Loop
        What the program does, in order.
    """
    nodes: list[Node] = []
    # What is still to be done, the next task last: stretches to search, and loops to add after
    # what is left of them.
    tasks: list[_Stretch | tuple[Loop, list[Node]]] = [_Stretch(0, len(listing.items), (), nodes)]
    while tasks:
        task = tasks.pop()
        if isinstance(task, tuple):
            task[1].append(task[0])
            continue
        found = _best_loop(listing, task.start, task.stop, task.loops)
        if found is None:
            task.into.extend([Leaf(item, task.loops) for item in range(task.start, task.stop)])
            continue
        end = found.first + found.period
        stop = found.first + found.count * found.period
        tasks += [
            _Stretch(stop, task.stop, task.loops, task.into),
            _Stretch(found.first, end, (*task.loops, found), found.body),
            (found, task.into),
            _Stretch(task.start, found.first, task.loops, task.into),
        ]
    return nodes


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Items that are searched for loops, the loops around them, and where the nodes go."""

    start: int
    stop: int
    loops: tuple[Loop, ...]
    into: list[Node]


def _best_loop(listing: Listing, start: int, stop: int, loops: tuple[Loop, ...]) -> Loop | None:
    """The loop in a stretch that saves most lines; None if none is worth it."""
    best, most = None, _LEAST - 1
    for saved, period, first, spare in _candidates(listing.alike[start:stop]):
        if saved - 1 <= most:
            break
        loop = _in_phase(
            listing, Loop(start + first, saved // period + 1, period, []), spare, loops
        )
        for variant in _variants(loop):
            saves = (variant.count - 1) * period - 1 - _cost(listing, variant, loops)
            if saves > most:
                best, most = variant, saves
    return best


def _variants(loop: Loop) -> list[Loop]:
    """A loop, and the same without its first repetition, its last, and both."""
    after = loop.first + loop.period
    variants = [
        loop,
        Loop(after, loop.count - 1, loop.period, []),
        Loop(loop.first, loop.count - 1, loop.period, []),
        Loop(after, loop.count - 2, loop.period, []),
    ]
    return [variant for variant in variants if variant.count > 1]


def _candidates(alike: Integers) -> list[tuple[int, int, int, int]]:
    """Stretches that repeat: lines saved, period, first line, and how many lines are left over.

    Those that save most come first.
    """
    found = []
    for period in _periods(alike):
        same = np.concatenate(([False], alike[period:] == alike[:-period], [False]))
        edges = np.flatnonzero(same[1:] != same[:-1]).reshape(-1, 2)
        lengths = edges[:, 1] - edges[:, 0]
        saved = lengths // period * period
        for number in np.argsort(-saved, kind="stable")[:_STRETCHES].tolist():
            if saved[number] >= _LEAST:
                spare = int(lengths[number] - saved[number])
                found.append((int(saved[number]), period, int(edges[number, 0]), spare))
    found.sort(key=lambda candidate: (-candidate[0], candidate[1]))
    return found[: _STRETCHES * _PERIODS]


def _periods(alike: Integers) -> list[int]:
    """Distances between equal words of the listing that occur often."""
    found: set[int] = set()
    words = np.unique(alike, return_inverse=True)[1].astype(np.int64)
    width = 1
    while True:
        order = np.argsort(words, kind="stable")
        repeated = words[order][1:] == words[order][:-1]
        gaps = np.diff(order)[repeated]
        if not gaps.size:
            return sorted(found)
        counts = np.bincount(gaps)
        often = np.argsort(-counts, kind="stable")[:_PERIODS]
        found.update(often[counts[often] > 0].tolist())
        if words.size <= width:
            return sorted(found)
        pairs = words[:-width] * (words.max() + 1) + words[width:]
        words = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
        width *= 2


def _in_phase(listing: Listing, loop: Loop, spare: int, loops: tuple[Loop, ...]) -> Loop:
    """The loop that begins at the best of the first lines of its stretch."""
    total = loop.count * loop.period + spare
    is_short = total <= _WHOLE
    tried = []
    for shift in range(min(loop.period, _PHASES)):
        first, count = loop.first + shift, (total - shift) // loop.period
        if count < 2:
            break
        tested = Loop(first, count if is_short else min(count, _REPETITIONS), loop.period, [])
        weight = _cost(listing, tested, loops) + _crossing(listing, tested)
        weight += (loop.count - count) * loop.period
        inside = first > 0 and bool(0 <= listing.lines[first - 1] == listing.lines[first])
        tried.append((weight, inside, shift))
    shift = min(tried)[2]
    return Loop(loop.first + shift, (total - shift) // loop.period, loop.period, [])


def _crossing(listing: Listing, loop: Loop) -> int:
    """How many places of the second repetition are in buffers that were born in the first."""
    first, middle, stop = listing.first_slot[loop.first :: loop.period][:3].tolist()
    births = listing.births[listing.buffers[middle:stop]]
    return int(np.count_nonzero((first <= births) & (births < middle)))


def _cost(listing: Listing, loop: Loop, loops: tuple[Loop, ...]) -> int:
    """How many lists a loop needs; see rule 5 of Note [Rolling a program up]."""
    items = items_at(loop.first, (*loops, loop))
    stop = loop.first + loop.period
    slots = listing.first_slot[items][..., None] + np.arange(
        listing.first_slot[stop] - listing.first_slot[loop.first]
    )
    births = listing.births[listing.buffers[slots]]
    offsets = listing.offsets[slots]
    moving = (births != births[(0,) * items.ndim]).reshape(-1, births.shape[-1]).any(0)
    foreign = (births < 0).reshape(-1, births.shape[-1]).any(0)
    irregular = ~_affine(births) | ~_affine(offsets) | (moving & foreign)
    lists = {
        (births[..., column].tobytes(), offsets[..., column].tobytes()): column
        for column in np.flatnonzero(irregular).tolist()
    }
    cost = sum(_list_cost(births[..., n], offsets[..., n]) for n in lists.values())
    floats = listing.first_float[items]
    numbers = {
        tuple([listing.floats[n + column].hex() for n in floats.ravel().tolist()])
        for column in range(int(listing.first_float[stop] - listing.first_float[loop.first]))
    }
    return cost + sum(1 + len(set(x)) // _ENTRIES for x in numbers if len(set(x)) > 1)


def _list_cost(births: Integers, offsets: Integers) -> int:
    """One line, and more if few entries of the list follow from the ones before them."""
    breaks = [np.diff(column.ravel(), 2) != 0 for column in (births, offsets)]
    return 1 + int(np.count_nonzero(breaks[0] | breaks[1])) // _ENTRIES


def _affine(values: Integers) -> NDArray[np.bool_]:
    """For each column on the last axis, whether it grows by equal steps along the other axes."""
    expected = np.asarray(values[(0,) * (values.ndim - 1)])
    for axis, count in enumerate(values.shape[:-1]):
        start = [0] * (values.ndim - 1)
        step = np.zeros_like(expected)
        if count > 1:
            start[axis] = 1
            step = values[tuple(start)] - values[(0,) * (values.ndim - 1)]
        shape = [1] * values.ndim
        shape[axis] = count
        expected = expected + np.arange(count).reshape(shape) * step
    found: NDArray[np.bool_] = (values == expected).reshape(-1, values.shape[-1]).all(0)
    return found

"""Copies that need not be made.

Note [Copies that need not be]

A copy into a fresh buffer that nothing else writes is left out, if what is copied is not written
until the copy was read for the last time: what reads the copy then reads the original. And a result
of a ufunc that is only copied elsewhere is computed there, if nothing meets the target meanwhile.
In both cases the two places have the same strides, so that all operands keep their layout.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from vtgrad.jit.effects import Effects, Span, copied, extent, is_dense, span_of
from vtgrad.jit.moves import Moves, moved_all, moved_place, moved_step
from vtgrad.jit.steps import Guard, Kind, Place, Program, Step, places_in

__all__ = ["without_copies"]

# A step, and the bytes that it reads or writes of one buffer.
Event = tuple[int, int, int]


def without_copies(program: Program, effects: Effects | None = None) -> Program:
    """Leave copies out; see Note [Copies that need not be]."""
    return _Copies(program, effects or Effects()).run()


class _Copies:
    """One walk over a program that finds copies, and who else reads and writes their memory."""

    __slots__ = ("moves", "program", "reads", "removed", "steps", "writes")

    program: Program
    # Of the buffers that copies are made of and to.
    reads: dict[int, list[Event]]
    writes: dict[int, list[Event]]
    # Buffers that are read elsewhere, steps that are left out, and the steps as they are now.
    moves: Moves
    removed: set[int]
    steps: list[Step]

    def __init__(self, program: Program, effects: Effects) -> None:
        self.program = program
        self.reads = {}
        self.writes = {}
        self.moves = {}
        self.removed = set()
        self.steps = list(program.steps)
        for step in program.steps:
            for place in _pair_of(step) or ():
                self.reads[place.buffer] = []
                self.writes[place.buffer] = []
        for number, step in enumerate(program.steps):
            effect = effects.of(step)
            _note(self.reads, number, effect.read_spans)
            _note(self.writes, number, effect.write_spans)
        # A guard before a step reads after the step ahead of it.
        for guard in program.guards:
            for operand in guard.inputs:
                _note(self.reads, guard.before, map(span_of, places_in(operand)))
        if program.guards:
            for events in self.reads.values():
                events.sort()
        _note(self.reads, len(program.steps), map(span_of, program.results))

    def run(self) -> Program:
        """The program with fewer copies."""
        for number in range(len(self.steps)):
            step = self.steps[number]
            if self.moves:
                step = self.steps[number] = moved_step(step, self.moves)
            found = _pair_of(step)
            if found is None:
                continue
            if not self._read_original(number, *found):
                self._compute_there(number, *found)
        return self._result()

    def _result(self) -> Program:
        program, moves = self.program, self.moves
        before = [0]
        for number in range(len(self.steps)):
            before.append(before[-1] + (number not in self.removed))
        guards = [self._guard(guard, before) for guard in program.guards]
        steps = [x for number, x in enumerate(self.steps) if number not in self.removed]
        return Program(
            program.buffers, steps, guards, [moved_place(x, moves) for x in program.results]
        )

    def _guard(self, guard: Guard, before: list[int]) -> Guard:
        inputs = moved_all(guard.inputs, self.moves)
        return replace(guard, before=before[min(guard.before, len(self.steps))], inputs=inputs)

    def _is_own(self, place: Place, number: int) -> bool:
        """Whether a place is a whole fresh buffer that only one step writes."""
        buffer = self.program.buffers[place.buffer]
        return (
            buffer.kind is Kind.FRESH
            and len(self.writes[place.buffer]) == 1
            and self.writes[place.buffer][0][0] == number
            and extent(place) == (0, buffer.nbytes)
        )

    def _read_original(self, number: int, target: Place, source: Place) -> bool:
        """Leave a copy out, if what is copied keeps its bytes for as long as they are read."""
        if source.buffer == target.buffer or not self._is_own(target, number):
            return False
        readers = self.reads[target.buffer]
        if not readers:
            return False
        if readers[0][0] <= number:
            return False
        last = readers[-1][0]
        low, high = extent(source)
        if _meets(self.writes[source.buffer], number, last, low, high):
            return False
        self.moves[target.buffer] = (source.buffer, low)
        self.removed.add(number)
        # What reads the copy reads the original now.
        events = self.reads[source.buffer]
        for reader, start, stop in readers:
            insort(events, (reader, start + low, stop + low))
        return True

    def _compute_there(self, number: int, target: Place, source: Place) -> None:
        """Let a ufunc write to where its result is copied to."""
        written = self.writes[source.buffer]
        if source.buffer == target.buffer or len(written) != 1:
            return
        maker = written[0][0]
        step = self.steps[maker]
        readers = self.reads[source.buffer]
        if maker in self.removed or maker >= number or not self._is_own(source, maker):
            return
        if len(readers) != 1 or not _can_compute_elsewhere(step, source, target):
            return
        low, high = extent(target)
        # The step that computes reads before it writes, but NumPy copies what overlaps.
        if _meets(self.reads[target.buffer], maker - 1, number, low, high):
            return
        if _meets(self.writes[target.buffer], maker, number - 1, low, high):
            return
        self.steps[maker] = step.changed(outputs=(target,))
        self.removed.add(number)
        events = self.writes[target.buffer]
        del events[bisect_left(events, (number, low, high))]
        insort(events, (maker, low, high))


def _can_compute_elsewhere(step: Step, source: Place, target: Place) -> bool:
    """Whether a step is a call of a ufunc whose one result is the source."""
    return (
        isinstance(step.function, np.ufunc)
        and step.outputs == (source,)
        and not step.keywords
        and target.offset % target.dtype.alignment == 0
    )


def _note(events: dict[int, list[Event]], number: int, spans: Iterable[Span]) -> None:
    """Note who meets the buffers that have a list."""
    for buffer, low, high in spans:
        found = events.get(buffer)
        if found is not None:
            found.append((number, low, high))


def _meets(events: list[Event], after: int, until: int, low: int, high: int) -> bool:
    """Whether a step after one and not after another one meets bytes."""
    for i in range(bisect_left(events, (after + 1,)), len(events)):
        number, start, stop = events[i]
        if number > until:
            return False
        if start < high and low < stop:
            return True
    return False


def _pair_of(step: Step) -> tuple[Place, Place] | None:
    """The target and the source of a copy that may be left out."""
    found = copied(step)
    if found is None or found[0].strides != found[1].strides or not is_dense(found[0]):
        return None
    return found

"""Programs that do less and return the same bits.

Each pass takes a program and returns another one, and changes nothing of the first. Two
steps concern each other where their intervals of memory meet, see Note [Bytes of a place].

Note [What a pass may change]

A guard is checked before the step that it was recorded before, and the order of the steps stays.
A step that draws random numbers, one that may raise an error, or a function that is not known,
always runs. A place that is
read from other memory has the strides that it had, because sums and products of matrices may round
otherwise in another layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from vtgrad.jit.copies import without_copies
from vtgrad.jit.effects import (
    Effect,
    Effects,
    Intervals,
    Span,
    is_dense,
    is_pure,
    may_raise,
    span_of,
)
from vtgrad.jit.interpret import call, same_value, value_of
from vtgrad.jit.memory import lifetimes
from vtgrad.jit.moves import moved_all, moved_place, moved_step
from vtgrad.jit.steps import (
    Buffer,
    Group,
    Guard,
    Kind,
    Operand,
    Place,
    Program,
    Step,
    places_in,
)
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.no_fp_warnings import run_without_warnings

__all__ = ["fold", "improve", "with_equal_constants", "without_dead_steps"]


def improve(program: Program) -> Program:
    """A program with all passes applied."""
    effects = Effects()
    program = without_dead_steps(fold(program, effects), effects)
    return with_equal_constants(without_copies(program, effects))


def fold(program: Program, effects: Effects | None = None) -> Program:
    """Compute once what depends on no argument, no outside tensor and no draw.

    The steps that compute it remain; `without_dead_steps` takes out those that are not needed.
    """
    return run_without_warnings(_Folding(program).run, effects or Effects())


# The memory of a buffer of which nothing is known.
_NOTHING: Final = constant([], np.dtype(np.uint8))


class _Folding:
    """One walk over a program that runs the steps whose operands are known."""

    __slots__ = ("buffers", "known", "memory", "program", "snapshots", "writes")

    program: Program
    buffers: list[Buffer]
    # The known bytes of each buffer, and the memory that has them.
    known: dict[int, Intervals]
    memory: list[Array]
    # How often each buffer was written, and the copies of known bytes that were made since.
    writes: dict[int, int]
    snapshots: dict[tuple[int, int, int, int], int]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = list(program.buffers)
        self.known = {}
        self.memory = [_NOTHING if x.content is None else x.content for x in program.buffers]
        self.writes = {}
        self.snapshots = {}

    def run(self, effects: Effects) -> Program:
        """The program that reads known bytes from constants."""
        program = self.program
        ends = self._ends()
        steps: list[Step] = []
        guards: list[Guard] = []
        due = 0
        for number, step in enumerate(program.steps):
            while due < len(program.guards) and program.guards[due].before <= number:
                self._guard(program.guards[due], guards)
                due += 1
            steps.append(self._step(step, effects.of(step)))
            for buffer in ends.get(number, ()):
                self.memory[buffer] = _NOTHING
        for guard in program.guards[due:]:
            self._guard(guard, guards)
        results = [self._constant(place) for place in program.results]
        return Program(self.buffers, steps, guards, results)

    def _ends(self) -> dict[int, list[int]]:
        """The fresh buffers whose memory is not needed after a step, by the number of the step."""
        _, last = lifetimes(self.program)
        ends: dict[int, list[int]] = {}
        for buffer, number in last.items():
            if self.buffers[buffer].kind is Kind.FRESH:
                ends.setdefault(number, []).append(buffer)
        return ends

    def _step(self, step: Step, effect: Effect) -> Step:
        known = self.known
        if self._are_known(effect.read_spans) and self._may_run(effect) and _runs_once(step):
            for buffer, low, high in effect.write_spans:
                self.writes[buffer] = self.writes.get(buffer, 0) + 1
                known.setdefault(buffer, Intervals()).add(low, high)
                if self.memory[buffer] is _NOTHING:
                    self.memory[buffer] = np.empty(self.buffers[buffer].nbytes, np.uint8)
            call(step, self.memory)
            return step
        found = step
        for span in effect.read_spans:
            if span[0] in known and self._are_known((span,)):
                found = self._with_constants(step)
                break
        for buffer, low, high in effect.write_spans:
            if buffer in known:
                self.writes[buffer] = self.writes.get(buffer, 0) + 1
                known[buffer].remove(low, high)
        return found

    def _may_run(self, effect: Effect) -> bool:
        """Whether all bytes of what a step writes are known afterwards, and are of the program."""
        for place, span in zip(effect.writes, effect.write_spans, strict=True):
            if self.buffers[place.buffer].kind is not Kind.FRESH:
                return False
            if not (effect.whole and is_dense(place)) and not self._are_known((span,)):
                return False
        return bool(effect.writes)

    def _are_known(self, spans: Sequence[Span]) -> bool:
        for buffer, low, high in spans:
            known = self.known.get(buffer)
            if known is None:
                if self.buffers[buffer].kind is not Kind.CONSTANT:
                    return False
            elif not known.covers(low, high):
                return False
        return True

    def _with_constants(self, step: Step) -> Step:
        """A step that reads known places from constants, and writes where it did."""

        def found(operand: Operand) -> Operand:
            if step.writes and _is_changed(operand, step):
                return operand
            return self._operand(operand)

        inputs = tuple(map(found, step.inputs))
        # The target may be named, as the ``out`` of `numpy.ndarray.cumprod`.
        keywords = tuple([(name, found(x)) for name, x in step.keywords])
        return step.changed(inputs=inputs, keywords=keywords)

    def _operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Place):
            return self._constant(operand)
        if isinstance(operand, Group):
            return Group(operand.type, tuple(map(self._operand, operand.parts)))
        return operand

    def _constant(self, place: Place) -> Place:
        """The place in a constant that has the bytes of a place, if these are known."""
        buffer = place.buffer
        if self.buffers[buffer].kind is not Kind.FRESH or 0 in place.shape:
            return place
        span = span_of(place)
        if buffer not in self.known or not self._are_known((span,)):
            return place
        _, low, high = span
        key = (buffer, self.writes[buffer], low, high)
        found = self.snapshots.get(key)
        memory = self.memory[buffer]
        if found is None:
            found = self.snapshots[key] = len(self.buffers)
            content = memory[low:high].copy()
            self.buffers.append(Buffer(Kind.CONSTANT, high - low, content=content))
            self.memory.append(content)
        return Place(found, place.dtype, place.shape, place.strides, place.offset - low)

    def _guard(self, guard: Guard, guards: list[Guard]) -> None:
        """Keep a guard, unless its answer is known to be the recorded one."""
        spans = [span_of(place) for place in _places_of(guard.inputs)]
        if self._are_known(spans) and is_pure(guard.function):
            memory = self.memory
            values = [value_of(x, memory) for x in guard.inputs]
            if same_value(guard.function(*values), guard.value):
                return
        guards.append(guard)


def _runs_once(step: Step) -> bool:
    """Whether a run in advance is as good as one in each run."""
    return is_pure(step.function) and not may_raise(step)


def _is_changed(operand: Operand, step: Step) -> bool:
    """Whether an operand is one that the step writes to."""
    return any(place in step.writes for place in places_in(operand))


def _places_of(operands: tuple[Operand, ...]) -> list[Place]:
    return [place for operand in operands for place in places_in(operand)]


def without_dead_steps(program: Program, effects: Effects | None = None) -> Program:
    """Take out the steps whose results no guard, result, argument or outside tensor needs."""
    effects = effects or Effects()
    live: dict[int, Intervals] = {}
    kept_always = [x.kind in (Kind.ARGUMENT, Kind.OUTSIDE) for x in program.buffers]
    needed = [False] * len(program.steps)
    guards = list(program.guards)
    _need(live, map(span_of, program.results))
    while guards and guards[-1].before >= len(needed):
        _need(live, map(span_of, _places_of(guards.pop().inputs)))
    for number in range(len(needed) - 1, -1, -1):
        step = program.steps[number]
        effect = effects.of(step)
        if _is_needed(effect, live, kept_always) or not _runs_once(step):
            needed[number] = True
            if effect.whole:
                _overwritten(live, effect)
            _need(live, effect.read_spans)
        while guards and guards[-1].before >= number:
            _need(live, map(span_of, _places_of(guards.pop().inputs)))
    # The number of each step among those that stay.
    numbers = [0]
    for kept in needed:
        numbers.append(numbers[-1] + kept)
    return Program(
        program.buffers,
        [step for step, kept in zip(program.steps, needed, strict=True) if kept],
        [replace(x, before=numbers[min(x.before, len(needed))]) for x in program.guards],
        program.results,
    )


def _is_needed(effect: Effect, live: dict[int, Intervals], kept_always: list[bool]) -> bool:
    for buffer, low, high in effect.write_spans:
        if kept_always[buffer]:
            return True
        if buffer in live and live[buffer].meets(low, high):
            return True
    return False


def _need(live: dict[int, Intervals], spans: Iterable[Span]) -> None:
    for buffer, low, high in spans:
        intervals = live.get(buffer)
        if intervals is None:
            intervals = live[buffer] = Intervals()
        intervals.add(low, high)


def _overwritten(live: dict[int, Intervals], effect: Effect) -> None:
    for place, (buffer, low, high) in zip(effect.writes, effect.write_spans, strict=True):
        intervals = live.get(buffer)
        if intervals and is_dense(place):
            intervals.remove(low, high)


def with_equal_constants(program: Program) -> Program:
    """Read equal constants from one buffer."""
    first: dict[tuple[int, bytes], int] = {}
    same: dict[int, tuple[int, int]] = {}
    for number, buffer in enumerate(program.buffers):
        if buffer.kind is Kind.CONSTANT and buffer.content is not None:
            found = first.setdefault((buffer.nbytes, buffer.content.tobytes()), number)
            if found != number:
                same[number] = (found, 0)
    if not same:
        return program
    return Program(
        program.buffers,
        [moved_step(step, same) for step in program.steps],
        [replace(x, inputs=moved_all(x.inputs, same)) for x in program.guards],
        [moved_place(place, same) for place in program.results],
    )

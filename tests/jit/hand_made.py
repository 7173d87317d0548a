"""A recording that is written by hand, for tests of calls."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

import vtgrad as vt
from vtgrad.jit.call import Replay
from vtgrad.jit.interpret import interpret
from vtgrad.jit.recording import (
    GradChange,
    Memory,
    Recording,
    Result,
    Source,
    VersionChange,
)
from vtgrad.jit.steps import Buffer, Fixed, Guard, Kind, Place, Program, Step
from vtgrad.storage.arrays import Array

__all__ = ["Program3", "double_tensor", "recorded_update"]

F8 = np.dtype(np.float64)


def double_tensor(*values: float) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def place(buffer: int, *shape: int) -> Place:
    strides = tuple(np.empty(shape).strides)
    return Place(buffer, F8, shape, strides, 0)


class Program3:
    """Runs a program, and calls a function of the test before it returns."""

    def __init__(self, program: Program, at_end: Callable[[], object] | None = None) -> None:
        self.program = program
        self.nbytes = 0
        self.calls: dict[int, str] = {}
        self.at_end = at_end
        self.runs = 0

        self.memory: dict[tuple[Kind, int], Array] = {
            (buffer.kind, buffer.position): np.empty(buffer.nbytes, np.uint8)
            for buffer in program.buffers
            if buffer.kind in (Kind.ARGUMENT, Kind.OUTSIDE)
        }

    def memory_of(self, kind: Kind, position: int) -> Array | None:
        return self.memory.get((kind, position))

    def compute(self, arguments: Sequence[Array], outside: Sequence[Array]) -> list[Array]:
        self.runs += 1
        given = {Kind.ARGUMENT: arguments, Kind.OUTSIDE: outside}
        for (kind, position), memory in self.memory.items():
            memory[:] = given[kind][position]
        copies = {kind: [x for (k, _), x in self.memory.items() if k is kind] for kind in given}
        results = interpret(self.program, copies[Kind.ARGUMENT], copies[Kind.OUTSIDE])
        if self.at_end is not None:
            self.at_end()
        return results


def update_program() -> Program:
    """``y += x``; the gradient of ``w`` is ``y * 2``; the result is ``sum(y)``, above 0."""
    return Program(
        [
            Buffer(Kind.ARGUMENT, 24, 0),
            Buffer(Kind.ARGUMENT, 24, 1),
            Buffer(Kind.OUTSIDE, 24, 0),
            Buffer(Kind.FRESH, 8),
            Buffer(Kind.FRESH, 24),
            Buffer(Kind.FRESH, 1),
        ],
        [
            Step(np.add, (place(1, 3), place(0, 3)), outputs=(place(1, 3),)),
            Step(np.multiply, (place(1, 3), place(2, 3)), outputs=(place(4, 3),)),
            Step(np.add.reduce, (place(1, 3),), outputs=(place(3),)),
            Step(
                np.greater,
                (place(3), Fixed(0.0)),
                outputs=(Place(5, np.dtype(np.bool_), (), (), 0),),
            ),
            Step(operator.setitem, (place(2, 0), Fixed(...), Fixed(0.0))),
        ],
        [Guard(5, bool, (Place(5, np.dtype(np.bool_), (), (), 0),), True, ("fit.py", 14))],
        [place(3), place(4, 3)],
    )


def recorded_update(
    x: vt.Tensor, y: vt.Tensor, w: vt.Tensor, at_end: Callable[[], object] | None = None
) -> tuple[Replay, Program3]:
    """The call of `update_program` on these tensors, and what runs it."""
    program = update_program()
    runner = Program3(program, at_end)
    recording = Recording(
        program,
        [Memory([Source(0)], [place(0, 3)]), Memory([Source(1)], [place(1, 3)], True)],
        [Memory([Source(w._impl)], [place(2, 3)])],
        [None, None],
        Result(0, vt.Tensor),
        [VersionChange(Source(1), 3)],
        [GradChange(w._impl, 1)],
        line=("fit.py", 12),
    )
    return Replay(recording, runner, [x, y], {}, "update"), runner

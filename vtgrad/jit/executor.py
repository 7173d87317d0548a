"""A program for the executor in C: loops where `inner_loops.py` finds them, and calls of the table.

See Note [Steps in C].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from vtgrad.jit.inner_loops import MANY, NO_UFUNC, Copy, Form, Part, initial_of, parts_of
from vtgrad.jit.memory import Layout
from vtgrad.jit.steps import Fixed, Place, Program, Step
from vtgrad.jit.table import Arrays, check_of, entry_of
from vtgrad.storage.arrays import Array, NumpyDType, Shape

if TYPE_CHECKING:
    from vtgrad._loops import Executor

__all__ = ["INITIALS", "fill_executor"]

# The bytes at the end of the arena for the values that sums begin with.
INITIALS = 1024
_LARGEST = 64

# What a step is, but for where its operands begin: its function, what is fixed, and geometries. The
# last is how the operands lie beside each other.
Key: TypeAlias = tuple[object, ...]


def fill_executor(
    executor: Executor, program: Program, layout: Layout, arrays: Arrays, arena: Array
) -> dict[int, str]:
    """Add all steps and guards to an executor.

    Returns
    -------
    dict[int, str]
        The numbers of the steps that are calls of Python, and why each is.
    """
    filling = _Filling(executor, layout, arrays, arena)
    guards = list(enumerate(program.guards))[::-1]
    for number, step in enumerate(program.steps):
        while guards and guards[-1][1].before <= number:
            executor.call(*check_of(*guards.pop(), arrays))
        filling.add(number, step)
    while guards:
        executor.call(*check_of(*guards.pop(), arrays))
    return filling.calls


class _Filling:
    """The forms that an executor has, and the values that sums begin with."""

    __slots__ = ("arena", "arrays", "calls", "executor", "forms", "initials", "offsets", "plans")

    executor: Executor
    arrays: Arrays
    arena: Array
    offsets: list[int]
    calls: dict[int, str]
    forms: dict[Form, int]
    # For each key, the forms of a step and their operands; or why it is a call.
    plans: dict[Key, tuple[tuple[int, Part], ...] | str]
    initials: dict[tuple[np.ufunc, NumpyDType], int]

    def __init__(self, executor: Executor, layout: Layout, arrays: Arrays, arena: Array) -> None:
        self.executor = executor
        self.arrays = arrays
        self.arena = arena
        self.offsets = layout.offsets
        self.calls = {}
        self.forms = {}
        self.plans = {}
        self.initials = {}

    def add(self, number: int, step: Step) -> None:
        """Add one step."""
        found = self._key(step)
        plan: tuple[tuple[int, Part], ...] | str = MANY
        if found is not None:
            key, places, starts = found
            plan = self.plans.get(key, "")
            if plan == "":
                plan = self.plans[key] = self._plan(step, places, starts)
            if not isinstance(plan, str):
                for form, part in plan:
                    self.executor.add(form, self._operands(part, starts))
                return
        elif not isinstance(step.function, np.ufunc):
            plan = NO_UFUNC
        assert isinstance(plan, str)
        self.calls[number] = plan
        self.executor.call(*entry_of(step, self.arrays))

    def _operands(self, part: Part, starts: tuple[int, ...]) -> Shape:
        return tuple([self._initial(part) if i < 0 else starts[i] for i in part.operands])

    def _key(self, step: Step) -> tuple[Key, tuple[Place, ...], tuple[int, ...]] | None:
        """What decides how a step is done, its places, and where they begin in the arena."""
        places: list[Place] = []
        fixed: list[object] = []
        for operand in step.inputs:
            if type(operand) is Place:
                places.append(operand)
            elif isinstance(operand, Fixed):
                # A slice has no hash before Python 3.12.
                fixed.append(repr(operand.value))
            else:
                return None
        for name, operand in step.keywords:
            if not isinstance(operand, Fixed):
                return None
            fixed += [name, repr(operand.value)]
        places += step.outputs
        if len(places) > 3 or not places:
            return None
        starts = tuple([self.offsets[x.buffer] + x.offset for x in places])
        geometry = [y for x in places for y in (x.dtype, x.shape, x.strides)]
        base = starts[-1]
        # Far apart they cannot overlap, but how near they are decides it.
        beside = [
            (start - base) if x.buffer == places[-1].buffer or start == base else None
            for start, x in zip(starts, places, strict=True)
        ]
        aligned = [start % 16 for start in starts]
        key = (step.function, *fixed, *geometry, *beside, *aligned)
        return key, tuple(places), starts

    def _plan(
        self, step: Step, places: tuple[Place, ...], starts: tuple[int, ...]
    ) -> tuple[tuple[int, Part], ...] | str:
        there = tuple(
            [
                Place(x.buffer, x.dtype, x.shape, x.strides, start)
                for x, start in zip(places, starts, strict=True)
            ]
        )
        parts = parts_of(step, there)
        if isinstance(parts, str):
            return parts
        return tuple([(self._form(part.form), part) for part in parts])

    def _form(self, form: Form) -> int:
        found = self.forms.get(form)
        if found is None:
            if isinstance(form, Copy):
                found = self.executor.copy_form(*form)
            else:
                found = self.executor.loop_form(*form)
            self.forms[form] = found
        return found

    def _initial(self, part: Part) -> int:
        """Where the value lies that a sum begins with."""
        assert part.initial is not None
        found = self.initials.get(part.initial)
        if found is None:
            content = np.frombuffer(initial_of(*part.initial), np.uint8)
            found = len(self.arena) - INITIALS + len(self.initials) * _LARGEST
            self.arena[found : found + len(content)] = content
            self.initials[part.initial] = found
        return found

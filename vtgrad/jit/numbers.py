"""Numbers as constants, and assignments as copies: steps in the forms that run without a cast.

A number beside an array is converted by NumPy at each call. Here it becomes an array without
dimensions of the dtype that it is converted to, so that all operands are places. An assignment to
an index that makes a view becomes an assignment to all elements of the place of that view.
"""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from vtgrad.jit.effects import extent, is_elementwise
from vtgrad.jit.steps import Buffer, Fixed, Kind, Operand, Place, Program, Step
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.no_fp_warnings import run_without_warnings

__all__ = ["with_number_places"]


def with_number_places(program: Program) -> Program:
    """A program whose numbers are constants where this is what NumPy makes of them."""
    return run_without_warnings(_Numbers(program).run)


class _Numbers:
    """The constants that are made for one program."""

    __slots__ = ("buffers", "made", "program")

    program: Program
    buffers: list[Buffer]
    made: dict[tuple[NumpyDType, bytes], Place]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers = list(program.buffers)
        self.made = {}

    def run(self) -> Program:
        """The program with the constants."""
        steps = [self._step(step) for step in self.program.steps]
        return Program(self.buffers, steps, self.program.guards, self.program.results)

    def _step(self, step: Step) -> Step:
        function = step.function
        if function is operator.setitem:
            return self._assignment(_on_view(step))
        if function is np.ndarray.fill and not step.keywords and isinstance(step.inputs[0], Place):
            inputs = (step.inputs[0], Fixed(...), step.inputs[1])
            return self._assignment(replace(step, function=operator.setitem, inputs=inputs))
        if isinstance(function, np.ufunc) and is_elementwise(function) and not step.keywords:
            if len(step.outputs) == 1 and any(isinstance(x, Fixed) for x in step.inputs):
                return self._call(function, step)
        return step

    def _assignment(self, step: Step) -> Step:
        target, key, value = step.inputs
        if isinstance(value, Fixed) and isinstance(target, Place) and _is_number(value.value):
            place = self._constant(value.value, target.dtype)
            if place is not None:
                return replace(step, inputs=(target, key, place))
        return step

    def _call(self, function: np.ufunc, step: Step) -> Step:
        kinds: list[NumpyDType | type] = []
        for operand in step.inputs:
            if isinstance(operand, Place):
                kinds.append(operand.dtype)
            elif isinstance(operand, Fixed) and _is_number(operand.value):
                value = operand.value
                # Only these take the dtype of the operand beside them.
                weak = type(value) in (int, float, complex)
                kinds.append(type(value) if weak else np.asarray(value).dtype)
            else:
                return step
        try:
            found = function.resolve_dtypes((*kinds, step.outputs[0].dtype))
        except (TypeError, ValueError):
            return step
        inputs: list[Operand] = []
        for operand, dtype in zip(step.inputs, found, strict=False):
            if isinstance(operand, Fixed):
                weak = type(operand.value) in (int, float, complex)
                own = dtype if weak else np.asarray(operand.value).dtype
                place = self._constant(operand.value, own)
                if place is None:
                    return step
                inputs.append(place)
            else:
                inputs.append(operand)
        return replace(step, inputs=tuple(inputs))

    def _constant(self, value: object, dtype: NumpyDType) -> Place | None:
        """The place of a number, converted; None if it cannot be."""
        if dtype.hasobject or dtype.kind not in "biufc":
            return None
        lone = np.empty((), dtype)
        try:
            lone[...] = value
        except (TypeError, ValueError, OverflowError):
            return None
        content = np.frombuffer(lone.tobytes(), np.uint8)
        key = (dtype, content.tobytes())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = Place(len(self.buffers), dtype, (), (), 0)
            self.buffers.append(Buffer(Kind.CONSTANT, dtype.itemsize, content=content))
        return found


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool))


def _on_view(step: Step) -> Step:
    """An assignment to an index that makes a view, as one to all elements of the view."""
    target, key, value = step.inputs
    if not isinstance(key, Fixed) or not isinstance(target, Place) or key.value is ...:
        return step
    parts = key.value if isinstance(key.value, tuple) else (key.value,)
    if not all(x is None or x is ... or type(x) in (int, slice) for x in parts):
        return step
    if 0 in target.shape or (target,) != step.writes:
        return step
    if ... not in parts:
        parts = (*parts, ...)
    low, high = extent(target)
    whole = np.ndarray(
        target.shape,
        target.dtype,
        np.empty(high - low, np.uint8),
        target.offset - low,
        target.strides,
    )
    view = whole[parts]
    if 0 in view.shape:
        return step
    moved = target.offset + view.ctypes.data - whole.ctypes.data
    place = Place(target.buffer, target.dtype, view.shape, view.strides, moved)
    return replace(step, inputs=(place, Fixed(...), value), writes=(place,))

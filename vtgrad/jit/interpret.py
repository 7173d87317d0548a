"""The meaning of a program: each step as the call that was recorded, with no preparation.

It is the measure for whatever else runs programs, and is used by the checks of a new recording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vtgrad.jit.steps import Fixed, Kind, Line, Operand, Place, Program, Step
from vtgrad.storage.arrays import Array

__all__ = ["GuardFailed", "array_at", "call", "interpret", "memory_of", "same_value"]


class GuardFailed(Exception):
    """A value differs from the recorded one.

    Attributes
    ----------
    number : int
        The number of the guard in the program; -1 if the shape of a result differs.
    line : Line or None
        The user's line of the step whose result has another shape.
    """

    def __init__(self, number: int, line: Line | None = None) -> None:
        super().__init__(number)
        self.number = number
        self.line = line


def interpret(
    program: Program, arguments: Sequence[Array], outside: Sequence[Array] = ()
) -> list[Array]:
    """Run a program on arguments, and return copies of its results.

    Parameters
    ----------
    program : Program
        What is run.
    arguments, outside : sequence of numpy.ndarray
        The memory of the buffers of these kinds, as one-dimensional arrays of bytes. What the
        program writes is written there.

    Raises
    ------
    GuardFailed
        If a value, or the shape of a result, differs from the recorded one. Memory may have been
        written by then.
    """
    memory = memory_of(program, arguments, outside)
    guards = iter(enumerate(program.guards))
    due = next(guards, None)
    for number, step in enumerate([*program.steps, None]):
        while due is not None and due[1].before <= number:
            position, guard = due
            found = guard.function(*[value_of(x, memory) for x in guard.inputs])
            if not same_value(found, guard.value):
                raise GuardFailed(position)
            due = next(guards, None)
        if step is not None:
            call(step, memory)
    return [array_at(place, memory).copy("K") for place in program.results]


def memory_of(
    program: Program, arguments: Sequence[Array], outside: Sequence[Array] = ()
) -> list[Array]:
    """The bytes of each buffer; those of fresh ones are new and not yet written."""
    memory: list[Array] = []
    for buffer in program.buffers:
        if buffer.kind is Kind.ARGUMENT:
            memory.append(arguments[buffer.position])
        elif buffer.kind is Kind.OUTSIDE:
            memory.append(outside[buffer.position])
        elif buffer.kind is Kind.CONSTANT:
            assert buffer.content is not None
            memory.append(buffer.content)
        else:
            memory.append(np.empty(buffer.nbytes, np.uint8))
    return memory


def array_at(place: Place, memory: Sequence[Array]) -> Array:
    """The array at a place."""
    if 0 in place.shape:
        return np.ndarray(place.shape, place.dtype)
    return np.ndarray(place.shape, place.dtype, memory[place.buffer], place.offset, place.strides)


def value_of(operand: Operand, memory: Sequence[Array]) -> object:
    """The argument that stands for an operand."""
    if isinstance(operand, Place):
        return array_at(operand, memory)
    if isinstance(operand, Fixed):
        return operand.value
    return operand.type([value_of(part, memory) for part in operand.parts])


def call(step: Step, memory: Sequence[Array]) -> None:
    """Run one step."""
    inputs = [value_of(x, memory) for x in step.inputs]
    keywords = {name: value_of(x, memory) for name, x in step.keywords}
    outputs = tuple([array_at(place, memory) for place in step.outputs])
    function = step.function
    if outputs and isinstance(getattr(function, "__self__", function), np.ufunc):
        function(*inputs, **keywords, out=outputs)
        return
    found = function(*inputs, **keywords)
    if outputs:
        parts = found if isinstance(found, (tuple, list)) else (found,)
        for output, part in zip(outputs, parts, strict=True):
            if np.shape(part) != output.shape:
                # The values decide the shape, as of `numpy.nonzero`.
                raise GuardFailed(-1, step.line)
            np.copyto(output, part, casting="no")


def same_value(a: object, b: object) -> bool:
    """Whether two Python values or NumPy scalars have one type and the same bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, (float, complex, np.generic)):
        return np.asarray(a).tobytes() == np.asarray(b).tobytes()
    return a == b

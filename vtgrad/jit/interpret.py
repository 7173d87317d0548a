"""The meaning of a program: each step as the call that was recorded, with no preparation.

It is the measure for whatever else runs programs, and is used by the checks of a new recording.

Note [Each step is rechecked]

A call of NumPy may read what no step has written: bytes that came by memoryview, by DLPack, by
ctypes or from C code, or that lie elsewhere than the recording takes them to lie. Runs of the whole
program show that only where it reaches a result, and ``where(x > 100, y, x)`` may hide it for all
values that are tried. So a recording notes a checksum of what each step and each guard reads, just
before the call, and a run of its steps notes the same. Where they begin to differ is the call that
reads otherwise, with its line.

A program may read the rest of an ``empty``, if it never uses what comes of it. So that checksums
are equal there too, memory that nothing has written holds `UNWRITTEN` in both runs. The padding of
extended precision has any bits, and is left out.
"""

from __future__ import annotations

from array import array as numbers
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np

from vtgrad.jit.steps import Fixed, Group, Guard, Kind, Line, Operand, Place, Program, Step
from vtgrad.jit.values import bits_of
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = [
    "Checksums",
    "GuardFailed",
    "array_at",
    "call",
    "checksum",
    "in_order",
    "interpret",
    "memory_of",
    "same_value",
    "unwritten",
]

# What each step and each guard has read, in their order: see Note [Each step is rechecked].
Checksums: TypeAlias = "numbers[int]"

# The types of NumPy say that arrays are buffers from Python 3.12 on only.
_crc32: Final[Callable[..., int]] = crc32

# Each byte of memory that nothing has written. As a bool it is True.
UNWRITTEN: Final = 1


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
    program: Program,
    arguments: Sequence[Array],
    outside: Sequence[Array] = (),
    reads: Checksums | None = None,
) -> list[Array]:
    """Run a program on arguments, and return copies of its results.

    Parameters
    ----------
    program : Program
        What is run.
    arguments, outside : sequence of numpy.ndarray
        The memory of the buffers of these kinds, as one-dimensional arrays of bytes. What the
        program writes is written there.
    reads : array of int, optional
        Gets the checksums of what is read.

    Raises
    ------
    GuardFailed
        If a value, or the shape of a result, differs from the recorded one. Memory may have been
        written by then.
    """
    memory = memory_of(program, arguments, outside)
    for number, event in in_order(program):
        inputs = [value_of(x, memory) for x in event.inputs]
        if isinstance(event, Step):
            keywords = {name: value_of(x, memory) for name, x in event.keywords}
            if reads is not None:
                found = _read(event.inputs, inputs, event.writes, 0)
                if keywords:
                    operands = [x for _, x in event.keywords]
                    found = _read(operands, list(keywords.values()), event.writes, found)
                reads.append(found)
            _apply(event, inputs, keywords, memory)
        else:
            if reads is not None:
                reads.append(_read(event.inputs, inputs, (), 0))
            if not same_value(event.function(*inputs), event.value):
                raise GuardFailed(number)
    return [array_at(place, memory).copy("K") for place in program.results]


def in_order(program: Program) -> Iterator[tuple[int, Step | Guard]]:
    """The steps and the guards in the order in which they run, each with its number."""
    guards = iter(enumerate(program.guards))
    due = next(guards, None)
    for number, step in enumerate(program.steps):
        while due is not None and due[1].before <= number:
            yield due
            due = next(guards, None)
        yield number, step
    while due is not None:
        yield due
        due = next(guards, None)


def checksum(array: Array, before: int) -> int:
    """The checksum of an array behind that of another one; 0 is that of nothing."""
    if array.flags.c_contiguous and array.dtype.char not in "gG":
        return _crc32(array, before)
    return _crc32(bits_of(array), before)


def _read(
    operands: Sequence[Operand], values: Sequence[object], written: Sequence[Place], before: int
) -> int:
    """The checksum of the arrays among values, without those that are only written."""
    for operand, value in zip(operands, values, strict=True):
        if type(operand) is Place:
            if not written or operand not in written:
                assert isinstance(value, np.ndarray)
                before = checksum(value, before)
        elif type(operand) is Group:
            assert isinstance(value, (list, tuple))
            before = _read(operand.parts, value, written, before)
    return before


@cache
def unwritten(dtype: NumpyDType) -> np.generic:
    """A number all of whose bytes are `UNWRITTEN`."""
    found: np.generic = np.full(dtype.itemsize, UNWRITTEN, np.uint8).view(dtype)[0]
    return found


def memory_of(
    program: Program, arguments: Sequence[Array], outside: Sequence[Array] = ()
) -> list[Array]:
    """The bytes of each buffer; those of fresh ones are new, and nothing has written them."""
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
            fresh: Array = np.empty(buffer.nbytes, np.uint8)
            fresh.fill(UNWRITTEN)
            memory.append(fresh)
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
    _apply(step, inputs, {name: value_of(x, memory) for name, x in step.keywords}, memory)


def _apply(
    step: Step, inputs: list[object], keywords: dict[str, object], memory: Sequence[Array]
) -> None:
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
        return bits_of(np.asarray(a)) == bits_of(np.asarray(b))
    return a == b

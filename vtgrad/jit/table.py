"""A program as a table of calls on arrays that are made once.

Note [The table]

An entry is a function and its arguments, and running is calling one after the other. The arrays lie
in the arena, see Note [Memory of a run]. Ufuncs get their results as arguments, behind the others;
what takes no ``out`` is called, and its result is copied.

A guard is an entry too, which raises `GuardFailed`, and so is a chain of floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from vtgrad.jit.effects import copied
from vtgrad.jit.float_chains import Chain, computed
from vtgrad.jit.interpret import GuardFailed, same_value
from vtgrad.jit.memory import Layout, lifetimes
from vtgrad.jit.steps import Fixed, Guard, Line, Operand, Place, Program, Step
from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = ["Arrays", "Entry", "check_of", "entry_of", "run_table", "table_of"]

Entry: TypeAlias = tuple[Callable[..., object], tuple[object, ...]]

# Arguments of a reduction, in the order in which NumPy takes them, and those that are left out.
_OF_REDUCE: Final = {"axis": 0, "dtype": None, "out": None, "keepdims": False}
_OF_ACCUMULATE: Final = {"axis": 0, "dtype": None, "out": None}

# NumPy warns of a result that is not given by name.
_BY_NAME: Final = frozenset({np.maximum, np.minimum})


class Arrays:
    """The arrays at the places of a program."""

    __slots__ = ("_arena", "_layout", "_made", "_program")

    _program: Program
    _layout: Layout
    _arena: Array
    # Loops of a program come back to the same places.
    _made: dict[tuple[int, NumpyDType, Shape, Shape], Array]

    def __init__(self, program: Program, layout: Layout, arena: Array) -> None:
        self._program = program
        self._layout = layout
        self._arena = arena
        self._made = {}

    def at(self, place: Place) -> Array:
        """The array at a place."""
        if 0 in place.shape:
            return np.ndarray(place.shape, place.dtype)
        start = self._layout.offsets[place.buffer] + place.offset
        key = (start, place.dtype, place.shape, place.strides)
        found = self._made.get(key)
        if found is None:
            found = np.ndarray(place.shape, place.dtype, self._arena, start, place.strides)
            self._made[key] = found
        return found

    def of_buffer(self, number: int) -> Array:
        """The bytes of a buffer."""
        start = self._layout.offsets[number]
        return self._arena[start : start + self._program.buffers[number].nbytes]

    def chain(self, first: int, stop: int, last: dict[int, int]) -> Entry:
        """The entry of a chain of floats; `last` has the last step that meets each buffer."""
        program = self._program
        steps = program.steps[first:stop]
        offsets = self._layout.offsets
        chain = computed(steps, program.buffers, offsets, lambda buffer: last[buffer] >= stop)
        table = [entry_of(step, self) for step in steps]
        return _run_chain, (chain, self._arena.data.cast("d"), table)

    def value(self, operand: Operand) -> object:
        """The argument that stands for an operand."""
        if type(operand) is Place:
            return self.at(operand)
        if isinstance(operand, Fixed):
            return operand.value
        assert not isinstance(operand, Place)
        return operand.type([self.value(part) for part in operand.parts])


def table_of(program: Program, arrays: Arrays, chains: Mapping[int, int]) -> list[Entry]:
    """The entries of steps and guards, in the order in which they run.

    Parameters
    ----------
    program : Program
        What is run.
    arrays : Arrays
        The arrays at its places.
    chains : mapping of int to int
        For the first step of each chain of floats, the first one after it.
    """
    found: list[Entry] = []
    guards = list(enumerate(program.guards))[::-1]
    last = lifetimes(program)[1] if chains else {}
    number = 0
    while number < len(program.steps):
        while guards and guards[-1][1].before <= number:
            found.append(check_of(*guards.pop(), arrays))
        stop = chains.get(number)
        if stop is None:
            found.append(entry_of(program.steps[number], arrays))
            number += 1
        else:
            found.append(arrays.chain(number, stop, last))
            number = stop
    while guards:
        found.append(check_of(*guards.pop(), arrays))
    return found


def run_table(table: list[Entry]) -> None:
    """Run all entries."""
    for function, arguments in table:
        function(*arguments)


def check_of(number: int, guard: Guard, arrays: Arrays) -> Entry:
    """The entry of a guard."""
    return _check, (number, guard.function, tuple(map(arrays.value, guard.inputs)), guard.value)


def _check(
    number: int, function: Callable[..., object], arguments: tuple[object, ...], expected: object
) -> None:
    if not same_value(function(*arguments), expected):
        raise GuardFailed(number)


def _run_chain(chain: Chain, memory: memoryview, table: list[Entry]) -> None:
    """Compute a chain; by NumPy where floats of Python do not do what it does."""
    try:
        done = chain(memory)
    except (ZeroDivisionError, ValueError) as error:
        if not _is_of_callee(error):
            raise
        done = False
    if not done:
        run_table(table)


def _is_of_callee(error: Exception) -> bool:
    """Whether the function that was called has raised an error itself, and no signal handler."""
    # Of the frame that caught it, of the one that was called, of a handler.
    frames = error.__traceback__
    called = None if frames is None else frames.tb_next
    return called is not None and called.tb_next is None


def entry_of(step: Step, arrays: Arrays) -> Entry:
    """The entry of a step."""
    function = step.function
    copy = copied(step)
    if copy is not None:
        return operator.setitem, (arrays.at(copy[0]), ..., arrays.at(copy[1]))
    inputs = tuple(map(arrays.value, step.inputs))
    outputs = tuple(map(arrays.at, step.outputs))
    keywords = {name: arrays.value(x) for name, x in step.keywords}
    if not outputs:
        return (partial(function, **keywords) if keywords else function), inputs
    if isinstance(function, np.ufunc):
        if not keywords and function not in _BY_NAME:
            return function, inputs + outputs
        return partial(function, out=outputs, **keywords), inputs
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return _of_method(function, inputs, keywords, outputs)
    function = partial(function, **keywords) if keywords else function
    return _store, (function, inputs, outputs, step.line)


def _of_method(
    function: Callable[..., object],
    inputs: tuple[object, ...],
    keywords: dict[str, object],
    outputs: tuple[Array, ...],
) -> Entry:
    """The entry of a method of a ufunc: names cost more than positions."""
    defaults = {"reduce": _OF_REDUCE, "accumulate": _OF_ACCUMULATE}.get(function.__name__)
    if defaults is None or not keywords.keys() <= defaults.keys():
        return partial(function, out=outputs, **keywords), inputs
    given = dict(zip(defaults, inputs[1:], strict=False)) | keywords | {"out": outputs[0]}
    return function, (inputs[0], *[given.get(name, x) for name, x in defaults.items()])


def _store(
    function: Callable[..., object],
    inputs: tuple[object, ...],
    outputs: tuple[Array, ...],
    line: Line | None,
) -> None:
    """Call a function, and copy what it returns, if it has the recorded shape.

    Values may decide the shape, as of `numpy.nonzero`. A copy would repeat a single element.
    """
    found = function(*inputs)
    parts = found if isinstance(found, (tuple, list)) else (found,)
    for output, part in zip(outputs, parts, strict=True):
        if part is not output:
            if np.shape(part) != output.shape:
                raise GuardFailed(-1, line)
            np.copyto(output, part, casting="no")

"""Programs for tests: a builder that runs NumPy and writes down what it was asked to do."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from vtgrad.jit.interpret import array_at
from vtgrad.jit.steps import (
    Buffer,
    Fixed,
    Group,
    Guard,
    Kind,
    Operand,
    Place,
    Program,
    Step,
)
from vtgrad.storage.arrays import Array, Shape


class Builder:
    """Writes a program down while it is run."""

    def __init__(self) -> None:
        self.program = Program()
        self.memory: list[Array] = []

    def _buffer(self, kind: Kind, array: Array, name: str | None = None) -> Place:
        position = -1
        if kind in (Kind.ARGUMENT, Kind.OUTSIDE):
            position = sum(buffer.kind is kind for buffer in self.program.buffers)
        raw = np.array(array, order="C", copy=True).reshape(-1).view(np.uint8)
        content = raw.copy() if kind is Kind.CONSTANT else None
        self.program.buffers.append(Buffer(kind, raw.size, position, content, name))
        self.memory.append(raw)
        place = Place(len(self.memory) - 1, array.dtype, array.shape, (), 0)
        return Place(place.buffer, array.dtype, array.shape, _c_strides(array), 0)

    def argument(self, array: Array, name: str | None = None) -> Place:
        return self._buffer(Kind.ARGUMENT, array, name)

    def outside(self, array: Array, name: str | None = None) -> Place:
        return self._buffer(Kind.OUTSIDE, array, name)

    def constant(self, array: Array) -> Place:
        return self._buffer(Kind.CONSTANT, array)

    def empty(self, shape: Shape, dtype: object = np.float64, name: str | None = None) -> Place:
        return self._buffer(Kind.FRESH, np.zeros(shape, dtype), name)

    def view(self, place: Place, function: Callable[[Array], Array]) -> Place:
        array = array_at(place, self.memory)
        found = function(array)
        assert isinstance(found, np.ndarray)
        shift = found.__array_interface__["data"][0] - array.__array_interface__["data"][0]
        return Place(place.buffer, found.dtype, found.shape, found.strides, place.offset + shift)

    def at(self, place: Place, *key: object) -> Place:
        index = cast("tuple[int, ...]", (*key, ...))
        return self.view(place, lambda array: array[index])

    def value(self, operand: Operand) -> object:
        if isinstance(operand, Place):
            return array_at(operand, self.memory)
        if isinstance(operand, Fixed):
            return operand.value
        return operand.type([self.value(part) for part in operand.parts])

    def call(
        self,
        function: Callable[..., object],
        *inputs: object,
        out: Place | None = None,
        name: str | None = None,
        **keywords: object,
    ) -> Place:
        """One step with one result, to a new buffer or to a place."""
        operands = tuple(map(_operand, inputs))
        named = tuple([(key, _operand(value)) for key, value in keywords.items()])
        values = [self.value(x) for x in operands]
        with np.errstate(all="ignore"):
            found = np.asarray(function(*values, **{k: self.value(x) for k, x in named}))
            if out is None:
                out = self._buffer(Kind.FRESH, np.asarray(found), name)
            np.copyto(array_at(out, self.memory), found, casting="unsafe")
        line = (__file__, sys._getframe(1).f_lineno)
        self.program.steps.append(Step(function, operands, named, (out,), (), line))
        return out

    def set(self, target: Place, value: object, key: object = ...) -> None:
        operands = (target, Fixed(key), _operand(value))
        operator.setitem(*[self.value(x) for x in operands])  # type: ignore[call-overload]
        line = (__file__, sys._getframe(1).f_lineno)
        self.program.steps.append(Step(operator.setitem, operands, (), (), (target,), line))

    def run(
        self, function: Callable[..., object], *inputs: object, writes: Sequence[Place]
    ) -> None:
        operands = tuple(map(_operand, inputs))
        function(*[self.value(x) for x in operands])
        self.program.steps.append(Step(function, operands, (), (), tuple(writes)))

    def guard(self, function: Callable[..., object], *inputs: object) -> None:
        operands = tuple(map(_operand, inputs))
        value = function(*[self.value(x) for x in operands])
        self.program.guards.append(Guard(len(self.program.steps), function, operands, value))

    def returns(self, *places: Place) -> Program:
        self.program.results.extend(places)
        return self.program


def _c_strides(array: Array) -> Shape:
    return np.empty(array.shape, array.dtype).strides


def _operand(value: object) -> Operand:
    if isinstance(value, (Place, Fixed, Group)):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(part, Place) for part in value):
        return Group(type(value), tuple(map(_operand, value)))
    return Fixed(value)

"""Programs that are written by hand."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtgrad.jit.steps import Buffer, Fixed, Kind, Operand, Place, Program, Step

__all__ = ["F8", "array_place", "bytes_of", "fill", "program_of_one", "store", "vector"]

F8 = np.dtype(np.float64)


def vector(buffer: int, count: int = 4, start: int = 0) -> Place:
    """So many float64 in a row."""
    return Place(buffer, F8, (count,), (8,), 8 * start)


def store(target: Place, value: Operand) -> Step:
    """An assignment to all elements."""
    return Step(operator.setitem, (target, Fixed(...), value), writes=(target,))


def fill(target: Place, value: float) -> Step:
    return store(target, Fixed(value))


def array_place(buffer: int, memory: NDArray[Any], array: NDArray[Any]) -> Place:
    """Where an array lies in the memory of a buffer."""
    offset = array.ctypes.data - memory.ctypes.data
    return Place(buffer, array.dtype, array.shape, array.strides, offset)


def bytes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)


def program_of_one(
    function: Any,
    arrays: list[NDArray[Any]],
    memories: list[NDArray[Any]],
    keywords: dict[str, object],
) -> Program:
    """One call with arguments in these memories, and a new result."""
    found = np.asarray(function(*arrays, **keywords))
    places = [array_place(i, m, a) for i, (a, m) in enumerate(zip(arrays, memories, strict=True))]
    out = Place(len(arrays), found.dtype, found.shape, np.empty_like(found).strides, 0)
    named = tuple([(name, Fixed(value)) for name, value in keywords.items()])
    return Program(
        [
            *[Buffer(Kind.ARGUMENT, m.nbytes, i) for i, m in enumerate(memories)],
            Buffer(Kind.FRESH, found.nbytes),
        ],
        [Step(function, tuple(places), named, (out,))],
        [],
        [out],
    )

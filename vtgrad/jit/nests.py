"""Loops over arrays of any strides: which ones, in which order.

Note [Order of loops]

Ufuncs that are in `EXACT` have the same bits in whatever order their elements are computed, so the
dimensions are sorted by the strides of the result and joined where all strides allow it. The others
are computed in one loop over all elements, with the strides that NumPy gives to it, or not here:
their code for a vector of elements may round otherwise than that for one element.

A sum is computed in NumPy's order: the dimensions are sorted by the strides of the operand, joined,
and the one with the smallest stride is the inner loop, which sums in pairs if it is summed over.
Where that order would depend on more than the strides, as with axes that run backwards, the sum is
left to NumPy; and so are large ones for a NumPy that sums parts of them.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from vtgrad.jit.steps import Place
from vtgrad.storage.arrays import Shape

__all__ = [
    "MOST_OUTER",
    "Nest",
    "are_apart",
    "contiguous",
    "is_distinct",
    "nest",
    "one_loop",
    "spread",
    "sum_nest",
]

# Of the loops around the inner one; `_steps.c` has no room for more.
MOST_OUTER: Final = 8

# Before 2.4, NumPy may sum parts of this size by themselves, also of an array without gaps.
_SUMS_PARTS: Final = np.lib.NumpyVersion(np.__version__) < "2.4.0"
_BUFFER: Final = 8192

# A dimension: its size, and the stride of each operand.
Dimension: TypeAlias = tuple[int, Shape]


class Nest(NamedTuple):
    """Loops, the innermost of which is NumPy's or a copy.

    Attributes
    ----------
    sizes : tuple of int
        Of the loops around, the innermost first.
    steps : tuple of tuple of int
        For each operand, its strides in them.
    length : int
        The elements of the inner loop.
    inner : tuple of int
        The stride of each operand in it.
    """

    sizes: Shape
    steps: tuple[Shape, ...]
    length: int
    inner: Shape


def spread(place: Place, shape: Shape) -> Shape | None:
    """The strides of an operand that is broadcast to a shape; None if it has another shape."""
    missing = len(shape) - len(place.shape)
    if missing < 0:
        return None
    if place.shape == shape:
        return place.strides
    strides = [0] * missing
    for have, want, stride in zip(place.shape, shape[missing:], place.strides, strict=True):
        if have != want and have != 1:
            return None
        strides.append(0 if have == 1 else stride)
    return tuple(strides)


def is_distinct(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether each element certainly has memory of its own."""
    reach = itemsize
    for stride, size in sorted(zip(map(abs, strides), shape, strict=True)):
        if size > 1:
            if stride < reach:
                return False
            reach += stride * (size - 1)
    return True


def are_apart(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two intervals of bytes have none in common."""
    return a[1] <= b[0] or b[1] <= a[0]


def _joined(dimensions: list[Dimension]) -> list[Dimension]:
    """Dimensions, the innermost first, of which two became one where all strides allow it."""
    found: list[Dimension] = []
    for size, strides in dimensions:
        if found:
            last, inner = found[-1]
            if all(s == i * last for s, i in zip(strides, inner, strict=True)):
                found[-1] = (last * size, inner)
                continue
        found.append((size, strides))
    return found


def _as_nest(dimensions: list[Dimension], operands: int) -> Nest | None:
    if not dimensions:
        return Nest((), ((),) * operands, 1, (0,) * operands)
    (count, inner), outer = dimensions[0], dimensions[1:]
    if len(outer) > MOST_OUTER:
        return None
    steps = tuple([tuple([strides[k] for _, strides in outer]) for k in range(operands)])
    return Nest(tuple([size for size, _ in outer]), steps, count, inner)


def nest(shape: Shape, strides: tuple[Shape, ...], leader: int) -> Nest | None:
    """Loops over a shape in the order of the strides of one operand.

    Parameters
    ----------
    shape : tuple of int
        The elements.
    strides : tuple of tuple of int
        Those of each operand.
    leader : int
        The number of the operand whose strides decide.
    """
    dimensions = [
        (size, tuple([s[i] for s in strides])) for i, size in enumerate(shape) if size != 1
    ]
    dimensions.sort(key=lambda dimension: abs(dimension[1][leader]))
    return _as_nest(_joined(dimensions), len(strides))


def contiguous(place: Place, backwards: bool) -> bool:
    """Whether the elements lie one behind the other, the first index fastest if `backwards`."""
    expected = place.dtype.itemsize
    dimensions = list(zip(place.shape, place.strides, strict=True))
    for size, stride in dimensions if backwards else reversed(dimensions):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def one_loop(operands: tuple[Place, ...]) -> Nest | None:
    """The loop that NumPy makes over all elements at once; None if it makes another one.

    The last operand is the result.
    """
    out = operands[-1]
    dimensions = len(out.shape)
    count = 1
    for size in out.shape:
        count *= size
    inner: list[int] = []
    forwards = backwards = True
    for place in operands:
        if not place.shape and place is not out:
            inner.append(0)
            continue
        if place.shape != out.shape:
            return None
        if dimensions == 1:
            inner.append(place.strides[0])
        else:
            inner.append(place.dtype.itemsize)
            forwards = forwards and contiguous(place, False)
            backwards = backwards and contiguous(place, True)
    if dimensions > 1 and not (forwards or backwards):
        return None
    if inner[-1] < out.dtype.itemsize:
        return None
    return Nest((), ((),) * len(operands), count, tuple(inner))


def sum_nest(place: Place, out: Place, axes: frozenset[int]) -> Nest | None:
    """Loops of a sum over axes, for the operands result, operand, result; None if NumPy sums."""
    if min(place.strides, default=0) < 0 or min(out.strides, default=0) < 0:
        return None
    kept = [i for i in range(len(place.shape)) if i not in axes]
    if len(out.shape) == len(place.shape):
        into = list(out.strides)
    elif len(out.shape) == len(kept):
        into = [0] * len(place.shape)
        for i, stride in zip(kept, out.strides, strict=True):
            into[i] = stride
    else:
        return None
    dimensions: list[Dimension] = []
    for i, size in enumerate(place.shape):
        if size == 1:
            continue
        step = 0 if i in axes else into[i]
        if place.strides[i] == 0:
            return None
        dimensions.append((size, (step, place.strides[i], step)))
    dimensions.sort(key=lambda dimension: dimension[1][1])
    # The order would be another one if the result asked for it.
    steps = [step for _, (step, _, _) in dimensions if step]
    if steps != sorted(steps) or len({s for _, (_, s, _) in dimensions}) != len(dimensions):
        return None
    loops = _joined(dimensions)
    if loops and not loops[0][1][0] and _SUMS_PARTS:
        if math.prod(size for size, _ in loops) > _BUFFER:
            return None
    # An inner sum beside another one: NumPy sums parts of its buffer.
    if len(loops) > 1 and not loops[0][1][0] and any(not step for _, (step, _, _) in loops[1:]):
        return None
    return _as_nest(loops, 3)

"""Sizes and strides as the model sees them: written anew, so that it can disagree.

The suite's oracle must not borrow the arithmetic of the library that it judges. Everything here
is a formula on sizes, strides and an offset.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Geometry", "IntArray", "ViewRefusedError", "contiguous", "follow", "reshaped"]

IntArray = npt.NDArray[np.intp]


class ViewRefusedError(Exception):
    """The view does not exist; ``kind`` says in which way."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class Geometry:
    """Where the elements of a tensor lie in its buffer."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def cells(self) -> IntArray:
        """Cell number of every element, in the tensor's shape."""
        cells = np.full(self.shape, self.offset, dtype=np.intp)
        for dim, (size, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            steps = np.arange(size, dtype=np.intp) * stride
            cells += steps.reshape((size,) + (1,) * (len(self.shape) - dim - 1))
        return cells

    @property
    def is_contiguous(self) -> bool:
        """Row-major without gaps; the stride of a dimension of size one does not matter."""
        if not self.numel:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    @property
    def is_dense(self) -> bool:
        """Whether the elements fill a run of cells, each exactly once, in some order."""
        if not self.numel:
            return True
        expected = 1
        for stride, size in sorted(
            (stride, size)
            for size, stride in zip(self.shape, self.strides, strict=True)
            if size != 1
        ):
            if stride != expected:
                return False
            expected *= size
        return True

    def places_as(self, other: "Geometry") -> bool:
        """Whether it has its elements where another geometry of the same shape has them."""
        strides = zip(self.shape, self.strides, other.strides, strict=True)
        return self.offset == other.offset and all(n == 1 or a == b for n, a, b in strides)

    @property
    def repeats_cells(self) -> bool:
        """Whether two elements are the same cell."""
        cells = self.cells().ravel()
        return len(np.unique(cells)) < cells.size


def contiguous(shape: Sequence[int], offset: int = 0) -> Geometry:
    """Row-major geometry of `shape`."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return Geometry(tuple(shape), tuple(reversed(strides)), offset)


def follow(shape: tuple[int, ...], operands: Sequence[Geometry]) -> Geometry:
    """Geometry of a fresh result of `shape` that keeps the memory order of its operands.

    Dimensions are sorted by the operands' strides, from the innermost outwards. An operand that
    is broadcast along one of two dimensions has no opinion on their order; the first operand
    with an opinion decides; without one, row-major order stays.
    """
    if not math.prod(shape):
        return contiguous(shape)
    same = [g for g in operands if g.shape == shape]
    if len(same) == len(operands):
        if all(g.is_contiguous for g in same):
            return contiguous(shape)
        if all(g.is_dense and g.strides == same[0].strides for g in same):
            return Geometry(shape, same[0].strides)
    stretched = [_stretched(g, shape) for g in operands]
    order = list(range(len(shape)))[::-1]  # innermost first
    for start in range(1, len(order)):
        here = start
        for below in range(start - 1, -1, -1):
            verdict = _compare(order[below], order[here], shape, stretched)
            if verdict > 0:
                order[below], order[here] = order[here], order[below]
                here = below
            elif verdict < 0:
                break
    strides = [0] * len(shape)
    step = 1
    for dim in order:
        strides[dim] = step
        step *= shape[dim]
    return Geometry(shape, tuple(strides))


def _stretched(operand: Geometry, shape: tuple[int, ...]) -> tuple[int, ...]:
    missing = len(shape) - len(operand.shape)
    own = (
        0 if size == 1 and shape[missing + dim] != 1 else stride
        for dim, (size, stride) in enumerate(zip(operand.shape, operand.strides, strict=True))
    )
    return (0,) * missing + tuple(own)


def _compare(
    inner: int, outer: int, shape: tuple[int, ...], operands: Sequence[tuple[int, ...]]
) -> int:
    """Positive when the two dimensions must change places, negative when they must not."""
    for strides in operands:
        one, other = strides[inner], strides[outer]
        if one == 0 or other == 0:
            continue
        if one != other:
            return -1 if one < other else 1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def reshaped(g: Geometry, shape: tuple[int, ...]) -> Geometry | None:
    """Return the view of `g` in another shape, or None where only a copy can have it."""
    if math.prod(shape) != g.numel:
        raise ViewRefusedError("shape")
    if g.numel == 0:
        return contiguous(shape, g.offset) if shape != g.shape else g
    # Cut the old dimensions, from the last one on, into runs that one stride can walk, and give
    # each run to the new dimensions that fill it.
    strides = [0] * len(shape)
    new = len(shape) - 1
    length = step = 1
    base = g.strides[-1] if g.strides else 1
    for dim in range(len(g.shape) - 1, -1, -1):
        length *= g.shape[dim]
        if dim and (g.shape[dim - 1] == 1 or g.strides[dim - 1] == length * base):
            continue
        while new >= 0 and (step < length or shape[new] == 1):
            strides[new] = step * base
            step *= shape[new]
            new -= 1
        if step != length:
            return None
        if dim:
            base = g.strides[dim - 1]
            length = step = 1
    while new >= 0:  # only ones are left, and only when `g` has no dimensions
        strides[new] = 1
        new -= 1
    return Geometry(shape, tuple(strides), g.offset)

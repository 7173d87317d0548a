"""Where a slice of a dimension begins, and how long it is."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from ..errors import ArgumentValueError

__all__ = ["slice_bounds"]


def slice_bounds(
    size: int, start: SupportsIndex | None, end: SupportsIndex | None, step: SupportsIndex
) -> tuple[int, int]:
    """Where a slice starts in a dimension of `size`, and how many elements it takes.

    Bounds outside the dimension are clamped, as in Python.

    Raises
    ------
    ArgumentValueError
        If `step` is not positive.
    """
    stride: int = step if type(step) is int else operator.index(step)
    if stride <= 0:
        raise ArgumentValueError(f"a slice's step must be positive, got {step}", step=step)
    first: int = 0 if start is None else start if type(start) is int else operator.index(start)
    last: int = size if end is None else end if type(end) is int else operator.index(end)
    if first < 0:
        first = max(first + size, 0)
    elif first > size:
        first = size
    if last < 0:
        last += size
    elif last > size:
        last = size
    if last <= first:
        return first, 0
    return first, (last - first + stride - 1) // stride

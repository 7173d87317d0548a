# Compiled by mypyc.
"""Start and length of a slice of a dimension."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from vtgrad.errors import ArgumentValueError

__all__ = ["slice_bounds", "slice_of"]


def slice_bounds(
    size: int, start: SupportsIndex | None, end: SupportsIndex | None, step: SupportsIndex
) -> tuple[int, int]:
    """Start and number of elements of a slice of a dimension of `size`.

    Bounds outside the dimension are clamped, as in Python. With a negative step the slice starts
    at its highest element.

    Raises
    ------
    ArgumentValueError
        If `step` is zero.

    Examples
    --------
    >>> slice_bounds(5, 1, None, 2)
    (1, 2)
    >>> slice_bounds(5, None, None, -2)
    (4, 3)
    """
    stride: int = step if type(step) is int else operator.index(step)
    if stride <= 0:
        if stride == 0:
            raise ArgumentValueError("a slice's step must not be zero", step=step)
        whole = range(*slice(start, end, stride).indices(size))
        return (whole.start, len(whole)) if whole else (0, 0)
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


def slice_of(first: int, count: int, step: int) -> slice:
    """NumPy's slice of `count` elements from `first` on.

    >>> slice_of(4, 3, -2)
    slice(4, None, -2)
    """
    end = first + count * step
    # A negative end would count from the back.
    return slice(first, end if end >= 0 else None, step)

"""Derivatives from values on both sides of a point."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from vtgrad.testing.jets import FloatArray

__all__ = ["remembered", "slopes"]

#: Distance of the points between which differences are taken, for numbers up to one.
_STEP = 1e-3

#: How far the slopes on both sides may be apart, for slopes up to one: further apart is a kink.
_KINK = 0.05

#: How far slopes over two distances may be apart: further apart is a jump.
_JUMP = 1e-3

#: Smaller slopes are taken for zero, which a gradient that is left out stands for.
_NOISE = 1e-7

#: Takes arrays, returns a flat one.
Function: TypeAlias = Callable[[Sequence[FloatArray]], FloatArray]


def slopes(function: Function, arrays: Sequence[FloatArray]) -> FloatArray:
    """Return the derivatives of all elements of a result by all elements of all arrays.

    Exact to the fourth order in the distance of the points. Where the slopes on the two sides
    differ, or those over two distances, so that there is no derivative, it is not a number.

    Returns
    -------
    ndarray
        A row for each element of the result, a column for each of the arrays.
    """
    middle = function(arrays)
    columns: list[FloatArray] = []
    changed = [array.copy() for array in arrays]
    for array in changed:
        flat = array.reshape(-1)
        for at, number in enumerate(flat.tolist()):
            step = _STEP * max(1.0, abs(number))
            found_at: list[FloatArray] = []
            for by in (1, -1, 2, -2):
                flat[at] = number + by * step
                found_at.append(function(changed))
            flat[at] = number
            if any(found.shape != middle.shape for found in found_at):
                columns.append(np.full(middle.size, np.nan))  # as of a selection by value
                continue
            above, below, far_above, far_below = found_at
            near, far = (above - below) / (2 * step), (far_above - far_below) / (4 * step)
            found = (4 * near - far) / 3
            apart = np.abs((above - middle) - (middle - below)) / step
            found[np.abs(found) < _NOISE] = 0.0
            size = np.maximum(1.0, np.abs(found))
            is_kink = (apart > _KINK * size) | (np.abs(near - far) > _JUMP * size)
            columns.append(np.where(is_kink, np.nan, found))
    return np.stack(columns, 1) if columns else np.zeros((middle.size, 0))


def remembered(function: Function) -> Function:
    """Return a function that does not ask the other one twice for arrays of the same numbers.

    Differences of differences come to nearly every point from two sides.
    """
    known: dict[tuple[bytes, ...], FloatArray] = {}

    def found(arrays: Sequence[FloatArray]) -> FloatArray:
        key = tuple([array.tobytes() for array in arrays])
        if key not in known:
            known[key] = function(arrays)
        return known[key]

    return found

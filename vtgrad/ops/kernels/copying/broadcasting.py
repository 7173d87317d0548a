# Compiled by mypyc.
"""Values broadcast to a shape, and the sum that is its derivative."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import ShapeError
from vtgrad.ops.kernels.reductions.reduce import reduce_into
from vtgrad.ops.kernels.support.elementwise import working
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Shape
from vtgrad.storage.long_sums import LONG_SUM

__all__ = ["expand_to", "sum_to_fresh", "sum_to_size"]


def sum_to_size(a: Array, size: Shape) -> Array:
    """The sum over every dimension in which `size` was broadcast to `a`'s shape.

    Without broadcasting, THE SAME ARRAY is returned, no copy. The dtype stays: this is the
    derivative of broadcasting, not the operator ``sum``.

    Raises
    ------
    ShapeError
        If `size` does not broadcast to `a`'s shape.
    """
    shape = a.shape
    if shape == size:
        return a
    missing = len(shape) - len(size)
    axes = list(range(missing))
    fits = missing >= 0
    if fits:
        for dim, own in enumerate(size, missing):
            if own != shape[dim]:
                axes.append(dim)
                fits = fits and own == 1
    if not fits:
        raise ShapeError(
            f"values of shape {shape} cannot be summed to shape {size}, which does not"
            " broadcast to it",
            shape=shape,
            size=size,
        )
    work = working(a.dtype)
    total: Array
    if a.size > LONG_SUM:
        # Not NumPy's sum, which loses digits: see Note [Long sums].
        total = reduce_into(np.add, a, tuple(axes), True, work).reshape(size)
    elif len(axes) == missing:
        # Only leading dimensions were added: summing over them gives the right shape.
        total = np.add.reduce(a, axis=tuple(axes), dtype=work)
    else:
        total = np.add.reduce(a, axis=tuple(axes), dtype=work, keepdims=True).reshape(size)
    if type(total) not in PLAIN or total.dtype != a.dtype:
        total = making.asarray(total, a.dtype)
    return total


def sum_to_fresh(self: Array, size: Shape) -> Array:
    """As `sum_to_size`, but never its argument itself."""
    result = sum_to_size(self, size)
    return result.copy() if result is self else result


def expand_to(self: Array, size: Shape) -> Array:
    """A copy, broadcast to `size`."""
    result: Array = making.array(making.broadcast_to(self, size))
    return result

"""Linear equations whose unknowns have several axes, as in `numpy.linalg`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from vtgrad.errors import LinAlgError
from vtgrad.numpy.operands import ArrayLike, as_array, of
from vtgrad.numpy.promotion import common_inexact, inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.solving import inv, solve
from vtgrad.ops.generated import functional as F

__all__ = ["tensorinv", "tensorsolve"]


def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> ndarray:
    """`numpy.linalg.tensorsolve` with derivatives.

    Raises
    ------
    LinAlgError
        If there are not as many equations as unknowns, or the equations are singular.
    """
    x, y = common_inexact(a, b)
    ndim = len(x.shape)
    if axes is not None:
        order = list(range(ndim))
        for axis in axes:
            order.remove(axis)
            order.append(axis)
        x = as_array(F.permute(x, order))
    # All axes if there are as many right sides, as in NumPy; then there is one element.
    unknowns = x.shape[-(ndim - len(y.shape)) :]
    size = prod(unknowns)
    if prod(x.shape) != size**2:
        raise LinAlgError(
            f"tensorsolve() needs as many equations as unknowns, not {prod(x.shape) // size} for "
            f"the {size} of shape {unknowns}"
            if size
            else "tensorsolve() has no unknowns"
        )
    found = solve(as_array(F.reshape(x, (size, size))), as_array(F.reshape(y, (size,))))
    return as_array(F.reshape(found, unknowns))


def tensorinv(a: ArrayLike, ind: int = 2) -> ndarray:
    """`numpy.linalg.tensorinv` with derivatives.

    Raises
    ------
    LinAlgError
        If the map is not invertible.
    ValueError
        If `ind` is not positive.
    """
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    x = inexact(of(a))
    first, last = x.shape[:ind], x.shape[ind:]
    if prod(first) != prod(last):
        raise LinAlgError(f"tensorinv() needs a square map, not of shape {last} to {first}")
    size = prod(last)
    return as_array(F.reshape(inv(as_array(F.reshape(x, (size, size)))), (*last, *first)))

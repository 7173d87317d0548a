"""Interpolation on a line."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.later.interpolation import interpolated
from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_rows
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, cast, of, of_numbers, value_of
from vtgrad.numpy.public_ndarray import ndarray

__all__ = ["interp"]

_FLOAT64: Final = np.dtype(np.float64)
_COMPLEX128: Final = np.dtype(np.complex128)


def _real(value: ArrayLike) -> ndarray:
    """A coordinate in float64.

    Raises
    ------
    TypeError
        If it is complex.
    """
    x = of_numbers(value)
    if x.dtype.kind == "c":
        raise TypeError("Cannot cast array data from complex128 to float64")
    return cast(x, _FLOAT64)


@function
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> ndarray:
    """The values of a function that is linear between points, at other points.

    Parameters
    ----------
    x : array_like
        Where the function is evaluated.
    xp : array_like
        The points, in ascending order unless `period` is given.
    fp : array_like
        The values there, real or complex.
    left, right : number, optional
        The values below the first point and above the last one; by default those there.
    period : float, optional
        The period of the function; `left` and `right` are then without meaning.

    Returns
    -------
    ndarray
        In float64 or complex128, of the shape of `x`, or a scalar. It is recorded in `x`, `xp`,
        `fp`, `left`, `right` and `period`. At a point the derivative in `x` is that of the right
        side, at the last one that of the left.

    Raises
    ------
    ValueError
        If there are no points, or not as many values, or the period is zero.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.interp(np.array([0.5, 3.0]), [0.0, 1.0, 2.0], [1.0, 3.0, 4.0])
    array([2., 4.])
    """
    if not any_differentiated(x, xp, fp, left, right, period):
        return on_values(np.interp, x, xp, fp, left, right, period)
    values = of_numbers(fp)
    values = cast(values, _COMPLEX128 if values.dtype.kind == "c" else _FLOAT64)
    where, points = _real(x), _real(xp)
    if points._impl.array.ndim != 1 or values._impl.array.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if not points.shape[0]:
        raise ValueError("array of sample points is empty")
    if points.shape != values.shape:
        raise ValueError("fp and xp are not of the same length")
    below, above = [None if end is None else of(end, values.dtype) for end in (left, right)]
    length = None if period is None else _real(period)
    if length is not None and not length._impl.key_set and not value_of(length).all():
        raise ValueError("period must be a non-zero value")
    return deliver(in_rows(interpolated(where, points, values, below, above, length)))

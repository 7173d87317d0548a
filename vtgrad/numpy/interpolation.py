"""Interpolation on a line.

Note [Interpolation without NaN in gradients]

The value is that at a point plus the slope times the distance from it. Between two points at one
place, and beside an infinite value where the distance is zero, the slope is zero. Outside of the
points, and at a NaN, the distance is zero. So no branch that is not taken makes a gradient NaN.

At a point the derivative is that of the right side, and at the last one that of the left.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.numpy.calculus import joined
from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_rows
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["interp"]

_FLOAT64: Final = np.dtype(np.float64)
_COMPLEX128: Final = np.dtype(np.complex128)
_INT64: Final = np.dtype(np.int64)


def _real(value: ArrayLike) -> ndarray:
    """A coordinate in float64.

    Raises
    ------
    TypeError
        If it is complex.
    """
    x = of(value)
    if x.dtype.kind == "c":
        raise TypeError("Cannot cast array data from complex128 to float64")
    return cast(x, _FLOAT64)


def _place_below(points: ndarray, x: ndarray) -> TensorBase:
    """The last point that is not above, the first one if there is none."""
    if not (points._impl.key_set or x._impl.key_set):
        below = np.searchsorted(value_of(points), value_of(x), "right") - 1
        return fresh(np.asarray(np.maximum(below, 0)))
    reached = F.to_dtype(F.le(points, F.unsqueeze(x, -1)), _INT64)
    count = F.sum_dim_IntList(reached, (reached._impl.array.ndim - 1,), False)
    last = points._impl.array.shape[0] - 1
    return F.where(F.isnan(x), last, F.clamp_min(F.sub(count, 1), 0))


def _between(x: ndarray, points: ndarray, values: ndarray) -> TensorBase:
    """The interpolated values; see Note [Interpolation without NaN in gradients]."""
    size = points._impl.array.shape[0]
    at = _place_below(points, x)
    start = F.clamp_min(F.clamp_max(at, size - 2), 0)
    end = F.clamp_max(F.add(start, 1), size - 1)
    # Beside a point at minus infinity the distance is that from the next one.
    base = F.take(points, at)
    at = F.where(F.logical_and(F.isinf(base), F.ne(x, base)), end, at)
    base = F.take(points, at)
    low, high = F.take(values, start), F.take(values, end)
    width = F.sub(F.take(points, end), F.take(points, start))
    inside = F.logical_and(F.ge(x, points[0]), F.le(x, points[-1]))
    inside = F.logical_and(inside, F.isfinite(base))
    distance = F.where(inside, F.sub(F.where(inside, x, 0.0), F.where(inside, base, 0.0)), 0.0)
    none = F.eq(width, 0)
    width = F.where(none, 1.0, width)
    rise = F.sub(high, low)
    stuck = F.logical_and(
        F.logical_not(F.isfinite(rise)), F.logical_or(F.eq(distance, 0), F.eq(low, high))
    )
    rise = F.where(F.logical_or(none, stuck), 0.0, rise)
    kind = values._impl.array.dtype
    slope = F.true_divide(rise, F.to_dtype(width, kind))
    return F.add(F.mul(slope, F.to_dtype(distance, kind)), F.take(values, at))


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
    values = of(fp)
    values = cast(values, _COMPLEX128 if values.dtype.kind == "c" else _FLOAT64)
    where, points = _real(x), _real(xp)
    if points._impl.array.ndim != 1 or values._impl.array.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if not points.shape[0]:
        raise ValueError("array of sample points is empty")
    if points.shape != values.shape:
        raise ValueError("fp and xp are not of the same length")
    if period is not None:
        where, points, values = _unrolled(where, points, values, _real(period))
        left = right = None
    kind = values.dtype
    below = values[0] if left is None else of(left, kind)
    above = values[-1] if right is None else of(right, kind)
    inner = _between(where, points, values)
    if points.shape[0] > 1:
        inner = F.where(F.isnan(where), fresh(np.asarray(np.nan, kind)), inner)
    inner = F.where(F.gt(where, points[-1]), above, inner)
    return deliver(in_rows(F.where(F.lt(where, points[0]), below, inner)))


def _unrolled(
    x: ndarray, points: ndarray, values: ndarray, period: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
    """A periodic function as one on a line: one period and a point on either side."""
    if not period._impl.key_set and not value_of(period).all():
        raise ValueError("period must be a non-zero value")
    length = F.abs(period)
    x = as_array(F.remainder(x, length))
    points = as_array(F.remainder(points, length))
    order = F.argsort(points, 0, stable=True)
    points, values = as_array(F.take(points, order)), as_array(F.take(values, order))
    before, behind = F.sub(points[-1:], length), F.add(points[:1], length)
    points = joined([as_array(before), points, as_array(behind)], 0)
    return x, points, joined([values[-1:], values, values[:1]], 0)

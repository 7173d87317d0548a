"""Interpolation on a line.

Note [Interpolation without NaN in gradients]

The value is that at a point plus the slope times the distance from it. Between two points at one
place, and beside an infinite value where the distance is zero, the slope is zero. Outside of the
points, and at a NaN, the distance is zero. So no branch that is not taken makes a gradient NaN.

At a point the derivative is that of the right side, and at the last one that of the left.

Mostly nothing of this is there: all is finite, the points differ, and each place is between them.
Then a fourth of the operators is called, with the same results.
"""

from __future__ import annotations

import math
from typing import TypeVar, cast

import numpy as np

from vtgrad.errors import OptionValueError, ShapeError
from vtgrad.graph.set_history import requires_grad
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.key_set import keys
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["interp", "interpolated"]


T = TypeVar("T", bound=TensorBase)


@explained
def interp(
    x: T,
    xp: TensorBase,
    fp: TensorBase,
    left: float | TensorBase | None = None,
    right: float | TensorBase | None = None,
    period: float | TensorBase | None = None,
) -> T:
    """Return the values of a function that is linear between points, at other points.

    The name is NumPy's; PyTorch has no such function. At a point the derivative in `x` is that of
    the right side, at the last one that of the left.

    Parameters
    ----------
    x : Tensor
        Where the function is evaluated, real.
    xp : Tensor
        A vector with the points, real, in ascending order unless `period` is given.
    fp : Tensor
        A vector with the values there, real or complex.
    left, right : number or Tensor, optional
        The values below the first point and above the last one; by default those there.
    period : float or Tensor, optional
        The period of the function; `left` and `right` are then without meaning.

    Returns
    -------
    Tensor
        A new tensor of the shape of `x`, in the dtype of all three, which is floating. It is
        recorded in every tensor.

    Raises
    ------
    ShapeError
        If `xp` is no vector, has no points, or `fp` not as many values.
    OptionValueError
        If `x` or `xp` is complex, or the period is zero.

    Examples
    --------
    >>> xp, fp = vt.tensor([0.0, 1.0, 2.0]), vt.tensor([1.0, 3.0, 4.0], requires_grad=True)
    >>> y = vt.interp(vt.tensor([0.5, 3.0]), xp, fp)
    >>> y.detach()
    tensor([2., 4.])
    >>> y[0].backward()
    >>> fp.grad
    tensor([0.5000, 0.5000, 0.0000])
    """
    refuse_names("interp", x, xp, fp, left, right, period)
    for name, one in (("x", x), ("xp", xp)):
        if array_of(one, name).dtype.kind == "c":
            raise OptionValueError(f"interp() takes a real {name}, not complex numbers")
    points, values = xp._impl.array, array_of(fp, "fp")
    if points.ndim != 1 or values.shape != points.shape or not points.size:
        raise ShapeError(
            f"interp() takes points and values as vectors, got shapes {list(points.shape)} and "
            f"{list(values.shape)}"
        )
    kind = _kind(x, xp, fp)
    real = making.empty(0, kind).real.dtype
    below, above, length = [
        beside(x, making.asarray(one))
        if isinstance(one, (int, float, complex))
        else cast("T | None", one)
        for one in (left, right, period)
    ]
    return interpolated(
        F.to_dtype(x, real),
        cast("T", F.to_dtype(xp, real)),
        cast("T", F.to_dtype(fp, kind)),
        None if below is None else F.to_dtype(below, kind),
        None if above is None else F.to_dtype(above, kind),
        None if length is None else F.to_dtype(length, real),
    )


def _as_tensor(like: T, value: float | TensorBase | None) -> T | None:
    if value is None or isinstance(value, TensorBase):
        return cast("T | None", value)
    return beside(like, making.asarray(value))


def _kind(*operands: TensorBase) -> NumpyDType:
    """The dtype of all, which is floating."""
    kind = result_dtype(*[one._impl.array for one in operands])
    return kind if kind.kind in "fc" else get_default_dtype().numpy


def interpolated(
    x: T, points: T, values: T, below: T | None, above: T | None, period: T | None
) -> T:
    """The values at `x`; all are of one dtype, but that the values may be complex.

    Parameters
    ----------
    x : Tensor
        Where the function is evaluated.
    points, values : Tensor
        Vectors of one length, not empty.
    below, above : Tensor or None
        What stands for the values outside of the points.
    period : Tensor or None
        The period; `below` and `above` do not count then.

    Raises
    ------
    OptionValueError
        If the period is zero.
    """
    if period is not None:
        x, points, values = _unrolled(x, points, values, period)
        below = above = None
    if _is_simple(x, points, values) and not requires_grad(
        *[end for end in (below, above) if end is not None]
    ):
        return _on_lines(x, points, values)
    kind = values._impl.array.dtype
    first, last = F.select(points, 0, 0), F.select(points, 0, -1)
    below = F.select(values, 0, 0) if below is None else below
    above = F.select(values, 0, -1) if above is None else above
    inner = _between(x, points, values)
    if points._impl.array.shape[0] > 1:
        inner = F.where(F.isnan(x), beside(x, making.asarray(math.nan, kind)), inner)
    inner = F.where(F.gt(x, last), above, inner)
    return F.where(F.lt(x, first), below, inner)


def _is_simple(x: TensorBase, points: TensorBase, values: TensorBase) -> bool:
    """Whether every place is between two points, all is finite, and there are no keys to see it."""
    if keys.modes or any(one._impl.key_set for one in (x, points, values)):
        return False
    at, knots, given = (resolved(one._impl.array) for one in (x, points, values))
    if not at.size or knots.size < 2 or not (np.diff(knots) > 0).all():
        return False
    # The differences tell that only the ends may be infinite; a nan is not in between.
    ends = np.isfinite(knots[0]) and np.isfinite(knots[-1]) and np.isfinite(given).all()
    return bool(ends and knots[0] <= at.min() and at.max() <= knots[-1])


def _on_lines(x: T, points: T, values: T) -> T:
    """The values between points, where nothing stands out; with the results of `_between`."""
    size = points._impl.array.shape[0]
    at = F.sub(F.search_rows(F.detach(points), F.detach(x), True), 1)
    start = F.clamp_max(at, size - 2)
    end = F.add(start, 1)
    width = F.sub(F.take(points, end), F.take(points, start))
    rise = F.sub(F.take(values, end), F.take(values, start))
    distance = F.sub(x, F.take(points, at))
    kind = values._impl.array.dtype
    if kind.kind == "c":
        width, distance = F.to_dtype(width, kind), F.to_dtype(distance, kind)
    return F.add(F.mul(F.true_divide(rise, width), distance), F.take(values, at))


def _between(x: T, points: T, values: T) -> T:
    """The interpolated values; see Note [Interpolation without NaN in gradients]."""
    size = points._impl.array.shape[0]
    # The last point that is not above, the first one if there is none.
    at = F.clamp_min(F.sub(F.search_rows(F.detach(points), F.detach(x), True), 1), 0)
    start = F.clamp_min(F.clamp_max(at, size - 2), 0)
    end = F.clamp_max(F.add(start, 1), size - 1)
    # Beside a point at minus infinity the distance is that from the next one.
    base = F.take(points, at)
    at = F.where(F.logical_and(F.isinf(base), F.ne(x, base)), end, at)
    base = F.take(points, at)
    low, high = F.take(values, start), F.take(values, end)
    width = F.sub(F.take(points, end), F.take(points, start))
    ends = F.select(points, 0, 0), F.select(points, 0, -1)
    inside = F.logical_and(F.ge(x, ends[0]), F.le(x, ends[1]))
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


def _unrolled(x: T, points: T, values: T, period: T) -> tuple[T, T, T]:
    """A periodic function as one on a line: one period and a point on either side."""
    if not period._impl.key_set and not period._impl.array.all():
        raise OptionValueError("interp() takes a period that is not zero")
    length = F.abs(period)
    x, points = F.remainder(x, length), F.remainder(points, length)
    order = F.argsort(points, 0, stable=True)
    points, values = F.take(points, order), F.take(values, order)
    before = F.sub(F.slice(points, 0, -1), length)
    behind = F.add(F.slice(points, 0, 0, 1), length)
    values = F.cat([F.slice(values, 0, -1), values, F.slice(values, 0, 0, 1)], 0)
    return x, F.cat([before, points, behind], 0), values

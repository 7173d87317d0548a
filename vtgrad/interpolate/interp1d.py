"""Interpolation between points by one of several kinds of functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from vtgrad.errors import ArgumentValueError, NotSupportedError, OptionValueError, ShapeError
from vtgrad.interpolate.cubic_spline import CubicSpline
from vtgrad.interpolate.operands import (
    Points,
    Values,
    in_place_of_axis,
    in_precision,
    places_of,
    tensor_of,
)
from vtgrad.interpolate.pieces import Pieces
from vtgrad.interpolate.quadratic_spline import quadratic_spline
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.searching import searchsorted
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.signal.on_cpu import refuse_lanes
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.integers import index_of
from vtgrad.storage.shapes import normalize_dim
from vtgrad.tensor.tensor import Tensor

__all__ = ["interp1d"]

Fill: TypeAlias = Tensor | Array | Number
FillValue: TypeAlias = str | Fill | tuple[Fill, Fill]

# The order of a spline that is known by a word, and how many points each kind needs.
_ORDERS: Final = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
_STEPS: Final = {"nearest", "nearest-up", "previous", "next", "zero"}


class interp1d:
    """A function through points, as ``scipy.interpolate.interp1d``.

    It is differentiable by the values, by the places where it is evaluated, and, but for the kinds
    that are steps, by the points. At a point the derivative is that of the piece on its right.

    Parameters
    ----------
    x : Tensor, ndarray or sequence of float or Tensor
        The points, real, in one dimension.
    y : Tensor or array_like
        The values there, real or complex, along the dimension `axis`.
    kind : str or int, default "linear"
        What is between two points: ``"linear"``, a line; ``"nearest"``, the value of the nearer
        point, in the middle that on the left, with ``"nearest-up"`` that on the right;
        ``"previous"`` and ``"next"``, the value of the point on the left or on the right;
        ``"zero"``, ``"slinear"``, ``"quadratic"`` and ``"cubic"``, or 0 to 3, a spline of this
        order.
    axis : int, default -1
        The dimension of `y` that belongs to `x`.
    copy : bool, default True
        Whether points and values are copied, so that later writes to them do not count; without a
        copy they may count. What is sorted is copied in any case.
    bounds_error : bool, optional
        Whether a place outside of the points is an error, which it is by default unless
        `fill_value` is ``"extrapolate"``.
    fill_value : number, Tensor, array_like, pair of these, or "extrapolate", default nan
        The value outside of the points, which broadcasts to the other dimensions of `y`; of a pair
        the first one is that below. With ``"extrapolate"`` the outer pieces go on; below the first
        point ``"previous"`` is nan, and so is ``"next"`` above the last one.
    assume_sorted : bool, default False
        Whether the points ascend; else they are sorted, with their values.

    Attributes
    ----------
    x, y : Tensor
        The points in ascending order, and the values.
    axis : int
        The dimension of `y` that belongs to `x`.
    bounds_error : bool
        Whether a place outside of the points is an error.

    Raises
    ------
    MissingPackageError
        If the kind is quadratic or cubic, and SciPy is not installed.
    ShapeError
        If the numbers of points and values differ, or there are fewer than the kind needs.
    ArgumentValueError
        If two points of a spline are the same.
    OptionValueError
        If there is no such kind, or the function is to extrapolate and to raise as well.
    NotSupportedError
        If a spline is of higher order.
    DTypeError
        If the points are complex, or a dtype is float16.

    Examples
    --------
    >>> x = vt.tensor([0.0, 1.0, 2.0, 3.0])
    >>> y = vt.tensor([0.0, 1.0, 4.0, 9.0], requires_grad=True)
    >>> vt.interpolate.interp1d(x, y)(1.5).item()
    2.5
    >>> curve = vt.interpolate.interp1d(x, y, "quadratic", fill_value="extrapolate")
    >>> curve(vt.tensor([1.5, 4.0])).detach()
    tensor([ 2.2500, 16.0000])
    """

    x: Tensor
    y: Tensor
    axis: int
    bounds_error: bool
    _kind: str
    _extrapolates: bool
    _below: Tensor | None
    _above: Tensor | None
    # None if the values are those of points.
    _curve: Callable[[Tensor], Tensor] | None

    def __init__(
        self,
        x: Points,
        y: Values,
        kind: str | int = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: FillValue = math.nan,
        assume_sorted: bool = False,
    ) -> None:
        known = self._kind = _kind_of(kind)
        points, values = tensor_of(x), tensor_of(y)
        refuse_names("interp1d", points, values)
        refuse_lanes("interp1d", points, values)
        points, values = in_precision(points, values)
        if points.ndim != 1:
            raise ShapeError(
                f"interp1d() takes points in one dimension, not the shape {list(points.shape)}",
                shape=points.shape,
            )
        if not values.ndim:
            raise ShapeError("interp1d() takes a value for each point, and y is 0-d", shape=())
        self.axis = normalize_dim(index_of(axis, "axis"), values.ndim)
        _check_count(known, points.shape[0], values.shape[self.axis])
        if not assume_sorted:
            order = F.argsort(F.detach(points), 0, stable=True)
            points = F.index_select(points, 0, order)
            values = F.index_select(values, self.axis, order)
        elif copy:
            points, values = F.clone(points), F.clone(values)
        if known in _ORDERS:
            _check_distinct(points)
        self.x, self.y = points, values
        self._extrapolates = isinstance(fill_value, str)
        if self._extrapolates and fill_value != "extrapolate":
            raise OptionValueError(
                f'fill_value must be a value, a pair of values or "extrapolate", not {fill_value!r}'
            )
        if self._extrapolates and bounds_error:
            raise OptionValueError(
                "interp1d() cannot extrapolate, and raise where it would: bounds_error is true"
            )
        self.bounds_error = not self._extrapolates if bounds_error is None else bool(bounds_error)
        self._below, self._above = self._fills(fill_value)
        self._curve = None if known in _STEPS else _curve(known, self.x, self._columns())

    def __call__(self, x: Points) -> Tensor:
        """The values of the function.

        Parameters
        ----------
        x : Tensor or array_like
            The places, of any shape.

        Returns
        -------
        Tensor
            A new tensor: the dimensions of `x` stand in place of the dimension `axis` of the
            values.

        Raises
        ------
        ArgumentValueError
            If a place is outside of the points, with `bounds_error`.
        DTypeError
            If the places are complex.
        """
        places = places_of("interp1d", x, self.x)
        flat = F.reshape(places, (places.numel(),))
        found = self._steps(flat) if self._curve is None else self._curve(flat)
        if self._below is not None and self._above is not None:
            found = self._filled(found, flat, self._below, self._above)
        return in_place_of_axis(found, places, self._trail(), self.axis)

    def _trail(self) -> tuple[int, ...]:
        """The sizes of the dimensions of the values that do not belong to the points."""
        shape = tuple(self.y.shape)
        return shape[: self.axis] + shape[self.axis + 1 :]

    def _columns(self) -> Tensor:
        """The values, a row for each point."""
        moved = F.movedim(self.y, self.axis, 0)
        return F.reshape(moved, (self.x.shape[0], math.prod(self._trail())))

    def _steps(self, places: Tensor) -> Tensor:
        """The value of one of the points, and nan where a place is."""
        kind = self._kind
        points, at = F.detach(self.x), F.detach(places)
        if kind in ("nearest", "nearest-up"):
            points = F.add(F.mul(points[1:], 0.5), F.mul(points[:-1], 0.5))
            index = searchsorted(points, at, right=kind == "nearest-up")
        elif kind == "next":
            index = searchsorted(points, at)
        else:
            index = F.sub(searchsorted(points, at, right=True), 1)
        index = F.clamp(index, 0, self.x.shape[0] - 1)
        found = F.index_select(self._columns(), 0, index)
        return F.masked_fill(found, F.unsqueeze(F.isnan(at), 1), math.nan)

    def _fills(self, given: FillValue) -> tuple[Tensor | None, Tensor | None]:
        """The rows of values below the first point and above the last one; None to extrapolate."""
        if isinstance(given, str):
            if self._kind == "previous":
                return self._row(math.nan), self._columns()[-1:]
            if self._kind == "next":
                return self._columns()[:1], self._row(math.nan)
            return None, None
        if isinstance(given, tuple) and len(given) == 2:
            return self._row(given[0]), self._row(given[1])
        row = self._row(given)
        return row, row

    def _row(self, given: object) -> Tensor:
        fill = tensor_of(given)
        dtype = self.y._impl.array.dtype
        if fill._impl.array.dtype != dtype:
            if fill._impl.array.dtype.kind == "c" and dtype.kind != "c":
                raise OptionValueError("the values are real, and fill_value is complex")
            fill = F.to_dtype(fill, dtype)
        trail = self._trail()
        if len(fill.shape) > len(trail) and math.prod(fill.shape) != 1:
            raise ShapeError(
                f"fill_value of shape {list(fill.shape)} does not broadcast to {list(trail)}",
                shape=fill.shape,
            )
        fill = fill if trail else F.reshape(fill, ())
        return F.reshape(F.expand(fill, trail), (1, math.prod(trail)))

    def _filled(self, found: Tensor, places: Tensor, low: Tensor, high: Tensor) -> Tensor:
        """The values, with others outside of the points."""
        below, above = F.lt(places, self.x[0]), F.gt(places, self.x[-1])
        if self.bounds_error:
            outside = innermost(F.logical_or(below, above))._impl.array
            if outside.any():
                raise ArgumentValueError(
                    "interp1d() got a place outside of its points; pass bounds_error=False, or "
                    'fill_value="extrapolate"'
                )
        found = F.where(F.unsqueeze(below, 1), low, found)
        return F.where(F.unsqueeze(above, 1), high, found)


def _kind_of(given: object) -> str:
    """The kind as a word."""
    if isinstance(given, str):
        if given not in ("linear", *_ORDERS, *_STEPS):
            raise OptionValueError(f"interp1d() knows no kind {given!r}")
        return given
    order = index_of(given, "kind")
    if order < 0:
        raise OptionValueError(f"the order of a spline is not negative, as {order} is")
    words = list(_ORDERS)
    if order >= len(words):
        raise NotSupportedError(
            f"interp1d() has splines up to the third order, and {order} was passed"
        )
    return words[order]


def _check_count(kind: str, points: int, values: int) -> None:
    if points != values:
        raise ShapeError(
            f"interp1d() takes a value for each of {points} points, and got {values} along the axis"
        )
    least = _ORDERS.get(kind, 0) + 1
    if points < least:
        raise ShapeError(f"{kind} interpolation needs {least} points, and got {points}")


def _curve(kind: str, x: Tensor, y: Tensor) -> Callable[[Tensor], Tensor]:
    """From places to a row of values for each."""
    if kind in ("linear", "slinear"):
        return _lines(x, y).at
    return CubicSpline(x, y) if kind == "cubic" else quadratic_spline(x, y).at


def _check_distinct(x: Tensor) -> None:
    if not (np.diff(innermost(x)._impl.array, axis=-1) > 0).all():
        raise ArgumentValueError("the points must ascend, and no two may be the same")


def _lines(x: Tensor, y: Tensor) -> Pieces:
    """The lines between points; a single point has one that is level."""
    if x.shape[0] == 1:
        return Pieces(x, F.stack([F.mul(y, 0), y]))
    slopes = F.div(F.sub(y[1:], y[:-1]), F.unsqueeze(F.sub(x[1:], x[:-1]), 1))
    return Pieces(x, F.stack([slopes, y[:-1]]))

"""Cubic splines: functions that go through given points, with two continuous derivatives.

Note [The slopes of a spline]

Between two knots a spline is the cubic polynomial that has given values and slopes at both. At
inner knot i the second derivative is continuous if, with the widths h of the intervals and the
slopes m of their chords, ::

    h[i] s[i - 1] + 2 (h[i - 1] + h[i]) s[i] + h[i - 1] s[i + 1] = 3 (h[i] m[i - 1] + h[i - 1] m[i])

Two conditions at the ends complete the equations. A given first or second derivative is one such
equation. "Not-a-knot" says that the third derivative is continuous at the second knot; from it and
the equation of that knot the unknown behind it is taken away, so that three diagonals are left:
with ``d = h[0] + h[1]`` ::

    h[1] s[0] + d s[1] = ((h[0] + 2 d) h[1] m[0] + h[0]^2 m[1]) / d

See C. de Boor, "A Practical Guide to Splines", chapter IV. Of a periodic spline the last slope is
the first one. With one slope as a parameter the others solve equations of three diagonals, for two
right sides, and the equation that is left gives the parameter.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np

from vtgrad.errors import ArgumentValueError, OptionValueError, ShapeError
from vtgrad.interpolate.operands import (
    Points,
    Values,
    in_place_of_axis,
    in_precision,
    places_of,
    tensor_of,
)
from vtgrad.interpolate.pieces import Pieces
from vtgrad.interpolate.tridiagonal import solve_tridiagonal
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.signal.on_cpu import refuse_lanes
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.integers import index_of
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["CubicSpline"]

Condition: TypeAlias = str | tuple[int, Tensor | Array | Number]

_WORDS: Final = {"not-a-knot", "periodic", "clamped", "natural"}


class CubicSpline:
    """A cubic spline through points, as ``scipy.interpolate.CubicSpline``.

    Parameters
    ----------
    x : Tensor, ndarray or sequence of float or Tensor
        The knots, which ascend, in one dimension; at least two.
    y : Tensor or array_like
        The values there, real or complex, along the dimension `axis`.
    axis : int, default 0
        The dimension of `y` that belongs to `x`.
    bc_type : str or pair, default "not-a-knot"
        The conditions at the ends: ``"not-a-knot"``, the first two polynomials are one, and the
        last two; ``"periodic"``, the values at both ends are the same, and so are two derivatives;
        ``"clamped"``, the first derivatives are zero; ``"natural"``, the second ones. A pair has a
        word for each end, or ``(order, value)`` for the derivative of order 1 or 2; the value may
        be a tensor.
    extrapolate : bool or "periodic", optional
        Whether the outer polynomials are evaluated outside of the knots too, which is the default,
        or the result is nan there. A periodic spline is continued as such by default.

    Attributes
    ----------
    x : Tensor
        The knots.
    c : Tensor
        The coefficients: of the powers 3 to 0 of the distance from the knot on the left, for each
        interval, for each further dimension of `y`.
    axis : int
        The dimension of `y` that belongs to `x`.
    extrapolate : bool or "periodic"
        What is outside of the knots.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    ShapeError
        If the numbers of knots and values differ, or there are fewer than two.
    ArgumentValueError
        If the knots do not ascend, or the ends of a periodic spline differ.
    OptionValueError
        If there is no such condition.
    DTypeError
        If the knots are complex, or a dtype is float16.

    Examples
    --------
    >>> x = vt.tensor([0.0, 1.0, 2.0, 3.0])
    >>> y = vt.tensor([0.0, 1.0, 8.0, 27.0], requires_grad=True)
    >>> spline = vt.interpolate.CubicSpline(x, y)
    >>> spline(1.5)
    tensor(3.3750, grad_fn=<ViewBackward0>)
    >>> spline(vt.tensor([1.0, 2.0]), nu=2).detach().round()
    tensor([ 6., 12.])
    """

    x: Tensor
    c: Tensor
    axis: int
    extrapolate: bool | str

    def __init__(
        self,
        x: Points,
        y: Values,
        axis: int = 0,
        bc_type: Condition | tuple[Condition, Condition] = "not-a-knot",
        extrapolate: bool | str | None = None,
    ) -> None:
        knots, values = tensor_of(x), tensor_of(y)
        refuse_names("CubicSpline", knots, values)
        refuse_lanes("CubicSpline", knots, values)
        knots, values = in_precision(knots, values)
        if knots.ndim != 1 or knots.shape[0] < 2:
            raise ShapeError(
                f"a spline needs at least two knots in one dimension, not the shape "
                f"{list(knots.shape)}",
                shape=knots.shape,
            )
        if not values.ndim:
            raise ShapeError("a spline needs a value for each knot, and y is 0-d", shape=())
        self.axis = normalize_dim(index_of(axis, "axis"), values.ndim)
        count = knots.shape[0]
        if values.shape[self.axis] != count:
            raise ShapeError(
                f"a spline needs a value for each of {count} knots, not "
                f"{values.shape[self.axis]} along dimension {self.axis}",
                shape=values.shape,
            )
        if not (np.diff(resolved(innermost(knots)._impl.array), axis=-1) > 0).all():
            raise ArgumentValueError("the knots must ascend, and no two may be the same")
        moved = F.movedim(values, self.axis, 0)
        shape = tuple(moved.shape[1:])
        columns = F.reshape(moved, (count, math.prod(shape)))
        first, last = _conditions(bc_type)
        is_periodic = first == "periodic"
        if extrapolate is None:
            extrapolate = "periodic" if is_periodic else True
        if isinstance(extrapolate, str) and extrapolate != "periodic":
            raise OptionValueError(
                f'extrapolate must be True, False or "periodic", not {extrapolate!r}'
            )
        self.extrapolate = extrapolate
        self.x = knots
        widths = F.unsqueeze(F.sub(knots[1:], knots[:-1]), 1)
        chords = F.div(F.sub(columns[1:], columns[:-1]), widths)
        if is_periodic:
            _check_ends(columns)
            slopes = _periodic_slopes(widths, chords)
        else:
            slopes = _slopes(widths, chords, first, last, shape)
        left, right = slopes[:-1], slopes[1:]
        bend = F.div(F.sub(F.add(left, right), F.mul(chords, 2)), widths)
        found = F.stack(
            [
                F.div(bend, widths),
                F.sub(F.div(F.sub(chords, left), widths), bend),
                left,
                columns[:-1],
            ]
        )
        self.c = F.reshape(found, (4, count - 1, *shape))

    def __call__(self, x: Points, nu: int = 0, extrapolate: bool | str | None = None) -> Tensor:
        """The values of the spline, or of a derivative of it.

        Parameters
        ----------
        x : Tensor or array_like
            The points, of any shape.
        nu : int, default 0
            The order of the derivative.
        extrapolate : bool or "periodic", optional
            What is outside of the knots; by default as the spline was made.

        Returns
        -------
        Tensor
            A new tensor: the dimensions of `x` stand in place of the dimension `axis` of the
            values.

        Raises
        ------
        OptionValueError
            If `nu` is negative.
        """
        order = index_of(nu, "nu")
        if order < 0:
            raise OptionValueError(f"the order of a derivative is not negative, as {order} is")
        points = places_of("CubicSpline", x, self.x)
        flat = F.reshape(points, (points.numel(),))
        outside = self.extrapolate if extrapolate is None else extrapolate
        first, last = self.x[0], self.x[-1]
        if outside == "periodic":
            period = F.sub(last, first)
            turns = F.floor(F.div(F.sub(flat, first), period))
            flat = F.sub(flat, F.mul(F.detach(turns), period))
        trail = tuple(self.c.shape[2:])
        columns = F.reshape(self.c, (4, self.x.shape[0] - 1, math.prod(trail)))
        found = Pieces(self.x, columns).at(flat, order)
        if not outside:
            inside = F.logical_and(F.ge(flat, first), F.le(flat, last))
            found = F.where(F.unsqueeze(inside, 1), found, float("nan"))
        return in_place_of_axis(found, points, trail, self.axis)


def _conditions(
    given: object,
) -> tuple[str | tuple[int, object], str | tuple[int, object]]:
    """The condition at each end: a word, or an order and a value."""
    if isinstance(given, str):
        given = (given, given)
    if not isinstance(given, tuple) or len(given) != 2:
        raise OptionValueError(f"bc_type must be a word or a pair, not {given!r}")
    found: list[str | tuple[int, object]] = []
    for one in given:
        if isinstance(one, str):
            if one not in _WORDS:
                raise OptionValueError(
                    f"bc_type must be one of {', '.join(sorted(_WORDS))}, not {one!r}"
                )
            found.append({"clamped": (1, 0.0), "natural": (2, 0.0)}.get(one, one))
        elif isinstance(one, tuple) and len(one) == 2 and one[0] in (1, 2):
            found.append((int(one[0]), one[1]))
        else:
            raise OptionValueError(
                f"the condition at an end must be a word or (order, value) with the order 1 or 2, "
                f"not {one!r}"
            )
    if (found[0] == "periodic") != (found[1] == "periodic"):
        raise OptionValueError("a spline is periodic at both ends, or at none")
    return found[0], found[1]


def _slopes(
    widths: Tensor,
    chords: Tensor,
    first: str | tuple[int, object],
    last: str | tuple[int, object],
    shape: tuple[int, ...],
) -> Tensor:
    """The slopes at all knots, see Note [The slopes of a spline]."""
    count = chords.shape[0]
    if count == 1:
        # One polynomial: "not-a-knot" leaves an end without a condition, so its slope is the chord.
        first = (1, F.reshape(chords, shape)) if first == "not-a-knot" else first
        last = (1, F.reshape(chords, shape)) if last == "not-a-knot" else last
    h, zero, one = widths, widths[:1] * 0, widths[:1] * 0 + 1
    # Conditions are not compared with each other: that would compare the values in them.
    if count == 2 and first == "not-a-knot" and last == "not-a-knot":
        # One parabola: the slopes at the ends of a chord have the chord's as their mean.
        head = (zero, one, one, chords[:1] * 2)
        tail = (one, one, zero, chords[1:] * 2)
    else:
        head = _end(h, chords, first, shape)
        # The same seen from the other end, where slopes have the other sign.
        turned = _end(F.flip(h, (0,)), F.flip(F.neg(chords), (0,)), _turned(last), shape)
        tail = (turned[2], turned[1], zero, F.neg(turned[3]))
    inner = (
        h[1:],
        (h[:-1] + h[1:]) * 2,
        h[:-1],
        (h[1:] * chords[:-1] + h[:-1] * chords[1:]) * 3,
    )
    lower, middle, upper, right = (
        F.cat(list(parts), 0) for parts in zip(head, inner, tail, strict=True)
    )
    return _solved(lower, middle, upper, right)


def _solved(lower: Tensor, middle: Tensor, upper: Tensor, right: Tensor) -> Tensor:
    """The solution of equations whose coefficients stand in columns."""
    a, b, c = (F.squeeze_dim(band, 1) for band in (lower, middle, upper))
    dtype = right._impl.array.dtype
    if dtype.kind == "c":
        a, b, c = (F.to_dtype(band, dtype) for band in (a, b, c))
    return solve_tridiagonal(a, b, c, right)


def _turned(condition: str | tuple[int, object]) -> str | tuple[int, object]:
    if isinstance(condition, str) or condition[0] == 2:
        return condition
    value = condition[1]
    return 1, -(value if isinstance(value, Tensor) else making.asarray(value))


def _end(
    h: Tensor, chords: Tensor, condition: str | tuple[int, object], shape: tuple[int, ...]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The equation of the first slope: its coefficients, and the right side."""
    zero = h[:1] * 0
    if condition == "not-a-knot":
        both = h[:1] + h[1:2]
        right = ((h[:1] + both * 2) * h[1:2] * chords[:1] + h[:1] * h[:1] * chords[1:2]) / both
        return zero, h[1:2], both, right
    assert not isinstance(condition, str)
    order, given = condition
    value = given if isinstance(given, Tensor) else from_numpy(making.array(given))
    dtype = chords._impl.array.dtype
    value = value if value._impl.array.dtype == dtype else F.to_dtype(value, dtype)
    if shape and value.ndim:
        value = F.expand(value, shape)
    value = F.reshape(value, (1, -1))
    if order == 1:
        return zero, zero + 1, zero, value + chords[:1] * 0
    return zero, h[:1] * 2, h[:1], chords[:1] * h[:1] * 3 - value * h[:1] * h[:1] * 0.5


def _check_ends(columns: Tensor) -> None:
    """Raise if the first value differs from the last one, by more than rounding."""
    values = innermost(F.sub(columns[-1], columns[0]))._impl.array
    size = np.abs(innermost(columns)._impl.array).max(initial=0)
    if (np.abs(values) > 1e-6 * size).any():
        raise ArgumentValueError("the first and the last value of a periodic spline must be equal")


def _periodic_slopes(h: Tensor, chords: Tensor) -> Tensor:
    """The slopes of a periodic spline, see Note [The slopes of a spline]."""
    count = chords.shape[0]
    if count == 1:
        return F.cat([chords * 0, chords * 0], 0)
    before = F.roll(h, 1, 0)
    right = (h * F.roll(chords, 1, 0) + before * chords) * 3
    inner = count - 1
    # What the last slope, the parameter, contributes to the first and the last of the others.
    coupling = making.zeros((2, inner, 1), h._impl.array.dtype)
    coupling[0, 0] = coupling[1, -1] = 1
    lower, upper = h[:inner], before[:inner]
    of_last = lower * from_numpy(coupling[0]) + upper * from_numpy(coupling[1])
    middle = (before + h) * 2
    sides = F.cat([right[:inner], of_last + right[:inner, :1] * 0], 1)
    solved = _solved(lower, middle[:inner], upper, sides)
    free, by_last = solved[:, :-1], solved[:, -1:]
    rest = right[inner:] - h[inner:] * free[-1:] - before[inner:] * free[:1]
    last = rest / (middle[inner:] - h[inner:] * by_last[-1:] - before[inner:] * by_last[:1])
    slopes = free - by_last * last
    return F.cat([slopes, last, slopes[:1]], 0)

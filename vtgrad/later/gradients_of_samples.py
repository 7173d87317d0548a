"""Slopes of a function that is known by its samples.

Note [Slopes of samples]

Inside, the slope is that of the parabola through a sample and its neighbours. At the ends it is
that of the line through two samples, or of the parabola through three. The weights of three samples
follow from the distances ``a`` and ``b`` between them: for the point in the middle
``-b / (a (a+b))``, ``(b-a) / (a b)`` and ``a / (b (a+b))``, and for the first point
``-(2a+b) / (a (a+b))``, ``(a+b) / (a b)`` and ``-a / (b (a+b))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, OptionValueError, ShapeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import checked_dims
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Number
from vtgrad.storage.integers import integer
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["gradient"]


T = TypeVar("T", bound=TensorBase)


@explained
def gradient(
    input: T,
    *,
    spacing: float | TensorBase | Sequence[float] | Sequence[TensorBase] | None = None,
    dim: Dims = None,
    edge_order: int = 1,
) -> tuple[T, ...]:
    """Return the slopes of a function that is known by its samples, along each dimension.

    See Note [Slopes of samples].

    Parameters
    ----------
    input : Tensor
        The samples.
    spacing : float, sequence of float or sequence of Tensor, optional
        The distance of samples, 1 by default; or the distance along each dimension; or for each
        dimension a vector with the places of the samples, in which the result is recorded.
    dim : int or sequence of int, optional
        The dimensions, all by default.
    edge_order : int, default 1
        The order at the ends: 1 or 2.

    Returns
    -------
    tuple of Tensor
        For each dimension a new tensor of the shape of `input`.

    Raises
    ------
    OptionValueError
        If `edge_order` is another number, or there are too many or too few distances.
    ShapeError
        If a dimension has too few samples, or places are no vector of the right length.
    DimensionError
        If there is no dimension of a number.
    DTypeError
        If the samples are of bools or uint8.

    Examples
    --------
    >>> x = vt.tensor([1.0, 4.0, 9.0, 16.0])
    >>> vt.gradient(x)[0]
    tensor([3., 4., 6., 7.])
    >>> vt.gradient(x, spacing=(vt.tensor([1.0, 2.0, 3.0, 4.0]),), edge_order=2)[0]
    tensor([2., 4., 6., 8.])
    """
    array = array_of(input, "input")
    places = [spacing] if isinstance(spacing, TensorBase) else spacing
    refuse_names("gradient", input, *(places if isinstance(places, (list, tuple)) else ()))
    order = integer(edge_order)
    if order not in (1, 2):
        raise OptionValueError(f"edge_order must be 1 or 2, not {order}", edge_order=order)
    wanted = checked_dims(dim)
    given = range(array.ndim) if wanted is None else [wanted] if isinstance(wanted, int) else wanted
    axes = [normalize_dim(d, array.ndim) for d in given]
    if axes and not array.ndim:
        raise DimensionError(f"gradient() finds no dimension {dim} in a 0-d tensor", dim=dim)
    if array.dtype in (np.uint8, np.bool_):
        raise DTypeError(f"gradient() has no meaning for {input.dtype.name}", dtype=input.dtype)
    if len({*axes}) < len(axes):
        raise OptionValueError("gradient() takes each dimension once", dim=dim)
    steps = _steps(axes, spacing, all_dims=dim is None)
    for axis in axes:
        if array.shape[axis] < order + 1:
            raise ShapeError(
                f"gradient() needs {order + 1} samples, got {array.shape[axis]} along dimension "
                f"{axis}",
                dim=axis,
            )
    return tuple(
        [
            _by_places(input, axis, cast("T", step), order)
            if isinstance(step, TensorBase)
            else _by_distance(input, axis, step, order)
            for axis, step in zip(axes, steps, strict=True)
        ]
    )


def _steps(axes: Sequence[int], spacing: object, *, all_dims: bool) -> list[Number | TensorBase]:
    """The distance, or the places, for each dimension."""
    if spacing is None:
        spacing = 1
    if isinstance(spacing, TensorBase) and spacing.ndim:
        spacing = [spacing]
    if not isinstance(spacing, (list, tuple)):
        return [number_of(spacing, "spacing")] * len(axes)
    if len(spacing) != len(axes):
        where = "all dimensions" if all_dims else "the dimensions of dim"
        raise OptionValueError(
            f"spacing must be one distance, or one for each of {where}, {len(axes)}; got "
            f"{len(spacing)}"
        )
    found: list[Number | TensorBase] = []
    for one in spacing:
        if isinstance(one, TensorBase) and one.ndim != 1:
            raise ShapeError(f"places must be a vector, not of shape {list(one.shape)}")
        found.append(one if isinstance(one, TensorBase) else number_of(one, "spacing"))
    return found


def _range(x: T, axis: int, start: int, stop: int | None) -> T:
    return F.slice(x, axis, start, stop)


def _by_distance(x: T, axis: int, h: Number, order: int) -> T:
    inner = F.div(F.div(F.sub(_range(x, axis, 2, None), _range(x, axis, 0, -2)), h), 2)
    size = x._impl.array.shape[axis]
    if order == 1:
        first = F.sub(_range(x, axis, 1, 2), _range(x, axis, 0, 1))
        last = F.sub(_range(x, axis, size - 1, None), _range(x, axis, size - 2, size - 1))
    else:
        a, b, c = [_range(x, axis, nr, nr + 1) for nr in range(3)]
        first = F.sub(F.add(F.mul(a, -1.5), F.mul(b, 2)), F.mul(c, 0.5))
        a, b, c = [_range(x, axis, size - 3 + nr, size - 2 + nr) for nr in range(3)]
        last = F.add(F.sub(F.mul(a, 0.5), F.mul(b, 2)), F.mul(c, 1.5))
    return F.cat([F.div(first, h), inner, F.div(last, h)], axis)


def _by_places(x: T, axis: int, places: T, order: int) -> T:
    size = x._impl.array.shape[axis]
    if places._impl.array.shape[0] != size:
        raise ShapeError(
            f"gradient() takes a place for each of {size} samples, got {places.shape[0]}",
            expected=size,
            found=places.shape[0],
        )
    steps = F.sub(_range(places, 0, 1, None), _range(places, 0, 0, -1))
    sizes = [-1 if d == axis else 1 for d in range(x._impl.array.ndim)]
    h = F.view_shape(steps, sizes)
    a, b = _range(h, axis, 0, -1), _range(h, axis, 1, None)
    both = F.add(a, b)
    weights = (
        F.div(F.neg(b), F.mul(a, both)),
        F.div(F.sub(b, a), F.mul(a, b)),
        F.div(a, F.mul(b, both)),
    )
    parts = [_range(x, axis, 0, -2), _range(x, axis, 1, -1), _range(x, axis, 2, None)]
    inner = _sum_of_products(weights, parts)
    if order == 1:
        first = F.sub(_range(x, axis, 1, 2), _range(x, axis, 0, 1))
        last = F.sub(_range(x, axis, size - 1, None), _range(x, axis, size - 2, size - 1))
        ends = [
            F.div(first, _range(h, axis, 0, 1)),
            F.div(last, _range(h, axis, size - 2, None)),
        ]
        return F.cat([ends[0], inner, ends[1]], axis)
    start = [_range(x, axis, nr, nr + 1) for nr in range(3)]
    end = [_range(x, axis, nr, nr + 1) for nr in range(size - 1, size - 4, -1)]
    first = _sum_of_products(_at_the_end(_range(h, axis, 0, 1), _range(h, axis, 1, 2)), start)
    behind = _range(h, axis, size - 2, None), _range(h, axis, size - 3, size - 2)
    last = F.neg(_sum_of_products(_at_the_end(*behind), end))
    return F.cat([first, inner, last], axis)


def _at_the_end(a: T, b: T) -> tuple[T, T, T]:
    """The weights of three samples for the slope at the first of them."""
    both = F.add(a, b)
    return (
        F.neg(F.div(F.add(a, both), F.mul(a, both))),
        F.div(both, F.mul(a, b)),
        F.neg(F.div(a, F.mul(b, both))),
    )


def _sum_of_products(weights: Sequence[T], values: Sequence[T]) -> T:
    first, second, third = [F.mul(w, x) for w, x in zip(weights, values, strict=True)]
    return F.add(F.add(first, second), third)

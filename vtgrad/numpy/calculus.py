"""Differences, gradients of samples, integrals by trapezoids."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, Final, Literal, SupportsIndex

import numpy as np

from vtgrad.numpy import reductions, ufuncs
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import concatenated, in_order_of
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import (
    ArrayLike,
    all_of,
    as_array,
    cast,
    is_wide,
    of,
    of_any_dtype,
    of_numbers,
    value_of,
)
from vtgrad.numpy.promotion import common, inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["diff", "ediff1d", "gradient", "joined", "trapezoid"]

_FLOAT64: Final = np.dtype(np.float64)


def joined(parts: Sequence[ArrayLike], dim: int) -> ndarray:
    """Arrays one behind the other, in the dtype of all of them.

    Raises
    ------
    ValueError
        If their shapes do not fit.
    """
    arrays = common(all_of(parts))
    rests = {x.shape[:dim] + x.shape[dim + 1 :] for x in arrays}
    if len(rests) > 1:
        raise ValueError(
            "all the input array dimensions except for the concatenation axis must match exactly, "
            f"the arrays have the shapes {[x.shape for x in arrays]}"
        )
    return as_array(concatenated(arrays, dim))


def _along(x: TensorBase, dim: int, start: int | None, stop: int | None) -> ndarray:
    """A range of an axis."""
    size = x._impl.array.shape[dim]
    first, last, _ = slice(start, stop).indices(size)
    return as_array(F.slice(x, dim, first, max(first, last), 1))


def _difference(x: ndarray, dim: int) -> ndarray:
    """Each element without the one before it; of bools whether they differ."""
    pairs = _along(x, dim, 1, None), _along(x, dim, None, -1)
    return ufuncs.not_equal(*pairs) if x.dtype.kind == "b" else ufuncs.subtract(*pairs)


@function
def diff(
    a: ArrayLike,
    n: int = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayLike | NoValue = NO_VALUE,
    append: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The differences of neighbours along an axis.

    Parameters
    ----------
    a : array_like
        The values.
    n : int
        How often differences are taken.
    axis : int
        The axis.
    prepend, append : array_like, optional
        What stands before and behind the values.

    Returns
    -------
    ndarray
        A new array; `a` itself if `n` is 0.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diff(np.array([1.0, 4.0, 9.0]))
    array([3., 5.])
    """
    if not any_differentiated(a, prepend, append):
        found = on_values(np.diff, a, n=n, axis=axis, prepend=prepend, append=append)
        return typing.cast("ndarray", a if n == 0 else found)
    if n == 0:
        return typing.cast("ndarray", a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = of(a)
    if not x._impl.array.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    (dim,) = dims_of(axis, x._impl.array.ndim)
    parts = [x]
    for side, place in ((prepend, 0), (append, len(parts) + 1)):
        if not isinstance(side, NoValue):
            beside = all_of([x, side])[1]
            if not beside._impl.array.ndim:
                sizes = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
                beside = as_array(F.broadcast_to(beside, sizes))
            parts.insert(place, beside)
    found = joined(parts, dim) if len(parts) > 1 else x
    for _ in range(n):
        found = _difference(found, dim)
    return found


@function
def ediff1d(
    ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None
) -> ndarray:
    """The differences of neighbours of all elements.

    Parameters
    ----------
    ary : array_like
        The values, which are flattened.
    to_end, to_begin : array_like, optional
        What stands behind and before the differences.

    Returns
    -------
    ndarray
        A new array with one axis.

    Raises
    ------
    TypeError
        If `to_end` or `to_begin` cannot be cast to the dtype of `ary` by the rule ``same_kind``.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ediff1d(np.array([1.0, 4.0, 9.0]), to_begin=0.0)
    array([0., 3., 5.])
    """
    if not any_differentiated(ary, to_end, to_begin):
        return on_values(np.ediff1d, ary, to_end, to_begin)
    x = as_array(F.reshape(of(ary), -1))
    parts = [ufuncs.subtract(_along(x, 0, 1, None), _along(x, 0, None, -1))]
    for name, side, place in (("to_begin", to_begin, 0), ("to_end", to_end, 2)):
        if side is None:
            continue
        beside = as_array(F.reshape(of(side), -1))
        if not np.can_cast(beside.dtype, x.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            )
        parts.insert(place, cast(beside, x.dtype))
    return joined(parts, 0)


def _spacings(x: ndarray, given: tuple[ArrayLike, ...], dims: Shape) -> list[Any]:
    """For each axis the distance of all neighbours, or the distances as an array.

    Raises
    ------
    TypeError, ValueError
        If there are too many or too few, or of another length than the axis.
    """
    if not given:
        return [1.0] * len(dims)
    given = tuple([of_numbers(step) if is_wide(step) else step for step in given])
    shapes = [of(step)._impl.array.shape for step in given]
    if len(given) == 1 and not shapes[0]:
        return [given[0]] * len(dims)
    if len(given) != len(dims):
        raise TypeError("invalid number of arguments")
    found: list[Any] = []
    for step, shape, dim in zip(given, shapes, dims, strict=True):
        if not shape:
            found.append(step)
            continue
        if len(shape) != 1:
            raise ValueError("distances must be either scalars or 1d")
        if shape[0] != x.shape[dim]:
            raise ValueError(
                "when 1d, distances must match the length of the corresponding dimension"
            )
        places = of(step)
        steps = diff(places if places.dtype.kind in "fc" else cast(places, _FLOAT64))
        if not any_differentiated(steps):
            values = value_of(steps)
            if (values == values[:1]).all() and values.size:
                found.append(values[0])
                continue
        sizes = [1] * len(x.shape)
        sizes[dim] = -1
        found.append(as_array(F.reshape(steps, sizes)))
    return found


def _weighted(weights: tuple[Any, ...], *values: ndarray) -> ndarray:
    """A sum of products."""
    found: Any = 0
    for weight, value in zip(weights, values, strict=True):
        found = ufuncs.add(found, ufuncs.multiply(weight, value))
    return typing.cast("ndarray", found)


def _ends(h: Any, x: ndarray, dim: int, edge_order: int) -> tuple[ndarray, ndarray]:
    """The gradient at both ends of an axis."""
    first = [_along(x, dim, nr, nr + 1) for nr in range(edge_order + 1)]
    size = x.shape[dim]
    last = [_along(x, dim, size - nr, size - nr + 1) for nr in range(edge_order + 1, 0, -1)]
    varies = isinstance(h, TensorBase) and h._impl.array.ndim > 0
    if edge_order == 1:
        low, high = (_along(h, dim, 0, 1), _along(h, dim, -1, None)) if varies else (h, h)
        return (
            ufuncs.divide(ufuncs.subtract(first[1], first[0]), low),
            ufuncs.divide(ufuncs.subtract(last[1], last[0]), high),
        )
    if not varies:
        return (
            ufuncs.divide(_weighted((-1.5, 2.0, -0.5), *first), h),
            ufuncs.divide(_weighted((0.5, -2.0, 1.5), *last), h),
        )
    one, two = _along(h, dim, 0, 1), _along(h, dim, 1, 2)
    both = one + two
    weights = (-(one + both) / (one * both), both / (one * two), -one / (two * both))
    start = _weighted(weights, *first)
    count = h.shape[dim]
    one, two = _along(h, dim, count - 2, count - 1), _along(h, dim, count - 1, count)
    both = one + two
    weights = (two / (one * both), -both / (one * two), (two + both) / (two * both))
    return start, _weighted(weights, *last)


def _gradient_along(x: ndarray, h: Any, dim: int, edge_order: int) -> ndarray:
    """The gradient along an axis, with a distance or the distances of neighbours."""
    below, above = _along(x, dim, None, -2), _along(x, dim, 2, None)
    if isinstance(h, TensorBase) and h._impl.array.ndim:
        one, two = _along(h, dim, None, -1), _along(h, dim, 1, None)
        both = one + two
        weights = (-two / (one * both), (two - one) / (one * two), one / (two * both))
        inner = _weighted(weights, below, _along(x, dim, 1, -1), above)
    else:
        inner = ufuncs.divide(ufuncs.subtract(above, below), ufuncs.multiply(2.0, h))
    first, last = _ends(h, x, dim, edge_order)
    kind = x._impl.array.dtype
    parts = [cast(part, kind) for part in (first, inner, last)]
    return as_array(in_order_of(concatenated(parts, dim), x))


@function
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Axis = None, edge_order: Literal[1, 2] = 1
) -> ndarray | tuple[ndarray, ...]:
    """The gradient of a function by differences of its samples, of second order inside.

    Parameters
    ----------
    f : array_like
        The samples.
    *varargs : array_like
        One distance for all axes, or for each axis its distance or the coordinates of the samples.
    axis : int or tuple of int, optional
        The axes, all by default.
    edge_order : {1, 2}
        The order at the ends.

    Returns
    -------
    ndarray or tuple of ndarray
        For each axis an array of the shape of `f`; the array itself if there is one axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.gradient(np.array([1.0, 4.0, 9.0]), 0.5)
    array([ 6.,  8., 10.])
    """
    if not any_differentiated(f, *varargs):
        return on_values(np.gradient, f, *varargs, axis=axis, edge_order=edge_order)
    x = of_numbers(f)
    dims = dims_of(axis, x._impl.array.ndim)
    spacings = _spacings(x, varargs, dims)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if x.dtype.kind == "b":
        raise TypeError("the gradient of bools is not defined: they have no difference")
    x = inexact(x)
    parts = []
    for dim, h in zip(dims, spacings, strict=True):
        if x.shape[dim] < edge_order + 1:
            raise ValueError(
                f"axis {dim} has {x.shape[dim]} samples, a gradient needs {edge_order + 1}"
            )
        parts.append(_gradient_along(x, h, dim, edge_order))
    return parts[0] if len(parts) == 1 else tuple(parts)


@function
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: SupportsIndex = -1
) -> ndarray:
    """The integral of samples along an axis by the rule of trapezoids.

    Parameters
    ----------
    y : array_like
        The samples.
    x : array_like, optional
        Where they are, along one axis or in the shape of `y`.
    dx : array_like
        Their distance, if `x` is not given.
    axis : int
        The axis.

    Returns
    -------
    ndarray
        A new array, or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.trapezoid(np.array([1.0, 2.0, 4.0]), dx=2.0).item()
    9.0
    """
    if not any_differentiated(y, x, dx):
        return on_values(np.trapezoid, y, x, dx, axis)
    values = of_any_dtype(y)
    (dim,) = dims_of(axis, len(values.shape))
    # Of unsigned integers that tensors do not have NumPy's sums and differences are taken.
    width, pairs = dx, _pair_sums(values, dim)
    if x is not None:
        places = of_any_dtype(x)
        last = -1 if len(places.shape) == 1 else axis
        width = np.diff(places, axis=last) if is_wide(places) else diff(places, axis=last)
    if is_wide(width) or is_wide(pairs):
        width, pairs = all_of([width, pairs])
    if x is not None:
        distances = of(width)
        if len(distances.shape) == 1:
            sizes = [1] * len(values.shape)
            sizes[dim] = distances.shape[0]
            width = as_array(F.reshape(distances, sizes))
    areas = ufuncs.divide(ufuncs.multiply(width, pairs), 2.0)
    return reductions.sum(areas, axis)


def _pair_sums(values: ndarray | Array, dim: int) -> ArrayLike:
    """The sum of each two neighbours along an axis."""
    if isinstance(values, TensorBase):
        return ufuncs.add(_along(values, dim, 1, None), _along(values, dim, None, -1))
    moved = np.moveaxis(values, dim, 0)
    return np.moveaxis(moved[1:] + moved[:-1], 0, dim)

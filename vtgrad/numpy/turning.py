"""Elements read backward, turned, rolled, repeated and cut."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, Final, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import Axis, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import at_positions, getitem
from vtgrad.numpy.memory_order import in_order_of, in_rows
from vtgrad.numpy.on_values import on_values, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    is_differentiated,
    of,
    owned,
    value_of,
    viewable,
)
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "resize",
    "roll",
    "rot90",
    "trim_zeros",
]

_Shape = SupportsIndex | Sequence[SupportsIndex]
_BACKWARD: Final = slice(None, None, -1)


@function
@or_by_numpy
def flip(m: ArrayLike, axis: Axis = None) -> ndarray:
    """The elements read backward along axes.

    Parameters
    ----------
    m : array_like
        The elements.
    axis : int or tuple of int, optional
        The axes, all by default.

    Returns
    -------
    ndarray
        A view, as ``x[::-1]``.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.flip(np.array([1.0, 2.0, 3.0]))
    array([3., 2., 1.])
    """
    x = owned(of(m))
    dims = dims_of(axis, x._impl.array.ndim)
    return getitem(
        x, tuple([_BACKWARD if dim in dims else slice(None) for dim in range(len(x.shape))])
    )


@function
@or_by_numpy
def fliplr(m: ArrayLike) -> ndarray:
    """The elements read backward along the second axis.

    Parameters
    ----------
    m : array_like
        At least two axes.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fliplr(np.array([[1.0, 2.0]]))
    array([[2., 1.]])
    """
    x = of(m)
    if x._impl.array.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(x, 1)


@function
@or_by_numpy
def flipud(m: ArrayLike) -> ndarray:
    """The elements read backward along the first axis.

    Parameters
    ----------
    m : array_like
        At least one axis.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.flipud(np.array([1.0, 2.0]))
    array([2., 1.])
    """
    x = of(m)
    if x._impl.array.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(x, 0)


@function
@or_by_numpy
def rot90(
    m: ArrayLike, k: SupportsIndex = 1, axes: tuple[SupportsIndex, SupportsIndex] = (0, 1)
) -> ndarray:
    """The elements turned by right angles in the plane of two axes.

    Parameters
    ----------
    m : array_like
        At least two axes.
    k : int
        How often; from the first of `axes` towards the second.
    axes : tuple of two int
        The axes.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        If there are not two different axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.rot90(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[2., 4.],
           [1., 3.]])
    """
    x = viewable(of(m))
    ndim = x._impl.array.ndim
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    one, two = operator.index(axes[0]), operator.index(axes[1])
    if one == two or abs(one - two) == ndim:
        raise ValueError("Axes must be different.")
    if not (-ndim <= one < ndim and -ndim <= two < ndim):
        raise ValueError(f"Axes={axes} out of range for array of ndim={ndim}.")
    turns = operator.index(k) % 4
    if turns == 0:
        return as_array(F.alias(x))
    if turns == 2:
        return flip(x, (one, two))
    if turns == 1:
        return as_array(F.transpose(flip(x, two), one, two))
    return flip(as_array(F.transpose(x, one, two)), two)


@function
@or_by_numpy
def roll(a: ArrayLike, shift: _Shape, axis: Axis = None) -> ndarray:
    """The elements moved along axes; what leaves at the end enters at the beginning.

    Parameters
    ----------
    a : array_like
        The elements.
    shift : int or tuple of int
        How far, for each axis.
    axis : int or tuple of int, optional
        The axes; by default all elements are moved in their order.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.roll(np.array([1.0, 2.0, 3.0]), 1)
    array([3., 1., 2.])
    """
    x = of(a)
    if not is_differentiated(x):
        return on_values(np.roll, x, shift, axis)
    shifts: Any = values_in(shift)
    if axis is None:
        # NumPy reads what the shift is, and says what is wrong.
        np.roll(making.empty(1), shifts)
        whole = F.roll(F.reshape(x, -1), sum(map(int, np.ravel(shifts))), 0)
        return as_array(in_rows(F.reshape(whole, x.shape)))
    np.roll(making.empty([min(size, 1) for size in x.shape]), shifts, typing.cast("Any", axis))
    pairs = np.broadcast(shifts, typing.cast("Any", axis))
    totals: dict[int, int] = {}
    for step, at in pairs:
        totals[int(at) % len(x.shape)] = totals.get(int(at) % len(x.shape), 0) + int(step)
    if not totals:
        return as_array(F.clone(x))
    # NumPy's result lies in memory as the operand does.
    return as_array(in_order_of(F.roll(x, list(totals.values()), list(totals)), x))


# -- other sizes -----------------------------------------------------------------------------


@function
@or_by_numpy
def resize(a: ArrayLike, new_shape: _Shape) -> ndarray:
    """The elements in another shape, repeated until they fill it.

    Parameters
    ----------
    a : array_like
        The elements.
    new_shape : int or tuple of int
        The shape; zeros fill it if there are no elements.

    Returns
    -------
    ndarray
        A new array. Unlike the method, the function repeats the elements.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.resize(np.array([1.0, 2.0]), (2, 3))
    array([[1., 2., 1.],
           [2., 1., 2.]])
    """
    x = of(a)
    if not is_differentiated(x) or not x._impl.array.size:
        return on_values(np.resize, x, new_shape)
    positions = np.resize(making.arange(x._impl.array.size), values_in(new_shape))
    return at_positions(as_array(F.reshape(x, -1)), positions)


@function
@or_by_numpy
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axis = None) -> ndarray:
    """The elements without the zeros around them.

    Parameters
    ----------
    filt : array_like
        The elements. A list or tuple of numbers gives one.
    trim : {"fb", "f", "b"}
        Whether to cut in front, at the back or both.
    axis : int or tuple of int, optional
        The axes, all by default.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.trim_zeros(np.array([0.0, 1.0, 0.0, 2.0, 0.0]))
    array([1., 0., 2.])
    """
    x = of(filt)
    bounds = _bounds(x, trim, axis)
    if not bounds:
        return typing.cast("ndarray", filt)
    if isinstance(filt, (list, tuple)) and len(bounds) == 1:
        return typing.cast("ndarray", filt[bounds[0]])
    return getitem(viewable(x), bounds)


def _bounds(x: ndarray, trim: str, axis: Axis) -> tuple[slice, ...]:
    """The ranges that hold all elements that are not zero."""
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {sides!r}")
    dims = dims_of(axis, x._impl.array.ndim)
    if not dims:
        return ()
    places = np.argwhere(value_of(x))
    if not len(places):
        return tuple([slice(0, 0) if dim in dims else slice(None) for dim in range(len(x.shape))])
    first, last = places.min(0).tolist(), places.max(0).tolist()
    return tuple(
        [
            slice(first[dim] if "f" in sides else None, last[dim] + 1 if "b" in sides else None)
            if dim in dims
            else slice(None)
            for dim in range(len(x.shape))
        ]
    )

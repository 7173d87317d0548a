"""Elements at places along an axis, written, left out and added; where elements are not zero."""

from __future__ import annotations

import typing
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import Axis, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import at_positions, positions_of, setitem, stored_value
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import copied
from vtgrad.numpy.on_values import (
    Target,
    any_differentiated,
    any_keyed,
    on_values,
    refuse_derivatives,
    values_in,
)
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    is_keyed,
    of,
    of_any_dtype,
    places_in,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "argwhere",
    "count_nonzero",
    "delete",
    "fill_diagonal",
    "flatnonzero",
    "insert",
    "put_along_axis",
    "take_along_axis",
]


@function
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = -1) -> ndarray:
    """The elements at places along an axis, which differ from row to row.

    Parameters
    ----------
    arr : array_like
        The elements.
    indices : array_like of int
        The places, as `argsort` gives them; the other axes broadcast.
    axis : int, optional
        The axis; None flattens `arr` first.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    IndexError
        If the places are no integers, or outside.
    ValueError
        If the numbers of axes differ.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([[3.0, 1.0, 2.0]])
    >>> np.take_along_axis(x, np.argsort(x), axis=1)
    array([[1., 2., 3.]])
    """
    if not (any_differentiated(arr) or any_keyed(indices)):
        return on_values(np.take_along_axis, arr, indices, axis)
    x, places = of(arr), of_any_dtype(indices)
    if axis is None:
        x, axis = as_array(F.reshape(x, -1)), 0
    if isinstance(places, TensorBase) and is_keyed(places):
        (dim,) = dims_of(axis, x._impl.array.ndim)
        return as_array(F.take_along_dim(x, places, dim))
    positions = positions_of(x._impl.array.shape)
    return at_positions(x, _taken(positions, places_in(places), axis))


@function
def put_along_axis(
    arr: Target, indices: ArrayLike, values: ArrayLike, axis: SupportsIndex | None
) -> None:
    """Store values at places along an axis, which differ from row to row.

    Parameters
    ----------
    arr : ndarray
        What is written.
    indices : array_like of int
        The places; the other axes broadcast.
    values : array_like
        The values, which broadcast to the places.
    axis : int, optional
        The axis; None means the row-major positions.

    Raises
    ------
    IndexError
        If the places are no integers, or outside.
    ValueError
        If the numbers of axes differ.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([[3.0, 1.0], [2.0, 4.0]])
    >>> np.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 0.0, axis=1)
    >>> x
    array([[0., 1.],
           [2., 0.]])
    """
    if not isinstance(arr, TensorBase):
        refuse_derivatives(values)
        np.put_along_axis(arr, values_in(indices), values_in(values), typing.cast("Any", axis))
        return
    places = places_in(indices)
    shape = arr._impl.array.shape
    # NumPy says where elements are written, and what is wrong.
    numbers = positions_of(shape).reshape(-1) if axis is None else positions_of(shape)
    _put(arr, _taken(numbers, places, axis), values)


def _taken(numbers: Array, places: Array, axis: object) -> Array:
    """The numbers of the elements at places, with NumPy's errors."""
    return np.take_along_axis(numbers, places, typing.cast("Any", axis))


def _put(x: TensorBase, positions: Array, values: object) -> None:
    """Write at row-major positions.

    Raises
    ------
    TypeError
        If a scalar would be written.
    """
    if type(x) is kinds.scalar:
        raise TypeError("a scalar cannot be written")
    shape = x._impl.array.shape
    if shape:
        setitem(x, np.unravel_index(positions, shape), values)
    elif positions.size:
        setitem(x, ..., values)


@function
def fill_diagonal(a: Target, val: ArrayLike, wrap: bool = False) -> None:
    """Store values on the main diagonal.

    Parameters
    ----------
    a : ndarray
        What is written; at least two axes, of one length if they are more.
    val : array_like
        The values, repeated if there are fewer.
    wrap : bool
        Whether the diagonal of a matrix begins anew below the last column.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or more of several lengths.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> np.fill_diagonal(x, 0.0)
    >>> x
    array([[0., 2.],
           [3., 0.]])
    """
    if not isinstance(a, TensorBase):
        refuse_derivatives(val)
        np.fill_diagonal(a, values_in(val), wrap)
        return
    values = stored_value(a, val)
    shape = a._impl.array.shape
    if len(shape) == 2 and not wrap:
        if values._impl.array.size:
            setitem(F.diagonal(a, 0, 0, 1), ..., _cycled(values, min(shape)))
        return
    # NumPy says where the diagonal is, and what is wrong.
    marks = making.zeros(shape, np.bool_)
    np.fill_diagonal(marks, True, wrap)
    places = np.flatnonzero(marks)
    if values._impl.array.size:
        _put(a, places, _cycled(values, places.size))


def _cycled(values: ndarray, count: int) -> ndarray:
    """As many values as there are places, from the first again behind the last; a number as is."""
    if not values._impl.array.ndim:
        return values
    flat = F.reshape(values, -1)
    numbers = making.arange(count) % flat._impl.array.size
    return as_array(F.index_select(flat, 0, fresh(numbers)))


@function
def insert(
    arr: ArrayLike,
    obj: ArrayLike | slice,
    values: ArrayLike,
    axis: SupportsIndex | None = None,
) -> ndarray:
    """The elements with others before places along an axis.

    Parameters
    ----------
    arr : array_like
        The elements.
    obj : int, slice or array_like of int
        The places.
    values : array_like
        What goes in, cast to the dtype of `arr`.
    axis : int, optional
        The axis; by default the array is flattened.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    IndexError
        If a place is outside.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.insert(np.array([1.0, 2.0]), 1, 5.0)
    array([1., 5., 2.])
    """
    places = values_in(obj)
    if not any_differentiated(arr, values):
        return on_values(np.insert, arr, places, values, axis)
    x = of(arr)
    added = of(values, x._impl.dtype)
    count = x._impl.array.size
    # NumPy inserts the positions of the elements.
    positions = np.insert(
        positions_of(x._impl.array.shape),
        places,
        count + positions_of(added._impl.array.shape),
        axis,
    )
    joined = F.cat([F.reshape(x, -1), F.reshape(added, -1)])
    return _by_columns_too(x, at_positions(as_array(joined), positions))


@function
def delete(arr: ArrayLike, obj: ArrayLike | slice, axis: SupportsIndex | None = None) -> ndarray:
    """The elements without those at places along an axis.

    Parameters
    ----------
    arr : array_like
        The elements.
    obj : int, slice or array_like of int or bool
        The places.
    axis : int, optional
        The axis; by default the array is flattened.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    IndexError
        If a place is outside.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.delete(np.array([1.0, 2.0, 3.0]), 1)
    array([1., 3.])
    """
    places = values_in(obj)
    if not any_differentiated(arr):
        return on_values(np.delete, arr, places, axis)
    x = of(arr)
    positions = np.delete(positions_of(x._impl.array.shape), places, axis)
    return _by_columns_too(x, at_positions(as_array(F.reshape(x, -1)), positions))


def _by_columns_too(x: ndarray, found: ndarray) -> ndarray:
    """A fresh result, by columns in memory if the operand lies so."""
    return copied(found, "F") if resolved(x._impl.array).flags.fnc else found


# -- where elements are not zero -------------------------------------------------------------------


@function
def flatnonzero(a: ArrayLike) -> ndarray:
    """The row-major positions of the elements that are not zero.

    Parameters
    ----------
    a : array_like
        The elements.

    Returns
    -------
    ndarray
        Of integers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.flatnonzero(np.array([[0.0, 2.0], [3.0, 0.0]]))
    array([1, 2])
    """
    return on_values(np.flatnonzero, a)


@function
def argwhere(a: ArrayLike) -> ndarray:
    """The indices of the elements that are not zero, a row for each.

    Parameters
    ----------
    a : array_like
        The elements.

    Returns
    -------
    ndarray
        Of integers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.argwhere(np.array([[0.0, 2.0], [3.0, 0.0]]))
    array([[0, 1],
           [1, 0]])
    """
    return on_values(np.argwhere, a)


@function
def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> ndarray:
    """The number of elements along axes that are not zero.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int or tuple of int, optional
        The axes, all by default.
    keepdims : bool
        Whether the axes stay, with size 1.

    Returns
    -------
    ndarray
        Of integers, or an integer.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.count_nonzero(np.array([[0.0, 2.0], [3.0, 0.0]]), axis=0)
    array([1, 1])
    """
    if not any_keyed(a):
        return on_values(np.count_nonzero, a, axis, keepdims=keepdims)
    x = of(a)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    marks = F.to_dtype(cast(x, np.dtype(np.bool_)), np.dtype(np.intp))
    return as_array(F.sum_dim_IntList(marks, dims, keepdims) if dims else F.clone(marks))

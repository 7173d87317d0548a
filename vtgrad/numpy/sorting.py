"""Sorting and searching. What names places has no derivative."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, Literal, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import by_numpy, dims_of, handed_over
from vtgrad.numpy.function import function
from vtgrad.numpy.index import at_positions, positions_of
from vtgrad.numpy.memory_order import in_order_of
from vtgrad.numpy.operands import ArrayLike, as_array, is_differentiated, of, places_in, value_of
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F

__all__ = ["argpartition", "argsort", "partition", "searchsorted", "sort"]

SortKind = Literal["quicksort", "mergesort", "heapsort", "stable"]


def _placed(
    numpys: Callable[..., Any],
    a: ArrayLike,
    axis: SupportsIndex | None,
    *args: object,
    **options: object,
) -> ndarray:
    """The elements in the order that NumPy finds for their values."""
    x = of(a)
    if axis is None:
        x, axis = as_array(F.reshape(x, -1)), 0
    (dim,) = dims_of(axis, x._impl.array.ndim)
    order = numpys(value_of(x), *args, axis=dim, **options)
    positions = np.take_along_axis(positions_of(x.shape), order, dim)
    return as_array(in_order_of(at_positions(x, positions), x))


@function
@or_by_numpy
def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: SortKind | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> ndarray:
    """The elements in ascending order along an axis.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int, optional
        The axis, the last by default; None flattens the array first.
    kind : str, optional
        The algorithm, as NumPy names it.
    order : None
        There are no fields to sort by.
    stable : bool, optional
        Whether equal elements keep their order.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.sort(np.array([3.0, 1.0, 2.0]))
    array([1., 2., 3.])
    """
    x = of(a)
    if not is_differentiated(x):
        options: dict[str, Any] = {} if stable is None else {"stable": stable}
        return by_numpy(np.sort, x, axis, kind, order, **options)
    if x._impl.key_set:
        flat = as_array(F.reshape(x, -1)) if axis is None else x
        return as_array(F.sort(flat, -1 if axis is None else int(axis), stable=True)[0])
    return _placed(np.argsort, x, axis, kind=kind, order=order, stable=stable)


@function
@or_by_numpy
def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: SortKind | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> ndarray:
    """The places of the elements in ascending order along an axis.

    Parameters
    ----------
    a : array_like
        The elements.
    axis, kind, order, stable
        As of `sort`.

    Returns
    -------
    ndarray
        Of integers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.argsort(np.array([3.0, 1.0, 2.0]))
    array([1, 2, 0])
    """
    x = of(a)
    if x._impl.key_set:
        flat = as_array(F.reshape(x, -1)) if axis is None else x
        return as_array(F.argsort(flat, -1 if axis is None else int(axis), stable=True))
    return by_numpy(np.argsort, x, axis=axis, kind=kind, order=order, stable=stable)


@function
@or_by_numpy
def partition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    order: None = None,
) -> ndarray:
    """The elements so that those at some places are where sorting would put them.

    Parameters
    ----------
    a : array_like
        The elements.
    kth : int or array_like of int
        The places. Smaller elements stand before each, larger ones behind it.
    axis, kind, order
        As of `sort`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> float(np.partition(np.array([3.0, 1.0, 2.0]), 1)[1])
    2.0
    """
    places = places_in(kth)
    return _placed(np.argpartition, a, axis, places, kind=kind, order=order)


@function
@or_by_numpy
def argpartition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["introselect"] = "introselect",
    order: None = None,
) -> ndarray:
    """The places of the elements as `partition` puts them.

    Parameters
    ----------
    a : array_like
        The elements.
    kth, axis, kind, order
        As of `partition`.

    Returns
    -------
    ndarray
        Of integers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.argpartition(np.array([3.0, 1.0, 2.0]), 1)[1])
    2
    """
    places = places_in(kth)
    return by_numpy(np.argpartition, of(a), places, axis=axis, kind=kind, order=order)


@function
@or_by_numpy
def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: Literal["left", "right"] = "left",
    sorter: ArrayLike | None = None,
) -> ndarray:
    """The places at which values go into a sorted array.

    Parameters
    ----------
    a : array_like
        One axis, in ascending order.
    v : array_like
        The values.
    side : {"left", "right"}
        Whether a value goes before or behind equal elements.
    sorter : array_like of int, optional
        What sorts `a`, if it is in another order.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.searchsorted(np.array([1.0, 2.0, 3.0]), 2.5))
    2
    """
    places = None if sorter is None else places_in(sorter)
    values = places_in(v)
    found = np.searchsorted(places_in(a), values, side, typing.cast("Any", places))
    return handed_over(found)

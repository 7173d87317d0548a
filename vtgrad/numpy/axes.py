"""Axes added, moved and exchanged."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, Final, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import Axis, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    of,
    viewable,
)
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import transpose
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "expand_dims",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "rollaxis",
]

_Shape = SupportsIndex | Sequence[SupportsIndex]

permute_dims: Final = transpose


@function
@or_by_numpy
def expand_dims(a: ArrayLike, axis: Axis) -> ndarray:
    """The elements with further axes of size 1.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int or tuple of int
        The places of the new axes in the result.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.expand_dims(np.array([1.0, 2.0]), 0).shape
    (1, 2)
    """
    x: TensorBase = viewable(of(a))
    axes = axis if isinstance(axis, (tuple, list)) else (typing.cast("SupportsIndex", axis),)
    dims = dims_of(tuple(axes), x._impl.array.ndim + len(axes))
    if not dims:
        return as_array(F.alias(x))
    for dim in sorted(dims):
        x = F.unsqueeze(x, dim)
    return as_array(x)


@function
@or_by_numpy
def moveaxis(a: ArrayLike, source: _Shape, destination: _Shape) -> ndarray:
    """Axes moved to other places; the others stay in order.

    Parameters
    ----------
    a : array_like
        The elements.
    source, destination : int or sequence of int
        Where the axes are, and where they come.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        If there are not as many places as axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = viewable(of(a))
    ndim = x._impl.array.ndim
    start, end = dims_of(_axes(source), ndim), dims_of(_axes(destination), ndim)
    if len(start) != len(end):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [dim for dim in range(ndim) if dim not in start]
    for to, dim in sorted(zip(end, start, strict=True)):
        order.insert(to, dim)
    return as_array(F.permute(x, order))


def _axes(axes: _Shape) -> Axis:
    return tuple(axes) if isinstance(axes, Sequence) else axes


@function
@or_by_numpy
def rollaxis(a: ArrayLike, axis: SupportsIndex, start: SupportsIndex = 0) -> ndarray:
    """One axis moved before another; `moveaxis` is plainer.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int
        The axis.
    start : int
        Before which axis it comes; the number of axes is the end.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.rollaxis(np.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = viewable(of(a))
    ndim = x._impl.array.ndim
    (dim,), at = dims_of(axis, ndim), operator.index(start)
    at += ndim if at < 0 else 0
    if not 0 <= at < ndim + 1:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {start} was passed in"
        )
    order = [other for other in range(ndim) if other != dim]
    order.insert(at - (dim < at), dim)
    return as_array(F.permute(x, order))


@function
@or_by_numpy
def matrix_transpose(x: ArrayLike, /) -> ndarray:
    """The last two axes exchanged.

    Parameters
    ----------
    x : array_like
        Matrices.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.matrix_transpose(np.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    array = viewable(of(x))
    if array._impl.array.ndim < 2:
        raise ValueError(
            f"Input array must be at least 2-dimensional, but it is {array._impl.array.ndim}"
        )
    return as_array(F.transpose(array, -1, -2))


def _at_least(arrays: tuple[ArrayLike, ...], index: dict[int, Any]) -> Any:
    """The arrays with new axes, by the number that they have; one alone is no tuple."""
    found = []
    for a in arrays:
        x = viewable(of(a))
        ndim = x._impl.array.ndim
        found.append(getitem(x, index[ndim]) if ndim in index else x)
    return found[0] if len(found) == 1 else tuple(found)


@function
@or_by_numpy
def atleast_1d(*arys: ArrayLike) -> ndarray:
    """Arrays with at least one axis.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray
        A view, or the array itself; a tuple of them for several arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.atleast_1d(3.0)
    array([3.])
    """
    return typing.cast("ndarray", _at_least(arys, {0: None}))


@function
@or_by_numpy
def atleast_2d(*arys: ArrayLike) -> ndarray:
    """Arrays with at least two axes; new ones come first.

    Parameters
    ----------
    *arys : array_like
        The arrays.

    Returns
    -------
    ndarray
        A view, or the array itself; a tuple of them for several arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.atleast_2d(np.array([1.0, 2.0])).shape
    (1, 2)
    """
    return typing.cast("ndarray", _at_least(arys, {0: (None, None), 1: None}))


@function
@or_by_numpy
def atleast_3d(*arys: ArrayLike) -> ndarray:
    """Arrays with at least three axes.

    Parameters
    ----------
    *arys : array_like
        The arrays; of n elements they become (1, n, 1), of (m, n) elements (m, n, 1).

    Returns
    -------
    ndarray
        A view, or the array itself; a tuple of them for several arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.atleast_3d(np.array([1.0, 2.0])).shape
    (1, 2, 1)
    """
    index = {0: (None,) * 3, 1: (None, slice(None), None), 2: (slice(None), slice(None), None)}
    return typing.cast("ndarray", _at_least(arys, index))

"""Arrays divided along an axis."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.on_values import values_in
from vtgrad.numpy.operands import ArrayLike, as_array, of, viewable
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["array_split", "dsplit", "hsplit", "split", "unstack", "vsplit"]

_Sections = SupportsIndex | Sequence[SupportsIndex] | TensorBase


@function
@or_by_numpy
def array_split(
    ary: ArrayLike, indices_or_sections: _Sections, axis: SupportsIndex = 0
) -> list[ndarray]:
    """The parts of an array along an axis, of nearly equal size or between places.

    Parameters
    ----------
    ary : array_like
        The elements.
    indices_or_sections : int or sequence of int
        The number of parts, of which the first may be longer by one; or the places where a part
        begins, but for the first.
    axis : int
        The axis.

    Returns
    -------
    list of ndarray
        Views.

    Raises
    ------
    ValueError
        If there are fewer than one part.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array_split(np.array([1.0, 2.0, 3.0]), 2)
    [array([1., 2.]), array([3.])]
    """
    x = viewable(of(ary))
    ndim = x._impl.array.ndim
    given: Any = values_in(indices_or_sections)
    if not ndim or not -ndim <= operator.index(axis) < ndim:
        # NumPy looks at the size of the axis first.
        raise IndexError("tuple index out of range")
    (dim,) = dims_of(axis, ndim)
    size = x._impl.array.shape[dim]
    if np.ndim(given):
        points = [operator.index(point) for point in given]
    else:
        sections = int(given)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, extra = divmod(size, sections)
        points = [k * each + min(k, extra) for k in range(1, sections)]
    starts, ends = [0, *points], [*points, size]
    parts = []
    for start, end in zip(starts, ends, strict=True):
        first, last, _ = slice(start, end).indices(size)
        parts.append(as_array(F.slice(x, dim, first, max(first, last), 1)))
    return parts


@function
@or_by_numpy
def split(ary: ArrayLike, indices_or_sections: _Sections, axis: SupportsIndex = 0) -> list[ndarray]:
    """The parts of an array along an axis, of equal size or between places.

    Parameters
    ----------
    ary : array_like
        The elements.
    indices_or_sections : int or sequence of int
        The number of parts, or the places where a part begins, but for the first.
    axis : int
        The axis.

    Returns
    -------
    list of ndarray
        Views.

    Raises
    ------
    ValueError
        If the axis does not divide into so many equal parts.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.split(np.array([1.0, 2.0, 3.0]), [1])
    [array([1.]), array([2., 3.])]
    """
    x = of(ary)
    given: Any = values_in(indices_or_sections)
    if not np.ndim(given) and x.shape[operator.index(axis)] % given:
        raise ValueError("array split does not result in an equal division")
    return array_split(x, given, axis)


@function
@or_by_numpy
def hsplit(ary: ArrayLike, indices_or_sections: _Sections) -> list[ndarray]:
    """The parts of an array along its second axis, or its only one.

    Parameters
    ----------
    ary : array_like
        At least one axis.
    indices_or_sections : int or sequence of int
        As of `split`.

    Returns
    -------
    list of ndarray
        Views.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.hsplit(np.array([[1.0, 2.0]]), 2)
    [array([[1.]]), array([[2.]])]
    """
    x = of(ary)
    ndim = x._impl.array.ndim
    if not ndim:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if ndim > 1 else 0)


@function
@or_by_numpy
def vsplit(ary: ArrayLike, indices_or_sections: _Sections) -> list[ndarray]:
    """The parts of an array along its first axis.

    Parameters
    ----------
    ary : array_like
        At least two axes.
    indices_or_sections : int or sequence of int
        As of `split`.

    Returns
    -------
    list of ndarray
        Views.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.vsplit(np.array([[1.0], [2.0]]), 2)
    [array([[1.]]), array([[2.]])]
    """
    x = of(ary)
    if x._impl.array.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


@function
@or_by_numpy
def dsplit(ary: ArrayLike, indices_or_sections: _Sections) -> list[ndarray]:
    """The parts of an array along its third axis.

    Parameters
    ----------
    ary : array_like
        At least three axes.
    indices_or_sections : int or sequence of int
        As of `split`.

    Returns
    -------
    list of ndarray
        Views.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> [part.shape for part in np.dsplit(np.zeros((1, 1, 4)), 2)]
    [(1, 1, 2), (1, 1, 2)]
    """
    x = of(ary)
    if x._impl.array.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


@function
@or_by_numpy
def unstack(x: ArrayLike, /, *, axis: SupportsIndex = 0) -> tuple[ndarray, ...]:
    """The slices of an array along an axis, one by one.

    Parameters
    ----------
    x : array_like
        At least one axis.
    axis : int
        The axis.

    Returns
    -------
    tuple of ndarray
        Views; the elements of an array with one axis.

    Raises
    ------
    ValueError
        If the array has no axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unstack(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    (array([1., 3.]), array([2., 4.]))
    """
    array = viewable(of(x))
    ndim = array._impl.array.ndim
    if not ndim:
        raise ValueError("Input array must be at least 1-d.")
    (dim,) = dims_of(axis, ndim)
    lead = typing.cast("tuple[object, ...]", (slice(None),) * dim)
    return tuple([getitem(array, (*lead, at)) for at in range(array.shape[dim])])

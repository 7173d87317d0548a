"""Orders of several keys, bins, counts and bits."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, Final, Literal, SupportsIndex

import numpy as np

from vtgrad.later.histograms import sums_in_bins
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, any_keyed, on_values, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    of,
    result,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.sorting import sort
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making

__all__ = [
    "bincount",
    "digitize",
    "lexsort",
    "packbits",
    "sort_complex",
    "unpackbits",
]

BitOrder = Literal["big", "little"]

_FLOAT64: Final = np.dtype(np.float64)


@function
def bincount(
    x: ArrayLike, /, weights: ArrayLike | None = None, minlength: SupportsIndex = 0
) -> ndarray:
    """How often each number from 0 on occurs, or the sums of their weights.

    Parameters
    ----------
    x : array_like of int
        The numbers, along one axis.
    weights : array_like, optional
        What each occurrence adds, in float64.
    minlength : int
        The least length of the result.

    Returns
    -------
    ndarray
        Of integers, or the sums of weights.

    Raises
    ------
    ValueError
        If a number is negative, or there are not as many weights.
    TypeError
        If the numbers are no integers, or the weights are complex.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.bincount([0, 1, 1], np.array([0.5, 1.0, 2.0]))
    array([0.5, 3. ])
    """
    if not any_differentiated(weights):
        return on_values(np.bincount, x, weights, minlength)
    added = of(typing.cast("ArrayLike", weights))
    numbers = values_in(x)
    # NumPy says how long the result is, and what is wrong.
    blank = np.bincount(
        numbers,
        making.zeros(added._impl.array.shape, added._impl.dtype),
        typing.cast("Any", minlength),
    )
    places = fresh(making.asarray(numbers).astype(np.intp))
    if not places._impl.array.size:
        return fresh(blank)
    return as_array(sums_in_bins(places, cast(added, _FLOAT64), len(blank)))


@function
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> ndarray:
    """The numbers of the bins into which values go.

    Parameters
    ----------
    x : array_like
        The values, real.
    bins : array_like
        The edges of the bins, in ascending or descending order.
    right : bool
        Whether a bin has its upper edge, and not its lower one.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy.

    Raises
    ------
    ValueError
        If the edges are in no order.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.digitize(np.array([0.5, 1.0, 9.0]), [0.0, 1.0, 2.0])
    array([1, 2, 3])
    """
    if not any_keyed(x, bins):
        return on_values(np.digitize, x, bins, right)
    given, edges = of(x), value_of(of(bins))
    # NumPy says what is wrong.
    np.digitize(making.zeros(0), edges)
    values = F.detach(cast(given, _FLOAT64))
    limits = edges.astype(np.float64)
    if not edges.size or edges[0] <= edges[-1]:
        return result(F.search_rows(fresh(limits), values, not right))
    found = F.search_rows(fresh(limits[::-1].copy()), values, not right)
    return result(F.rsub(found, edges.size))


@function
def lexsort(keys: Sequence[ArrayLike] | ArrayLike, axis: SupportsIndex = -1) -> ndarray:
    """The places of elements in ascending order by several keys.

    Parameters
    ----------
    keys : sequence of array_like
        The keys; the last is compared first.
    axis : int
        The axis.

    Returns
    -------
    ndarray
        Of integers.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.lexsort(([2.0, 1.0, 3.0], np.array([1.0, 1.0, 0.0])))
    array([2, 1, 0])
    """
    return on_values(np.lexsort, keys, axis)


@function
def sort_complex(a: ArrayLike) -> ndarray:
    """The elements as complex numbers, in ascending order along the last axis.

    Parameters
    ----------
    a : array_like
        The elements. They are ordered by their real parts, and by the imaginary ones where the
        real parts are equal.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.sort_complex(np.array([3.0, 1.0]))
    array([1.+0.j, 3.+0.j])
    """
    if not any_differentiated(a):
        return on_values(np.sort_complex, a)
    x = of(a)
    return cast(sort(x), np.sort_complex(making.zeros(0, x._impl.dtype)).dtype)


@function
def packbits(
    a: ArrayLike, /, axis: SupportsIndex | None = None, bitorder: BitOrder = "big"
) -> ndarray:
    """Eight elements as the bits of a byte: 1 for those that are not zero.

    Parameters
    ----------
    a : array_like of int or bool
        The elements.
    axis : int, optional
        The axis; by default the array is flattened.
    bitorder : {"big", "little"}
        Whether the first element is the highest bit, or the lowest.

    Returns
    -------
    ndarray
        Of uint8.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.packbits([1, 0, 1])
    array([160], dtype=uint8)
    """
    return on_values(np.packbits, a, axis, bitorder)


@function
def unpackbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    count: SupportsIndex | None = None,
    bitorder: BitOrder = "big",
) -> ndarray:
    """The bits of bytes as elements.

    Parameters
    ----------
    a : array_like of uint8
        The bytes.
    axis : int, optional
        The axis; by default the array is flattened.
    count : int, optional
        How many bits are given; negative numbers leave out the last ones.
    bitorder : {"big", "little"}
        Whether the highest bit is the first, or the lowest.

    Returns
    -------
    ndarray
        Of uint8.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unpackbits(np.array([160], dtype=np.uint8), count=3)
    array([1, 0, 1], dtype=uint8)
    """
    return on_values(np.unpackbits, a, axis, count, bitorder)

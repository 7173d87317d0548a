"""Sets: elements without repeats, and what several arrays have in common."""

from __future__ import annotations

import inspect
import typing
from typing import Any, Final, Literal, NamedTuple, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import at_positions
from vtgrad.numpy.on_values import any_differentiated, any_keyed, on_values, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    fresh,
    of,
    value_of,
)
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

# NumPy before 2.3 always sorts.
_HAS_SORTED: Final = "sorted" in inspect.signature(np.unique).parameters


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives."""

    values: ndarray
    inverse_indices: ndarray


@function
def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> ndarray:
    """The elements without repeats, in ascending order.

    The gradient of an element goes to the first of those that are equal.

    Parameters
    ----------
    ar : array_like
        The elements.
    return_index, return_inverse, return_counts : bool
        Whether the places of the first of equal elements, the places of all elements in the
        result, and the numbers of equal elements are given too.
    axis : int, optional
        The axis whose parts are compared; by default the array is flattened.
    equal_nan : bool
        Whether NaN equals NaN.
    sorted : bool
        Whether the order must be ascending.

    Returns
    -------
    ndarray
        A new array, or a tuple that begins with it.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unique(np.array([3.0, 1.0, 3.0]))
    array([1., 3.])
    """
    options: dict[str, Any] = {"axis": axis, "equal_nan": equal_nan}
    if _HAS_SORTED:
        options["sorted"] = sorted
    if not any_differentiated(ar):
        return on_values(np.unique, ar, return_index, return_inverse, return_counts, **options)
    x = of(ar)
    values = value_of(x)
    numpys: Any = np.unique
    found = numpys(values, True, return_inverse, return_counts, **options)
    index: Array = found[1]
    if not (sorted or return_index or return_inverse or return_counts) and axis is None:
        index = _as_numpy_orders(values, index, equal_nan)
    if axis is None:
        elements = _at(x, index)
    else:
        (dim,) = dims_of(axis, x._impl.array.ndim)
        elements = as_array(F.index_select(x, dim, fresh(index)))
    others = [fresh(part) for part in found[1 if return_index else 2 :]]
    return typing.cast("ndarray", (elements, *others)) if others else elements


def _as_numpy_orders(values: Array, index: Array, equal_nan: bool) -> Array:
    """The places of elements without repeats, in the order that NumPy gives unsorted ones."""
    if not _HAS_SORTED:
        return index
    unsorted = np.unique(values, equal_nan=equal_nan, sorted=False)
    if unsorted.shape != index.shape:
        return index
    found = making.empty_like(index)
    found[np.argsort(unsorted, kind="stable")] = index
    return found


def _at(x: ndarray, positions: Array) -> ndarray:
    """The elements at positions of the flattened array."""
    return at_positions(as_array(F.reshape(x, -1)), positions)


def _unique(x: ArrayLike, **options: bool) -> Any:
    """What the functions of the array API give, for which no NaN equals another."""
    text: Any = unique
    return text(x, equal_nan=False, **options)


@function
def unique_all(x: ArrayLike) -> UniqueAllResult:
    """The elements without repeats, their places, the places of all elements among them, counts.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    UniqueAllResult
        A tuple with the names ``values``, ``indices``, ``inverse_indices`` and ``counts``.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unique_all(np.array([3.0, 1.0, 3.0])).indices
    array([1, 0])
    """
    return UniqueAllResult(*_unique(x, return_index=True, return_inverse=True, return_counts=True))


@function
def unique_counts(x: ArrayLike) -> UniqueCountsResult:
    """The elements without repeats, and how often each occurs.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    UniqueCountsResult
        A tuple with the names ``values`` and ``counts``.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unique_counts(np.array([3.0, 1.0, 3.0])).counts
    array([1, 2])
    """
    return UniqueCountsResult(*_unique(x, return_counts=True))


@function
def unique_inverse(x: ArrayLike) -> UniqueInverseResult:
    """The elements without repeats, and the places of all elements among them.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    UniqueInverseResult
        A tuple with the names ``values`` and ``inverse_indices``.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unique_inverse(np.array([3.0, 1.0, 3.0])).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*_unique(x, return_inverse=True))


@function
def unique_values(x: ArrayLike) -> ndarray:
    """The elements without repeats, in any order.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> sorted(np.unique_values(np.array([3.0, 1.0, 3.0])).tolist())
    [1.0, 3.0]
    """
    return typing.cast("ndarray", _unique(x, sorted=False))


# -- several arrays --------------------------------------------------------------------------------


def _joined(one: ArrayLike, two: ArrayLike) -> ndarray:
    """The elements of two arrays along one axis."""
    kind = _common_dtype(one, two)
    return as_array(F.cat([F.reshape(of(x, kind), -1) for x in (one, two)]))


def _common_dtype(one: ArrayLike, two: ArrayLike) -> NumpyDType:
    """The dtype of the elements of two arrays together; numbers count as arrays."""
    return np.result_type(_values(one).dtype, _values(two).dtype)


def _values(x: ArrayLike) -> Array:
    return making.asarray(values_in(x))


@function
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> ndarray:
    """The elements of two arrays without repeats, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        The elements.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.union1d(np.array([3.0, 1.0]), [2.0, 3.0])
    array([1., 2., 3.])
    """
    if not any_differentiated(ar1, ar2):
        return on_values(np.union1d, ar1, ar2)
    return unique(_joined(ar1, ar2))


@function
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> ndarray:
    """The elements that two arrays have in common, in ascending order.

    They are those of the first array, as far as derivatives are concerned.

    Parameters
    ----------
    ar1, ar2 : array_like
        The elements.
    assume_unique : bool
        Whether neither array has repeats.
    return_indices : bool
        Whether the places in both arrays are given too.

    Returns
    -------
    ndarray
        A new array, or a tuple that begins with it.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.intersect1d(np.array([3.0, 1.0]), [2.0, 3.0])
    array([3.])
    """
    if not any_differentiated(ar1, ar2):
        return on_values(np.intersect1d, ar1, ar2, assume_unique, return_indices)
    _, one, two = np.intersect1d(_values(ar1), _values(ar2), assume_unique, True)
    found = _at(of(ar1, _common_dtype(ar1, ar2)), one)
    if return_indices:
        return typing.cast("ndarray", (found, fresh(one), fresh(two)))
    return found


@function
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The elements of one array that another does not have.

    Parameters
    ----------
    ar1, ar2 : array_like
        The elements.
    assume_unique : bool
        Whether neither array has repeats: then the order is kept, and else it is ascending.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.setdiff1d(np.array([3.0, 1.0]), [2.0, 3.0])
    array([1.])
    """
    if not any_differentiated(ar1):
        return on_values(np.setdiff1d, ar1, ar2, assume_unique)
    x, values = of(ar1), value_of(of(ar1)).reshape(-1)
    places = (
        making.arange(values.size) if assume_unique else np.unique(values, return_index=True)[1]
    )
    kept = np.isin(values[places], _values(ar2), assume_unique=assume_unique, invert=True)
    return _at(x, places[kept])


@function
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The elements that one of two arrays has, and the other has not, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        The elements.
    assume_unique : bool
        Whether neither array has repeats.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.setxor1d(np.array([3.0, 1.0]), [2.0, 3.0])
    array([1., 2.])
    """
    if not any_differentiated(ar1, ar2):
        return on_values(np.setxor1d, ar1, ar2, assume_unique)
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = _joined(ar1, ar2)
    _, places, counts = np.unique(
        value_of(both), return_index=True, return_counts=True, equal_nan=False
    )
    return _at(both, places[counts == 1])


@function
def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Literal["sort", "table"] | None = None,
) -> ndarray:
    """Which elements of an array are in another.

    Parameters
    ----------
    element, test_elements : array_like
        The arrays.
    assume_unique : bool
        Whether neither array has repeats.
    invert : bool
        Whether to ask which are not.
    kind : {"sort", "table"}, optional
        The algorithm, as NumPy names it.

    Returns
    -------
    ndarray
        Of bools, of the shape of `element`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isin(np.array([3.0, 1.0]), [2.0, 3.0])
    array([ True, False])
    """
    if not any_keyed(element, test_elements):
        return on_values(np.isin, element, test_elements, assume_unique, invert, kind=kind)
    x, y = common([of(element), of(test_elements)])
    found = F.any(F.eq(F.unsqueeze(x, -1), F.reshape(y, -1)), -1)
    return as_array(F.logical_not(found) if invert else found)

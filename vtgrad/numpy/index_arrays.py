"""Indices of triangles and diagonals, positions and indices, and iterators over them."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.graph.recording import is_recording
from vtgrad.numpy.creation import ones
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.on_values import (
    any_differentiated,
    holds_tensor,
    on_values,
    values_in,
)
from vtgrad.numpy.operands import ArrayLike, of
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.picking import nonzero
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "mask_indices",
    "ndenumerate",
    "nditer",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

Indices = tuple[ndarray, ...]


def _indices(found: object) -> Indices:
    return typing.cast("Indices", found)


def _probe(arr: ArrayLike) -> Array:
    """An array of NumPy of the same shape, for what looks at nothing else."""
    return making.broadcast_to(making.zeros((), np.bool_), of(arr)._impl.array.shape)


@function
def tril_indices(n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None) -> Indices:
    """The indices of the elements on a diagonal of a matrix and below it.

    Parameters
    ----------
    n, m : int
        The numbers of rows and of columns; as many columns as rows by default.
    k : int
        Which diagonal: positive above the main one, negative below it.

    Returns
    -------
    tuple of ndarray
        The rows and the columns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _indices(on_values(making.tril_indices, n, k, m))


@function
def triu_indices(n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None) -> Indices:
    """The indices of the elements on a diagonal of a matrix and above it.

    Parameters
    ----------
    n, k, m
        As of `tril_indices`.

    Returns
    -------
    tuple of ndarray
        The rows and the columns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _indices(on_values(making.triu_indices, n, k, m))


@function
@or_by_numpy
def tril_indices_from(arr: ArrayLike, k: SupportsIndex = 0) -> Indices:
    """As `tril_indices`, for the shape of a matrix.

    Parameters
    ----------
    arr : array_like
        The matrix.
    k : int
        As of `tril_indices`.

    Returns
    -------
    tuple of ndarray
        The rows and the columns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tril_indices_from(np.ones((2, 2)), -1)
    (array([1]), array([0]))
    """
    return _indices(on_values(np.tril_indices_from, _probe(arr), k))


@function
@or_by_numpy
def triu_indices_from(arr: ArrayLike, k: SupportsIndex = 0) -> Indices:
    """As `triu_indices`, for the shape of a matrix.

    Parameters
    ----------
    arr : array_like
        The matrix.
    k : int
        As of `tril_indices`.

    Returns
    -------
    tuple of ndarray
        The rows and the columns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.triu_indices_from(np.ones((2, 2)), 1)
    (array([0]), array([1]))
    """
    return _indices(on_values(np.triu_indices_from, _probe(arr), k))


@function
def diag_indices(n: SupportsIndex, ndim: SupportsIndex = 2) -> Indices:
    """The indices of the main diagonal of an array.

    Parameters
    ----------
    n : int
        The size of each axis.
    ndim : int
        The number of axes.

    Returns
    -------
    tuple of ndarray
        The places along each axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    return _indices(on_values(making.diag_indices, n, ndim))


@function
@or_by_numpy
def diag_indices_from(arr: ArrayLike) -> Indices:
    """As `diag_indices`, for the shape of an array.

    Parameters
    ----------
    arr : array_like
        The array; its axes are of one size.

    Returns
    -------
    tuple of ndarray
        The places along each axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diag_indices_from(np.ones((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    return _indices(on_values(np.diag_indices_from, _probe(arr)))


@function
def mask_indices(n: int, mask_func: Callable[..., ArrayLike], k: object = 0) -> Indices:
    """The indices of the elements of a square matrix that a function does not set to zero.

    Parameters
    ----------
    n : int
        The size of each axis.
    mask_func : callable
        Called with a matrix of ones and `k`, as `triu` is.
    k : object
        Its second argument.

    Returns
    -------
    tuple of ndarray
        The rows and the columns.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.mask_indices(2, np.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _indices(nonzero(mask_func(ones((n, n), int), k)))


@function
def unravel_index(
    indices: ArrayLike,
    shape: SupportsIndex | Sequence[SupportsIndex],
    order: Literal["C", "F"] = "C",
) -> tuple[ndarray, ...]:
    """The indices of elements whose positions in the flat array are known.

    Parameters
    ----------
    indices : array_like of int
        The positions.
    shape : int or sequence of int
        The shape of the array.
    order : {"C", "F"}
        Which index runs fastest: the last or the first.

    Returns
    -------
    tuple of ndarray
        The places along each axis; integers for a single position.

    Raises
    ------
    ValueError
        If a position is outside.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unravel_index([0, 3], (2, 2))
    (array([0, 1]), array([0, 1]))
    """
    return typing.cast("tuple[ndarray, ...]", on_values(np.unravel_index, indices, shape, order))


@function
def ravel_multi_index(
    multi_index: Sequence[ArrayLike] | ArrayLike,
    dims: SupportsIndex | Sequence[SupportsIndex],
    mode: str | tuple[str, ...] = "raise",
    order: Literal["C", "F"] = "C",
) -> ndarray:
    """The positions in the flat array of elements whose indices are known.

    Parameters
    ----------
    multi_index : sequence of array_like of int
        The places along each axis.
    dims : sequence of int
        The shape of the array.
    mode : {"raise", "wrap", "clip"} or tuple of them
        What becomes of places outside.
    order : {"C", "F"}
        As of `unravel_index`.

    Returns
    -------
    ndarray
        The positions; an integer for a single element.

    Raises
    ------
    ValueError
        If a place is outside.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ravel_multi_index(([0, 1], [0, 1]), (2, 2))
    array([0, 3])
    """
    found: ndarray = on_values(np.ravel_multi_index, multi_index, dims, mode, order)
    return found


class ndenumerate:
    """An iterator of the indices of an array with its elements, which record.

    Parameters
    ----------
    arr : array_like
        The array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> [(index, float(x)) for index, x in np.ndenumerate([[1.0, 2.0]])]
    [((0, 0), 1.0), ((0, 1), 2.0)]
    """

    __slots__ = ("_array", "_indices")

    def __init__(self, arr: ArrayLike) -> None:
        self._array = of(arr)
        self._indices = np.ndindex(*self._array._impl.array.shape)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], ndarray]]:
        return self

    def __next__(self) -> tuple[tuple[int, ...], ndarray]:
        """The next index and element."""
        index = next(self._indices)
        return index, getitem(self._array, index)


@function
def nditer(
    op: object, flags: Sequence[str] = (), op_flags: object = None, **options: object
) -> np.nditer:
    """NumPy's iterator over several arrays, on values.

    What it gives is NumPy's own. Where derivatives are recorded, use indices, `ndenumerate` or
    `broadcast`.

    Parameters
    ----------
    op : array_like or sequence of array_like
        The arrays.
    flags, op_flags, **options
        As of `numpy.nditer`.

    Returns
    -------
    numpy.nditer
        NumPy's iterator.

    Raises
    ------
    NotSupportedError
        If an array carries a derivative, or is written while something may be recorded: the write
        would not be seen.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> [int(x) for x in np.nditer(np.array([1, 2]))]
    [1, 2]
    """
    if any_differentiated(op):
        raise NotSupportedError(
            "nditer gives values only, and a derivative would be lost; use ndenumerate, or "
            "x.detach() where no gradient is wanted"
        )
    written = op_flags is not None and any(
        name in ("readwrite", "writeonly") for name in _names(op_flags)
    )
    if written and is_recording() and holds_tensor(op):
        raise NotSupportedError(
            "writes of nditer to an array of vtgrad.numpy are not recorded; write by indices, or "
            "under no_grad"
        )
    given: dict[str, Any] = options if op_flags is None else {"op_flags": op_flags, **options}
    return np.nditer(values_in(op), typing.cast("Any", flags), **given)


def _names(flags: object) -> Iterator[str]:
    if isinstance(flags, str):
        yield flags
    elif isinstance(flags, (list, tuple)):
        for x in flags:
            yield from _names(x)

"""Matrices with a pattern: ones on a diagonal, triangles, diagonals, powers."""

from __future__ import annotations

import operator
import typing
from typing import Any, Final, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.creation import zeros
from vtgrad.numpy.deliver import made
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import on_values
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, is_differentiated, of
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.promotion import result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import Order, diagonal
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["diag", "diagflat", "eye", "identity", "tri", "tril", "triu", "vander"]

_FLOAT: Final = float


@function
def eye(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike | None = _FLOAT,
    order: Order = "C",
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """A matrix of zeros with ones on a diagonal.

    Parameters
    ----------
    N, M : int
        The numbers of rows and of columns; as many columns as rows by default.
    k : int
        Which diagonal: positive above the main one, negative below it.
    dtype, order, device, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.eye(2)
    array([[1., 0.],
           [0., 1.]])
    """
    found: Any = making.eye(
        typing.cast("int", N),
        typing.cast("int", M),
        typing.cast("int", k),
        dtype,
        typing.cast("Any", order),
        device=typing.cast("Any", device),
    )
    return made(found)


@function
def identity(
    n: SupportsIndex, dtype: DTypeLike | None = None, *, like: ArrayLike | None = None
) -> ndarray:
    """A square matrix of zeros with ones on the main diagonal.

    Parameters
    ----------
    n : int
        The number of rows and of columns.
    dtype, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.identity(2, int)
    array([[1, 0],
           [0, 1]])
    """
    return made(making.identity(typing.cast("int", n), dtype))


@function
def tri(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike | None = _FLOAT,
    *,
    like: ArrayLike | None = None,
) -> ndarray:
    """A matrix with ones on a diagonal and below it.

    Parameters
    ----------
    N, M, k
        As of `eye`.
    dtype, like
        As of `zeros`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    found: Any = making.tri(
        typing.cast("int", N), typing.cast("int", M), typing.cast("int", k), dtype
    )
    return made(found)


@function
@or_by_numpy
def diag(v: ArrayLike, k: SupportsIndex = 0) -> ndarray:
    """The diagonal of a matrix, or a matrix with a diagonal.

    Parameters
    ----------
    v : array_like
        A matrix, or the elements of the diagonal.
    k : int
        Which diagonal: positive above the main one, negative below it.

    Returns
    -------
    ndarray
        The diagonal as a view, as of `diagonal`; or a new matrix.

    Raises
    ------
    ValueError
        If there is another number of axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diag([1.0, 2.0])
    array([[1., 0.],
           [0., 2.]])
    """
    x = of(v)
    ndim = x._impl.array.ndim
    if ndim == 2:
        return diagonal(x, k)
    if ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    return as_array(F.diag_embed(x, operator.index(k)))


@function
@or_by_numpy
def diagflat(v: ArrayLike, k: SupportsIndex = 0) -> ndarray:
    """A matrix whose diagonal has the elements of an array of any shape.

    Parameters
    ----------
    v : array_like
        The elements.
    k : int
        As of `diag`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diagflat([[1, 2]], 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    return as_array(F.diag_embed(F.reshape(of(v), -1), operator.index(k)))


def _triangle(m: ArrayLike, k: SupportsIndex, below: bool) -> ndarray:
    """The elements up to a diagonal, or those behind it; zeros in place of the others."""
    x = of(m)
    if not is_differentiated(x):
        return on_values(np.tril if below else np.triu, x, k)
    sizes = x._impl.array.shape[-2:]
    # The matrix below the diagonal is NumPy's, whose error is raised for a number. One axis counts
    # for two.
    numpys: Any = making.tri
    mask = numpys(*sizes, k=operator.index(k) - (not below), dtype=np.bool_)
    chosen = fresh(mask if below else ~mask)
    return as_array(F.where(chosen, x, zeros(1, x._impl.dtype)))


@function
@or_by_numpy
def tril(m: ArrayLike, k: SupportsIndex = 0) -> ndarray:
    """The elements on a diagonal and below it, with zeros above.

    Parameters
    ----------
    m : array_like
        A matrix, or a stack of matrices.
    k : int
        As of `diag`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tril([[1, 2], [3, 4]])
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(m, k, below=True)


@function
@or_by_numpy
def triu(m: ArrayLike, k: SupportsIndex = 0) -> ndarray:
    """The elements on a diagonal and above it, with zeros below.

    Parameters
    ----------
    m, k
        As of `tril`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.triu([[1, 2], [3, 4]])
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(m, k, below=False)


@function
@or_by_numpy
def vander(x: ArrayLike, N: SupportsIndex | None = None, increasing: bool = False) -> ndarray:
    """The powers of numbers, a row for each number.

    Parameters
    ----------
    x : array_like
        One axis of numbers.
    N : int, optional
        How many powers, by default as many as numbers.
    increasing : bool
        Whether the powers go from 0 upward; else they go down to 0.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If `x` has another number of axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.vander([2, 3], 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    base = of(x)
    if not is_differentiated(base):
        return on_values(making.vander, base, N, increasing)
    if base._impl.array.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    (size,) = base._impl.array.shape
    count = size if N is None else operator.index(N)
    kind = result_type(base, np.dtype(np.int_))
    base = cast(base, kind)
    parts: list[TensorBase] = []
    if count != 0:
        # NumPy says what is wrong with the number.
        parts.append(fresh(making.ones((size, min(count, 1)), kind)))
    if count > 1:
        column = F.reshape(base, (size, 1))
        parts.append(F.cumprod(F.broadcast_to(column, (size, count - 1)), 1))
    if not parts:
        return zeros((size, 0), kind)
    made = as_array(F.cat(parts, 1))
    return made if increasing else as_array(F.flip(made, [1]))

"""Arrays joined along an axis, and repeated side by side."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Sequence
from typing import Any, Final, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.axes import atleast_1d, atleast_2d, atleast_3d
from vtgrad.numpy.deliver import deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import concatenated
from vtgrad.numpy.on_values import any_differentiated, on_values, values_in
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, cast, of, of_any_dtype, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.shapes import ravel
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "append",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "row_stack",
    "stack",
    "tile",
    "vstack",
]

# The parts of a join: a sequence of arrays, or the rows of one.
_Parts = Sequence[ArrayLike] | TensorBase


def _parts(arrays: object, what: str) -> list[Any]:
    """The operands one by one; the parts of an array are its rows.

    Raises
    ------
    TypeError
        If it is no sequence.
    ValueError
        If there are none.
    """
    if isinstance(arrays, TensorBase) and arrays._impl.array.ndim:
        found: list[Any] = list(F.unbind(of(arrays), 0)) if arrays.shape[0] else []
    elif isinstance(arrays, (list, tuple)):
        found = list(arrays)
    else:
        raise TypeError(f"the arrays to {what} must be a sequence, as a list or a tuple")
    if not found:
        raise ValueError(f"need at least one array to {what}")
    return found


def _joined_dtype(
    parts: Sequence[object], dtype: DTypeLike | None, casting: str, out: object = None
) -> NumpyDType:
    """The dtype of arrays together, by NumPy's rule of casting, which may be broken."""
    empty = [x if isinstance(x, (bool, int, float, complex)) else _nothing(x) for x in parts]
    options: dict[str, Any] = {"casting": casting}
    if out is not None:
        target = values_in(out)
        kind = target.dtype if isinstance(target, np.ndarray) else np.dtype(np.float64)
        options["out"] = making.empty(
            sum(isinstance(x, (int, float, complex)) for x in empty), kind
        )
    options["dtype"] = dtype
    found: NumpyDType = np.concatenate(typing.cast("Any", empty), axis=None, **options).dtype
    return found


def _nothing(x: object) -> object:
    return making.empty(0, of_any_dtype(x).dtype)


@function
def concatenate(
    arrays: _Parts,
    /,
    axis: SupportsIndex | None = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays joined along an axis that they have.

    Parameters
    ----------
    arrays : sequence of array_like
        The arrays, of the same shape except along the axis.
    axis : int or None
        The axis; None joins all elements along one axis.
    out : ndarray, optional
        Where the result is stored.
    dtype : dtype, optional
        The dtype of the result.
    casting : str
        Which casts are allowed, as in NumPy.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    ValueError
        If the shapes do not fit, or there are no arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.concatenate([np.array([1.0, 2.0]), [3.0]])
    array([1., 2., 3.])
    """
    if not any_differentiated(arrays):
        return on_values(np.concatenate, arrays, axis, out=out, dtype=dtype, casting=casting)
    parts = _parts(arrays, "concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument")
    operands = all_of(parts)
    if axis is None:
        operands, axis = [ravel(x) for x in operands], 0
    ndim = operands[0]._impl.array.ndim
    if not ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    (dim,) = dims_of(axis, ndim)
    shapes = {x.shape[:dim] + x.shape[dim + 1 :] for x in operands}
    if len(shapes) > 1 or any(x._impl.array.ndim != ndim for x in operands):
        raise ValueError(
            "all the input array dimensions except for the concatenation axis must match exactly, "
            f"and the shapes are {[x.shape for x in operands]}"
        )
    if out is not None:
        first, count = operands[0].shape, sum(x.shape[dim] for x in operands)
        if np.shape(values_in(out)) != (*first[:dim], count, *first[dim + 1 :]):
            raise ValueError("Output array is the wrong shape")
    kind = operands[0]._impl.array.dtype
    if dtype is not None or out is not None or any(x._impl.dtype != kind for x in operands):
        kind = _joined_dtype(parts, dtype, casting, out)
    operands = [cast(x, kind) for x in operands]
    return deliver(concatenated(operands, dim), out)


concat: Final = concatenate


@function
def stack(
    arrays: _Parts,
    axis: SupportsIndex = 0,
    out: ndarray | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> ndarray:
    """Arrays of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        The arrays.
    axis : int
        The place of the new axis in the result.
    out, dtype, casting
        As of `concatenate`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Raises
    ------
    ValueError
        If the shapes differ, or there are no arrays.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.stack([np.array([1.0, 2.0]), [3.0, 4.0]], axis=1)
    array([[1., 3.],
           [2., 4.]])
    """
    if not any_differentiated(arrays):
        return on_values(np.stack, arrays, axis, out=out, dtype=dtype, casting=casting)
    parts = all_of(_parts(arrays, "stack"))
    if len({x.shape for x in parts}) > 1:
        raise ValueError("all input arrays must have the same shape")
    (dim,) = dims_of(axis, parts[0]._impl.array.ndim + 1)
    whole = [as_array(F.unsqueeze(x, dim)) for x in parts]
    return concatenate(whole, dim, out, dtype=dtype, casting=casting)


@function
def vstack(tup: _Parts, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> ndarray:
    """Arrays joined as rows: along the first of at least two axes.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays; those of one axis are rows.
    dtype, casting
        As of `concatenate`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.vstack([np.array([1.0, 2.0]), [3.0, 4.0]])
    array([[1., 2.],
           [3., 4.]])
    """
    if not any_differentiated(tup):
        return on_values(np.vstack, tup, dtype=dtype, casting=casting)
    parts = [atleast_2d(x) for x in _parts(tup, "stack")]
    return concatenate(parts, 0, dtype=dtype, casting=casting)


@function
def row_stack(
    tup: _Parts, *, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> ndarray:
    """An old name of `vstack`.

    Parameters
    ----------
    tup, dtype, casting
        As of `vstack`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.vstack([[1.0], [2.0]]).shape
    (2, 1)
    """
    warnings.warn(
        "`row_stack` alias is deprecated. Use `np.vstack` directly.",
        DeprecationWarning,
        stacklevel=2,
    )
    return vstack(tup, dtype=dtype, casting=casting)


@function
def hstack(tup: _Parts, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> ndarray:
    """Arrays joined side by side: along the second axis, or the only one.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays.
    dtype, casting
        As of `concatenate`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.hstack([np.array([1.0, 2.0]), 3.0])
    array([1., 2., 3.])
    """
    if not any_differentiated(tup):
        return on_values(np.hstack, tup, dtype=dtype, casting=casting)
    parts = [atleast_1d(x) for x in _parts(tup, "stack")]
    axis = 0 if parts[0]._impl.array.ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


@function
def dstack(tup: _Parts) -> ndarray:
    """Arrays joined along the third axis.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays, brought to three axes as by `atleast_3d`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.dstack([np.array([1.0, 2.0]), [3.0, 4.0]]).shape
    (1, 2, 2)
    """
    if not any_differentiated(tup):
        return on_values(np.dstack, tup)
    parts = [atleast_3d(x) for x in _parts(tup, "stack")]
    return concatenate(parts, 2)


@function
def column_stack(tup: _Parts) -> ndarray:
    """Arrays joined as columns: those of one axis are columns.

    Parameters
    ----------
    tup : sequence of array_like
        The arrays.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.column_stack([np.array([1.0, 2.0]), [3.0, 4.0]])
    array([[1., 3.],
           [2., 4.]])
    """
    if not any_differentiated(tup):
        return on_values(np.column_stack, tup)
    parts = all_of(_parts(tup, "stack"))
    columns = [
        as_array(F.reshape(x, (-1, 1) if x._impl.array.size else (0, 1)))
        if x._impl.array.ndim < 2
        else x
        for x in parts
    ]
    return concatenate(columns, 1)


@function
def block(arrays: object) -> ndarray:
    """An array of blocks in nested lists.

    Parameters
    ----------
    arrays : nested list of array_like
        The innermost lists are joined along the last axis, the lists of these along the last but
        one, and so on.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If lists are empty, differ in depth, or blocks do not fit.
    TypeError
        If a tuple stands for a list.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.block([[np.ones((1, 1)), np.zeros((1, 1))], [np.array([[2.0, 3.0]])]])
    array([[1., 0.],
           [2., 3.]])
    """
    if not any_differentiated(arrays):
        return on_values(making.block, arrays)
    depth, ndim = _depth(arrays), _most_axes(arrays)
    if depth is None:
        # NumPy says what is wrong.
        making.block(values_in(arrays))
        raise ValueError("the lists of blocks differ in depth, or are empty")
    found = _joined(arrays, 0, depth, max(depth, ndim))
    return as_array(F.clone(found)) if not depth else found


def _depth(tree: object) -> int | None:
    """How deep the lists are, None if that is not the same everywhere, or one is empty."""
    if isinstance(tree, tuple):
        return None
    if not isinstance(tree, list):
        return 0
    depths = {_depth(x) for x in tree}
    (depth,) = depths if len(depths) == 1 else (None,)
    return None if depth is None else depth + 1


def _most_axes(tree: object) -> int:
    if isinstance(tree, list):
        return max(_most_axes(x) for x in tree)
    return 0 if isinstance(tree, tuple) else of_any_dtype(tree).ndim


def _joined(tree: object, level: int, depth: int, ndim: int) -> ndarray:
    if not isinstance(tree, list):
        x = of_any_dtype(tree)
        shape = (1,) * (ndim - len(x.shape)) + x.shape
        if not isinstance(x, TensorBase):
            return typing.cast("ndarray", x.reshape(shape))
        return as_array(F.reshape(x, shape))
    parts = [_joined(x, level + 1, depth, ndim) for x in tree]
    return concatenate(parts, level - depth)


@function
def append(arr: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None) -> ndarray:
    """An array with values joined to its end.

    Parameters
    ----------
    arr, values : array_like
        The arrays.
    axis : int, optional
        The axis; by default the elements of both are joined along one axis.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.append(np.array([1.0, 2.0]), 3.0)
    array([1., 2., 3.])
    """
    if not any_differentiated((arr, values)):
        return on_values(np.append, arr, values, axis)
    if axis is None:
        return concatenate([ravel(arr), ravel(values)])
    return concatenate(all_of([arr, values]), axis)


@function
def tile(A: ArrayLike, reps: SupportsIndex | Sequence[SupportsIndex] | TensorBase) -> ndarray:
    """An array repeated side by side.

    Parameters
    ----------
    A : array_like
        The elements.
    reps : int or sequence of int
        How often along each axis; fewer count for the last axes, more add axes in front.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tile(np.array([1.0, 2.0]), 2)
    array([1., 2., 1., 2.])
    """
    if not any_differentiated(A):
        return on_values(np.tile, A, reps)
    x = of(A)
    counts = typing.cast("list[int]", making.atleast_1d(values_in(reps)).astype(np.intp).tolist())
    if not x._impl.array.size:
        # NumPy says which shape it has.
        return as_array(F.clone(F.reshape(x, np.tile(value_of(x), counts).shape)))
    if min(counts, default=0) < 0:
        raise ValueError("negative dimensions are not allowed")
    counts = [1] * (x._impl.array.ndim - len(counts)) + counts
    return as_array(F.repeat(x, counts) if counts else F.clone(x))

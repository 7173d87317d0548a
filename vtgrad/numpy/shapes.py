"""Other shapes and orders of the same elements: reshaping, exchanged axes, repeats, diagonals."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.deliver import Axis, by_numpy, deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import in_rows, order_of_memory
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    is_differentiated,
    of,
    owned,
    places_in,
    viewable,
)
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "diagonal",
    "ravel",
    "repeat",
    "reshape",
    "squeeze",
    "swapaxes",
    "trace",
    "transpose",
]

Order = Literal["C", "F", "A", "K"]
_Shape = SupportsIndex | Sequence[SupportsIndex]


def _by_columns(x: TensorBase, order: str) -> bool:
    """Whether the elements are read with the first index running fastest."""
    if order == "F":
        return True
    return order in ("A", "K") and resolved(x._impl.array).flags.fnc


@function
@or_by_numpy
def reshape(
    a: ArrayLike,
    /,
    shape: _Shape | None = None,
    order: Order = "C",
    *,
    newshape: _Shape | None = None,
    copy: bool | None = None,
) -> ndarray:
    """The elements in another shape.

    Parameters
    ----------
    a : array_like
        The elements.
    shape : int or sequence of int
        The shape; one size may be -1, and follows from the others.
    order : {"C", "F", "A"}
        Which index runs fastest, in `a` and in the result: the last, the first, or the first if
        `a` is in that order in memory.
    newshape : int or sequence of int, optional
        An old name of `shape`.
    copy : bool, optional
        Whether to copy always or never; by default only where there is no such view.

    Returns
    -------
    ndarray
        A view if there is one, else a copy.

    Raises
    ------
    ValueError
        If the number of elements differs, or a view was asked for and there is none.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.reshape(np.array([1.0, 2.0, 3.0, 4.0]), (2, 2))
    array([[1., 2.],
           [3., 4.]])
    """
    if shape is None:
        shape = newshape
    if shape is None:
        raise TypeError("reshape() missing 1 required positional argument: 'shape'")
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    x = viewable(of(a))
    array = resolved(x._impl.array)
    # NumPy says which shape is meant, whether it is a view, and what is wrong.
    probe = array.reshape(typing.cast("Any", shape), order=order)
    sizes = probe.shape
    if copy is True:
        x = as_array(F.clone(x))
    elif copy is False and array.size and not np.may_share_memory(probe, array):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    if not _by_columns(x, order):
        return as_array(F.reshape(x, sizes))
    backward = F.permute(x, tuple(range(array.ndim))[::-1])
    turned = F.reshape(backward, sizes[::-1])
    return as_array(F.permute(turned, tuple(range(len(sizes)))[::-1]))


@function
@or_by_numpy
def ravel(a: ArrayLike, order: Order = "C") -> ndarray:
    """The elements along one axis.

    Parameters
    ----------
    a : array_like
        The elements.
    order : {"C", "F", "A", "K"}
        Which index runs fastest; ``"K"`` is the order of memory.

    Returns
    -------
    ndarray
        A view if the elements lie in this order in memory without gaps, else a copy.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ravel(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 2., 3., 4.])
    """
    x = viewable(of(a))
    if order == "K":
        x = as_array(F.permute(x, order_of_memory(x)))
    elif _by_columns(x, order):
        x = as_array(F.permute(x, tuple(range(x._impl.array.ndim))[::-1]))
    # Elements with gaps between them are copied, also where they would be a view.
    return as_array(F.reshape(in_rows(x), -1))


@function
@or_by_numpy
def transpose(a: ArrayLike, axes: SupportsIndex | Sequence[SupportsIndex] | None = None) -> ndarray:
    """The axes in another order.

    Parameters
    ----------
    a : array_like
        The elements.
    axes : int or sequence of int, optional
        For each axis of the result the one of `a`; by default the reverse order.

    Returns
    -------
    ndarray
        A view.

    Raises
    ------
    ValueError
        If `axes` does not name each axis once.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.transpose(np.array([[1.0, 2.0]])).shape
    (2, 1)
    """
    x = owned(of(a))
    ndim = x._impl.array.ndim
    if axes is None:
        dims = tuple(range(ndim))[::-1]
    else:
        dims = dims_of((axes,) if isinstance(axes, SupportsIndex) else tuple(axes), ndim)
    if len(dims) != ndim:
        raise ValueError("axes don't match array")
    if isinstance(a, np.generic) or type(x) is kinds.scalar:
        return typing.cast("ndarray", a)
    return as_array(F.permute(x, dims))


@function
@or_by_numpy
def swapaxes(a: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex) -> ndarray:
    """Two axes exchanged.

    Parameters
    ----------
    a : array_like
        The elements.
    axis1, axis2 : int
        The axes.

    Returns
    -------
    ndarray
        A view.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.swapaxes(np.array([[1.0, 2.0]]), 0, 1).shape
    (2, 1)
    """
    x = viewable(of(a))
    ndim = x._impl.array.ndim
    (one,), (two,) = dims_of(axis1, ndim), dims_of(axis2, ndim)
    return as_array(F.transpose(x, one, two))


@function
@or_by_numpy
def squeeze(a: ArrayLike, axis: Axis = None) -> ndarray:
    """The array without axes of size 1.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int or tuple of int, optional
        The axes to leave out; by default all of size 1.

    Returns
    -------
    ndarray
        A view, or `a` itself if there is no such axis.

    Raises
    ------
    ValueError
        If one of the axes has another size.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.squeeze(np.array([[1.0, 2.0]])).shape
    (2,)
    """
    x = owned(of(a))
    sizes = x._impl.array.shape
    if axis is None:
        dims = tuple([dim for dim, size in enumerate(sizes) if size == 1])
    else:
        dims = dims_of(axis, len(sizes), of_number=True)
        if any(sizes[dim] != 1 for dim in dims):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    if isinstance(a, np.generic) or type(x) is kinds.scalar:
        return typing.cast("ndarray", a)
    # As in NumPy, an array that has none is returned itself.
    return as_array(F.squeeze(x, dims)) if dims else x


@function
@or_by_numpy
def repeat(a: ArrayLike, repeats: ArrayLike, axis: SupportsIndex | None = None) -> ndarray:
    """Each element several times, one behind the other.

    Parameters
    ----------
    a : array_like
        The elements.
    repeats : int or array_like of int
        How often; one number for all, or one for each.
    axis : int, optional
        The axis; by default the array is flattened.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.repeat(np.array([1.0, 2.0]), 2)
    array([1., 1., 2., 2.])
    """
    x = of(a)
    counts = places_in(repeats)
    if not is_differentiated(x):
        return by_numpy(np.repeat, x, counts, axis)
    if axis is None or not x.shape:
        (axis,) = dims_of(axis or 0, 1)
        x = as_array(F.reshape(x, -1))
    (dim,) = dims_of(axis, x._impl.array.ndim)
    # NumPy says which elements are taken, and what is wrong.
    places = np.repeat(making.arange(x._impl.array.shape[dim]), counts)
    return as_array(F.index_select(x, dim, fresh(places)))


@function
@or_by_numpy
def diagonal(
    a: ArrayLike, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> ndarray:
    """The diagonals of two axes.

    Parameters
    ----------
    a : array_like
        At least two axes.
    offset : int
        Which diagonal: positive above the main one, negative below it.
    axis1, axis2 : int
        The axes.

    Returns
    -------
    ndarray
        A view, with the diagonal as the last axis. Unlike NumPy's it can be written.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.diagonal(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([1., 4.])
    """
    x = owned(of(a))
    ndim = x._impl.array.ndim
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    (one,), (two,) = dims_of(axis1, ndim), dims_of(axis2, ndim)
    if one == two:
        raise ValueError("axis1 and axis2 cannot be the same")
    return as_array(F.diagonal(x, operator.index(offset), one, two))


@function
@or_by_numpy
def trace(
    a: ArrayLike,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The sum along the diagonals of two axes.

    Parameters
    ----------
    a : array_like
        At least two axes.
    offset, axis1, axis2
        As of `diagonal`.
    dtype : dtype, optional
        The dtype of the result.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.trace(np.array([[1.0, 2.0], [3.0, 4.0]])).item()
    5.0
    """
    x = of(a)
    if not is_differentiated(x):
        return by_numpy(np.trace, x, offset, axis1, axis2, dtype=dtype, out=out)
    if dtype is not None:
        x = cast(x, np.dtype(dtype))
    return deliver(F.sum(diagonal(x, offset, axis1, axis2), -1), out)

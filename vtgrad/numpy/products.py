"""Products of vectors and tensors."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy.axes import moveaxis
from vtgrad.numpy.deliver import apart, deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_rows
from vtgrad.numpy.on_values import any_differentiated, on_values, values_in
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, result
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F

__all__ = ["cross", "inner", "kron", "outer", "tensordot", "vdot"]

_Axes = SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]


@function
def inner(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """The sums of products over the last axes of two arrays.

    Parameters
    ----------
    a, b : array_like
        The factors, with last axes of one length; numbers multiply.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.inner(np.array([1.0, 2.0]), np.array([3.0, 4.0])).item()
    11.0
    """
    if not any_differentiated((a, b)):
        return on_values(np.inner, a, b)
    x, y = _pair(a, b)
    m, n = len(x.shape), len(y.shape)
    if not m or not n:
        return result(F.mul(x, y))
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(f"shapes {x.shape} and {y.shape} not aligned")
    return result(F.tensordot(x, y, ([m - 1], [n - 1])))


@function
def outer(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The products of each element of one array with each of another.

    Parameters
    ----------
    a, b : array_like
        The factors, whose elements are taken along one axis.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array with two axes, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.outer(np.array([1.0, 2.0]), [3.0, 4.0])
    array([[3., 4.],
           [6., 8.]])
    """
    if not any_differentiated((a, b)):
        return on_values(np.outer, a, b, out=out)
    x, y = (apart(z, out) for z in _pair(a, b))
    return deliver(F.mul(F.reshape(x, (-1, 1)), F.reshape(y, (1, -1))), out)


def _pair(a: ArrayLike, b: ArrayLike) -> list[ndarray]:
    """Two factors as arrays of the dtype of their product."""
    return common(all_of([a, b]))


@function
def tensordot(a: ArrayLike, b: ArrayLike, axes: _Axes = 2) -> ndarray:
    """The sums of products over axes of two arrays.

    Parameters
    ----------
    a, b : array_like
        The factors.
    axes : int or pair of axes or of sequences of them
        How many of the last axes of `a` go with the first of `b`, or the axes of each.

    Returns
    -------
    ndarray
        A new array, with the other axes of `a` and then those of `b`.

    Raises
    ------
    ValueError
        If the sizes of the axes differ.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.tensordot(np.array([[1.0, 2.0]]), np.array([3.0, 4.0]), 1)
    array([11.])
    """
    if not any_differentiated((a, b)):
        return on_values(np.tensordot, a, b, axes)
    x, y = _pair(a, b)
    left, right = _summed_axes(values_in(axes), len(x.shape))
    m, n = len(x.shape), len(y.shape)
    if len(left) != len(right):
        raise ValueError("shape-mismatch for sum")
    for i, j in zip(left, right, strict=True):
        if not -m <= i < m or not -n <= j < n:
            raise IndexError("tuple index out of range")
        if x.shape[i] != y.shape[j]:
            raise ValueError("shape-mismatch for sum")
    one, two = dims_of(tuple(left), m), dims_of(tuple(right), n)
    return as_array(F.tensordot(x, y, (list(one), list(two))))


def _summed_axes(axes: Any, ndim: int) -> tuple[list[int], list[int]]:
    try:
        one, two = axes
    except TypeError:
        count = operator.index(axes)
        return list(range(-count, 0)), list(range(count))
    return _list_of(one), _list_of(two)


def _list_of(axes: Any) -> list[int]:
    try:
        return [operator.index(axis) for axis in axes]
    except TypeError:
        return [operator.index(axes)]


@function
def kron(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The Kronecker product: one array in place of each element of another, times it.

    Parameters
    ----------
    a, b : array_like
        The factors.

    Returns
    -------
    ndarray
        A new array or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.kron(np.array([1.0, 10.0]), [1.0, 2.0])
    array([ 1.,  2., 10., 20.])
    """
    if not any_differentiated((a, b)):
        return on_values(np.kron, a, b)
    x, y = _pair(a, b)
    return result(in_rows(F.kron(x, y)))


@function
def vdot(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """The sum of the products of all elements; those of the first array are conjugated.

    Parameters
    ----------
    a, b : array_like
        The factors, with as many elements.

    Returns
    -------
    ndarray
        A scalar.

    Raises
    ------
    ValueError
        If they have not as many elements.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.vdot(np.array([1.0, 2.0]), np.array([3.0, 4.0])).item()
    11.0
    """
    if not any_differentiated((a, b)):
        return on_values(np.vdot, a, b)
    x, y = _pair(a, b)
    if math.prod(x.shape) != math.prod(y.shape):
        raise ValueError("cannot reshape array: the factors of vdot differ in size")
    return result(F.vdot(F.reshape(x, -1), F.reshape(y, -1)))


@function
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: SupportsIndex = -1,
    axisb: SupportsIndex = -1,
    axisc: SupportsIndex = -1,
    axis: SupportsIndex | None = None,
) -> ndarray:
    """The cross products of vectors.

    Parameters
    ----------
    a, b : array_like
        Vectors of three components; of two, whose third is 0, which NumPy deprecates.
    axisa, axisb, axisc : int
        The axes of the components, in `a`, `b` and the result.
    axis : int, optional
        All three.

    Returns
    -------
    ndarray
        A new array; only the third components if all vectors have two.

    Raises
    ------
    ValueError
        If the vectors have other lengths.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cross(np.array([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])
    array([0., 0., 1.])
    """
    if not any_differentiated((a, b)):
        return on_values(np.cross, a, b, axisa, axisb, axisc, axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _pair(a, b)
    if not x.shape or not y.shape:
        raise ValueError("At least one array has zero dimension")
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    m, n = x.shape[-1], y.shape[-1]
    if m not in (2, 3) or n not in (2, 3):
        raise ValueError("incompatible dimensions for cross product (dimension must be 2 or 3)")
    if 2 in (m, n):
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors "
            "instead. (deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    # NumPy says which shape it is, and what does not fit.
    shape = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    if m == n == 2:
        return as_array(in_rows(_minor(x, y, 0, 1)))
    dims_of(axisc, len(shape) + 1)
    if m == n == 3:
        # The operator broadcasts arrays with as many axes.
        x, y = (
            as_array(F.reshape(z, (1,) * (len(shape) + 1 - len(z.shape)) + z.shape)) for z in (x, y)
        )
        return moveaxis(as_array(in_rows(F.linalg_cross(x, y, dim=-1))), -1, axisc)
    if m == 2:
        one, two, three = (F.select(y, -1, k) for k in range(3))
        first, second = F.select(x, -1, 0), F.select(x, -1, 1)
        parts = [F.mul(second, three), F.neg(F.mul(first, three))]
        parts.append(F.sub(F.mul(first, two), F.mul(second, one)))
    else:
        one, two, three = (F.select(x, -1, k) for k in range(3))
        first, second = F.select(y, -1, 0), F.select(y, -1, 1)
        parts = [F.neg(F.mul(three, second)), F.mul(three, first)]
        parts.append(F.sub(F.mul(one, second), F.mul(two, first)))
    return moveaxis(as_array(F.stack(parts, -1)), -1, axisc)


def _minor(x: ndarray, y: ndarray, i: int, j: int) -> ndarray:
    """One component of cross products."""
    left = F.mul(F.select(x, -1, i), F.select(y, -1, j))
    return F.sub(left, F.mul(F.select(x, -1, j), F.select(y, -1, i)))

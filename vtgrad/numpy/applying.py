"""Functions of parts of an array, called by the namespace."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy.deliver import dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem
from vtgrad.numpy.on_values import any_differentiated, on_values, values_in
from vtgrad.numpy.operands import ArrayLike, as_array, cast, has_dtype, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["apply_along_axis", "apply_over_axes"]


@function
def apply_along_axis(
    func1d: Callable[..., ArrayLike],
    axis: SupportsIndex,
    arr: ArrayLike,
    *args: object,
    **kwargs: object,
) -> ndarray:
    """A function of one axis, called for each line of an array along an axis.

    Parameters
    ----------
    func1d : callable
        It gets an array with one axis.
    axis : int
        The axis.
    arr : array_like
        The array.
    *args, **kwargs : object
        What the function is called with, behind the array.

    Returns
    -------
    ndarray
        A new array, with the axes of the function's result in place of `axis`, and the dtype of
        its first result.

    Raises
    ------
    ValueError
        If there are no lines, or the results differ in shape.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.apply_along_axis(lambda x: x / x.sum(), 1, np.array([[1.0, 3.0], [2.0, 2.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    if not (any_differentiated(arr) or has_dtype(making.asarray(values_in(arr)).dtype)):
        return on_values(np.apply_along_axis, func1d, axis, arr, *args, **kwargs)
    x = of(arr)
    ndim = x._impl.array.ndim
    (dim,) = dims_of(axis, ndim)
    others = (*range(dim), *range(dim + 1, ndim))
    lines = F.permute(x, (*others, dim))
    outer: Shape = lines._impl.array.shape[:-1]
    if not math.prod(outer):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [
        func1d(getitem(lines, (*index, ...)), *args, **kwargs) for index in np.ndindex(outer)
    ]
    if not any_differentiated(results):
        # NumPy puts them together, of whatever dtype they are.
        values = iter(results)
        blank = making.empty(x._impl.array.shape, np.bool_)
        return on_values(np.apply_along_axis, lambda _: values_in(next(values)), dim, blank)
    found = _stacked([of(y) for y in results], outer)
    inner = found._impl.array.ndim - len(outer)
    last = len(outer)
    # The axes of the function's result go where the axis was.
    order = (*range(dim), *range(last, last + inner), *range(dim, last))
    return as_array(F.permute(found, order))


def _stacked(results: Sequence[ndarray], outer: Shape) -> ndarray:
    """Results of one function as an array, each in the shape and the dtype of the first."""
    shape: Shape = results[0]._impl.array.shape
    dtype: NumpyDType = results[0]._impl.dtype
    parts = []
    for x in results:
        found = x._impl.array.shape
        if found != shape and np.broadcast_shapes(found, shape) != shape:
            raise ValueError(f"could not broadcast input array from shape {found} into {shape}")
        x = cast(x, dtype)
        parts.append(x if found == shape else F.broadcast_to(x, shape))
    return as_array(F.reshape(F.stack(parts), (*outer, *shape)))


@function
def apply_over_axes(
    func: Callable[..., ArrayLike],
    a: ArrayLike,
    axes: SupportsIndex | Sequence[SupportsIndex],
) -> ndarray:
    """A function with an argument for an axis, called for one axis after the other.

    Parameters
    ----------
    func : callable
        It is called with an array and an axis, and keeps the axis or leaves it out.
    a : array_like
        The array.
    axes : int or sequence of int
        The axes.

    Returns
    -------
    ndarray
        A new array with as many axes as `a`.

    Raises
    ------
    ValueError
        If the function gives another number of axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.apply_over_axes(np.sum, np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1])
    array([[10.]])
    """
    found: ndarray | Array = of(a)
    ndim = len(found.shape)
    for axis in making.atleast_1d(typing.cast("Any", axes)).tolist():
        dim = axis + ndim if axis < 0 else axis
        after = _as_array(func(found, dim))
        if len(after.shape) != len(found.shape):
            (place,) = dims_of(dim, len(after.shape) + 1)
            after = (
                as_array(F.unsqueeze(after, place))
                if isinstance(after, TensorBase)
                else (np.expand_dims(after, place))
            )
            if len(after.shape) != len(found.shape):
                raise ValueError("function is not returning an array of the correct shape")
        found = after
    return typing.cast("ndarray", found)


def _as_array(x: ArrayLike) -> ndarray | Array:
    """An array of the namespace, or of NumPy if tensors do not have the dtype."""
    if isinstance(x, (np.ndarray, np.generic)) and not has_dtype(x.dtype):
        return making.asarray(x)
    return of(x)

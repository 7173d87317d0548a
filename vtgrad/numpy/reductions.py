"""Sums, products, extremes, means and their like."""

from __future__ import annotations

import operator
import typing
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.deliver import (
    NO_VALUE,
    Axis,
    NoValue,
    apart,
    by_numpy,
    deliver,
    dims_of,
    is_whole,
)
from vtgrad.numpy.function import function, functions
from vtgrad.numpy.memory_order import in_order_of, reduced
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    is_differentiated,
    of,
    result,
    value_of,
)
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "root_of_spread",
    "std",
    "sum",
    "var",
]

_BOOL: Final = np.dtype(np.bool_)


def _masked(x: TensorBase, where: ArrayLike, value: object) -> TensorBase:
    """The array with a value in place of the elements that do not take part."""
    if where is True:
        return x
    return F.where(of(where, _BOOL), x, fresh(making.asarray(value, x._impl.array.dtype)))


def _dtype(dtype: DTypeLike | None) -> NumpyDType | None:
    return None if dtype is None else np.dtype(dtype)


def _count(x: TensorBase, where: ArrayLike, dims: Shape, keepdims: bool) -> TensorBase:
    """The number of elements that take part, for each element of the result."""
    mask = F.to_dtype(of(where, _BOOL), np.dtype(np.float64))
    whole = F.broadcast_to(mask, x._impl.array.shape)
    return F.sum_dim_IntList(whole, dims, keepdims) if dims else F.clone(whole)


def _sum(x: TensorBase, dims: Shape, keepdims: bool) -> TensorBase:
    # Without dimensions the operator would take all.
    return F.sum_dim_IntList(x, dims, keepdims) if dims else F.clone(x)


def _carries(x: TensorBase, initial: object) -> bool:
    """Whether a reduction has a derivative: of the elements, or of what it begins with."""
    return is_differentiated(x) or (isinstance(initial, TensorBase) and is_differentiated(initial))


@function
@or_by_numpy
def sum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike = True,
) -> ndarray:
    """The sum of the elements along axes.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int or tuple of int, optional
        The axes, all by default.
    dtype : dtype, optional
        The dtype of the result and of the sum; by default that of `a`, at least int64 of integers.
    out : ndarray, optional
        Where the result is stored.
    keepdims : bool
        Whether the axes stay, with size 1.
    initial : array_like, optional
        What is added to the sum.
    where : array_like of bool
        Which elements take part.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> np.sum(x, axis=0)
    array([4., 6.])
    """
    x = of(a)
    if (
        axis is None
        and dtype is None
        and out is None
        and initial is NO_VALUE
        and where is True
        and not keepdims
        and x._impl.array.dtype.kind in "fc"
    ):
        if is_differentiated(x):
            return result(F.sum(x))
        found: Any = run_without_warnings(np.add.reduce, value_of(x), None)
        return typing.cast("ndarray", found)
    if is_whole(out) or not _carries(x, initial):
        return by_numpy(
            np.sum,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            keepdims=keepdims,
            initial=initial,
            where=where,
        )
    kind = _dtype(dtype) or np.add.reduce(making.zeros(0, x._impl.dtype)).dtype
    x = cast(x, kind)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    # The operator sums integers and bools in int64.
    found = cast(as_array(_sum(_masked(x, where, 0), dims, keepdims)), kind)
    if not isinstance(initial, NoValue):
        found = F.add(found, of(initial, kind))
    return deliver(reduced(found, x, dims), out)


@function
@or_by_numpy
def prod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike = True,
) -> ndarray:
    """The product of the elements along axes.

    Parameters
    ----------
    a : array_like
        The values.
    axis, dtype, out, keepdims, where
        As of `sum`.
    initial : array_like, optional
        What the product is multiplied by.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.prod(np.array([2.0, 3.0])).item()
    6.0
    """
    x = of(a)
    if is_whole(out) or not _carries(x, initial):
        return by_numpy(
            np.prod,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            keepdims=keepdims,
            initial=initial,
            where=where,
        )
    kind = _dtype(dtype) or np.multiply.reduce(making.ones(0, x._impl.dtype)).dtype
    x = cast(apart(x, out), kind)
    found: TensorBase = _masked(x, where, 1)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    if not dims:
        found = F.clone(found)
    for dim in sorted(dims, reverse=True):
        found = F.prod(found, dim, keepdims)
    found = cast(as_array(found), kind)
    if not isinstance(initial, NoValue):
        found = F.mul(found, of(initial, kind))
    return deliver(reduced(found, x, dims), out)


def _extreme(
    name: str,
    a: ArrayLike,
    axis: Axis,
    out: ndarray | None,
    keepdims: bool,
    initial: ArrayLike | NoValue,
    where: ArrayLike,
) -> ndarray:
    x = of(a)
    if is_whole(out) or not _carries(x, initial):
        numpys: Any = getattr(np, name)
        return by_numpy(
            numpys, x, axis=axis, out=out, keepdims=keepdims, initial=initial, where=where
        )
    x = apart(x, out)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    if isinstance(initial, NoValue):
        if where is not True:
            raise ValueError(
                f"reduction operation {name!r}imum' does not have an identity, so to use a where "
                "mask one has to specify 'initial'"
            )
        if not x._impl.array.size and dims:
            # NumPy says whether there is a result, and what is wrong.
            getattr(np, name)(making.empty(x._impl.array.shape), axis=dims)
        return deliver(_extreme_along(name, x, dims, keepdims), out)
    start = of(initial, x._impl.dtype)
    masked = x if where is True else as_array(F.where(of(where, _BOOL), x, start))
    pairs = F.maximum if name == "max" else F.minimum
    if not x._impl.array.size and dims:
        shape = np.sum(making.empty(x._impl.array.shape), axis=dims, keepdims=keepdims).shape
        return deliver(F.clone(F.broadcast_to(start, shape)), out)
    return deliver(pairs(_extreme_along(name, masked, dims, keepdims), start), out)


def _extreme_along(name: str, x: TensorBase, dims: Shape, keepdims: bool) -> TensorBase:
    if not dims:
        return F.clone(x)
    extreme = F.amax if name == "max" else F.amin
    return reduced(extreme(x, dims, keepdims), x, dims)


@function
@or_by_numpy
def max(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike = True,
) -> ndarray:
    """The largest element along axes.

    The gradient goes in equal parts to all elements that are largest.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, where
        As of `sum`.
    initial : array_like, optional
        The smallest result; needed with `where`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.max(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    array([2., 4.])
    """
    return _extreme("max", a, axis, out, keepdims, initial, where)


@function
@or_by_numpy
def min(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike = True,
) -> ndarray:
    """The smallest element along axes.

    The gradient goes in equal parts to all elements that are smallest.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, where
        As of `sum`.
    initial : array_like, optional
        The largest result; needed with `where`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.min(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    array([1., 3.])
    """
    return _extreme("min", a, axis, out, keepdims, initial, where)


amax: Final = max
amin: Final = min
# NumPy has functions of their own by these names.
functions[np.amax], functions[np.amin] = max, min


@function
@or_by_numpy
def ptp(
    a: ArrayLike, axis: Axis = None, out: ndarray | None = None, keepdims: bool = False
) -> ndarray:
    """The range of the values along axes: the largest minus the smallest.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims
        As of `sum`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.ptp(np.array([1.0, 5.0])).item()
    4.0
    """
    x = of(a)
    if not is_differentiated(x):
        return by_numpy(np.ptp, x, axis=axis, out=out, keepdims=keepdims)
    x = apart(x, out)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    large = _extreme_along("max", x, dims, keepdims)
    return deliver(F.sub(large, _extreme_along("min", x, dims, keepdims)), out)


# -- moments ---------------------------------------------------------------------------------


@function
@or_by_numpy
def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> ndarray:
    """The mean of the elements along axes.

    Parameters
    ----------
    a : array_like
        The values; integers are computed in float64.
    axis, dtype, out, keepdims, where
        As of `sum`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.mean(np.array([1.0, 2.0])).item()
    1.5
    """
    x = of(a)
    if is_whole(out) or not is_differentiated(x):
        return by_numpy(np.mean, x, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    x = inexact(x, _dtype(dtype))
    # Where a mask counts the elements, a number has axes too.
    dims = dims_of(axis, x._impl.array.ndim, of_number=where is not True)
    if where is not True:
        total = _sum(_masked(x, where, 0), dims, keepdims)
        count = F.to_dtype(_count(x, where, dims, keepdims), x._impl.dtype)
        return deliver(reduced(F.true_divide(total, count), x, dims), out)
    return deliver(reduced(F.mean(x, dims, keepdims), x, dims) if dims else F.clone(x), out)


def _variance(
    x: ndarray,
    dims: Shape,
    ddof: object,
    keepdims: bool,
    where: ArrayLike,
    mean: ArrayLike | NoValue,
) -> TensorBase:
    """The variance, by the deviations from the mean."""
    if where is True and isinstance(mean, NoValue) and dims and x._impl.array.dtype.kind == "f":
        return F.var(x, dims, correction=typing.cast("Any", ddof), keepdim=keepdims)
    count = _count(x, where, dims, True)
    centre: TensorBase
    if isinstance(mean, NoValue):
        total = _sum(_masked(x, where, 0), dims, True)
        centre = F.true_divide(total, F.to_dtype(count, x._impl.dtype))
    else:
        # A number of Python has the dtype of the values.
        centre = of(mean, x.dtype if type(mean) in (int, float) else None)
    deviation = _masked(F.sub(x, centre), where, 0)
    if x._impl.array.dtype.kind == "c":
        squares = F.add(F.square(F.real(deviation)), F.square(F.imag(deviation)))
    else:
        squares = F.square(deviation)
    total = _sum(squares, dims, keepdims)
    number = F.clamp_min(F.sub(_count(x, where, dims, keepdims), typing.cast("Any", ddof)), 0)
    return F.true_divide(total, F.to_dtype(number, total._impl.dtype))


@function
@or_by_numpy
def var(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | NoValue = NO_VALUE,
    correction: float | NoValue = NO_VALUE,
) -> ndarray:
    """The variance of the elements along axes.

    Parameters
    ----------
    a : array_like
        The values; integers are computed in float64.
    axis, dtype, out, keepdims, where
        As of `sum`.
    ddof : float
        What is subtracted from the number of elements; 0, unlike `Tensor.var`.
    mean : array_like, optional
        The mean, if it is known, with the axes kept.
    correction : float, optional
        Another name of `ddof`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; real for complex values.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.var(np.array([1.0, 3.0])).item()
    1.0
    """
    x = of(a)
    if is_whole(out) or not (
        is_differentiated(x) or (isinstance(mean, TensorBase) and is_differentiated(mean))
    ):
        return by_numpy(
            np.var,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )
    spread = _spread(apart(x, out), axis, dtype, ddof, keepdims, where, mean, correction)
    return deliver(spread, out)


@function
@or_by_numpy
def std(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | NoValue = NO_VALUE,
    correction: float | NoValue = NO_VALUE,
) -> ndarray:
    """The standard deviation of the elements along axes, the root of the variance.

    Parameters
    ----------
    a : array_like
        The values; integers are computed in float64.
    axis, dtype, out, keepdims, where
        As of `sum`.
    ddof, mean, correction
        As of `var`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; real for complex values.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.std(np.array([1.0, 3.0])).item()
    1.0
    """
    x = of(a)
    if is_whole(out) or not (
        is_differentiated(x) or (isinstance(mean, TensorBase) and is_differentiated(mean))
    ):
        return by_numpy(
            np.std,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )
    variance = _spread(apart(x, out), axis, dtype, ddof, keepdims, where, mean, correction)
    return deliver(root_of_spread(variance), out)


def root_of_spread(variance: TensorBase) -> TensorBase:
    """The standard deviation, whose derivative is taken as 0 where nothing varies."""
    constant = F.eq(variance, 0)
    root = F.sqrt(F.masked_fill(variance, constant, 1))
    return in_order_of(F.masked_fill(root, constant, 0), variance)


def _spread(
    x: ndarray,
    axis: Axis,
    dtype: DTypeLike | None,
    ddof: float,
    keepdims: bool,
    where: ArrayLike,
    mean: ArrayLike | NoValue,
    correction: float | NoValue,
) -> TensorBase:
    if not isinstance(correction, NoValue):
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = inexact(x, _dtype(dtype))
    dims = dims_of(axis, x._impl.array.ndim, of_number=where is not True)
    return reduced(_variance(x, dims, ddof, keepdims, where, mean), x, dims)


# -- truth -----------------------------------------------------------------------------------


def _truth(
    name: str, a: ArrayLike, axis: Axis, out: ndarray | None, keepdims: bool, where: ArrayLike
) -> ndarray:
    x = of(a)
    if not is_differentiated(x) or not _is_sample(x):
        numpys: Any = getattr(np, name)
        return by_numpy(numpys, x, axis=axis, out=out, keepdims=keepdims, where=where)
    found = F.ne(x, 0) if x._impl.array.dtype.kind != "b" else x
    found = as_array(_masked(found, where, name == "all"))
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    if not dims:
        return deliver(F.clone(found), out)
    reduce = F.all if name == "all" else F.any
    for dim in sorted(dims, reverse=True):
        found = as_array(reduce(found, dim, keepdims))
    return deliver(found, out)


def _is_sample(x: TensorBase) -> bool:
    return x._impl.key_set != 0


@function
@or_by_numpy
def all(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> ndarray:
    """Whether all elements along axes are true.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, where
        As of `sum`.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> bool(np.all(np.array([True, False])))
    False
    """
    return _truth("all", a, axis, out, keepdims, where)


@function
@or_by_numpy
def any(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> ndarray:
    """Whether any element along axes is true.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, where
        As of `sum`.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> bool(np.any(np.array([True, False])))
    True
    """
    return _truth("any", a, axis, out, keepdims, where)


def _place(name: str, a: ArrayLike, axis: Axis, out: ndarray | None, keepdims: bool) -> ndarray:
    x = of(a)
    if not is_differentiated(x) or not _is_sample(x):
        numpys: Any = getattr(np, name)
        return by_numpy(numpys, x, axis=axis, out=out, keepdims=keepdims)
    place: Any = F.argmax if name == "argmax" else F.argmin
    return deliver(place(x, axis, keepdims), out)


@function
@or_by_numpy
def argmax(
    a: ArrayLike,
    axis: typing.SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """The place of the first largest element along an axis.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; by default the place is the row-major position.
    out, keepdims
        As of `sum`.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.argmax(np.array([1.0, 3.0, 2.0])))
    1
    """
    return _place("argmax", a, axis, out, keepdims)


@function
@or_by_numpy
def argmin(
    a: ArrayLike,
    axis: typing.SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool = False,
) -> ndarray:
    """The place of the first smallest element along an axis.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; by default the place is the row-major position.
    out, keepdims
        As of `sum`.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.argmin(np.array([4.0, 3.0, 5.0])))
    1
    """
    return _place("argmin", a, axis, out, keepdims)


# -- running sums ----------------------------------------------------------------------------


def _running(
    name: str, a: ArrayLike, axis: object, dtype: DTypeLike | None, out: ndarray | None
) -> ndarray:
    x = of(a)
    if is_whole(out) or not is_differentiated(x):
        numpys: Any = getattr(np, name)
        return by_numpy(numpys, x, axis=axis, dtype=dtype, out=out)
    # The rule of the dtype is that of sums and products.
    kind = _dtype(dtype) or np.add.reduce(making.zeros(0, x._impl.dtype)).dtype
    given: TensorBase = cast(apart(x, out), kind)
    dim = axis
    if dim is None:
        given, dim = F.reshape(given, -1), 0
    elif not given._impl.array.ndim:
        given = F.reshape(given, -1)
    running: Any = F.cumsum if name == "cumsum" else F.cumprod
    (place,) = dims_of(operator.index(typing.cast("Any", dim)), given._impl.array.ndim)
    found = in_order_of(cast(as_array(running(given, place)), kind), given)
    return deliver(found, out)


@function
@or_by_numpy
def cumsum(
    a: ArrayLike,
    axis: typing.SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The sums of the elements up to each place along an axis.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; by default the array is flattened.
    dtype, out
        As of `sum`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cumsum(np.array([1.0, 2.0, 3.0]))
    array([1., 3., 6.])
    """
    return _running("cumsum", a, axis, dtype, out)


@function
@or_by_numpy
def cumprod(
    a: ArrayLike,
    axis: typing.SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The products of the elements up to each place along an axis.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, optional
        The axis; by default the array is flattened.
    dtype, out
        As of `sum`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.cumprod(np.array([1.0, 2.0, 3.0]))
    array([1., 2., 6.])
    """
    return _running("cumprod", a, axis, dtype, out)

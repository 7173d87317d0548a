"""Sums, products, means and spreads of the elements that are not NaN.

The elements that are NaN are replaced by a constant before anything is computed, so their gradient
is zero.
"""

from __future__ import annotations

from typing import Any, Final, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import reductions
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue, deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import reduced
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, fresh, of
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.reductions import root_of_spread
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "constant",
    "count_of",
    "given",
    "takes_part",
    "with_value",
    "nancumprod",
    "nancumsum",
    "nanmean",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]

_BOOL: Final = np.dtype(np.bool_)


def constant(value: object, x: TensorBase) -> ndarray:
    """A number in the dtype of an array."""
    return fresh(making.asarray(value, x._impl.array.dtype))


def with_value(x: ndarray, value: object) -> ndarray:
    """The array with a value in place of NaN."""
    if x._impl.array.dtype.kind not in "fc":
        return x
    return as_array(F.where(F.isnan(x), constant(value, x), x))


def takes_part(x: ndarray, where: ArrayLike | NoValue) -> TensorBase:
    """Which elements are numbers, and not excluded."""
    found: TensorBase
    if x._impl.array.dtype.kind in "fc":
        found = F.logical_not(F.isnan(x))
    else:
        found = of(making.ones(x.shape, _BOOL))
    if not isinstance(where, NoValue) and where is not True:
        found = F.logical_and(found, of(where, _BOOL))
    return found


def _sum(x: TensorBase, dims: Shape, keepdims: bool) -> TensorBase:
    # Without dimensions the operator would take all.
    return F.sum_dim_IntList(x, dims, keepdims) if dims else F.clone(x)


def count_of(mask: TensorBase, dims: Shape, keepdims: bool) -> TensorBase:
    """How many elements take part."""
    return _sum(F.to_dtype(mask, np.dtype(np.int64)), dims, keepdims)


def given(**options: object) -> dict[str, Any]:
    """The options that are given."""
    return {name: value for name, value in options.items() if not isinstance(value, NoValue)}


# -- sums and products -----------------------------------------------------------------------


@function
def nansum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool | NoValue = NO_VALUE,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The sum of the elements along axes, without those that are NaN.

    Parameters
    ----------
    a : array_like
        The values; NaN counts as 0.
    axis, dtype, out, keepdims, initial, where
        As of `sum`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nansum(np.array([1.0, float("nan"), 3.0])).item()
    4.0
    """
    options = given(keepdims=keepdims, initial=initial, where=where)
    if not any_differentiated(a, initial):
        return on_values(np.nansum, a, axis=axis, dtype=dtype, out=out, **options)
    return reductions.sum(with_value(of(a), 0), axis, dtype, out, **options)


@function
def nanprod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool | NoValue = NO_VALUE,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The product of the elements along axes, without those that are NaN.

    Parameters
    ----------
    a : array_like
        The values; NaN counts as 1.
    axis, dtype, out, keepdims, initial, where
        As of `prod`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanprod(np.array([1.0, float("nan"), 3.0])).item()
    3.0
    """
    options = given(keepdims=keepdims, initial=initial, where=where)
    if not any_differentiated(a, initial):
        return on_values(np.nanprod, a, axis=axis, dtype=dtype, out=out, **options)
    return reductions.prod(with_value(of(a), 1), axis, dtype, out, **options)


@function
def nancumsum(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The sums of the elements up to each place along an axis, without those that are NaN.

    Parameters
    ----------
    a : array_like
        The values; NaN counts as 0.
    axis, dtype, out
        As of `cumsum`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nancumsum(np.array([1.0, float("nan"), 3.0]))
    array([1., 1., 4.])
    """
    if not any_differentiated(a):
        return on_values(np.nancumsum, a, axis=axis, dtype=dtype, out=out)
    return reductions.cumsum(with_value(of(a), 0), axis, dtype, out)


@function
def nancumprod(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The products of the elements up to each place, without those that are NaN.

    Parameters
    ----------
    a : array_like
        The values; NaN counts as 1.
    axis, dtype, out
        As of `cumprod`.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nancumprod(np.array([1.0, float("nan"), 3.0]))
    array([1., 1., 3.])
    """
    if not any_differentiated(a):
        return on_values(np.nancumprod, a, axis=axis, dtype=dtype, out=out)
    return reductions.cumprod(with_value(of(a), 1), axis, dtype, out)


# -- moments ---------------------------------------------------------------------------------


def _check_dtype(x: ndarray, dtype: DTypeLike | None) -> None:
    if dtype is not None and x.dtype.kind in "fc" and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


@function
def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    keepdims: bool | NoValue = NO_VALUE,
    *,
    where: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The mean of the elements along axes that are not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, dtype, out, keepdims, where
        As of `mean`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where all elements are.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanmean(np.array([1.0, float("nan"), 3.0])).item()
    2.0
    """
    if not any_differentiated(a):
        return on_values(
            np.nanmean, a, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where
        )
    x = of(a)
    _check_dtype(x, dtype)
    x = inexact(x, None if dtype is None else np.dtype(dtype))
    mask = takes_part(x, where)
    dims, keep = dims_of(axis, x._impl.array.ndim, of_number=True), keepdims is True
    number = count_of(mask, dims, keep)
    total = _sum(F.where(mask, x, constant(0, x)), dims, keep)
    return deliver(reduced(_quotient(total, number), x, dims), out)


def _quotient(total: TensorBase, number: TensorBase, nothing: float = np.nan) -> TensorBase:
    """A sum by a number of elements, a constant where there are none."""
    none = F.le(number, 0)
    number = F.to_dtype(F.where(none, 1, number), total._impl.array.dtype)
    return F.where(none, constant(nothing, total), F.true_divide(total, number))


def _variance(
    x: ndarray,
    axis: Axis,
    ddof: float,
    keepdims: bool,
    where: ArrayLike | NoValue,
    mean: ArrayLike | NoValue,
) -> TensorBase:
    """The variance, by the deviations from the mean."""
    mask = takes_part(x, where)
    dims = dims_of(axis, x._impl.array.ndim, of_number=True)
    centre: TensorBase
    if isinstance(mean, NoValue):
        total = _sum(F.where(mask, x, constant(0, x)), dims, True)
        centre = _quotient(total, count_of(mask, dims, True), 0)
    else:
        # A number of Python has the dtype of the values.
        centre = of(mean, x.dtype if type(mean) in (int, float) else None)
    mask = F.broadcast_to(mask, x.shape)
    deviation = F.where(mask, F.sub(F.where(mask, x, constant(0, x)), centre), constant(0, x))
    if x.dtype.kind == "c":
        squares = F.add(F.square(F.real(deviation)), F.square(F.imag(deviation)))
    else:
        squares = F.square(deviation)
    number = F.to_dtype(count_of(mask, dims, keepdims), np.dtype(np.float64))
    found = _quotient(_sum(squares, dims, keepdims), F.sub(number, ddof))
    return reduced(found, x, dims)


def _spread(
    a: ArrayLike,
    axis: Axis,
    dtype: DTypeLike | None,
    ddof: float,
    keepdims: bool,
    where: ArrayLike | NoValue,
    mean: ArrayLike | NoValue,
    correction: float | NoValue,
) -> TensorBase:
    if not isinstance(correction, NoValue):
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    x = of(a)
    _check_dtype(x, dtype)
    x = inexact(x, None if dtype is None else np.dtype(dtype))
    return _variance(x, axis, ddof, keepdims, where, mean)


@function
def nanvar(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool | NoValue = NO_VALUE,
    *,
    where: ArrayLike | NoValue = NO_VALUE,
    mean: ArrayLike | NoValue = NO_VALUE,
    correction: float | NoValue = NO_VALUE,
) -> ndarray:
    """The variance of the elements along axes that are not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, dtype, out, ddof, keepdims, where, mean, correction
        As of `var`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where there are not more elements than `ddof`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanvar(np.array([1.0, float("nan"), 3.0])).item()
    1.0
    """
    if not any_differentiated(a, mean):
        options = given(keepdims=keepdims, where=where, mean=mean, correction=correction)
        return on_values(np.nanvar, a, axis=axis, dtype=dtype, out=out, ddof=ddof, **options)
    squares = _spread(a, axis, dtype, ddof, keepdims is True, where, mean, correction)
    return deliver(squares, out)


@function
def nanstd(
    a: ArrayLike,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    out: ndarray | None = None,
    ddof: float = 0,
    keepdims: bool | NoValue = NO_VALUE,
    *,
    where: ArrayLike | NoValue = NO_VALUE,
    mean: ArrayLike | NoValue = NO_VALUE,
    correction: float | NoValue = NO_VALUE,
) -> ndarray:
    """The standard deviation of the elements along axes that are not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, dtype, out, ddof, keepdims, where, mean, correction
        As of `std`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where there are not more elements than `ddof`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanstd(np.array([1.0, float("nan"), 3.0])).item()
    1.0
    """
    if not any_differentiated(a, mean):
        options = given(keepdims=keepdims, where=where, mean=mean, correction=correction)
        return on_values(np.nanstd, a, axis=axis, dtype=dtype, out=out, ddof=ddof, **options)
    squares = _spread(a, axis, dtype, ddof, keepdims is True, where, mean, correction)
    return deliver(root_of_spread(squares), out)

"""Medians, percentiles and quantiles, also of the elements that are numbers.

See Note [Positions of quantiles].
"""

from __future__ import annotations

import typing
from typing import Any, Final, Literal

import numpy as np

from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue, deliver, dims_of, is_whole
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_rows
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of, value_of
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.quantile_places import (
    count_of,
    elements_at,
    lanes_of,
    places_of,
    position,
    where_nan,
)
from vtgrad.numpy.sorting import sort
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType, Shape
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

Method = Literal[
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]

_INT64: Final = np.dtype(np.int64)
_BOOL: Final = np.dtype(np.bool_)
_FLOAT64: Final = np.dtype(np.float64)


def _median(a: ArrayLike, axis: Axis, out: object, keepdims: bool, skip: bool) -> ndarray:
    lanes, shape = lanes_of(of(a), axis, keepdims)
    if lanes._impl.array.dtype.kind not in "fc":
        lanes = cast(lanes, _FLOAT64)
    last = lanes._impl.array.ndim - 1
    size = lanes._impl.array.shape[last]
    ordered = sort(lanes)
    if skip:
        count = count_of(lanes)
        half = F.floor_divide(count, 2)
        low = F.clamp_min(F.floor_divide(F.sub(count, 1), 2), 0)
        high = F.clamp_max(half, size - 1)
        middle = F.cat([elements_at(ordered, low), elements_at(ordered, high)], last)
        found = where_nan(F.squeeze(F.eq(count, 0), last), F.mean(middle, last))
    else:
        found = F.mean(F.slice(ordered, last, (size - 1) // 2, size // 2 + 1), last)
        largest = F.select(ordered, last, size - 1)
        found = F.where(F.isnan(largest), largest, found)
    found = F.reshape(found, shape)
    if keepdims and not shape and out is None:
        # As NumPy has it for a number.
        return as_array(found)
    return deliver(found, out)


@function
@or_by_numpy
def median(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> ndarray:
    """The middle of the sorted elements along axes, or the mean of the two that are there.

    Parameters
    ----------
    a : array_like
        The values; integers are computed in float64.
    axis : int or tuple of int, optional
        The axes, all by default.
    out : ndarray, optional
        Where the result is stored.
    overwrite_input : bool
        The input is never overwritten.
    keepdims : bool
        Whether the axes stay, with size 1.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where an element is NaN.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.median(np.array([3.0, 1.0, 2.0, 5.0])).item()
    2.5
    """
    a = of(a)
    if is_whole(out) or not any_differentiated(a) or not a._impl.array.size:
        return on_values(np.median, a, axis=axis, out=out, keepdims=keepdims)
    return _median(a, axis, out, keepdims, skip=False)


@function
@or_by_numpy
def nanmedian(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    keepdims: bool | NoValue = NO_VALUE,
) -> ndarray:
    """The median of the elements along axes that are not NaN.

    Parameters
    ----------
    a, axis, out, overwrite_input, keepdims
        As of `median`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where all elements are.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanmedian(np.array([3.0, 1.0, float("nan")])).item()
    2.0
    """
    a = of(a)
    if is_whole(out) or not any_differentiated(a) or not a._impl.array.size:
        return on_values(np.nanmedian, a, axis=axis, out=out, keepdims=keepdims)
    return _median(a, axis, out, keepdims is True, skip=True)


def _quantile(
    x: ndarray, q: object, axis: Axis, method: str, keepdims: bool, skip: bool, percent: bool
) -> TensorBase:
    """The quantiles of an array that has elements; see Note [Positions of quantiles]."""
    dtype = x._impl.array.dtype
    asked = value_of(q) if isinstance(q, TensorBase) else q
    numpys: Any = np.percentile if percent else np.quantile
    # NumPy says of which dtype the result is, and what is wrong.
    kind = run_without_warnings(numpys, making.zeros(1, dtype), asked, method=method).dtype
    given = _asked(q, dtype, percent)
    lanes, shape = lanes_of(x, axis, keepdims)
    count: TensorBase | int = lanes._impl.array.shape[-1]
    real = dtype.kind == "f"
    ordered = sort(lanes)
    nothing: TensorBase | None = None
    if skip and real:
        count = count_of(lanes)
        nothing = F.eq(count, 0)
    elif real:
        nothing = F.isnan(F.slice(ordered, -1, -1))
    if nothing is not None:
        # A NaN would make the gradient in `q` NaN.
        ordered = as_array(F.where(nothing, fresh(making.zeros((), dtype)), ordered))
    flat = F.reshape(given, -1)
    if given._impl.array.dtype.kind not in "f":
        # Whole numbers of quantiles, 0 and 1, name elements.
        flat = F.to_dtype(flat, _FLOAT64)
        method = "lower" if method == "linear" else method
    if isinstance(count, TensorBase):
        count = F.to_dtype(count, flat._impl.array.dtype)
    places = position(count, flat, method)
    found = elements_at(ordered, places_of(places[0], count))
    if len(places) == 3:
        found = _between(found, elements_at(ordered, places_of(places[1], count)), places[2], kind)
    if any_differentiated(flat) and not any_differentiated(found):
        # What jumps from element to element has the derivative zero.
        found = F.add(found, F.to_dtype(F.mul(flat, 0), found._impl.array.dtype))
    if nothing is not None:
        found = where_nan(nothing, found)
    return _as_asked(found, given, shape)


def _asked(q: object, dtype: NumpyDType, percent: bool) -> ndarray:
    """What part of the elements lies below, as an array between 0 and 1."""
    if not percent:
        return of(typing.cast("ArrayLike", q))
    hundred = dtype.type(100) if dtype.kind == "f" else 100
    if not isinstance(q, TensorBase):
        return of(np.true_divide(typing.cast("float", q), hundred))
    kind = np.result_type(q._impl.array.dtype, hundred, np.float16)
    return as_array(F.true_divide(cast(of(q), kind), 100))


def _between(low: TensorBase, high: TensorBase, part: TensorBase, dtype: NumpyDType) -> TensorBase:
    """The interpolation, from the nearer side, as NumPy's."""
    step = F.to_dtype(F.sub(high, low), dtype)
    part = F.to_dtype(part, dtype)
    above = F.sub(F.to_dtype(high, dtype), F.mul(step, F.rsub(part, 1)))
    below = F.add(F.to_dtype(low, dtype), F.mul(step, part))
    return F.where(F.ge(part, 0.5), above, below)


def _as_asked(found: TensorBase, q: ndarray, shape: Shape) -> TensorBase:
    """Quantiles along the last axis in the shape of `q`, and that of the lanes behind it."""
    moved = F.movedim(found, -1, 0)
    return in_rows(F.reshape(moved, (*q._impl.array.shape, *shape)))


def _weighted(
    x: ndarray, q: object, axis: Axis, weights: ArrayLike, keepdims: bool, skip: bool, percent: bool
) -> TensorBase:
    """Quantiles by weights: elements, so their gradient in the weights is zero."""
    array = x._impl.array
    heavy: TensorBase = F.detach(of(weights))
    dims = dims_of(axis, array.ndim)
    if heavy._impl.array.shape != array.shape:
        order = np.argsort(dims)
        sizes = [n if d in dims else 1 for d, n in enumerate(array.shape)]
        heavy = F.reshape(F.permute(heavy, tuple(order.tolist())), sizes)
        heavy = F.broadcast_to(heavy, array.shape)
    given = _asked(q, array.dtype, percent)
    lanes, shape = lanes_of(x, dims, keepdims)
    heavy = F.to_dtype(lanes_of(as_array(heavy), dims, keepdims).values, _FLOAT64)
    last = lanes._impl.array.ndim - 1
    if skip:
        heavy = F.where(F.isnan(lanes), 0.0, heavy)
    ordered, order_of = F.sort(lanes, last, stable=True)
    total = F.cumsum(F.gather(heavy, last, order_of), last)
    part = F.true_divide(total, F.slice(total, last, -1))
    flat = F.detach(F.reshape(given, -1))
    part = F.to_dtype(part, flat._impl.array.dtype) if flat._impl.dtype.kind == "f" else part
    # The first elements of no weight are never taken.
    part = F.where(F.eq(part, 0), -1.0, part)
    smaller = F.lt(F.unsqueeze(part, -1), flat)
    places = F.sum_dim_IntList(F.to_dtype(smaller, _INT64), (last,), False)
    count = count_of(lanes) if skip else lanes._impl.array.shape[last]
    found: TensorBase = F.gather(ordered, last, places_of(places, count))
    if skip:
        found = where_nan(F.eq(typing.cast("TensorBase", count), 0), found)
    elif array.dtype.kind == "f":
        largest = F.slice(ordered, last, -1)
        found = F.where(F.isnan(largest), largest, found)
    return _as_asked(found, given, shape)


def _named(
    name: str,
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis,
    out: object,
    method: str,
    keepdims: bool | NoValue,
    weights: ArrayLike | None,
) -> ndarray:
    numpys = getattr(np, name)
    x = of(a)
    if not any_differentiated(x, q) or not x._impl.array.size or x._impl.array.dtype.kind == "c":
        return on_values(
            numpys, x, q, axis=axis, out=out, method=method, keepdims=keepdims, weights=weights
        )
    keep, skip, percent = keepdims is True, name[:3] == "nan", "percentile" in name
    if weights is None:
        found = _quantile(x, q, axis, method, keep, skip, percent)
        # NumPy gives an array if axes are kept, also of a number.
        return as_array(found) if keep and out is None else deliver(found, out)
    # NumPy says what is wrong.
    on_values(numpys, making.ones(x.shape, x.dtype), q, axis=axis, method=method, weights=weights)
    chosen = _weighted(x, q, axis, weights, keep, skip, percent)
    # NumPy gives an array where it leaves NaN out.
    return as_array(chosen) if skip and out is None else deliver(chosen, out)


@function
@or_by_numpy
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: Method = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The values below which given parts of the elements along axes lie.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The parts, between 0 and 1.
    axis, out, overwrite_input, keepdims
        As of `median`.
    method : str
        One of NumPy's definitions.
    weights : array_like, optional
        How often each element counts; with the definition ``"inverted_cdf"``. The gradient in it
        is zero.

    Returns
    -------
    ndarray
        Of the shape of `q` and that of the lanes behind it, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.quantile(np.array([1.0, 2.0, 4.0]), [0.25, 1.0])
    array([1.5, 4. ])
    """
    return _named("quantile", a, q, axis, out, method, keepdims, weights)


@function
@or_by_numpy
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: Method = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The values below which given percentages of the elements along axes lie.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like
        The percentages, between 0 and 100.
    axis, out, overwrite_input, method, keepdims, weights
        As of `quantile`.

    Returns
    -------
    ndarray
        Of the shape of `q` and that of the lanes behind it, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.percentile(np.array([1.0, 2.0, 4.0]), 25).item()
    1.5
    """
    return _named("percentile", a, q, axis, out, method, keepdims, weights)


@function
@or_by_numpy
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: Method = "linear",
    keepdims: bool | NoValue = NO_VALUE,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The quantiles of the elements along axes that are not NaN.

    Parameters
    ----------
    a, q, axis, out, overwrite_input, method, keepdims, weights
        As of `quantile`.

    Returns
    -------
    ndarray
        As of `quantile`; NaN where all elements are.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanquantile(np.array([1.0, 2.0, float("nan")]), 0.5).item()
    1.5
    """
    return _named("nanquantile", a, q, axis, out, method, keepdims, weights)


@function
@or_by_numpy
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: Method = "linear",
    keepdims: bool | NoValue = NO_VALUE,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The percentiles of the elements along axes that are not NaN.

    Parameters
    ----------
    a, q, axis, out, overwrite_input, method, keepdims, weights
        As of `percentile`.

    Returns
    -------
    ndarray
        As of `percentile`; NaN where all elements are.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanpercentile(np.array([1.0, 2.0, float("nan")]), 50).item()
    1.5
    """
    return _named("nanpercentile", a, q, axis, out, method, keepdims, weights)

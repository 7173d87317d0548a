"""Extremes of the elements that are not NaN, and their places."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy import reductions
from vtgrad.numpy.deliver import NO_VALUE, Axis, NoValue, deliver, dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.memory_order import in_order_of
from vtgrad.numpy.nan_reductions import constant, count_of, given, takes_part, with_value
from vtgrad.numpy.on_values import any_differentiated, any_keyed, on_values
from vtgrad.numpy.operands import ArrayLike, as_array, of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F

__all__ = ["nanargmax", "nanargmin", "nanmax", "nanmin"]


def _extreme(
    name: str,
    a: ArrayLike,
    axis: Axis,
    out: ndarray | None,
    keepdims: bool | NoValue,
    initial: ArrayLike | NoValue,
    where: ArrayLike | NoValue,
) -> ndarray:
    options = given(keepdims=keepdims, initial=initial, where=where)
    if not any_differentiated(a, initial):
        return on_values(getattr(np, "nan" + name), a, axis=axis, out=out, **options)
    x = of(a)
    reduce: Any = reductions.max if name == "max" else reductions.min
    found = reduce(with_value(x, -np.inf if name == "max" else np.inf), axis, **options)
    if isinstance(initial, NoValue):
        dims = dims_of(axis, x._impl.array.ndim, of_number=True)
        number = count_of(takes_part(x, where), dims, keepdims is True)
        among = F.where(F.eq(number, 0), constant(np.nan, found), found)
        found = as_array(in_order_of(among, found))
    return deliver(of(found), out)


@function
def nanmax(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool | NoValue = NO_VALUE,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The largest element along axes that is not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, initial, where
        As of `max`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where all elements are and `initial` is not given.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanmax(np.array([1.0, float("nan"), 3.0])).item()
    3.0
    """
    return _extreme("max", a, axis, out, keepdims, initial, where)


@function
def nanmin(
    a: ArrayLike,
    axis: Axis = None,
    out: ndarray | None = None,
    keepdims: bool | NoValue = NO_VALUE,
    initial: ArrayLike | NoValue = NO_VALUE,
    where: ArrayLike | NoValue = NO_VALUE,
) -> ndarray:
    """The smallest element along axes that is not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims, initial, where
        As of `min`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`; NaN where all elements are and `initial` is not given.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nanmin(np.array([1.0, float("nan"), 3.0])).item()
    1.0
    """
    return _extreme("min", a, axis, out, keepdims, initial, where)


@function
def nanargmax(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool | NoValue = NO_VALUE,
) -> ndarray:
    """The place of the first largest element along an axis that is not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims
        As of `argmax`.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy, or `out`.

    Raises
    ------
    ValueError
        If all elements of a lane are NaN; not inside of `vmap`, where no values are read.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.nanargmax(np.array([float("nan"), 3.0, 1.0])))
    1
    """
    if not any_keyed(a):
        return on_values(np.nanargmax, a, axis=axis, out=out, keepdims=keepdims)
    x = of(a)
    infinite = -np.inf
    return reductions.argmax(with_value(x, infinite), axis, out, keepdims=keepdims is True)


@function
def nanargmin(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    *,
    keepdims: bool | NoValue = NO_VALUE,
) -> ndarray:
    """The place of the first smallest element along an axis that is not NaN.

    Parameters
    ----------
    a : array_like
        The values.
    axis, out, keepdims
        As of `argmin`.

    Returns
    -------
    ndarray
        Of integers, or an integer of NumPy, or `out`.

    Raises
    ------
    ValueError
        If all elements of a lane are NaN; not inside of `vmap`, where no values are read.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> int(np.nanargmin(np.array([float("nan"), 3.0, 1.0])))
    2
    """
    if not any_keyed(a):
        return on_values(np.nanargmin, a, axis=axis, out=out, keepdims=keepdims)
    x = of(a)
    infinite = np.inf
    return reductions.argmin(with_value(x, infinite), axis, out, keepdims=keepdims is True)

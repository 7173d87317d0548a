"""Taking and storing elements at places, limits, rounding, products of vectors."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy.deliver import by_numpy, deliver, dims_of, written_array
from vtgrad.numpy.function import function
from vtgrad.numpy.index import getitem, setitem, stored_value
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import in_rows, in_rows_or_columns
from vtgrad.numpy.on_values import on_values, refuse_derivatives, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    all_of,
    as_array,
    cast,
    fresh,
    is_differentiated,
    of,
    places_in,
    value_of,
)
from vtgrad.numpy.other_dtypes import or_by_numpy
from vtgrad.numpy.promotion import common, result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["choose", "clip", "compress", "dot", "nonzero", "put", "round", "take"]

Mode = Literal["raise", "wrap", "clip"]


def _places(indices: ArrayLike, size: int, mode: str) -> np.ndarray[Any, Any]:
    """Places along an axis of a size, those outside by the mode.

    Raises
    ------
    IndexError
        With the mode ``"raise"``, if one is outside.
    """
    given = places_in(indices)
    if not given.size and given.dtype.kind == "f":
        given = given.astype(np.intp)
    # NumPy takes the place of each place, and says what is wrong.
    return np.take(making.arange(size), given, mode=typing.cast("Any", mode))


@function
@or_by_numpy
def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
    mode: Mode = "raise",
) -> ndarray:
    """The elements at places along an axis.

    Parameters
    ----------
    a : array_like
        The elements.
    indices : array_like of int
        The places, of any shape.
    axis : int, optional
        The axis; by default the array is flattened.
    out : ndarray, optional
        Where the result is stored.
    mode : {"raise", "wrap", "clip"}
        What becomes of places outside.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.take(np.array([1.0, 2.0, 3.0]), [2, 0])
    array([3., 1.])
    """
    x = of(a)
    if axis is None or not x.shape:
        (axis,) = dims_of(axis or 0, 1)
        x = as_array(F.reshape(x, -1))
    (dim,) = dims_of(axis, x._impl.array.ndim)
    places = _places(indices, x._impl.array.shape[dim], mode)
    _check_cast(out, x._impl.array.dtype)
    if not places.ndim:
        return deliver(_at(x, dim, places), out, "unsafe")
    # NumPy's result is row-major, also where that of an index is not.
    return deliver(in_rows(getitem(x, (*(slice(None),) * dim, places))), out, "unsafe")


def _check_cast(out: ndarray | None, dtype: NumpyDType) -> None:
    """Refuse ``out=`` that NumPy refuses: it asks for the cast from `out` to be safe.

    Raises
    ------
    TypeError
        If it is not.
    """
    if out is not None and not np.can_cast(out.dtype, dtype, "safe"):
        raise TypeError(
            f"Cannot cast array data from {out.dtype!r} to {dtype!r} according to the rule 'safe'"
        )


def _at(x: ndarray, dim: int, place: np.ndarray[Any, Any]) -> TensorBase:
    return F.select_copy(x, dim, int(place))


@function
def put(a: ndarray, ind: ArrayLike, v: ArrayLike, mode: Mode = "raise") -> None:
    """Store values at row-major positions.

    Parameters
    ----------
    a : ndarray
        What is written.
    ind : array_like of int
        The positions.
    v : array_like
        The values, repeated if there are fewer.
    mode : {"raise", "wrap", "clip"}
        What becomes of positions outside.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> np.put(x, [0, 2], 5.0)
    >>> x
    array([5., 2., 5.])
    """
    given: object = a
    if isinstance(given, np.ndarray):
        refuse_derivatives(v)
        np.put(given, value_of(of(ind)), values_in(v), mode)
        return
    if not isinstance(given, TensorBase) or type(given) is kinds.scalar:
        raise TypeError(f"argument 1 must be an array, not {type(a).__name__}")
    places = _places(ind, a._impl.array.size, mode).reshape(-1)
    values = as_array(F.reshape(stored_value(a, v), -1))
    count = values._impl.array.size
    if not places.size or not count:
        return
    if count != places.size:
        values = as_array(F.index_select(values, 0, fresh(making.arange(places.size) % count)))
    where = np.unravel_index(places, a._impl.array.shape) if a._impl.array.ndim else ...
    setitem(a, where, values if a._impl.array.ndim else values[-1])


@function
@or_by_numpy
def choose(
    a: ArrayLike,
    choices: Sequence[ArrayLike] | ArrayLike,
    out: ndarray | None = None,
    mode: Mode = "raise",
) -> ndarray:
    """The elements of several arrays, each of the array with a number.

    Parameters
    ----------
    a : array_like of int
        The numbers of the arrays.
    choices : sequence of array_like
        The arrays, which broadcast.
    out : ndarray, optional
        Where the result is stored.
    mode : {"raise", "wrap", "clip"}
        What becomes of numbers outside.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.choose([0, 1], [[1.0, 2.0], [3.0, 4.0]])
    array([1., 4.])
    """
    if isinstance(choices, TensorBase):
        given = of(choices)
        choices = [given[nr] for nr in range(len(given))]
    arrays = common(list(typing.cast("Sequence[ArrayLike]", choices)))
    numbers = places_in(a)
    numbers = np.take(making.arange(len(arrays)), numbers, mode=typing.cast("Any", mode))
    shape = np.broadcast_shapes(numbers.shape, *[x.shape for x in arrays])
    whole = F.stack([F.broadcast_to(x, shape) for x in arrays])
    _check_cast(out, whole._impl.array.dtype)
    index = fresh(making.broadcast_to(numbers, shape)[None].copy())
    return deliver(F.squeeze(F.gather(whole, 0, index), 0), out, "unsafe")


@function
@or_by_numpy
def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The parts along an axis at which a condition is true.

    Parameters
    ----------
    condition : array_like of bool
        One axis; where it ends, so does the result.
    a : array_like
        The elements.
    axis : int, optional
        The axis; by default the array is flattened.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.compress([True, False, True], np.array([1.0, 2.0, 3.0]))
    array([1., 3.])
    """
    mask = places_in(condition)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(mask), axis, out)


@function
def nonzero(a: ArrayLike) -> tuple[ndarray, ...]:
    """The places of the elements that are not zero.

    Parameters
    ----------
    a : array_like
        At least one axis.

    Returns
    -------
    tuple of ndarray
        The indices along each axis.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nonzero(np.array([0.0, 2.0]))
    (array([1]),)
    """
    return typing.cast("tuple[ndarray, ...]", on_values(np.nonzero, a))


@function
@or_by_numpy
def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
    out: ndarray | None = None,
    *,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    where: ArrayLike = True,
    casting: str = "same_kind",
) -> ndarray:
    """The elements within limits.

    Parameters
    ----------
    a : array_like
        The elements.
    a_min, a_max : array_like, optional
        The limits, which broadcast.
    out : ndarray, optional
        Where the result is stored; `a` itself is written by one operator.
    min, max : array_like, optional
        Other names of the limits.
    dtype, where, casting
        As of ufuncs.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.clip(np.array([1.0, 5.0]), 2.0, 4.0)
    array([2., 4.])
    """
    if out is not None:
        written_array(out)
    low = a_min if min is None else min
    high = a_max if max is None else max
    x = of(a)
    if low is None and high is None:
        return deliver(F.clone(x), out)
    low, high = (
        v if v is None or isinstance(v, (bool, int, float, complex)) else all_of([x, v])[1]
        for v in (low, high)
    )
    given = [v for v in (low, high) if v is not None]
    kind = np.dtype(dtype) if dtype is not None else result_type(x, *given)
    tensors = [v for v in (x, *given) if isinstance(v, TensorBase)]
    if not any(is_differentiated(v) for v in tensors):
        values = [value_of(v) if isinstance(v, TensorBase) else v for v in (low, high)]
        options: dict[str, Any] = {} if where is True else {"where": where}
        if dtype is not None:
            options["dtype"] = dtype
        if out is x:
            found = by_numpy(np.clip, x, *values, **options)
            return deliver(of(found), x, casting)
        return by_numpy(np.clip, x, *values, out=out, **options)
    limits = [None if v is None else cast(of(v), kind) for v in (low, high)]
    shape = np.broadcast_shapes(x.shape, *[v.shape for v in limits if v is not None])
    if out is x and where is True and x._impl.array.dtype == kind and shape == x.shape:
        F.clamp_Tensor_(x, *limits)
        return x
    found = F.clamp_Tensor(as_array(F.broadcast_to(cast(x, kind), shape)), *limits)
    if where is not True:
        found = F.where(of(where, np.dtype(np.bool_)), found, cast(x, kind))
    return deliver(found, out)


@function
@or_by_numpy
def round(a: ArrayLike, decimals: SupportsIndex = 0, out: ndarray | None = None) -> ndarray:
    """The elements rounded to a number of decimals, halves to even.

    Parameters
    ----------
    a : array_like
        The elements.
    decimals : int
        The number of decimals; negative ones count tens.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`. Its derivative is zero.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.round(np.array([1.5, 2.46]), 1)
    array([1.5, 2.5])
    """
    x = of(a)
    if not is_differentiated(x):
        return by_numpy(np.round, x, decimals, out=out)
    if x._impl.array.dtype.kind == "c":
        parts = [round(part, decimals) for part in (F.real(x), F.imag(x))]
        return deliver(F.complex(*parts), out)
    if isinstance(out, TensorBase):
        # NumPy computes in the dtype of what it writes.
        x = cast(x, np.result_type(x._impl.dtype, out._impl.dtype))
    found = F.round(x, decimals=typing.cast("Any", decimals))
    return deliver(in_rows_or_columns(found, x) if operator.index(decimals) else found, out)


@function
@or_by_numpy
def dot(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The product of vectors and matrices.

    It is the sum over the last axis of `a` and the last but one of `b`, or its only one.

    Parameters
    ----------
    a, b : array_like
        The factors; numbers multiply.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`.

    Raises
    ------
    ValueError
        If the lengths differ.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])).item()
    11.0
    """
    x, y = all_of([a, b])
    kind = np.result_type(x.dtype, y.dtype)
    x, y = cast(x, kind), cast(y, kind)
    m, n = x._impl.array.ndim, y._impl.array.ndim
    if not (is_differentiated(x) or is_differentiated(y)):
        return by_numpy(np.dot, x, value_of(y), out=_as_result(out, kind))
    if not m or not n:
        return deliver(F.mul(x, y), _as_result(out, kind))
    if x.shape[-1] != y.shape[-2 if n > 1 else 0]:
        raise ValueError(f"shapes {x.shape} and {y.shape} not aligned")
    if n <= 2:
        return deliver(F.matmul(x, y), _as_result(out, kind))
    return deliver(F.tensordot(x, y, ([m - 1], [n - 2])), _as_result(out, kind))


def _as_result(out: ndarray | None, dtype: NumpyDType) -> ndarray | None:
    """The argument ``out`` of `dot`, which is as the result would be.

    Raises
    ------
    ValueError
        If it is not.
    """
    if out is not None and (out.dtype != dtype or not out.flags.c_contiguous):
        raise ValueError(
            f"'out' of dot must be row-major and of dtype {dtype}, as the result is; it is of "
            f"dtype {out.dtype} and has the strides {out.strides}"
        )
    return out

"""What the methods of ufuncs compute: reductions, running results, repeated writes."""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.errors import NotSupportedError
from vtgrad.numpy import reductions
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
from vtgrad.numpy.index import index_by_numpy, positions_of, setitem
from vtgrad.numpy.memory_order import in_order_of
from vtgrad.numpy.on_values import Target, refuse_derivatives, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    is_differentiated,
    of,
    places_in,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.ufunc_loop import UfuncLoop
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.no_fp_warnings import run_without_warnings
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["accumulate", "at", "reduce", "reduceat"]


def _reduction(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """The function that is the reduction of a ufunc."""
    known: dict[np.ufunc, Callable[..., Any]] = {
        np.add: reductions.sum,
        np.multiply: reductions.prod,
    }
    return known.get(ufunc)


def _extreme(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """The same of ufuncs whose reduction has no dtype to choose."""
    known: dict[np.ufunc, Callable[..., Any]] = {
        np.maximum: reductions.max,
        np.minimum: reductions.min,
    }
    return known.get(ufunc)


def _running(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """The function of the results up to each place."""
    known: dict[np.ufunc, Callable[..., Any]] = {
        np.add: reductions.cumsum,
        np.multiply: reductions.cumprod,
    }
    return known.get(ufunc)


def _has_derivative(ufunc: UfuncLoop, x: ndarray, *others: object) -> bool:
    """Whether a result of two elements of an array carries a derivative."""
    carries = [is_differentiated(y) for y in (x, *others) if isinstance(y, TensorBase)]
    if ufunc.operator is None or not any(carries):
        return False
    return ufunc.loop((x, x))[-1].kind in "fc"


def _slices(x: TensorBase, dim: int) -> list[TensorBase]:
    """The parts along a dimension, each a view of its own, so that writes to them are allowed."""
    return [F.select(x, dim, nr) for nr in range(x._impl.array.shape[dim])]


def reduce(
    ufunc: UfuncLoop,
    array: ArrayLike,
    axis: Axis,
    dtype: DTypeLike | None,
    out: Target | None,
    keepdims: bool,
    initial: ArrayLike | NoValue,
    where: ArrayLike,
) -> ndarray:
    """`Ufunc.reduce`."""
    x = of(array)
    if is_whole(out) or ufunc.ufunc.nin != 2 or not _has_derivative(ufunc, x, initial):
        return by_numpy(
            ufunc.ufunc.reduce,
            x,
            axis=axis,
            dtype=dtype,
            out=out,
            keepdims=keepdims,
            initial=initial,
            where=where,
        )
    known = _reduction(ufunc.ufunc)
    if known is not None:
        return typing.cast("ndarray", known(x, axis, dtype, out, keepdims, initial, where))
    if dtype is not None:
        x = cast(x, np.dtype(dtype))
    known = _extreme(ufunc.ufunc)
    if known is not None:
        return typing.cast("ndarray", known(x, axis, out, keepdims, initial, where))
    if where is not True:
        raise NotSupportedError(
            f"{ufunc.ufunc.__name__}.reduce takes no where= together with a derivative"
        )
    x = apart(x, out)
    found: TensorBase = x
    dims = dims_of(axis, len(x.shape), of_number=True)
    if len(dims) > 1:
        # NumPy says whether the order of axes does not matter.
        ufunc.ufunc.reduce(making.ones((1,) * len(x.shape)), axis=dims)
    begin = None if isinstance(initial, NoValue) else of(initial)
    if begin is not None and not dims:
        return deliver(ufunc.compute((begin, x)), out)
    for dim in sorted(dims, reverse=True):
        parts = _slices(found, dim)
        if begin is not None:
            parts = [F.broadcast_to(begin, parts[0]._impl.array.shape), *parts]
            begin = None
        if not parts:
            # NumPy says whether there is a result, and what is wrong.
            return by_numpy(ufunc.ufunc.reduce, x, axis=axis)
        # A copy of a single part, which is a view.
        found = parts[0] if len(parts) > 1 else F.clone(parts[0])
        for part in parts[1:]:
            found = ufunc.compute((as_array(found), as_array(part)))
        if keepdims:
            found = F.unsqueeze(found, dim)
    return deliver(F.clone(found) if found is x else found, out)


def accumulate(
    ufunc: UfuncLoop,
    array: ArrayLike,
    axis: typing.SupportsIndex,
    dtype: DTypeLike | None,
    out: Target | None,
) -> ndarray:
    """`Ufunc.accumulate`."""
    x = of(array)
    if is_whole(out) or ufunc.ufunc.nin != 2 or not _has_derivative(ufunc, x):
        return by_numpy(ufunc.ufunc.accumulate, x, axis, dtype=dtype, out=out)
    if not x.shape:
        raise TypeError("cannot accumulate on a scalar")
    (dim,) = dims_of(axis, len(x.shape))
    known = _running(ufunc.ufunc)
    if known is not None:
        return typing.cast("ndarray", known(x, dim, dtype, out))
    x = apart(x, out)
    if dtype is not None:
        x = cast(x, np.dtype(dtype))
    parts = _slices(x, dim)
    if not parts:
        return deliver(F.clone(x), out)
    found = [parts[0]]
    for part in parts[1:]:
        found.append(ufunc.compute((as_array(found[-1]), as_array(part))))
    return deliver(in_order_of(F.stack(found, dim), x), out)


def reduceat(
    ufunc: UfuncLoop,
    array: ArrayLike,
    indices: ArrayLike,
    axis: typing.SupportsIndex,
    dtype: DTypeLike | None,
    out: Target | None,
) -> ndarray:
    """`Ufunc.reduceat`."""
    x, places = of(array), places_in(indices)
    if is_whole(out) or ufunc.ufunc.nin != 2 or not _has_derivative(ufunc, x):
        return by_numpy(ufunc.ufunc.reduceat, x, places, axis, dtype=dtype, out=out)
    (dim,) = dims_of(axis, len(x.shape))
    size = x.shape[dim]
    parts = []
    for nr, begin in enumerate(places.tolist()):
        end = size if nr + 1 == len(places) else places[nr + 1]
        if not 0 <= begin < size:
            raise IndexError(
                f"index {begin} out-of-bounds in {ufunc.ufunc.__name__}.reduceat [0, {size})"
            )
        piece = as_array(F.slice(x, dim, begin, max(int(end), begin + 1)))
        parts.append(reduce(ufunc, piece, dim, dtype, None, False, NO_VALUE, True))
    return deliver(F.stack(parts, dim), out)


def at(ufunc: UfuncLoop, a: Target, indices: object, b: ArrayLike | None) -> None:
    """`Ufunc.at`."""
    target: object = a
    if isinstance(target, np.ndarray):
        refuse_derivatives(b)
        more = () if b is None else (values_in(b),)
        run_without_warnings(ufunc.ufunc.at, target, values_in(indices), *more)
        return
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    second = () if b is None else (of(b),)
    places = positions_of(a.shape)[index_by_numpy(indices)]
    # Integers and bools carry nothing, and NumPy casts what it has computed.
    if a._impl.array.dtype.kind not in "fc" or not any(is_differentiated(x) for x in (a, *second)):
        values = value_of(a).copy()
        flat = values.reshape(-1)
        spread = [making.broadcast_to(value_of(x), places.shape) for x in second]
        call: Any = ufunc.ufunc.at
        call(flat, places.reshape(-1), *[x.reshape(-1) for x in spread])
        setitem(a, ..., fresh(flat.reshape(values.shape)))
        return
    if second and ufunc.ufunc in (np.add, np.subtract):
        # One operator, whose derivative is that of each value.
        given = cast(second[0], a.dtype)
        given = as_array(F.broadcast_to(given, places.shape))
        if ufunc.ufunc is np.subtract:
            given = as_array(F.neg(given))
        F.put_(a, fresh(making.array(places)), as_array(F.clone(given)), True)
        return
    whole = [as_array(F.reshape(F.broadcast_to(x, places.shape), -1)) for x in second]
    for nr, place in enumerate(places.reshape(-1).tolist()):
        where = np.unravel_index(operator.index(place), a.shape)
        index = tuple([int(n) for n in where])
        value = ufunc.compute((a[index], *[x[nr] for x in whole]))
        setitem(a, index, value)

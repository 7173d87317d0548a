"""Numbers at equal distances or ratios, whose ends may carry derivatives."""

from __future__ import annotations

import operator
import typing
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from vtgrad.numpy import ufuncs
from vtgrad.numpy.creation import array
from vtgrad.numpy.deliver import NO_VALUE, NoValue, dims_of, made
from vtgrad.numpy.function import Function, function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    is_keyed,
    noted,
    of,
    result,
    value_of,
)
from vtgrad.numpy.promotion import result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import NumpyDType
from vtgrad.storage.tensor_base import TensorBase

if TYPE_CHECKING:
    from vtgrad.numpy import signatures

__all__ = ["arange", "geomspace", "linspace", "logspace"]


@function
def arange(
    start: ArrayLike | NoValue = NO_VALUE,
    stop: ArrayLike | None = None,
    step: ArrayLike | None = None,
    dtype: DTypeLike | None = None,
    *,
    device: str | None = None,
    like: ArrayLike | None = None,
) -> ndarray:
    """Numbers from a start, at equal distances, up to an end that is not among them.

    Parameters
    ----------
    start : number
        The first number; the end if it is the only one, which starts from 0.
    stop : number, optional
        The end. It decides how many numbers there are, and has no derivative.
    step : number, optional
        The distance, 1 by default.
    dtype : dtype, optional
        The dtype; by default that of the numbers together.
    device : str, optional
        ``"cpu"``.
    like : array_like, optional
        Accepted.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.arange(3)
    array([0, 1, 2])
    >>> x = np.array(0.5).requires_grad_()
    >>> np.arange(x, 2)
    array([0.5, 1.5], grad_fn=<AddBackward0>)
    """
    if isinstance(start, NoValue):
        start, stop = typing.cast("ArrayLike", stop), None
    ends = [_number(x) for x in (start, stop, step)]
    plain = making.arange(*ends, dtype=dtype, device=_device(device))
    first = 0 if stop is None else start
    if plain.dtype.kind not in "fc" or not any_differentiated(first, step):
        return made(plain)
    count = fresh(making.arange(plain.size, dtype=plain.dtype))
    steps = F.mul(count, of(1 if step is None else step, plain.dtype))
    return as_array(F.add(steps, of(first, plain.dtype)))


def _number(value: object) -> Any:
    if isinstance(value, TensorBase):
        found = value_of(value)
        return found[()] if not found.ndim else found
    return value


def _device(device: str | None) -> Any:
    return device


def _as_linspace(found: Function[..., object]) -> signatures.Linspace:
    """The function with the type of each kind of its results."""
    return typing.cast("signatures.Linspace", found)


@_as_linspace
@function
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
    *,
    device: str | None = None,
) -> Any:
    """A number of values at equal distances between two ends.

    Parameters
    ----------
    start, stop : array_like
        The ends, which broadcast.
    num : int
        How many values.
    endpoint : bool
        Whether `stop` is the last of them.
    retstep : bool
        Whether to return the distance too.
    dtype : dtype, optional
        The dtype; integers are rounded down.
    axis : int
        The axis of the values, if the ends are arrays.
    device : str, optional
        ``"cpu"``.

    Returns
    -------
    samples : ndarray
        A new array.
    step : ndarray
        With `retstep`, the distance.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.linspace(0, 1, 3)
    array([0. , 0.5, 1. ])
    """
    if not any_differentiated(start, stop):
        plain = on_values(
            making.linspace, start, stop, num, endpoint, retstep, dtype, axis, device=device
        )
        return noted(plain)
    number = operator.index(num)
    # NumPy says what is wrong with the number and with the device.
    making.linspace(0, 1, min(number, 1), device=_device(device))
    kind = result_type(start, stop, float(number))
    one, two = of(start, kind), of(stop, kind)
    delta = F.sub(two, one)
    ndim = delta._impl.array.ndim
    counts = fresh(making.arange(number, dtype=kind).reshape((-1,) + (1,) * ndim))
    div = number - 1 if endpoint else number
    step: object = np.nan
    if div > 0:
        distance = F.div(delta, fresh(making.asarray(div, kind)))
        found = F.add(F.mul(counts, distance), one)
        step = result(distance)
    else:
        found = F.add(F.mul(counts, delta), one)
    if endpoint and number > 1:
        last = F.broadcast_to(two, (1, *delta._impl.array.shape))
        found = F.cat([F.slice(found, 0, 0, number - 1), last])
    made = _at_axis(found, axis)
    if dtype is not None:
        wanted: NumpyDType = np.dtype(dtype)
        made = cast(as_array(F.floor(made)) if wanted.kind in "iu" else made, wanted)
    return (made, step) if retstep else made


def _at_axis(x: TensorBase, axis: SupportsIndex) -> ndarray:
    """The array with its first axis at another place."""
    (dim,) = dims_of(axis, x._impl.array.ndim)
    return as_array(F.movedim(x, 0, dim) if dim else x)


@function
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
) -> ndarray:
    """The powers of a base with exponents at equal distances.

    Parameters
    ----------
    start, stop : array_like
        The first and the last exponent.
    base : array_like
        The base.
    num, endpoint, dtype, axis
        As of `linspace`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if not any_differentiated(start, stop, base):
        return noted(on_values(making.logspace, start, stop, num, endpoint, base, dtype, axis))
    if not isinstance(base, (int, float)):
        base = of(base)
        if base._impl.array.ndim:
            parts = [of(start), of(stop), base]
            ndim = max(x._impl.array.ndim for x in parts)
            start, stop, base = [array(x, copy=None, ndmin=ndim) for x in parts]
            (dim,) = dims_of(axis, ndim + 1)
            base = as_array(F.unsqueeze(base, dim))
    exponents: ndarray = linspace(start, stop, num, endpoint, axis=axis)
    powers = ufuncs.power(base, exponents)
    return powers if dtype is None else cast(of(powers), np.dtype(dtype))


@function
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: SupportsIndex = 0,
) -> ndarray:
    """A number of values between two ends, each the same multiple of the one before it.

    Parameters
    ----------
    start, stop : array_like
        The ends, not zero, and of one sign if they are real.
    num, endpoint, dtype, axis
        As of `linspace`.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    ValueError
        If an end is zero.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.geomspace(1, 4, 3)
    array([1., 2., 4.])
    """
    if not any_differentiated(start, stop):
        return noted(on_values(making.geomspace, start, stop, num, endpoint, dtype, axis))
    number = operator.index(num)
    more = () if dtype is None else (np.dtype(dtype),)
    kind = result_type(start, stop, float(number), *more)
    one, two = of(start, kind), of(stop, kind)
    if any(not is_keyed(x) and not value_of(x).all() for x in (one, two)):
        raise ValueError("Geometric sequence cannot include zero")
    # The sign of the first end is taken out of both and put back: whatever it is, the product is
    # the same, so it has no derivative.
    sign = of(ufuncs.sign(F.detach(one)))
    logs = [ufuncs.log10(ufuncs.divide(x, sign)) for x in (one, two)]
    powers = F.mul(of(logspace(logs[0], logs[1], number, endpoint)), sign)
    shape = powers._impl.array.shape[1:]
    last = endpoint and number > 1
    parts: list[TensorBase] = []
    if number > 0:
        parts.append(F.broadcast_to(one, (1, *shape)))
    parts.append(F.slice(powers, 0, len(parts), max(number - last, len(parts))))
    if last:
        parts.append(F.broadcast_to(two, (1, *shape)))
    made = _at_axis(F.cat(parts), axis)
    return made if dtype is None else cast(made, np.dtype(dtype))

"""Functions of each element that NumPy has beside its ufuncs: complex parts, sinc, phases."""

from __future__ import annotations

import math
import typing
from typing import Any, SupportsIndex

import numpy as np

from vtgrad.numpy import ufuncs
from vtgrad.numpy.deliver import dims_of
from vtgrad.numpy.function import function
from vtgrad.numpy.kinds import kinds
from vtgrad.numpy.memory_order import in_order_of
from vtgrad.numpy.on_values import any_differentiated, on_values, refuse_derivatives, values_in
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    has_dtype,
    of,
    owned,
    result,
    value_of,
)
from vtgrad.numpy.picking import round
from vtgrad.numpy.promotion import inexact, result_type
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "angle",
    "around",
    "fix",
    "i0",
    "imag",
    "nan_to_num",
    "real",
    "real_if_close",
    "sinc",
    "unwrap",
]


def _part(name: str, val: ArrayLike) -> ndarray:
    if not isinstance(val, (TensorBase, list, tuple, np.ndarray)):
        return typing.cast("ndarray", getattr(val, name))
    if isinstance(val, np.ndarray) and not has_dtype(val.dtype):
        return typing.cast("ndarray", getattr(val, name))
    x = owned(of(val))
    return x.real if name == "real" else x.imag


@function
def real(val: ArrayLike) -> ndarray:
    """The real parts.

    Parameters
    ----------
    val : array_like
        The elements.

    Returns
    -------
    ndarray
        A view of a complex array; a real one itself.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.real(np.array([1 + 2j]))
    array([1.])
    """
    return _part("real", val)


@function
def imag(val: ArrayLike) -> ndarray:
    """The imaginary parts.

    Parameters
    ----------
    val : array_like
        The elements.

    Returns
    -------
    ndarray
        A view of a complex array; zeros for a real one.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.imag(np.array([1 + 2j]))
    array([2.])
    """
    return _part("imag", val)


@function
def angle(z: ArrayLike, deg: bool = False) -> ndarray:
    """The angles of complex numbers, between -pi and pi.

    The gradient at zero is zero, and that of real numbers too.

    Parameters
    ----------
    z : array_like
        The numbers.
    deg : bool
        Whether the result is in degrees.

    Returns
    -------
    ndarray
        A new array, or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.angle(np.array([1j, 1.0]), deg=True)
    array([90.,  0.])
    """
    if not any_differentiated(z):
        return on_values(np.angle, z, deg)
    x = inexact(of(z))
    found = F.angle(x)
    if x._impl.array.dtype.kind != "c":
        # A zero with a minus sign has the angle pi.
        found = F.where(F.signbit(x), cast(of(math.pi), x._impl.dtype), found)
        found = F.where(F.isnan(x), x, found)
    return result(F.mul(found, 180 / math.pi) if deg else found)


@function
def real_if_close(a: ArrayLike, tol: float = 100) -> ndarray:
    """The real parts, if all imaginary parts are close to zero.

    Parameters
    ----------
    a : array_like
        The elements.
    tol : float
        How large imaginary parts may be: in units of the machine's precision, if it is above 1.

    Returns
    -------
    ndarray
        The array itself, or a view of its real parts.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.real_if_close(np.array([1 + 1e-16j]))
    array([1.])
    """
    if isinstance(a, np.ndarray) and not has_dtype(a.dtype):
        return on_values(np.real_if_close, a, tol)
    x = owned(of(a))
    x = as_array(x) if type(x) is not kinds.scalar else as_array(F.clone(x))
    if x._impl.array.dtype.kind != "c":
        return x
    return x if np.iscomplexobj(np.real_if_close(value_of(x), tol)) else x.real


@function
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: ArrayLike = 0.0,
    posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> ndarray:
    """The elements with numbers in place of NaN and infinities.

    Parameters
    ----------
    x : array_like
        The elements. The parts of complex ones are treated by themselves.
    copy : bool
        False writes `x` itself, if it is an array.
    nan, posinf, neginf : array_like, optional
        What stands for NaN and infinities; by default 0 and the largest and the least number.

    Returns
    -------
    ndarray
        A new array, a scalar, or `x`. The gradient passes where elements are kept.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.nan_to_num(np.array([1.0, float("nan"), float("inf")]), posinf=9.0)
    array([1., 0., 9.])
    """
    if not copy and isinstance(x, np.ndarray):
        refuse_derivatives(nan, posinf, neginf)
        written = np.nan_to_num(x, False, values_in(nan), values_in(posinf), values_in(neginf))
        return of(x) if has_dtype(x.dtype) and x.ndim else typing.cast("ndarray", written)
    if not any_differentiated(x, nan, posinf, neginf) and (copy or not isinstance(x, TensorBase)):
        return on_values(np.nan_to_num, x, copy, nan, posinf, neginf)
    given = of(x)
    kind = given._impl.array.dtype.kind
    found: TensorBase = given
    if kind == "f":
        found = _finite(given, nan, posinf, neginf)
    elif kind == "c":
        parts = [_finite(part, nan, posinf, neginf) for part in (F.real(given), F.imag(given))]
        found = F.complex(*parts)
    if copy or type(given) is kinds.scalar:
        return result(F.clone(found) if found is given else found)
    if found is not given:
        F.copy_(given, found)
    return given if given._impl.array.ndim else result(F.clone(given))


def _finite(
    x: TensorBase, nan: ArrayLike, posinf: ArrayLike | None, neginf: ArrayLike | None
) -> TensorBase:
    """Real numbers with others in place of those that are not finite."""
    limits = np.finfo(x._impl.dtype)
    dtype = x._impl.dtype
    high = of(float(limits.max) if posinf is None else posinf, dtype)
    low = of(float(limits.min) if neginf is None else neginf, dtype)
    shape = x._impl.array.shape
    for mask, value in (
        (F.isnan(x), of(nan, dtype)),
        (F.isposinf(x), high),
        (F.isneginf(x), low),
    ):
        if np.broadcast_shapes(value.shape, shape) != shape:
            raise ValueError(f"could not broadcast {value.shape} into shape {shape}")
        x = F.where(mask, value, x)
    return x


@function
def sinc(x: ArrayLike) -> ndarray:
    """The function ``sin(pi * x) / (pi * x)``, 1 at 0.

    Parameters
    ----------
    x : array_like
        The operand.

    Returns
    -------
    ndarray
        A new array, or a scalar.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.sinc(np.array([0.0, 0.5])).round(3)
    array([1.   , 0.637])
    """
    if not any_differentiated(x):
        return on_values(np.sinc, x)
    return result(F.sinc(inexact(of(x))))


@function
def i0(x: ArrayLike) -> ndarray:
    """The modified Bessel function of the first kind, of order 0.

    Parameters
    ----------
    x : array_like
        The operand, real.

    Returns
    -------
    ndarray
        A new array.

    Raises
    ------
    TypeError
        If the operand is complex.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.i0(np.array([0.0, 1.0])).round(3)
    array([1.   , 1.266])
    """
    if not any_differentiated(x):
        return on_values(np.i0, x)
    given = of(x)
    if given._impl.array.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    return as_array(F.i0(inexact(given)))


@function
def unwrap(
    p: ArrayLike,
    discont: float | None = None,
    axis: SupportsIndex = -1,
    *,
    period: ArrayLike = 2 * math.pi,
) -> ndarray:
    """Phases without jumps: whole periods are added so that neighbours differ by half of one.

    Parameters
    ----------
    p : array_like
        The phases.
    discont : float, optional
        The least difference of neighbours that is a jump, half of the period by default.
    axis : int
        The axis of neighbours.
    period : float
        The period.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.unwrap(np.array([0.0, 3.0, 7.0]), period=4.0)
    array([ 0., -1., -1.])
    """
    if not any_differentiated(p, period):
        return on_values(np.unwrap, p, discont, axis, period=period)
    x = of(p)
    (dim,) = dims_of(axis, x._impl.array.ndim)
    kind = result_type(x, period)
    if kind.kind not in "f":
        raise TypeError(f"unwrap of {kind} has no derivative")
    x, whole = cast(x, kind), of(period, kind)
    high = F.div(whole, 2)
    steps = F.diff(x, dim=dim)
    wrapped = F.sub(F.remainder(F.add(steps, high), whole), high)
    at_edge = F.logical_and(F.eq(wrapped, F.neg(high)), F.gt(steps, 0))
    wrapped = F.where(at_edge, high, wrapped)
    kept = F.lt(F.abs(steps), high if discont is None else typing.cast("Any", discont))
    # Whole periods: the derivative by the phases is zero.
    added = F.where(kept, 0.0, F.sub(wrapped, steps))
    count = x._impl.array.shape[dim]
    if not count:
        return as_array(F.clone(x))
    first = F.slice(x, dim, 0, 1, 1)
    rest = F.slice(x, dim, 1, count, 1)
    found = F.cat([first, F.add(rest, F.cumsum(added, dim))], dim)
    return as_array(in_order_of(found, x))


@function
def fix(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """The elements rounded towards zero.

    Parameters
    ----------
    x : array_like
        The elements.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`. Its derivative is zero.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.fix(np.array([1.7, -1.7]))
    array([ 1., -1.])
    """
    if out is None and not any_differentiated(x):
        # Which is the same, and of which NumPy 2.5 does not warn.
        return on_values(np.trunc, x)
    return ufuncs.trunc(x, out=out)


@function
def around(a: ArrayLike, decimals: SupportsIndex = 0, out: ndarray | None = None) -> ndarray:
    """The elements rounded to a number of decimals: another name of `round`.

    Parameters
    ----------
    a, decimals, out
        As of `round`.

    Returns
    -------
    ndarray
        A new array, a scalar, or `out`. Its derivative is zero.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.around(np.array([1.26]), 1)
    array([1.3])
    """
    if out is None and not any_differentiated(a):
        return on_values(np.around, a, decimals)
    return round(a, decimals, out)

"""Comparisons of whole arrays, and questions about the kinds of elements: no derivatives."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

import numpy as np

from vtgrad.numpy.deliver import by_numpy, deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_keyed, on_values
from vtgrad.numpy.operands import ArrayLike, is_keyed, of, result
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
]


@function
def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> ndarray:
    """Which elements of two arrays are equal within a tolerance.

    Parameters
    ----------
    a, b : array_like
        The arrays, which broadcast.
    rtol, atol : array_like
        The tolerance is ``atol + rtol * abs(b)``.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isclose(np.array([1.0, 2.0]), [1.0, 2.1])
    array([ True, False])
    """
    if any_keyed(a, b) and isinstance(rtol, (int, float)) and isinstance(atol, (int, float)):
        x, y = common([a, b])
        return result(F.isclose(x, y, float(rtol), float(atol), equal_nan))
    return on_values(np.isclose, a, b, rtol, atol, equal_nan)


@function
def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements of two arrays are equal within a tolerance.

    Parameters
    ----------
    a, b, rtol, atol, equal_nan
        As of `isclose`.

    Returns
    -------
    bool
        Python's.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.allclose(np.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    return typing.cast("bool", on_values(np.allclose, a, b, rtol, atol, equal_nan))


@function
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and equal elements.

    Parameters
    ----------
    a1, a2 : array_like
        The arrays.
    equal_nan : bool
        Whether NaN equals NaN.

    Returns
    -------
    bool
        Python's.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array_equal(np.array([1.0, 2.0]), [1, 2])
    True
    """
    return typing.cast("bool", on_values(np.array_equal, a1, a2, equal_nan))


@function
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Whether two arrays have equal elements once they are broadcast.

    Parameters
    ----------
    a1, a2 : array_like
        The arrays.

    Returns
    -------
    bool
        Python's.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.array_equiv(np.array([1.0, 2.0]), [[1, 2], [1, 2]])
    True
    """
    return typing.cast("bool", on_values(np.array_equiv, a1, a2))


def _infinite(numpys: Callable[..., Any], x: ArrayLike, out: ndarray | None) -> ndarray:
    if not any_keyed(x) and out is None:
        return on_values(numpys, x)
    given = of(x)
    if not is_keyed(given) or given._impl.array.dtype.kind == "c":
        return by_numpy(numpys, given, out=out)
    operator = F.isposinf if numpys is np.isposinf else F.isneginf
    return deliver(operator(given), out)


@function
def isposinf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Which elements are the positive infinity.

    Parameters
    ----------
    x : array_like
        The elements, real.
    out : ndarray, optional
        Where the result is stored.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy, or `out`.

    Raises
    ------
    TypeError
        If the elements are complex.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isposinf(np.array([1.0, float("inf")]))
    array([False,  True])
    """
    return _infinite(np.isposinf, x, out)


@function
def isneginf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Which elements are the negative infinity.

    Parameters
    ----------
    x, out
        As of `isposinf`.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy, or `out`.

    Raises
    ------
    TypeError
        If the elements are complex.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isneginf(np.array([1.0, float("-inf")]))
    array([False,  True])
    """
    return _infinite(np.isneginf, x, out)


@function
def iscomplex(x: ArrayLike) -> ndarray:
    """Which elements have an imaginary part that is not zero.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.iscomplex(np.array([1.0, 1j]))
    array([False,  True])
    """
    if any_keyed(x):
        return result(F.logical_not(F.isreal(of(x))))
    return on_values(np.iscomplex, x)


@function
def isreal(x: ArrayLike) -> ndarray:
    """Which elements have no imaginary part, or one of zero.

    Parameters
    ----------
    x : array_like
        The elements.

    Returns
    -------
    ndarray
        Of bools, or a bool of NumPy.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isreal(np.array([1.0, 1j]))
    array([ True, False])
    """
    if any_keyed(x):
        return result(F.isreal(of(x)))
    return on_values(np.isreal, x)


@function
def iscomplexobj(x: object) -> bool:
    """Whether the elements are of a complex dtype.

    Parameters
    ----------
    x : object
        An array, or anything that NumPy makes one of.

    Returns
    -------
    bool
        Python's.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.iscomplexobj(np.array([1j]))
    True
    """
    if isinstance(x, (list, tuple)):
        x = of(x)
    if isinstance(x, TensorBase):
        return bool(x._impl.array.dtype.kind == "c")
    return np.iscomplexobj(typing.cast("Any", x))


@function
def isrealobj(x: object) -> bool:
    """Whether the elements are of a dtype that is not complex.

    Parameters
    ----------
    x : object
        An array, or anything that NumPy makes one of.

    Returns
    -------
    bool
        Python's.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.isrealobj(np.array([1.0]))
    True
    """
    return not iscomplexobj(x)

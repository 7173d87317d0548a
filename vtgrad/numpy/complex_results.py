"""Functions that give complex numbers where real ones do not exist, as ``np.emath.sqrt(-1)``.

The values of the whole operand say whether it becomes complex, as in NumPy. The derivative is that
of the function on the complex numbers; where the operand is real, that of its real part.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from vtgrad.numpy import ufuncs
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import holds_tensor
from vtgrad.numpy.operands import ArrayLike, cast, of, of_any_dtype, value_of
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]

# Real dtypes whose complex numbers are the small ones.
_SMALL: Final = frozenset("bBhHf")


def _operand(x: ArrayLike) -> Any:
    """An operand as the ufunc takes it: what is no array stays what it is."""
    return of(x) if holds_tensor(x) else making.asarray(x)[()]


def _complex(x: Any) -> Any:
    """The operand in complex numbers."""
    array = of_any_dtype(x)
    dtype = np.dtype(np.complex64 if array.dtype.char in _SMALL else np.complex128)
    found = of(array.astype(dtype)) if isinstance(array, np.ndarray) else cast(array, dtype)
    # A number stays one.
    return found if array.shape else found[()]


def _is_real(x: Any) -> bool:
    return bool(np.isrealobj(x._impl.array if isinstance(x, TensorBase) else x))


def _values(x: Any) -> Any:
    return value_of(x) if isinstance(x, TensorBase) else x


def _unless_negative(x: ArrayLike) -> Any:
    """The operand; in complex numbers if one of its elements is negative."""
    given = _operand(x)
    return _complex(given) if _is_real(given) and np.any(_values(given) < 0) else given


def _unless_above_one(x: ArrayLike) -> Any:
    """The operand; in complex numbers if one of its elements is above 1 or below -1."""
    given = _operand(x)
    return _complex(given) if _is_real(given) and np.any(np.abs(_values(given)) > 1) else given


@function(of=np.emath.sqrt)
def sqrt(x: ArrayLike) -> ndarray:
    """The square root.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.sqrt(-4.0)
    np.complex128(2j)
    """
    return ufuncs.sqrt(_unless_negative(x))


@function(of=np.emath.log)
def log(x: ArrayLike) -> ndarray:
    """The natural logarithm.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.log(-1.0)
    np.complex128(3.141592653589793j)
    """
    return ufuncs.log(_unless_negative(x))


@function(of=np.emath.log10)
def log10(x: ArrayLike) -> ndarray:
    """The logarithm to base 10.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.log10(100.0)
    np.float64(2.0)
    """
    return ufuncs.log10(_unless_negative(x))


@function(of=np.emath.log2)
def log2(x: ArrayLike) -> ndarray:
    """The logarithm to base 2.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.log2(8.0)
    np.float64(3.0)
    """
    return ufuncs.log2(_unless_negative(x))


@function(of=np.emath.logn)
def logn(n: ArrayLike, x: ArrayLike) -> ndarray:
    """The logarithm to a base.

    Parameters
    ----------
    n : array_like
        The base.
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number or a base is negative.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.logn(2.0, [4.0, 8.0])
    array([2., 3.])
    """
    return ufuncs.divide(ufuncs.log(_unless_negative(x)), ufuncs.log(_unless_negative(n)))


@function(of=np.emath.power)
def power(x: ArrayLike, p: ArrayLike) -> ndarray:
    """The power of numbers.

    Parameters
    ----------
    x : array_like
        The numbers.
    p : array_like
        The exponents.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is negative, and not of integers if an
        exponent is.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.power([2, 4], -2)
    array([0.25  , 0.0625])
    """
    exponents = _operand(p)
    if np.any(_values(exponents) < 0) and _values(exponents).dtype.kind != "c":
        exponents = exponents * 1.0
    return ufuncs.power(_unless_negative(x), exponents)


@function(of=np.emath.arccos)
def arccos(x: ArrayLike) -> ndarray:
    """The angle whose cosine a number is.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is above 1 or below -1.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.arccos(1.0)
    np.float64(0.0)
    """
    return ufuncs.arccos(_unless_above_one(x))


@function(of=np.emath.arcsin)
def arcsin(x: ArrayLike) -> ndarray:
    """The angle whose sine a number is.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is above 1 or below -1.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.arcsin(0.0)
    np.float64(0.0)
    """
    return ufuncs.arcsin(_unless_above_one(x))


@function(of=np.emath.arctanh)
def arctanh(x: ArrayLike) -> ndarray:
    """The number whose hyperbolic tangent a number is.

    Parameters
    ----------
    x : array_like
        The numbers.

    Returns
    -------
    ndarray
        A new array, or a scalar; complex if a number is above 1 or below -1.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.emath.arctanh(0.0)
    np.float64(0.0)
    """
    return ufuncs.arctanh(_unless_above_one(x))

"""Convolution and correlation along one axis."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from vtgrad.later.convolution import convolved, correlated
from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, of
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F

__all__ = ["convolve", "correlate"]

Mode = Literal["valid", "same", "full"]

_MODES: Final = {"valid": 0, "same": 1, "full": 2}


def _number_of(mode: object) -> int:
    """NumPy's number of a mode.

    Raises
    ------
    TypeError, ValueError
        If there is no such mode.
    """
    number = _MODES.get(mode, -1) if isinstance(mode, str) else mode
    if not isinstance(number, (int, np.integer)):
        raise TypeError("convolve/correlate mode not understood")
    if number not in (0, 1, 2):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return int(number)


def _operands(a: ArrayLike, v: ArrayLike) -> list[ndarray]:
    arrays = common(all_of([a, v]))
    for x in arrays:
        if x._impl.array.ndim != 1:
            size = "deep" if x._impl.array.ndim else "small a depth"
            raise ValueError(f"object too {size} for desired array")
        if not x.shape[0]:
            raise ValueError("an array of a convolution or a correlation cannot be empty")
    return arrays


@function
def convolve(a: ArrayLike, v: ArrayLike, mode: Mode = "full") -> ndarray:
    """The discrete convolution of two arrays with one axis.

    Parameters
    ----------
    a, v : array_like
        The arrays; a number is an array with one element.
    mode : {"full", "same", "valid"}
        Whether they overlap in one element at least, or the result has the length of the longer
        one, or they overlap completely.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.convolve(np.array([1.0, 2.0, 3.0]), [1.0, 1.0])
    array([1., 3., 5., 3.])
    """
    if not any_differentiated(a, v):
        return on_values(np.convolve, a, v, mode)
    x, y = _operands(*map(_at_least_1d, all_of([a, v])))
    return deliver(convolved(x, y, _number_of(mode)))


@function
def correlate(a: ArrayLike, v: ArrayLike, mode: Mode = "valid") -> ndarray:
    """The correlation of two arrays with one axis: products with the conjugate of the second.

    Parameters
    ----------
    a, v : array_like
        The arrays.
    mode : {"valid", "same", "full"}
        As of `convolve`.

    Returns
    -------
    ndarray
        A new array.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.correlate(np.array([1.0, 2.0, 3.0]), [1.0, 1.0])
    array([3., 5.])
    """
    if not any_differentiated(a, v):
        return on_values(np.correlate, a, v, mode)
    x, y = _operands(a, v)
    return deliver(correlated(x, y, _number_of(mode)))


def _at_least_1d(value: ArrayLike) -> ndarray:
    x = of(value)
    return x if x._impl.array.ndim else as_array(F.reshape(x, 1))

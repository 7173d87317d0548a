"""Convolution and correlation along one axis."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from vtgrad.numpy.deliver import deliver
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import ArrayLike, all_of, as_array, of, value_of
from vtgrad.numpy.promotion import common
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["convolve", "correlate"]

Mode = Literal["valid", "same", "full"]

_MODES: Final = {"valid": 0, "same": 1, "full": 2}


def _slid(long: TensorBase, short: TensorBase, mode: object) -> TensorBase:
    """The products with the shorter array, at each place that it is moved to.

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
    count = short._impl.array.shape[0]
    before = (0, count // 2, count - 1)[number]
    behind = (0, count - count // 2 - 1, count - 1)[number]
    parts = [long]
    if before:
        parts.insert(0, _zeros(long, before))
    if behind:
        parts.append(_zeros(long, behind))
    if len(parts) == 1:
        return F.mv(F.unfold(long, 0, count, 1), short)
    windows = F.unfold(F.cat(parts, 0), 0, count, 1)
    if short._impl.key_set or np.isfinite(value_of(short)).all():
        return F.mv(windows, short)
    # Where the arrays do not overlap there is no product, which would be NaN of zero and infinity.
    ends = [np.zeros(n, np.bool_) for n in (before, behind)]
    overlaps = np.concatenate([ends[0], np.ones(long._impl.array.shape[0], np.bool_), ends[1]])
    mask = np.lib.stride_tricks.sliding_window_view(overlaps, count).copy()
    products = F.where(of(mask), F.mul(windows, short), F.zeros_like(windows))
    return F.sum_dim_IntList(products, (1,), False)


def _zeros(x: TensorBase, count: int) -> TensorBase:
    return of(np.zeros(count, x._impl.array.dtype))


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
    if y.shape[0] > x.shape[0]:
        x, y = y, x
    return deliver(_slid(x, F.flip(y, 0), mode))


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
    is_complex = x.dtype.kind == "c"
    if y.shape[0] <= x.shape[0]:
        return deliver(_slid(x, F.conj(y) if is_complex else y, mode))
    # The shorter array slides along the longer one in the other direction.
    found = F.flip(_slid(F.conj(y) if is_complex else y, x, mode), 0)
    return deliver(found)


def _at_least_1d(value: ArrayLike) -> ndarray:
    x = of(value)
    return x if x._impl.array.ndim else as_array(F.reshape(x, 1))

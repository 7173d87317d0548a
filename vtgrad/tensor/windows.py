"""Windows for spectra: weights that take a signal to zero at the ends of what is looked at."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType
from vtgrad.storage.integers import index_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.fresh_tensor import leaf, shape_and_dtype
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


@explained
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Bartlett window, a triangle with zeros at its ends.

    Parameters
    ----------
    window_length : int
        The number of elements.
    periodic : bool, default True
        Whether the window is one period, for spectra: it is that of one more element, without the
        last. Otherwise it is symmetric.
    dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension.

    Raises
    ------
    ShapeError
        If `window_length` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    t, wanted = _places("bartlett_window", window_length, periodic, dtype)
    found = 1 - np.abs(2 * t - 1)
    return leaf(found.astype(wanted), requires_grad, lane_of(device))


@explained
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Blackman window, a sum of two cosines.

    Parameters
    ----------
    window_length : int
        The number of elements.
    periodic : bool, default True
        Whether the window is one period, for spectra: it is that of one more element, without the
        last. Otherwise it is symmetric.
    dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension.

    Raises
    ------
    ShapeError
        If `window_length` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    t, wanted = _places("blackman_window", window_length, periodic, dtype)
    found = 0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t)
    return leaf(found.astype(wanted), requires_grad, lane_of(device))


@explained
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float | TensorBase = 0.54,
    beta: float | TensorBase = 0.46,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Hamming window, a raised cosine that does not begin at zero.

    Parameters
    ----------
    window_length : int
        The number of elements.
    periodic : bool, default True
        Whether the window is one period, for spectra: it is that of one more element, without the
        last. Otherwise it is symmetric.
    alpha, beta : float, default 0.54 and 0.46
        The window is ``alpha - beta * cos(2 pi n / (N - 1))``.
    dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension.

    Raises
    ------
    ShapeError
        If `window_length` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    first, second = _real(alpha, "alpha"), _real(beta, "beta")
    t, wanted = _places("hamming_window", window_length, periodic, dtype)
    found = first - second * np.cos(2 * np.pi * t)
    if len(t) == 1:
        found = making.ones(1)
    return leaf(found.astype(wanted), requires_grad, lane_of(device))


@explained
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Hann window, a raised cosine that begins at zero.

    Parameters
    ----------
    window_length : int
        The number of elements.
    periodic : bool, default True
        Whether the window is one period, for spectra: it is that of one more element, without the
        last. Otherwise it is symmetric.
    dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension.

    Raises
    ------
    ShapeError
        If `window_length` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    >>> vt.hann_window(3, periodic=False)
    tensor([0., 1., 0.])
    """
    t, wanted = _places("hann_window", window_length, periodic, dtype)
    found = 0.5 - 0.5 * np.cos(2 * np.pi * t)
    return leaf(found.astype(wanted), requires_grad, lane_of(device))


@explained
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float | TensorBase = 12.0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The Kaiser window, of which a parameter says how narrow it is.

    Parameters
    ----------
    window_length : int
        The number of elements.
    periodic : bool, default True
        Whether the window is one period, for spectra: it is that of one more element, without the
        last. Otherwise it is symmetric.
    beta : float, default 12.0
        The larger, the narrower is the window, and the less of a line comes out beside it.
    dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension.

    Raises
    ------
    ShapeError
        If `window_length` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.kaiser_window(3, False, 0.0)
    tensor([1., 1., 1.])
    """
    b = _real(beta, "beta")
    t, wanted = _places("kaiser_window", window_length, periodic, dtype)
    found = np.i0(b * np.sqrt(np.maximum(1 - (2 * t - 1) ** 2, 0))) / np.i0(b)
    return leaf(found.astype(wanted), requires_grad, lane_of(device))


def _places(
    name: str, window_length: int, periodic: bool, dtype: DType | None
) -> tuple[Array, NumpyDType]:
    """The places of the elements, from 0 to 1 where the window ends, and the dtype."""
    count = index_of(window_length, "window_length")
    if count < 0:
        raise ShapeError(f"{name}() needs a number of elements, not {count}", size=count)
    (count,), wanted = shape_and_dtype(name, (count,), None, None, dtype)
    if wanted.kind == "c":
        raise NotSupportedError(f"{name}() makes real numbers, not {wanted.name}", dtype=wanted)
    if wanted.kind != "f":
        raise DTypeError(f"{name}() needs a floating dtype, not {wanted.name}", dtype=wanted)
    if count == 1:
        # One element is the middle.
        return making.array([0.5]), wanted
    places: Array = making.arange(count) / max(count if periodic else count - 1, 1)
    return places, wanted


def _real(value: float | TensorBase, name: str) -> float:
    number = number_of(value, name) if isinstance(value, TensorBase) else value
    if isinstance(number, complex):
        raise ArgumentTypeError(f"argument {name!r} must be a real number", argument=name)
    return float(number)

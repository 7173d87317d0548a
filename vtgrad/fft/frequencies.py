"""The frequencies that the elements of a transform belong to."""

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
from vtgrad.tensor.fresh_tensor import shape_and_dtype, written
from vtgrad.tensor.tensor import Tensor

__all__ = ["fftfreq", "rfftfreq"]


@explained
def fftfreq(
    n: int,
    d: float | TensorBase = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of a transform, as of `fft`, in their order.

    They are the multiples of ``1 / (n * d)``, in cycles per unit of `d`: first those from zero
    on, then the negative ones.

    Parameters
    ----------
    n : int
        The number of values that are transformed.
    d : float, default 1.0
        The distance of two values. A 0-d tensor counts by its value and gets no gradient.
    out, dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of `n` elements, or `out`.

    Raises
    ------
    ShapeError
        If `n` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.fft.fftfreq(5, 0.1)
    tensor([ 0.,  2.,  4., -4., -2.])
    """
    size, wanted = _size_and_dtype("fftfreq", n, n, out, dtype)
    counts = making.arange(size)
    counts[(size + 1) // 2 :] -= size
    found = _multiples(counts, size, d, wanted)
    return written(found, out, requires_grad, "fftfreq", lane_of(device))


@explained
def rfftfreq(
    n: int,
    d: float | TensorBase = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The frequencies of the elements of a transform of real values, as of `rfft`.

    Parameters
    ----------
    n : int
        The number of values that are transformed.
    d : float, default 1.0
        The distance of two values. A 0-d tensor counts by its value and gets no gradient.
    out, dtype, device, requires_grad
        As in `zeros`; a floating dtype.

    Returns
    -------
    Tensor
        A new leaf of ``n // 2 + 1`` elements, or `out`.

    Raises
    ------
    ShapeError
        If `n` is negative.
    DTypeError
        If the dtype is not a floating one.

    Examples
    --------
    >>> vt.fft.rfftfreq(5, 0.1)
    tensor([0., 2., 4.])
    """
    size, wanted = _size_and_dtype("rfftfreq", n, n // 2 + 1, out, dtype)
    found = _multiples(making.arange(size), index_of(n, "n"), d, wanted)
    return written(found, out, requires_grad, "rfftfreq", lane_of(device))


def _size_and_dtype(
    name: str, n: int, size: int, out: Tensor | None, dtype: DType | None
) -> tuple[int, NumpyDType]:
    if index_of(n, "n") < 0:
        raise ShapeError(f"{name}() needs a number of values, not {n}", n=n)
    (count,), wanted = shape_and_dtype(name, (index_of(size, "n"),), None, out, dtype)
    if wanted.kind == "c":
        raise NotSupportedError(f"{name}() makes real numbers, not {wanted.name}", dtype=wanted)
    if wanted.kind != "f":
        raise DTypeError(f"{name}() needs a floating dtype, not {wanted.name}", dtype=wanted)
    return count, wanted


def _multiples(counts: Array, n: int, d: float | TensorBase, dtype: NumpyDType) -> Array:
    """Whole numbers times the lowest frequency."""
    spacing = number_of(d, "d") if isinstance(d, TensorBase) else d
    if isinstance(spacing, complex):
        raise ArgumentTypeError("argument 'd' must be a real number, not complex", argument="d")
    with np.errstate(all="ignore"):
        lowest = np.float64(1) / (np.float64(n) * np.float64(spacing))
        found: Array = (counts * float(lowest)).astype(dtype)
    return found

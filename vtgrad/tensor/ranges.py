"""Sequences of numbers in equal steps, and the unit matrix."""

from __future__ import annotations

import math
from typing import overload

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.take_over import call_override
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, get_default_dtype
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.promotion import number_dtype, promote
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.fresh_tensor import dtype_for, shape_and_dtype, written
from vtgrad.tensor.tensor import Tensor

__all__ = ["arange", "eye", "linspace"]


# The other order would be one signature in the stub, without a bound that is required.
@overload
def arange(
    *,
    end: Number | TensorBase,
    step: Number | TensorBase = 1,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
@overload
def arange(
    start: Number | TensorBase,
    end: Number | TensorBase | None = None,
    step: Number | TensorBase = 1,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
def arange(
    start: Number | TensorBase | None = None,
    end: Number | TensorBase | None = None,
    step: Number | TensorBase = 1,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers from `start` to `end`, excluded, `step` apart.

    There are ``ceil((end - start) / step)`` of them, each computed as ``start + i * step``.

    Parameters
    ----------
    start : number, default 0
        The first number; ``arange(end)`` leaves it out.
    end : number
        The bound, which is excluded.
    step : number, default 1
        The distance; negative to count down.
    out, dtype, device, requires_grad
        As in `zeros`; without `dtype` it is int64 if all three are integers, else the default
        dtype.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `step` is zero or leads away from `end`, or a bound is not finite.
    ArgumentValueError
        If an integer does not fit 64 bits, or `step` becomes 0 in an integer `dtype`.
    DTypeError
        If a bound is complex, or `dtype` is not that of `out`.
    NotSupportedError
        If the dtype is bool or complex.

    Examples
    --------
    >>> vt.arange(1, 10, 3)
    tensor([1, 4, 7])
    >>> vt.arange(0, 1, 0.25)
    tensor([0.0000, 0.2500, 0.5000, 0.7500])
    """
    if keys.modes and in_function_mode():
        return call_override(
            arange,
            start,
            end,
            step,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    lane = lane_of(device)
    if end is None:
        if start is None:
            raise ArgumentTypeError("arange needs an end", argument="end")
        start, end = 0, start
    first, last, by = (
        _real(0 if start is None else start, "start"),
        _real(end, "end"),
        _real(step, "step"),
    )
    whole = all(isinstance(x, int) for x in (first, last, by))
    if any(isinstance(x, int) and abs(x) >= 2**63 for x in (first, last, by)):
        raise ArgumentValueError("a bound or the step of arange does not fit 64 bits", step=by)
    wanted = dtype_for(out, dtype, np.dtype(np.int64) if whole else get_default_dtype().numpy)
    _check_orderable(wanted, "arange")
    if not (math.isfinite(first) and math.isfinite(last) and math.isfinite(by)):
        raise ShapeError(
            f"a range from {first} to {last} by {by} does not end", start=first, end=last, step=by
        )
    if by == 0:
        raise ShapeError("arange needs a step other than 0", step=by)
    if (last - first) * (1 if by > 0 else -1) < 0:
        raise ShapeError(
            f"a step of {by} leads away from {last} when it starts at {first}",
            start=first,
            end=last,
            step=by,
        )
    if wanted.kind == "i" and wanted.itemsize == 8:
        # The bounds as passed decide whether the step leads from one to the other.
        first, last, by, whole = int(first), int(last), int(by), True
        if by == 0:
            raise ArgumentValueError("arange of integers needs a step other than 0", step=by)
    count = -((first - last) // by) if whole else (last - first) / by
    if not math.isfinite(count):
        raise ShapeError(
            f"a range from {first} to {last} by {by} has no end in sight",
            start=first,
            end=last,
            step=by,
        )
    count = math.ceil(count)
    if wanted.kind in "iu":
        # The count is computed from integers for int64 only, as in PyTorch.
        first, last, by = int(first), int(last), int(by)
    check_sizes((int(count),), wanted.itemsize)
    if wanted.kind in "iu" and max(abs(first), abs(last), abs(by)) >= 2**63:
        raise ArgumentValueError("a bound or the step of arange does not fit 64 bits", step=by)
    indices: Array = making.arange(
        int(count), dtype=np.int64 if wanted.kind in "iu" else np.float64
    )
    with np.errstate(all="ignore"):
        values: Array = (first + indices * by).astype(wanted)
    return written(_shaped_like(values, out), out, requires_grad, "arange", lane)


def _shaped_like(values: Array, out: Tensor | None) -> Array:
    """Values in one dimension, or in the shape of ``out`` if it has as many elements."""
    return values if out is None or out.numel() != values.size else values.reshape(out.shape)


def linspace(
    start: Number | TensorBase,
    end: Number | TensorBase,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Evenly spaced numbers from `start` to `end`, both included.

    Parameters
    ----------
    start : number
        The first number.
    end : number
        The last number, which is met exactly.
    steps : int
        How many numbers; with 1 the only one is `start`.
    out, dtype, device, requires_grad
        As in `zeros`; complex numbers of the default dtype if a bound is complex.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `steps` is negative, or a bound is a tensor with dimensions.
    ArgumentValueError
        If an integer does not fit 64 bits.
    DTypeError
        If a bound is complex and the dtype is not, or `dtype` is not that of `out`.
    NotSupportedError
        If the dtype is bool.

    Examples
    --------
    >>> vt.linspace(0, 1, 3)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if keys.modes and in_function_mode():
        return call_override(
            linspace,
            start,
            end,
            steps,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    lane = lane_of(device)
    for bound in (start, end):
        if isinstance(bound, TensorBase) and bound.ndim:
            raise ShapeError(
                f"linspace takes 0-d tensors as bounds, not one of shape {list(bound.shape)}",
                shape=bound.shape,
            )
    first, last = number_of(start, "start"), number_of(end, "end")
    if any(isinstance(x, int) and abs(x) >= 2**63 for x in (first, last)):
        raise ArgumentValueError("a bound of linspace does not fit 64 bits", start=start, end=end)
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    own = promote(number_dtype(1j if is_complex else 1.0), get_default_dtype().numpy)
    wanted = dtype_for(out, dtype, own)
    if wanted.kind == "b":
        raise NotSupportedError("linspace has no steps between False and True", dtype=wanted.name)
    if is_complex and wanted.kind != "c":
        raise DTypeError(f"linspace of complex bounds cannot be {wanted.name}", dtype=wanted.name)
    count = index_of(steps, "steps")
    check_sizes((max(count, 0),), max(8, wanted.itemsize))
    if count < 0:
        raise ShapeError(
            f"linspace needs a number of steps of at least 0, not {count}", steps=count
        )
    if wanted.kind in "iu":
        first, last = as_element(first, wanted).item(), as_element(last, wanted).item()
    # The second half counts back from the end, so that the last number is exact.
    by = (last - first) / (count - 1) if count > 1 else 0.0
    indices = making.arange(count, dtype=np.float64)
    with np.errstate(all="ignore"):
        values = np.where(
            indices < count // 2, first + by * indices, last - by * (count - 1 - indices)
        )
        if count == 1:
            values = making.array([first])
        values = _shaped_like(values.astype(wanted), out)
        return written(values, out, requires_grad, "linspace", lane)


def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A matrix with ones on its diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns; `n` if omitted.
    out, dtype, device, requires_grad
        As in `zeros`.

    Returns
    -------
    Tensor
        A new leaf of shape ``(n, m)``, or `out`.

    Raises
    ------
    ShapeError
        If a number is negative.
    ArgumentTypeError
        If a number is not an integer.

    Examples
    --------
    >>> vt.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if keys.modes and in_function_mode():
        return call_override(
            eye, n, m, out=out, dtype=dtype, device=device, requires_grad=requires_grad
        )
    lane = lane_of(device)
    rows = index_of(n, "n")
    columns = rows if m is None else index_of(m, "m")
    shape, wanted = shape_and_dtype("eye", (rows, columns), None, out, dtype)
    return written(making.eye(*shape, dtype=wanted), out, requires_grad, "eye", lane)


def _real(value: Number | TensorBase, name: str) -> int | float:
    """A real number; bool counts as an integer."""
    number = number_of(value, name)
    if isinstance(number, complex):
        raise DTypeError(f"argument {name!r} must be a real number, not {number}", argument=name)
    return int(number) if isinstance(number, bool) else number


def _check_orderable(dtype: NumpyDType, name: str) -> None:
    if dtype.kind in "bc":
        raise NotSupportedError(f"{name} has no {dtype.name} values", dtype=dtype.name)

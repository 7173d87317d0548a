"""Powers with evenly spaced exponents."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, NotSupportedError, ShapeError
from vtgrad.graph.function_modes import in_function_mode
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.take_over import call_override
from vtgrad.ops.kernels.support.scalars import as_element
from vtgrad.storage import making
from vtgrad.storage.arrays import Number
from vtgrad.storage.device import Device, lane_of
from vtgrad.storage.dtypes import DType, get_default_dtype
from vtgrad.storage.integers import index_of
from vtgrad.storage.key_set import keys
from vtgrad.storage.promotion import number_dtype, promote
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.fresh_tensor import dtype_for, written
from vtgrad.tensor.tensor import Tensor

__all__ = ["logspace"]


def logspace(
    start: Number | TensorBase,
    end: Number | TensorBase,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Powers of a base, with evenly spaced exponents from `start` to `end`.

    Parameters
    ----------
    start, end : number
        The first exponent, and the last one.
    steps : int
        How many powers; with 1 the only one is that of `start`.
    base : float, default 10.0
        The base.
    out, dtype, device, requires_grad
        As in `zeros`; complex numbers of the default dtype if an exponent is complex.

    Returns
    -------
    Tensor
        A new leaf of one dimension, or `out`.

    Raises
    ------
    ShapeError
        If `steps` is negative, or an exponent is a tensor with dimensions.
    DTypeError
        If an exponent is complex and the dtype is not, or `dtype` is not that of `out`.
    NotSupportedError
        If the dtype is bool.

    Examples
    --------
    >>> vt.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    >>> vt.logspace(0, 3, 4, base=2)
    tensor([1., 2., 4., 8.])
    """
    if keys.modes and in_function_mode():
        return call_override(
            logspace,
            start,
            end,
            steps,
            base,
            out=out,
            dtype=dtype,
            device=device,
            requires_grad=requires_grad,
        )
    lane = lane_of(device)
    for bound in (start, end):
        if isinstance(bound, TensorBase) and bound.ndim:
            raise ShapeError(
                f"logspace takes 0-d tensors as exponents, not one of shape {list(bound.shape)}",
                shape=bound.shape,
            )
    first, last = number_of(start, "start"), number_of(end, "end")
    root = number_of(base, "base")
    if isinstance(root, complex):
        raise ArgumentTypeError("argument 'base' must be a real number", argument="base")
    is_complex = isinstance(first, complex) or isinstance(last, complex)
    own = promote(number_dtype(1j if is_complex else 1.0), get_default_dtype().numpy)
    wanted = dtype_for(out, dtype, own)
    if wanted.kind == "b":
        raise NotSupportedError("logspace has no steps between False and True", dtype=wanted.name)
    if is_complex and wanted.kind != "c":
        raise DTypeError(f"logspace of complex numbers cannot be {wanted.name}", dtype=wanted.name)
    count = index_of(steps, "steps")
    if count < 0:
        raise ShapeError(
            f"logspace needs a number of steps of at least 0, not {count}", steps=count
        )
    check_sizes((count,), max(8, wanted.itemsize))
    if wanted.kind in "iu" and count > 1:
        first, last = as_element(first, wanted).item(), as_element(last, wanted).item()
    by = (last - first) / (count - 1) if count > 1 else 0.0
    indices = making.arange(count, dtype=np.float64)
    # The second half counts back from the end, so that the last power is exact.
    exponents = np.where(
        indices < count // 2, first + by * indices, last - by * (count - 1 - indices)
    )
    if count == 1:
        exponents = making.asarray([first])
    with np.errstate(all="ignore"):
        if is_complex:
            whole = complex(root)
            values = making.asarray([whole**z for z in exponents.tolist()], np.complex128)
        else:
            values = np.power(float(root), exponents.astype(np.float64))
        if wanted.kind in "iu":
            values = np.where(np.isfinite(values), values, 0.0)
        return written(values.astype(wanted), out, requires_grad, "logspace", lane)

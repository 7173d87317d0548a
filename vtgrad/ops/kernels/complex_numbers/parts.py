"""Complex numbers made of two real ones, and tests and parts of them."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.support.elementwise import BOOL, finish_like, floating, number
from vtgrad.ops.kernels.support.result_strides import (
    broadcast_shapes,
    empty_in_order_of,
    empty_like_elementwise,
    empty_like_preserving,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.lazy_array import physical

__all__ = ["angle", "complex_of", "isreal", "polar"]


_COMPLEX: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
}


def complex_of(real: Array, imag: Array) -> Array:
    """Complex numbers of these parts.

    Raises
    ------
    DTypeError
        If the parts are not both float32 or both float64.
    """
    result = _empty("complex", real, imag)
    np.copyto(result.real, real)
    np.copyto(result.imag, imag)
    return result


def polar(abs: Array, angle: Array) -> Array:
    """Complex numbers of this magnitude and angle; the dtypes are those of `complex_of`."""
    result = _empty("polar", abs, angle)
    np.multiply(abs, np.cos(angle), out=result.real)
    np.multiply(abs, np.sin(angle), out=result.imag)
    return result


def _empty(name: str, first: Array, second: Array) -> Array:
    dtype = _COMPLEX.get(first.dtype)
    if dtype is None or second.dtype != first.dtype:
        raise DTypeError(
            f"{name} needs two tensors of float32 or two of float64, not {first.dtype.name} and "
            f"{second.dtype.name}",
            first=first.dtype.name,
            second=second.dtype.name,
        )
    return empty_like_elementwise(dtype, broadcast_shapes(first.shape, second.shape), first, second)


def isreal(input: Array) -> Array:
    """Whether the imaginary part is zero."""
    if input.dtype.kind == "c":
        found = empty_in_order_of(BOOL, physical(input))
        np.equal(input.imag, 0, found)
    else:
        found = empty_like_preserving(BOOL, input)
        found.fill(True)
    return found


def angle(input: Array, *, out: Array | None = None) -> Array:
    """The angle of complex values; pi for negative real ones, 0 for others, nan for nan."""
    kind = input.dtype.kind
    if kind == "c":
        if out is None:
            out = making.empty(input.shape, input.real.dtype)
        np.copyto(out, np.arctan2(input.imag, input.real), casting="unsafe")
        return out
    dtype = floating(input.dtype)
    found = np.where(np.less(input, 0), number(np.pi, dtype), number(0, dtype))
    if kind == "f":
        np.copyto(found, input, where=np.isnan(input))
    return finish_like(found, dtype, out, input)

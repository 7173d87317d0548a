"""Complex numbers from two real ones."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.kernels.layout import broadcast_shapes, empty_like_elementwise
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["complex_of", "polar"]

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

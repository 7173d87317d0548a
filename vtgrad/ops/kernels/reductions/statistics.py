# Compiled by mypyc.
"""Spread: var and std."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.reductions.reduce import mean, reduce_into
from vtgrad.ops.kernels.support.axes import axes_of, in_dtype
from vtgrad.storage import making
from vtgrad.storage.argument_types import AnyBool
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["std", "std_mean_dim", "var", "var_mean_dim"]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_REAL_OF: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.complex64): _SINGLE,
    np.dtype(np.complex128): _DOUBLE,
}


def _squares(x: Array) -> Array:
    """|x|**2 elementwise, real; a real argument is overwritten."""
    if x.dtype.kind == "c":
        r: Array = np.square(x.real) + np.square(x.imag)
        return r
    return making.asarray(np.square(x, out=x if x.ndim else None))


def _variance(name: str, x: Array, dim: Dims, correction: float | None, keepdim: AnyBool) -> Array:
    """The variance, in the dtype that it was computed in: double unless the input is half."""
    if x.dtype.kind not in "fc":
        raise DTypeError(f"{name}() needs floating or complex values, not {x.dtype}", dtype=x.dtype)
    axes = axes_of(dim, x.ndim)
    wide = _SINGLE if x.dtype == _HALF else np.promote_types(x.dtype, _DOUBLE)
    count = math.prod([x.shape[d] for d in axes])
    centre: Array = np.add.reduce(x, axes, wide, None, keepdims=True)
    centre = np.true_divide(centre, count)
    squares = _squares(making.asarray(np.subtract(x, centre, dtype=wide)))
    total = reduce_into(np.add, squares, axes if x.ndim else None, bool(keepdim), None)
    # With no more elements than the correction the divisor is 0: inf or nan.
    freedom = max(count - (1.0 if correction is None else correction), 0.0)
    np.true_divide(total, freedom, total)
    return total


def var(
    self: Array, dim: Dims = None, correction: float | None = None, keepdim: AnyBool = False
) -> Array:
    """Mean squared distance from the mean, over the number of elements less `correction`.

    `correction` None means 1. The variance of complex values is real.
    """
    result = _variance("var", self, dim, correction, keepdim)
    own: NumpyDType = self.dtype
    return in_dtype(result, _REAL_OF.get(own, own))


def std(
    self: Array, dim: Dims = None, correction: float | None = None, keepdim: AnyBool = False
) -> Array:
    """Square root of `var`."""
    result = _variance("std", self, dim, correction, keepdim)
    np.sqrt(result, result)
    own: NumpyDType = self.dtype
    return in_dtype(result, _REAL_OF.get(own, own))


def var_mean_dim(
    self: Array, dim: Dims = None, correction: float | None = None, keepdim: AnyBool = False
) -> tuple[Array, Array]:
    """`var` and `mean`."""
    return var(self, dim, correction, keepdim), mean(self, dim, bool(keepdim))


def std_mean_dim(
    self: Array, dim: Dims = None, correction: float | None = None, keepdim: AnyBool = False
) -> tuple[Array, Array]:
    """`std` and `mean`."""
    return std(self, dim, correction, keepdim), mean(self, dim, bool(keepdim))

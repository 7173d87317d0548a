"""Running sums and products along one dimension.

They are accumulated in the next wider dtype and rounded once per element, so a long float32
series drifts no more than its last rounding.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.shapes import normalize_dim

from .axes import in_dtype

__all__ = ["cumprod", "cumsum"]

_INT64: Final[NumpyDType] = np.dtype(np.int64)
_WIDER: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.complex64): np.dtype(np.complex128),
}


def _running(ufunc: np.ufunc, x: Array, dim: int, dtype: NumpyDType | None) -> Array:
    axis = normalize_dim(dim, x.ndim)
    if dtype is None:
        dtype = x.dtype if x.dtype.kind in "fc" else _INT64
    elif dtype.kind == "b" and x.ndim and x.size:
        raise NotSupportedError("running sums and products are not defined in bool", dtype=dtype)
    out: Array = np.empty(x.shape, dtype)
    if x.dtype.kind in "fc":
        x = in_dtype(x, dtype)
    if x.ndim == 0 or x.size == 0:
        out[...] = x
        return out
    work = _WIDER.get(dtype)
    if work is None:
        ufunc.accumulate(x, axis, dtype, out)
    else:
        np.copyto(out, ufunc.accumulate(x, axis, work), "same_kind")
    return out


def cumsum(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """Running sums along `dim`; integers and bools become int64 unless `dtype` is given."""
    return _running(np.add, self, dim, dtype)


def cumprod(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """Running products along `dim`; integers and bools become int64 unless `dtype` is given."""
    return _running(np.multiply, self, dim, dtype)

# Compiled by mypyc.
"""Reductions to one value per slice: sums, products, means, extreme values, any and all.

``dim`` is a number, several, or None for all of them. Results are dense in C order whatever
the order of the input. Half-precision sums and products are accumulated in single precision
and rounded once.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.support.axes import axes_of, in_dtype, reduced_shape
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.long_sums import LONG_SUM

__all__ = ["all", "amax", "amin", "any", "mean", "prod", "sum"]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
# The dtypes that are summed without a wider one.
_AS_THEY_ARE: Final[frozenset[NumpyDType]] = frozenset(
    map(np.dtype, (np.float32, np.float64, np.complex64, np.complex128))
)
_INT64: Final[NumpyDType] = np.dtype(np.int64)
_BOOL: Final[NumpyDType] = np.dtype(np.bool_)
_UINT8: Final[NumpyDType] = np.dtype(np.uint8)


def reduce_into(
    ufunc: np.ufunc, x: Array, dim: Dims, keepdim: bool, dtype: NumpyDType | None
) -> Array:
    """Reduce with `ufunc` into a new C-ordered array; `dtype` None keeps that of `x`.

    NumPy's own result would take the memory order of the input.
    """
    if x.size > LONG_SUM and ufunc is np.add and x.dtype.kind in "fc":
        axis = _long_axis(x, axes_of(dim, x.ndim))
        if axis is not None:
            return _add_in_blocks(x, axis, axes_of(dim, x.ndim), keepdim, dtype or x.dtype)
    if dim is None and not keepdim:
        return making.asarray(ufunc.reduce(x, None, dtype))
    if dtype is None:
        dtype = x.dtype
    axes = axes_of(dim, x.ndim)
    out: Array = making.empty(reduced_shape(x.shape, axes, keepdim), dtype)
    ufunc.reduce(x, axes, dtype, out, keepdims=keepdim)
    return out


def _long_axis(x: Array, axes: tuple[int, ...]) -> int | None:
    """The dimension along which NumPy would add many values one after the other.

    See Note [Long sums].
    """
    if x.flags.forc and len(axes) == x.ndim:
        return None
    strides = [abs(x.strides[d]) for d in range(x.ndim) if x.shape[d] > 1]
    innermost = min(strides)
    # NumPy does not sort dimensions by strides that are equal or, as in an expanded array, zero.
    unsorted = len(strides) > 1 and (innermost == 0 or strides.count(innermost) > 1)
    for axis in axes:
        if x.shape[axis] > LONG_SUM and (unsorted or abs(x.strides[axis]) != innermost):
            return axis
    return None


def _add_in_blocks(
    x: Array, axis: int, axes: tuple[int, ...], keepdim: bool, dtype: NumpyDType
) -> Array:
    """Sum over `axes`, with `axis` cut into blocks whose sums are then added."""
    length = x.shape[axis]
    block = max(LONG_SUM, math.isqrt(length))
    starts = range(0, length, block)
    shape = reduced_shape(x.shape, axes, keepdim)
    parts: Array = making.empty((len(starts), *shape), dtype)
    before = (np.s_[:],) * axis
    for nr, start in enumerate(starts):
        piece = x[(*before, np.s_[start : start + block])]
        np.add.reduce(piece, axes, dtype, out=parts[nr, ...], keepdims=keepdim)
    out: Array = making.empty(shape, dtype)
    np.add.reduce(parts, 0, dtype, out=out)
    return out


def _accumulate_all(
    ufunc: np.ufunc, x: Array, dim: Dims, keepdim: bool, dtype: NumpyDType | None
) -> Array:
    """`reduce_into` for sums and products, with their common dtype rules."""
    own: NumpyDType = x.dtype
    if dtype is None:
        dtype = own if own.kind in "fc" else _INT64
    if own is not dtype and (own.kind in "fc" or dtype.kind == "b"):
        x = in_dtype(x, dtype)
    if dtype == _HALF:
        return reduce_into(ufunc, x, dim, keepdim, _SINGLE).astype(_HALF)
    return reduce_into(ufunc, x, dim, keepdim, dtype)


def sum(
    self: Array, dim: Dims = None, keepdim: bool = False, dtype: NumpyDType | None = None
) -> Array:
    """Sum; integers and bools are summed as int64 unless `dtype` is given."""
    if dtype is None and self.dtype in _AS_THEY_ARE:
        if dim is None and not keepdim and self.flags.c_contiguous:
            return making.asarray(np.add.reduce(self, None))
        return reduce_into(np.add, self, dim, keepdim, None)
    return _accumulate_all(np.add, self, dim, keepdim, dtype)


def prod(
    self: Array, dim: int | None = None, keepdim: bool = False, dtype: NumpyDType | None = None
) -> Array:
    """Product; integers and bools are multiplied as int64 unless `dtype` is given."""
    return _accumulate_all(np.multiply, self, dim, keepdim, dtype)


def mean(
    self: Array, dim: Dims = None, keepdim: bool = False, dtype: NumpyDType | None = None
) -> Array:
    """Arithmetic mean; nan without elements.

    Raises
    ------
    DTypeError
        If the mean would not be floating or complex.
    """
    result = self.dtype if dtype is None else dtype
    if result.kind not in "fc":
        raise DTypeError(
            f"mean() of {result} values is not defined; pass a floating or complex dtype",
            dtype=result,
        )
    x = in_dtype(self, result)
    work = _SINGLE if result == _HALF else result
    total = reduce_into(np.add, x, dim, keepdim, work)
    count = x.size // total.size if total.size else 1
    np.true_divide(total, count, total)
    return total if work is result else total.astype(result)


def _extreme(name: str, ufunc: np.ufunc, x: Array, dim: Dims, keepdim: bool) -> Array:
    if x.size == 0:
        if dim is None or (not isinstance(dim, int) and len(dim) == 0):
            raise ShapeError(f"{name}() of a tensor without elements needs a dim", shape=x.shape)
        # Before the check for repeated dimensions.
        for axis in (normalize_dim(d, x.ndim) for d in ((dim,) if isinstance(dim, int) else dim)):
            if x.shape[axis] == 0:
                raise DimensionError(
                    f"{name}() cannot reduce dimension {axis} of size 0 in shape {x.shape}",
                    dim=axis,
                    shape=x.shape,
                )
    if x.dtype.kind == "c" and x.size:
        axes_of(dim, x.ndim)
        raise NotSupportedError(f"{name}() has no meaning for complex values", dtype=x.dtype)
    return reduce_into(ufunc, x, dim, keepdim, None)


def amax(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Largest value over `dim`; nan if one of them is."""
    return _extreme("amax", np.maximum, self, dim, keepdim)


def amin(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Smallest value over `dim`; nan if one of them is."""
    return _extreme("amin", np.minimum, self, dim, keepdim)


def _truth(ufunc: np.ufunc, x: Array, dim: Dims, keepdim: bool) -> Array:
    if dim is not None and not isinstance(dim, int) and len(dim) == 0:
        # No dimension to reduce: here, unlike for sums, the result has all elements.
        return in_dtype(x.astype(_BOOL, order="C"), _UINT8 if x.dtype == _UINT8 else _BOOL)
    result = reduce_into(ufunc, x, dim, keepdim, _BOOL)
    return result.astype(_UINT8) if x.dtype == _UINT8 else result


def any(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether some element is not zero; bool, or uint8 for uint8."""
    return _truth(np.logical_or, self, dim, keepdim)


def all(self: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether no element is zero; bool, or uint8 for uint8."""
    return _truth(np.logical_and, self, dim, keepdim)

# Compiled by mypyc.
"""Sums of exponentials: logsumexp and softmax, and the shares that the terms have in a sum."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import ArgumentTypeError, NotSupportedError, ShapeError
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.reductions.reduce import reduce_into
from vtgrad.ops.kernels.support.axes import axes_of, in_dtype, reduced_shape
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.shapes import normalize_dim

__all__ = ["exponential_shares", "log_softmax", "logsumexp", "relative_exponentials", "softmax"]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)


def logsumexp(self: Array, dim: Dims, keepdim: bool = False) -> Array:
    """Logarithm of the sum of exponentials over `dim`, safe against overflow.

    Integers are converted to the default floating dtype. Without elements the result is -inf.
    """
    if dim is None:
        raise ArgumentTypeError("logsumexp() needs dim", argument="dim")
    if not (isinstance(dim, int) or len(dim) or keepdim or not self.ndim or not self.size):
        raise ShapeError("logsumexp() needs at least one dimension in dim", shape=self.shape)
    x = self if self.dtype.kind in "fc" else in_dtype(self, get_default_dtype().numpy)
    axes = axes_of(dim, x.ndim)
    if x.size == 0:
        return making.full(reduced_shape(x.shape, axes, keepdim), -np.inf, x.dtype)
    work: Array = x.astype(_SINGLE) if x.dtype == _HALF else x
    top = making.asarray(np.maximum.reduce(work.real, axes, keepdims=True))
    # An infinite maximum would make its own row inf - inf.
    np.copyto(top, 0, where=np.isinf(top))
    terms = making.asarray(np.subtract(work, top))
    np.exp(terms, terms)
    result = reduce_into(np.add, terms, axes if x.ndim else None, keepdim, None)
    np.log(result, result)
    np.add(result, top.reshape(result.shape), result)
    return in_dtype(result, x.dtype)


def relative_exponentials(x: Array, top: Array) -> Array:
    """``exp(x - top)`` for real `top`; 1 where it is infinite and the real part of `x` is equal."""
    gap: Array = making.asarray(np.subtract(x, top))
    if not np.isfinite(top).all():
        np.copyto(gap.real, 0, where=np.isinf(top) & (x.real == top))
    np.exp(gap, gap)
    return gap


def exponential_shares(self: Array, total: Array, dim: Dims) -> Array:
    """The share that the exponential of each element has in their sum over `dim`.

    `total` is the logarithm of the sum. It is rounded, so that exponentials relative to it do not
    add up to 1 if it is large; they are divided by their sum. Infinite elements that are the
    largest have equal shares.
    """
    dtype = np.result_type(self, total)
    axes = axes_of(dim, self.ndim)
    x = in_dtype(self, _SINGLE if dtype == _HALF else dtype)
    top: Array = making.asarray(in_dtype(total, x.dtype).real)
    finite = np.isfinite(top)
    if x.size and not finite.all():
        top = np.where(finite, top, np.maximum.reduce(x.real, axes, keepdims=True))
    shares = relative_exponentials(x, top)
    np.true_divide(shares, np.add.reduce(shares, axes, keepdims=True), shares)
    return in_dtype(shares, dtype)


def _prepare(name: str, x: Array, dim: int, dtype: NumpyDType | None) -> tuple[Array, int]:
    axis = normalize_dim(dim, x.ndim)
    source = x if dtype is None else in_dtype(x, dtype)
    if source.dtype.kind != "f" and source.size:
        raise NotSupportedError(
            f"{name}() is defined for floating values, not {source.dtype}; pass dtype=",
            dtype=source.dtype,
        )
    return source, axis


def _shifted(x: Array, axis: int) -> Array:
    """The input minus its largest element along `axis`, C-ordered, half widened to single."""
    out: Array = making.empty(x.shape, _SINGLE if x.dtype == _HALF else x.dtype)
    np.subtract(x, np.maximum.reduce(x, axis, keepdims=True), out)
    return out


def softmax(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """exp(x) over its sum along `dim`."""
    x, axis = _prepare("softmax", self, dim, dtype)
    if x.ndim == 0 or x.size == 0:
        return np.where(np.isnan(x) | np.isinf(x), np.nan, 1.0).astype(x.dtype)
    out = _shifted(x, axis)
    np.exp(out, out)
    np.true_divide(out, np.add.reduce(out, axis, keepdims=True), out)
    return in_dtype(out, x.dtype)


def log_softmax(self: Array, dim: int, dtype: NumpyDType | None = None) -> Array:
    """Logarithm of `softmax`, computed on the logarithmic scale."""
    x, axis = _prepare("log_softmax", self, dim, dtype)
    if x.ndim == 0 or x.size == 0:
        return np.where(np.isnan(x) | np.isinf(x), np.nan, 0.0).astype(x.dtype)
    out = _shifted(x, axis)
    np.subtract(out, np.log(np.add.reduce(np.exp(out), axis, keepdims=True)), out)
    return in_dtype(out, x.dtype)

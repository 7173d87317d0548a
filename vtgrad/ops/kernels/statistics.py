"""Spread, size and normalisation: var, std, vector norms, logsumexp, softmax."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    NotSupportedError,
    OptionValueError,
    ShapeError,
)
from vtgrad.ops.types import Dims
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.dtypes import get_default_dtype
from vtgrad.storage.shapes import normalize_dim
from vtgrad.storage.unchecked import AnyBool

from .arithmetic import sub
from .axes import axes_of, in_dtype, reduced_shape
from .reduction import mean, reduce_into

__all__ = [
    "dist",
    "linalg_vector_norm",
    "log_softmax",
    "logsumexp",
    "renorm",
    "softmax",
    "std",
    "std_mean_dim",
    "var",
    "var_mean_dim",
]

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
    return np.asarray(np.square(x, out=x if x.ndim else None))


def _variance(name: str, x: Array, dim: Dims, correction: float | None, keepdim: AnyBool) -> Array:
    """The variance, in the dtype that it was computed in: double unless the input is half."""
    if x.dtype.kind not in "fc":
        raise DTypeError(f"{name}() needs floating or complex values, not {x.dtype}", dtype=x.dtype)
    axes = axes_of(dim, x.ndim)
    wide = _SINGLE if x.dtype == _HALF else np.promote_types(x.dtype, _DOUBLE)
    count = math.prod([x.shape[d] for d in axes])
    centre: Array = np.add.reduce(x, axes, wide, None, keepdims=True)
    centre = np.true_divide(centre, count)
    squares = _squares(np.asarray(np.subtract(x, centre, dtype=wide)))
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
    return in_dtype(result, _REAL_OF.get(self.dtype, self.dtype))


def std(
    self: Array, dim: Dims = None, correction: float | None = None, keepdim: AnyBool = False
) -> Array:
    """Square root of `var`."""
    result = _variance("std", self, dim, correction, keepdim)
    np.sqrt(result, result)
    return in_dtype(result, _REAL_OF.get(self.dtype, self.dtype))


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


def _check_norm(x: Array, p: Number, dim: Dims, dtype: NumpyDType | None) -> None:
    if isinstance(p, complex):
        raise ArgumentTypeError("the order of a norm must be a real number, not complex", ord=p)
    if x.dtype.kind not in "fc":
        raise DTypeError(f"norm() needs floating or complex values, not {x.dtype}", dtype=x.dtype)
    if dtype is not None and (
        dtype.kind != x.dtype.kind or np.promote_types(dtype, x.dtype) != dtype
    ):
        raise DTypeError(
            f"norm() of {x.dtype} values cannot be computed as {dtype}: "
            "it must be of the same kind and at least as wide",
            dtype=dtype,
        )
    if x.size or (p >= 0 and p != math.inf):
        return
    whole = dim is None or (not isinstance(dim, int) and len(dim) == 0)
    for axis in axes_of(dim, x.ndim):
        if whole or x.shape[axis] == 0:
            raise ShapeError(
                f"the norm of order {p} of no elements is not defined (shape {x.shape})",
                shape=x.shape,
                ord=p,
            )


def linalg_vector_norm(
    self: Array,
    ord: float = 2,
    dim: Dims = None,
    keepdim: bool = False,
    dtype: NumpyDType | None = None,
) -> Array:
    """Vector norm of order `ord` over `dim`; real also for complex values.

    Raises
    ------
    ShapeError
        For a negative or infinite order of no elements.
    DTypeError
        For integers, or if `dtype` is narrower than the input.
    """
    _check_norm(self, ord, dim, dtype)
    x = self if dtype is None else in_dtype(self, dtype)
    final = _REAL_OF.get(x.dtype, x.dtype)
    if x.dtype == _HALF:
        x = x.astype(_SINGLE)
    if ord == 2:
        if x.dtype.kind == "c":
            # Not re**2 + im**2: a part that is inf makes |x| inf for any other part.
            x = np.abs(x)
        result = reduce_into(np.add, np.square(x), dim, keepdim, None)
        np.sqrt(result, result)
        return in_dtype(result, final)
    if ord == 0:
        return in_dtype(reduce_into(np.add, x != 0, dim, keepdim, np.dtype(np.int64)), final)
    size: Array = np.asarray(np.abs(x))
    if ord in (math.inf, -math.inf):
        extreme = np.maximum if ord > 0 else np.minimum
        return in_dtype(reduce_into(extreme, size, dim, keepdim, None), final)
    if ord == 1:
        return in_dtype(reduce_into(np.add, size, dim, keepdim, None), final)
    result = reduce_into(np.add, np.power(size, ord), dim, keepdim, None)
    np.power(result, 1.0 / ord, result)
    return in_dtype(result, final)


def logsumexp(self: Array, dim: Dims, keepdim: bool = False) -> Array:
    """Logarithm of the sum of exponentials over `dim`, safe against overflow.

    Integers are converted to the default floating dtype. Without elements the result is -inf.
    """
    if (
        dim is not None
        and not isinstance(dim, int)
        and not (len(dim) or keepdim or not self.ndim or not self.size)
    ):
        raise ShapeError("logsumexp() needs at least one dimension in dim", shape=self.shape)
    x = self if self.dtype.kind in "fc" else in_dtype(self, get_default_dtype().numpy)
    axes = axes_of(dim, x.ndim)
    if x.size == 0:
        return np.full(reduced_shape(x.shape, axes, keepdim), -np.inf, x.dtype)
    work = x.astype(_SINGLE) if x.dtype == _HALF else x
    top = np.asarray(np.maximum.reduce(work.real, axes, keepdims=True))
    # An infinite maximum would make its own row inf - inf.
    np.copyto(top, 0, where=np.isinf(top))
    terms = np.asarray(np.subtract(work, top))
    np.exp(terms, terms)
    result = reduce_into(np.add, terms, axes if x.ndim else None, keepdim, None)
    np.log(result, result)
    np.add(result, top.reshape(result.shape), result)
    return in_dtype(result, x.dtype)


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
    out: Array = np.empty(x.shape, _SINGLE if x.dtype == _HALF else x.dtype)
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


def dist(self: Array, other: Array, p: float = 2) -> Array:
    """The norm of order `p` of the difference of two tensors."""
    return linalg_vector_norm(sub(self, other), p)


def renorm(self: Array, p: float, dim: int, maxnorm: float) -> Array:
    """The slices along `dim`, those whose norm of order `p` is above `maxnorm` scaled down to it.

    Raises
    ------
    ShapeError
        If there are fewer than two dimensions.
    OptionValueError
        If `p` is not positive, or `maxnorm` is negative.
    DTypeError
        If the values are integers or bools.
    """
    if self.ndim < 2:
        raise ShapeError(f"renorm() needs two dimensions at least, not {self.ndim}")
    axis = normalize_dim(dim, self.ndim)
    if not p > 0:
        raise OptionValueError(f"renorm() needs an order above 0, not {p}", p=p)
    if not maxnorm >= 0:
        raise OptionValueError(f"renorm() cannot limit norms to {maxnorm}", maxnorm=maxnorm)
    x = self.astype(_SINGLE) if self.dtype == _HALF else self
    dims = tuple([d for d in range(self.ndim) if d != axis])
    norm = linalg_vector_norm(x, p, dims, True)
    factor: Array = np.ones_like(norm)
    np.true_divide(maxnorm, norm + norm.dtype.type(1e-7), out=factor, where=norm > maxnorm)
    return in_dtype(np.ascontiguousarray(x * factor), self.dtype)

# Compiled by mypyc.
"""Vector norms, distances, and slices scaled to a largest norm."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, OptionValueError, ShapeError
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.arithmetic.basic import sub
from vtgrad.ops.kernels.reductions.reduce import reduce_into
from vtgrad.ops.kernels.support.axes import axes_of, in_dtype
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number, NumpyDType
from vtgrad.storage.shapes import normalize_dim

__all__ = ["dist", "linalg_vector_norm", "renorm"]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
_DOUBLE: Final[NumpyDType] = np.dtype(np.float64)
_REAL_OF: Final[dict[NumpyDType, NumpyDType]] = {
    np.dtype(np.complex64): _SINGLE,
    np.dtype(np.complex128): _DOUBLE,
}


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
    own: NumpyDType = x.dtype
    final = _REAL_OF.get(own, own)
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
    size: Array = making.asarray(np.abs(x))
    if ord in (math.inf, -math.inf):
        extreme = np.maximum if ord > 0 else np.minimum
        return in_dtype(reduce_into(extreme, size, dim, keepdim, None), final)
    if ord == 1:
        return in_dtype(reduce_into(np.add, size, dim, keepdim, None), final)
    result = reduce_into(np.add, np.power(size, ord), dim, keepdim, None)
    np.power(result, 1.0 / ord, result)
    return in_dtype(result, final)


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
    if self.dtype.kind not in "fc":
        raise DTypeError(
            f"renorm() needs floating or complex values, not {self.dtype}", dtype=self.dtype
        )
    x = self.astype(_SINGLE) if self.dtype == _HALF else self
    dims = tuple([d for d in range(self.ndim) if d != axis])
    norm = linalg_vector_norm(x, p, dims, True)
    factor: Array = making.ones_like(norm)
    np.true_divide(
        maxnorm, norm + making.asarray(1e-7, norm.dtype), out=factor, where=norm > maxnorm
    )
    return in_dtype(making.ascontiguousarray(x * factor), self.dtype)

"""Gradients of reductions that need kernels of their own."""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.reductions.products import is_plain_product, products_of_others
from vtgrad.ops.kernels.support.axes import in_dtype, put_along, take_along
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import normalize_dim

__all__ = [
    "log_softmax_backward",
    "prod_backward",
    "put_selected",
    "softmax_backward",
    "take_selected",
]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)


def put_selected(self: Array, sizes: Shape, dim: int, indices: Array, keepdim: bool) -> Array:
    """Zeros of shape `sizes` with the values of `self` at `indices` along `dim`.

    `self` and `indices` are the results of a reduction of `dim`; `keepdim` states whether they
    still have that dimension. It may be longer than 1, as after a sort.
    """
    out: Array = making.zeros(sizes, self.dtype)
    if out.ndim == 0:
        out[...] = resolved(self)
        return out
    axis = normalize_dim(dim, out.ndim)
    if not keepdim:
        self, indices = np.expand_dims(self, axis), np.expand_dims(indices, axis)
    put_along(out, indices, self, axis)
    return out


def take_selected(self: Array, dim: int, indices: Array, keepdim: bool) -> Array:
    """The elements at `indices` along `dim`; the inverse of `put_selected`."""
    if self.ndim == 0:
        return self.copy()
    axis = normalize_dim(dim, self.ndim)
    where = indices if keepdim else np.expand_dims(indices, axis)
    taken: Array = take_along(self, where, axis)
    out: Array = making.empty(indices.shape, self.dtype)
    out[...] = taken.reshape(indices.shape)
    return out


def prod_backward(
    self: Array, input: Array, result: Array, dim: int | None, keepdim: bool
) -> Array:
    """The gradient of ``prod``: each element gets the product of the others.

    Parameters
    ----------
    self : Array
        The gradient of the product.
    input, result : Array
        The factors, and their product.
    dim : int or None
        The dimension of the product; None for all.
    keepdim : bool
        Whether `result` still has that dimension.
    """
    if input.ndim == 0:
        return self.copy()
    input = in_dtype(input, self.dtype)
    if dim is None:
        self, result = self.reshape(()), result.reshape(())
        axis = 0
    else:
        axis = normalize_dim(dim, input.ndim)
        if not keepdim:
            self, result = np.expand_dims(self, axis), np.expand_dims(result, axis)
    if is_plain_product(input, result):
        others: Array = np.true_divide(result, input)
    elif dim is None:
        others = products_of_others(input.reshape(-1), 0).reshape(input.shape)
    else:
        others = products_of_others(input, axis)
    return making.asarray(np.multiply(self, others.conj()))


def softmax_backward(self: Array, result: Array, dim: int) -> Array:
    """The gradient of ``softmax``."""
    axis = normalize_dim(dim, result.ndim)
    work = _SINGLE if result.dtype == _HALF else result.dtype
    out: Array = making.empty(result.shape, work)
    np.multiply(self, result, out, dtype=work)
    total = np.add.reduce(out, axis, keepdims=True) if out.ndim else out.copy()
    np.subtract(out, np.multiply(result, total, dtype=work), out)
    return in_dtype(out, result.dtype)


def log_softmax_backward(self: Array, result: Array, dim: int) -> Array:
    """The gradient of ``log_softmax``."""
    axis = normalize_dim(dim, result.ndim)
    work = _SINGLE if result.dtype == _HALF else result.dtype
    out: Array = making.empty(result.shape, work)
    np.exp(result, out, dtype=work)
    total = np.add.reduce(self, axis, work, keepdims=True) if out.ndim else self.astype(work)
    np.multiply(out, total, out)
    np.subtract(self, out, out)
    return in_dtype(out, result.dtype)

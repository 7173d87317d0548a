"""Products of vectors and matrices.

All operands of a product have one dtype: unlike elementwise operators, products never promote.
Half-precision products are accumulated in single precision.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, NotSupportedError, ShapeError
from vtgrad.storage.arrays import Array, Number, NumpyDType

__all__ = ["addmm", "bmm", "dot", "mm", "mv"]

_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)


def _check(name: str, a: Array, b: Array, ranks: tuple[int, int], fits: bool) -> None:
    """Refuse operands of other ranks, of sizes that do not meet, or of two dtypes."""
    if (a.ndim, b.ndim) != ranks:
        raise ShapeError(
            f"{name}() multiplies a {ranks[0]}-d by a {ranks[1]}-d tensor, "
            f"not shapes {a.shape} and {b.shape}",
            shapes=(a.shape, b.shape),
        )
    if not fits:
        raise ShapeError(
            f"{name}() cannot multiply shapes {a.shape} and {b.shape}: "
            "the sizes that are summed over differ",
            shapes=(a.shape, b.shape),
        )
    _check_dtypes(name, a, b)


def _check_dtypes(name: str, a: Array, b: Array) -> None:
    if a.dtype != b.dtype:
        raise DTypeError(
            f"{name}() needs operands of one dtype, not {a.dtype} and {b.dtype}",
            dtypes=(a.dtype, b.dtype),
        )
    if a.dtype.kind == "b" and a.size and b.size:
        raise NotSupportedError(f"{name}() is not defined for bool", dtype=a.dtype)


def _half(single: Array) -> Array:
    return single.astype(_HALF)


def _times(a: Array, b: Array) -> Array:
    """Matrix product.

    `dot` is the quick way, but skips zeros of a one-element factor, also where the other factor is
    nan or inf.
    """
    product: Array = np.matmul(a, b) if a.size == 1 or b.size == 1 else a.dot(b)
    return product


def mm(self: Array, mat2: Array) -> Array:
    """Product of two matrices."""
    dtype = self.dtype
    if self.ndim != 2 or mat2.ndim != 2 or dtype is not mat2.dtype or dtype.kind == "b":
        fits = self.shape[1:] == mat2.shape[:1] or self.ndim != 2 or mat2.ndim != 2
        _check("mm", self, mat2, (2, 2), fits)
    elif self.shape[1] != mat2.shape[0]:
        _check("mm", self, mat2, (2, 2), False)
    if dtype is _HALF:
        return _half(_times(self.astype(_SINGLE), mat2.astype(_SINGLE)))
    r: Array = _times(self, mat2)
    return r


def mv(self: Array, vec: Array) -> Array:
    """Product of a matrix and a vector."""
    if self.ndim == 0:
        raise DimensionError("mv() needs a matrix, not a 0-d tensor", ndim=0)
    _check("mv", self, vec, (2, 1), self.shape[-1:] == vec.shape)
    if self.dtype is _HALF:
        return _half(_times(self.astype(_SINGLE), vec.astype(_SINGLE)))
    r: Array = _times(self, vec)
    return r


def dot(self: Array, tensor: Array) -> Array:
    """Sum of the products of two vectors' elements; nothing is conjugated."""
    _check("dot", self, tensor, (1, 1), self.shape == tensor.shape)
    if self.dtype is _HALF:
        return np.asarray(self.astype(_SINGLE).dot(tensor.astype(_SINGLE)), _HALF)
    return np.asarray(self.dot(tensor))


def bmm(self: Array, mat2: Array) -> Array:
    """Products of two equally long stacks of matrices, pair by pair."""
    fits = self.shape[:1] == mat2.shape[:1] and self.shape[2:3] == mat2.shape[1:2]
    _check("bmm", self, mat2, (3, 3), fits)
    if self.dtype is _HALF:
        return _half(np.matmul(self.astype(_SINGLE), mat2.astype(_SINGLE)))
    out: Array = np.empty((self.shape[0], self.shape[1], mat2.shape[2]), self.dtype)
    np.matmul(self, mat2, out)
    return out


def _factor(name: str, value: Number, dtype: NumpyDType) -> Number:
    """`value` as a multiplier of `dtype` elements; for integers its fraction is dropped."""
    if dtype.kind == "c":
        return value
    if isinstance(value, complex):
        raise DTypeError(f"addmm() of real matrices cannot take {name}={value}", value=value)
    return int(value) if dtype.kind in "iu" else value


def addmm(self: Array, mat1: Array, mat2: Array, beta: Number = 1, alpha: Number = 1) -> Array:
    """``beta * self + alpha * (mat1 @ mat2)``, with `self` broadcast to the product.

    A factor of zero leaves its term out altogether: nan and inf in it do not spread.
    """
    fits = mat1.shape[-1:] == mat2.shape[:1]
    _check("addmm", mat1, mat2, (2, 2), fits)
    _check_dtypes("addmm", self, mat1)
    shape = (mat1.shape[0], mat2.shape[1])
    tail = shape[2 - self.ndim :] if self.ndim <= 2 else ()
    if self.ndim > 2 or any(n not in (1, m) for n, m in zip(self.shape, tail, strict=True)):
        raise ShapeError(
            f"addmm() cannot add shape {self.shape} to a product of shape {shape}",
            shapes=(self.shape, shape),
        )
    beta = _factor("beta", beta, self.dtype)
    alpha = _factor("alpha", alpha, self.dtype)
    half = self.dtype is _HALF
    work = _SINGLE if half else self.dtype
    if alpha == 0:
        out: Array = np.zeros(shape, work)
    elif half:
        out = _times(mat1.astype(_SINGLE), mat2.astype(_SINGLE))
    else:
        out = _times(mat1, mat2)
    if alpha != 1 and alpha != 0:
        np.multiply(out, alpha, out)
    if beta == 1:
        np.add(out, self, out)
    elif beta != 0:
        np.add(out, np.multiply(self, beta), out)
    return _half(out) if half else out

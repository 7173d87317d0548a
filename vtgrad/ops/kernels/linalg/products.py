# Compiled by mypyc.
"""Products of vectors and matrices.

All operands of a product have one dtype: unlike elementwise operators, products never promote.
Half-precision products are accumulated in single precision.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    DimensionError,
    DTypeError,
    NotSupportedError,
    ShapeError,
)
from vtgrad.ops.kernels.support.axes import axis_first
from vtgrad.ops.kernels.support.result_strides import empty_like_elementwise, empty_like_preserving
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, Number, NumpyDType, Shape
from vtgrad.storage.lasting_arrays import constant
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.promotion import category, number_dtype, result_dtype
from vtgrad.storage.shapes import broadcast_shapes, normalize_dim

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dot",
    "linalg_cross",
    "mm",
    "mv",
    "trace",
    "vdot",
]


_HALF: Final[NumpyDType] = np.dtype(np.float16)
_SINGLE: Final[NumpyDType] = np.dtype(np.float32)
# The places after and before each of three, in a circle.
_AFTER: Final = constant([1, 2, 0])
_BEFORE: Final = constant([2, 0, 1])
_SUMMED_OVER: Final = "the sizes that are summed over differ"


def _check(
    name: str, a: Array, b: Array, ranks: tuple[int, int], fits: bool, *terms: Array
) -> None:
    """Refuse operands of wrong ranks or sizes, and different dtypes, those of terms included."""
    if (a.ndim, b.ndim) != ranks:
        raise ShapeError(
            f"{name}() multiplies a {ranks[0]}-d by a {ranks[1]}-d tensor, "
            f"not shapes {a.shape} and {b.shape}",
            shapes=(a.shape, b.shape),
        )
    if not fits:
        batches_differ = ranks == (3, 3) and a.shape[0] != b.shape[0]
        what = "the batch sizes differ" if batches_differ else _SUMMED_OVER
        raise ShapeError(
            f"{name}() cannot multiply shapes {a.shape} and {b.shape}: {what}",
            shapes=(a.shape, b.shape),
        )
    _check_dtypes(name, a, b, *terms)


def _check_dtypes(name: str, a: Array, *others: Array) -> None:
    for b in others:
        if a.dtype != b.dtype:
            raise DTypeError(
                f"{name}() needs operands of one dtype, not {a.dtype} and {b.dtype}",
                dtypes=(a.dtype, b.dtype),
            )
    if a.dtype.kind == "b" and a.size and others[0].size:
        raise NotSupportedError(f"{name}() is not defined for bool", dtype=a.dtype)


def _half(single: Array) -> Array:
    result = empty_like_preserving(_HALF, single)
    np.copyto(result, single, "same_kind")
    return result


def _times(a: Array, b: Array) -> Array:
    """Matrix product.

    `dot` is the quick way, but skips zeros of a one-element factor, even if the other factor is nan
    or inf. The method does not resolve a lazy argument, see Note [Lazy conjugates].
    """
    product: Array = (
        np.matmul(a, b) if a.size == 1 or b.size == 1 or type(b) not in PLAIN else a.dot(b)
    )
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
    return _dot("dot", self, tensor)


def _dot(name: str, self: Array, tensor: Array) -> Array:
    _check(name, self, tensor, (1, 1), self.shape == tensor.shape)
    if self.dtype is _HALF:
        return making.asarray(self.astype(_SINGLE).dot(tensor.astype(_SINGLE)), _HALF)
    return making.asarray(self.dot(resolved(tensor)))


def vdot(self: Array, other: Array) -> Array:
    """Sum of the products of two vectors' elements, those of the first conjugated."""
    return _dot("vdot", np.conj(self) if self.dtype.kind == "c" else self, other)


def trace(self: Array) -> Array:
    """Sum of the diagonal of a matrix; of integers, as int64."""
    if self.ndim != 2:
        raise ShapeError(f"trace() needs a matrix, not shape {self.shape}", shape=self.shape)
    if self.dtype.kind == "b":
        raise NotSupportedError("trace() is not defined for bool", dtype=self.dtype)
    diagonal = self.diagonal()
    if self.dtype.kind in "iu":
        return making.asarray(np.add.reduce(diagonal, None, np.dtype(np.int64)))
    return making.asarray(np.add.reduce(_wide(diagonal), None)).astype(self.dtype)


def linalg_cross(self: Array, other: Array, dim: int = -1) -> Array:
    """Cross products of the vectors of three elements along `dim`."""
    if self.ndim != other.ndim:
        raise ShapeError(
            f"cross() needs as many dimensions in both tensors, not shapes {self.shape} and "
            f"{other.shape}",
            shapes=(self.shape, other.shape),
        )
    axis = normalize_dim(dim, self.ndim)
    if self.ndim == 0:
        raise DimensionError("cross() multiplies vectors, not 0-d tensors", dim=dim, ndim=0)
    if self.shape[axis] != 3 or other.shape[axis] != 3:
        raise ShapeError(
            f"cross() multiplies vectors of three elements: dimension {axis} of shapes "
            f"{self.shape} and {other.shape} must have size 3",
            shapes=(self.shape, other.shape),
        )
    _check_dtypes("cross", self, other)
    shape = broadcast_shapes(self.shape, other.shape)
    a, b = axis_first(resolved(_wide(self)), axis), axis_first(resolved(_wide(other)), axis)
    result: Array = making.empty(shape, self.dtype)
    # All three rows at once: a[j] * b[k] - a[k] * b[j].
    j, k = _AFTER, _BEFORE
    axis_first(result, axis)[...] = a[j] * b[k] - a[k] * b[j]
    return result


def bmm(self: Array, mat2: Array) -> Array:
    """Products of two equally long stacks of matrices, pair by pair."""
    fits = self.shape[:1] == mat2.shape[:1] and self.shape[2:3] == mat2.shape[1:2]
    _check("bmm", self, mat2, (3, 3), fits)
    if self.dtype is _HALF:
        return _half(np.matmul(self.astype(_SINGLE), mat2.astype(_SINGLE)))
    out: Array = making.empty((self.shape[0], self.shape[1], mat2.shape[2]), self.dtype)
    if self.shape[2] == 1:
        # Columns times rows, as gradients of samples are: a call of BLAS for each takes longer.
        np.einsum("bij,bjk->bik", resolved(self), resolved(mat2), out=out)
    else:
        np.matmul(self, mat2, out)
    return out


def _check_number(name: str, value: object) -> None:
    """Refuse what NumPy would take for an array."""
    if not isinstance(value, (int, float, complex, np.generic)):
        raise ArgumentTypeError(
            f"argument {name!r} must be a number, not {type(value).__name__}", argument=name
        )


def _factor(name: str, value: Number, dtype: NumpyDType) -> Number:
    """`value` as a multiplier of `dtype` elements; for integers its fraction is dropped."""
    _check_number(name, value)
    if dtype.kind == "c":
        return value
    if isinstance(value, complex):
        raise DTypeError(f"a sum of real products cannot take {name}={value}", value=value)
    return int(value) if dtype.kind in "iu" else value


def _check_term(name: str, self: Array, shape: Shape) -> None:
    """Refuse a term that does not broadcast to a product of `shape`."""
    tail = shape[len(shape) - self.ndim :] if self.ndim <= len(shape) else ()
    if self.ndim > len(shape) or any(
        n not in (1, m) for n, m in zip(self.shape, tail, strict=True)
    ):
        raise ShapeError(
            f"{name}() cannot add shape {self.shape} to a product of shape {shape}",
            shapes=(self.shape, shape),
        )


def _added(self: Array, product: Array, beta: Number, alpha: Number) -> Array:
    """``beta * self + alpha * product``, made in the memory of `product`.

    A `beta` of zero omits the term `self`: nan and inf in it do not spread.
    """
    if alpha != 1:
        np.multiply(product, alpha, product)
    if beta == 1:
        np.add(product, self, product)
    elif beta != 0:
        np.add(product, np.multiply(self, beta), product)
    return _half(product) if self.dtype is _HALF else product


def _wide(x: Array) -> Array:
    return x.astype(_SINGLE) if x.dtype is _HALF else x


def addmm(self: Array, mat1: Array, mat2: Array, beta: Number = 1, alpha: Number = 1) -> Array:
    """``beta * self + alpha * (mat1 @ mat2)``, with `self` broadcast to the product.

    A factor of zero omits its term: nan and inf in the term do not spread.
    """
    fits = mat1.shape[-1:] == mat2.shape[:1]
    _check("addmm", mat1, mat2, (2, 2), fits, self)
    shape = (mat1.shape[0], mat2.shape[1])
    _check_term("addmm", self, shape)
    beta, alpha = _factor("beta", beta, self.dtype), _factor("alpha", alpha, self.dtype)
    if alpha == 0:
        return _added(self, making.zeros(shape, _wide(self).dtype), beta, 1)
    return _added(self, _times(_wide(mat1), _wide(mat2)), beta, alpha)


def addmv(self: Array, mat: Array, vec: Array, beta: Number = 1, alpha: Number = 1) -> Array:
    """``beta * self + alpha * (mat @ vec)``; see `addmm`."""
    _check("addmv", mat, vec, (2, 1), mat.shape[-1:] == vec.shape, self)
    shape = mat.shape[:1]
    _check_term("addmv", self, shape)
    beta, alpha = _factor("beta", beta, self.dtype), _factor("alpha", alpha, self.dtype)
    if alpha == 0:
        return _added(self, making.zeros(shape, _wide(self).dtype), beta, 1)
    return _added(self, _times(_wide(mat), _wide(vec)), beta, alpha)


def baddbmm(
    self: Array, batch1: Array, batch2: Array, beta: Number = 1, alpha: Number = 1
) -> Array:
    """``beta * self + alpha * (batch1 @ batch2)``, matrix by matrix.

    Unlike in `addmm`, nan and inf in the product spread also with an `alpha` of zero.
    """
    shape = _check_batches("baddbmm", batch1, batch2, self)
    _check_term("baddbmm", self, shape)
    beta, alpha = _factor("beta", beta, self.dtype), _factor("alpha", alpha, self.dtype)
    product: Array = making.empty(shape, _wide(self).dtype)
    np.matmul(_wide(batch1), _wide(batch2), product)
    return _added(self, product, beta, alpha)


def addbmm(self: Array, batch1: Array, batch2: Array, beta: Number = 1, alpha: Number = 1) -> Array:
    """``beta * self + alpha * (batch1 @ batch2).sum(0)``; see `addmm`."""
    shape = _check_batches("addbmm", batch1, batch2, self)[1:]
    _check_term("addbmm", self, shape)
    beta, alpha = _factor("beta", beta, self.dtype), _factor("alpha", alpha, self.dtype)
    if alpha == 0:
        return _added(self, making.zeros(shape, _wide(self).dtype), beta, 1)
    # One product of wide and tall matrices adds up the batch.
    wide = np.swapaxes(_wide(batch1), 0, 1).reshape(shape[0], -1)
    return _added(self, _times(wide, _wide(batch2).reshape(-1, shape[1])), beta, alpha)


def _check_batches(name: str, a: Array, b: Array, *terms: Array) -> Shape:
    fits = a.shape[:1] == b.shape[:1] and a.shape[2:3] == b.shape[1:2]
    _check(name, a, b, (3, 3), fits, *terms)
    return (a.shape[0], a.shape[1], b.shape[2])


def addr(self: Array, vec1: Array, vec2: Array, beta: Number = 1, alpha: Number = 1) -> Array:
    """``beta * self + alpha * outer(vec1, vec2)``; unlike other products, it promotes.

    With a `beta` of zero nan and inf in `self` do not spread. Bools are combined by "and" and "or".
    """
    if vec1.ndim != 1 or vec2.ndim != 1:
        raise ShapeError(
            f"addr() multiplies two vectors, not shapes {vec1.shape} and {vec2.shape}",
            shapes=(vec1.shape, vec2.shape),
        )
    dtype = result_dtype(self, vec1, vec2)
    shape = (vec1.shape[0], vec2.shape[0])
    kept: Array = self.astype(dtype, copy=False)
    _check_term("addr", self, shape)
    for name, value in (("beta", beta), ("alpha", alpha)):
        _check_number(name, value)
        if isinstance(value, (float, complex)) and category(number_dtype(value)) > category(dtype):
            raise DTypeError(f"addr() of {dtype} values cannot take {name}={value}", value=value)
    work = _SINGLE if dtype == _HALF else dtype
    column, row = vec1.astype(work)[:, None], vec2.astype(work)
    product = empty_like_elementwise(work, shape, kept, column, row)
    np.multiply(column, row, product)
    if dtype.kind == "b":
        np.logical_and(product, bool(alpha), product)
        if beta:
            np.logical_or(product, kept, product)
        return product
    return _added(kept, product, beta, alpha)

"""Products of all elements but one.

Note [Products of the others]

The derivative of a product by an element is the product of the others. It is the product divided
by the element, unless that is zero, or the product has over- or underflowed. Then every element is
taken as a fraction times a power of two. Fractions are multiplied in blocks so short that nothing
over- or underflows, and exponents are added. Zeros are left out and counted: beside one of them
only that one has a derivative, and beside two none. All that takes linear time, the derivative of
these products too: it is a sum of products of all but two.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from vtgrad.ops.kernels.reductions.recurrence import linear_recurrence
from vtgrad.ops.kernels.support.axes import in_dtype
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.shapes import normalize_dim

__all__ = [
    "is_near_one",
    "is_plain_product",
    "products_of_others",
    "products_of_others_backward",
]


# A product of so many fractions is no less than 2 ** -513, of complex ones no more than 2 ** 257.
_BLOCK: Final = 512
# Powers of two of which the product of three does not over- or underflow.
_NEAR: Final = 300
_REAL: Final[NumpyDType] = np.dtype(np.float64)
_COMPLEX: Final[NumpyDType] = np.dtype(np.complex128)


# The smallest number that has all its digits, and the largest.
_LIMITS: Final[dict[NumpyDType, tuple[float, float]]] = {
    np.dtype(name): (float(np.finfo(name).tiny), float(np.finfo(name).max))
    for name in ("float16", "float32", "float64")
}


def is_plain_product(input: Array, result: Array) -> bool:
    """Whether no factor is zero, and no product has over- or underflowed."""
    if not np.logical_and.reduce(input, None):
        return False
    size = making.asarray(np.abs(result))
    low, high = _LIMITS[size.dtype]
    return bool(np.logical_and.reduce((size >= low) & (size <= high), None))


def is_near_one(x: Array, dim: int | None) -> bool:
    """Whether no product of elements along `dim` comes near to over- or underflow.

    Zeros, infinities and nans do not count. Without `dim` it is asked of single elements.
    """
    size = np.abs(x)
    usual = (size != 0) & (size < np.inf)
    powers = np.abs(np.frexp(np.where(usual, size, 1))[1])
    if dim is not None:
        powers = np.add.reduce(powers, dim, np.int64)
    return bool(np.maximum.reduce(powers, None, initial=0) <= _NEAR)


def _scaled(x: Array) -> tuple[Array, Array]:
    """Fractions from 1/2 to 1, and the exponents of the powers of two that are their factors."""
    if x.dtype.kind != "c":
        return np.frexp(x)
    exponents = np.frexp(np.maximum(np.abs(x.real), np.abs(x.imag)))[1]
    return _raised(x, -exponents), exponents


def _raised(x: Array, exponents: Array) -> Array:
    """`x` times powers of two."""
    limited = np.clip(exponents, -4000, 4000).astype(np.int32)
    if x.dtype.kind != "c":
        return making.asarray(np.ldexp(x, limited))
    # In two steps: half of the power may be a number where it is not.
    half = limited // 2
    r: Array = x * np.ldexp(1.0, half) * np.ldexp(1.0, limited - half)
    return r


def _product(fractions: Array, exponents: Array) -> tuple[Array, Array]:
    """The product along the first dimension, taken apart in the same way."""
    total = np.add.reduce(exponents, 0, np.int64)
    while len(fractions) > 1:
        missing = -len(fractions) % min(_BLOCK, len(fractions))
        if missing:
            ones = making.ones((missing, *fractions.shape[1:]), fractions.dtype)
            fractions = np.concatenate([fractions, ones])
        length = min(_BLOCK, len(fractions))
        blocks = fractions.reshape(-1, length, *fractions.shape[1:])
        fractions, more = _scaled(np.multiply.reduce(blocks, 1))
        total = total + np.add.reduce(more, 0, np.int64)
    return fractions[0], total


def _before_and_after(x: Array) -> tuple[Array, Array]:
    """The products of all elements before and behind each along the first dimension."""
    before, after = making.ones_like(x), making.ones_like(x)
    np.multiply.accumulate(x[:-1], 0, None, before[1:])
    np.multiply.accumulate(x[:0:-1], 0, None, after[-2::-1])
    return before, after


def _in_front(x: Array, axis: int) -> Array:
    """The values in double precision, with a dimension in front."""
    r: Array = np.moveaxis(in_dtype(x, _COMPLEX if x.dtype.kind == "c" else _REAL), axis, 0)
    return r


def products_of_others(self: Array, dim: int) -> Array:
    """At each index along `dim` the product of all other elements."""
    if self.ndim == 0 or self.size == 0:
        return making.ones_like(self)
    axis = normalize_dim(dim, self.ndim)
    x = _in_front(self, axis)
    if np.isfinite(x).all():
        zero = x == 0
        fractions, exponents = _scaled(np.where(zero, 1, x))
        product, exponent = _product(fractions, exponents)
        others = _raised(product / fractions, exponent - exponents)
        others = np.where(np.add.reduce(zero, 0) > zero, 0, others)
    else:
        before, after = _before_and_after(x)
        others = before * after
    result = in_dtype(np.moveaxis(others, 0, axis), self.dtype)
    # With the usual strides of dimensions of size 1.
    return result.reshape(-1).reshape(self.shape) if result.flags.c_contiguous else result


def products_of_others_backward(self: Array, input: Array, dim: int) -> Array:
    """The gradient of the elements, for gradients of the products of the others."""
    if self.ndim == 0 or self.size == 0:
        return making.zeros_like(self)
    axis = normalize_dim(dim, self.ndim)
    grads, x = _in_front(self, axis), _in_front(input, axis).conj()
    if np.isfinite(x).all():
        found = _by_two(grads, x)
    else:
        found = _by_neighbours(grads, x)
    return in_dtype(np.moveaxis(found, 0, axis), self.dtype)


def _by_neighbours(grads: Array, x: Array) -> Array:
    """As `_by_two`, also of infinities and nans."""
    before, after = _before_and_after(x)
    found: Array = making.zeros_like(before)
    # Sums over the elements before and behind each; see Note [Linear recurrences].
    earlier = linear_recurrence((grads * before)[:-1], x[:-1], 0, False)
    later = linear_recurrence((grads * after)[:0:-1], x[:0:-1], 0, False)[::-1]
    found[1:] = earlier * after[1:]
    found[:-1] += before[:-1] * later
    return found


def _by_two(grads: Array, x: Array) -> Array:
    """Sums over `i` of gradient `i` times the product without the elements `i` and `j`."""
    zero = x == 0
    zeros = np.add.reduce(zero, 0)
    fractions, exponents = _scaled(np.where(zero, 1, x))
    product, exponent = _product(fractions, exponents)
    # The gradients divided by the elements, relative to the largest.
    shift = np.maximum.reduce(_scaled(grads)[1] - exponents, 0) - 1000
    terms = _raised(grads / fractions, -exponents - shift)
    of_all, of_zeros = _sums_of_others(terms), _sums_of_others(np.where(zero, terms, 0))
    sums = np.where(zeros == zero, of_all, np.where(zeros - zero == 1, of_zeros, 0))
    return _raised(product / fractions * sums, exponent - exponents + shift)


def _sums_of_others(x: Array) -> Array:
    """The sums of the others along the first dimension, without a difference."""
    before, after = making.zeros_like(x), making.zeros_like(x)
    np.add.accumulate(x[:-1], 0, None, before[1:])
    np.add.accumulate(x[:0:-1], 0, None, after[-2::-1])
    r: Array = before + after
    return r

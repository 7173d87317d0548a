# Compiled by mypyc.
"""Derivatives of reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.support.axes import axes_of, reduced_shape
from vtgrad.storage.arrays import Array, NumpyDType, Shape

__all__ = [
    "gradient_of_aminmax",
    "gradient_of_distance",
    "gradient_of_renorm",
    "gradient_of_shares",
    "gradient_of_std_mean",
    "gradient_of_var_mean",
    "kept_shape",
    "logsumexp_gradient",
    "mean_gradient",
    "other_dims",
    "recurrence_factors_gradient",
    "recurrence_source",
    "reduced_count",
    "reduces_all",
    "shared_by_rows_of_ties",
    "shared_by_ties",
    "shared_by_whole_ties",
    "std_gradient",
    "sum_gradient",
    "var_gradient",
    "vector_norm_gradient",
]


def sum_gradient(grad: Array, sizes: Shape, dim: Dims) -> Array:
    """Every element has the gradient of the sum it went into."""
    if dim is None:
        return k.expand(grad, sizes)
    return k.expand(k.reshape(grad, kept_shape(sizes, dim)), sizes)


def mean_gradient(grad: Array, sizes: Shape, dim: Dims) -> Array:
    """As for a sum, divided by the number of elements."""
    share = k.div(grad, reduced_count(sizes, dim))
    if dim is None:
        return k.expand(share, sizes)
    return k.expand(k.reshape(share, kept_shape(sizes, dim)), sizes)


def shared_by_ties(grad: Array, input: Array, result: Array, dim: Dims) -> Array:
    """The gradient of an extreme value: those who reach it share it equally."""
    kept = kept_shape(input.shape, dim)
    extreme = k.reshape(result, kept)
    mask = k.eq(input, extreme)
    count = k.checked_counts(k.sum(mask, dim, True), extreme)
    return k.div(k.mul(k.reshape(grad, kept), mask), count)


def shared_by_whole_ties(grad: Array, input: Array, result: Array) -> Array:
    """The same for an extreme of all elements; if it is nan, the nans share the gradient."""
    mask = _reaches(input, result)
    return k.mul(k.div(grad, k.checked_counts(k.sum(mask), result)), mask)


def shared_by_rows_of_ties(grad: Array, input: Array, result: Array, dim: int) -> Array:
    """The same along a dimension."""
    kept = kept_shape(input.shape, dim)
    extreme = k.reshape(result, kept)
    mask = _reaches(input, extreme)
    count = k.checked_counts(k.sum(mask, dim, True), extreme)
    return k.mul(k.div(k.reshape(grad, kept), count), mask)


def _reaches(values: Array, extreme: Array) -> Array:
    """Where values are the extreme one; if it is nan, where they are nan too."""
    nans = k.logical_and(k.isnan(values), k.isnan(extreme))
    return k.logical_or(k.eq(values, extreme), nans)


def var_gradient(grad: Array, input: Array, dim: Dims, correction: float | None) -> Array:
    """The gradient of `var`: twice the distance from the mean, over the degrees of freedom."""
    sizes = input.shape
    centre = k.mean(input, dim, True)
    kept = k.reshape(grad, kept_shape(sizes, dim))
    freedom = reduced_count(sizes, dim) - (1 if correction is None else correction)
    if freedom <= 0 and reduces_all(sizes, dim):
        # The variance is inf, or nan where nothing differs from the mean, and so is its slope.
        return k.mul(kept, k.where(k.eq(input, centre), float("nan"), float("inf")))
    scale = 2.0 / freedom if freedom else float("inf")
    return k.mul(k.mul(kept, scale), k.sub(input, centre))


def std_gradient(
    grad: Array,
    input: Array,
    result: Array,
    dim: Dims,
    correction: float | None,
) -> Array:
    """The gradient of `std`, taken as 0 where nothing varies."""
    of_variance = k.masked_fill(k.div(grad, k.mul(result, 2)), k.eq(result, 0), 0)
    return var_gradient(of_variance, input, dim, correction)


def vector_norm_gradient(
    grad: Array, input: Array, result: Array, ord: float, dim: Dims, dtype: NumpyDType
) -> Array:
    """The gradient of a vector norm, taken as 0 where the norm is 0."""
    kept = kept_shape(input.shape, dim)
    grad, result = k.reshape(grad, kept), k.reshape(result, kept)
    if ord == 1:
        return k.mul(k.sgn(input), grad)
    if ord == 2:
        return k.mul(k.where(k.eq(result, 0), 0.0, k.div(input, result)), grad)
    size = k.abs(input)
    if ord in (float("inf"), float("-inf")):
        mask = _reaches(size, result)
        if dtype.kind == "c":
            # NumPy's loops round lengths in different ways, and a saved copy may take another loop.
            rounding = 5e-7 if dtype.itemsize == 8 else 1e-15
            distance = k.abs(k.sub(size, result))
            mask = k.logical_or(mask, k.lt(distance, k.mul(result, rounding)))
        count = k.checked_counts(k.sum(mask, dim, True), result)
        return k.mul(k.sgn(input), k.mul(k.div(grad, count), mask))
    if ord < 1:
        slope = k.where(k.eq(input, 0), 0.0, k.mul(k.sgn(input), k.pow(size, ord - 1)))
        return k.mul(k.mul(slope, grad), k.pow(result, 1 - ord))
    share = k.masked_fill(k.div(grad, k.pow(result, ord - 1)), k.eq(result, 0), 0)
    if ord < 2:
        return k.mul(k.mul(k.sgn(input), k.pow(size, ord - 1)), share)
    return k.mul(k.mul(input, k.pow(size, ord - 2)), share)


def gradient_of_renorm(
    grad: Array, input: Array, ord: float, dim: int, maxnorm: float, dtype: NumpyDType
) -> Array:
    """The gradient of slices that were scaled by ``maxnorm / (norm + 1e-7)`` if too long.

    It has a part by the slice itself and one by its norm.
    """
    dims = other_dims(len(input.shape), dim)
    norm = k.linalg_vector_norm(input, ord, dims, True)
    long = k.gt(norm, maxnorm)
    factor = k.mul(k.reciprocal(k.add(k.where(long, norm, 1), 1e-7)), maxnorm)
    along = k.sum(k.mul(grad, k.conj(input)), dims, True)
    along = k.mul(k.add(along, k.conj(along)), 0.5)
    slope = k.div(k.mul(k.mul(along, factor), factor), -maxnorm if maxnorm else 1)
    by_norm = vector_norm_gradient(k.where(long, slope, 0), input, norm, ord, dims, dtype)
    return k.add(k.where(long, k.mul(grad, factor), grad), by_norm)


def logsumexp_gradient(grad: Array, input: Array, result: Array, dim: Dims) -> Array:
    """Each element gets its share of the sum of exponentials."""
    kept = kept_shape(input.shape, dim)
    shares = k.exponential_shares(input, k.reshape(result, kept), dim)
    return k.mul(k.reshape(grad, kept), k.conj(shares))


def gradient_of_shares(grad: Array, shares: Array, dim: Dims) -> Array:
    """What one share wins, all of them lose, each in its own proportion."""
    shares = k.conj(shares)
    weighted = k.mul(grad, shares)
    return k.sub(weighted, k.mul(shares, k.sum(weighted, dim, True)))


# -- two results ----------------------------------------------------------------------------


def gradient_of_aminmax(
    grads: Sequence[Array | None], input: Array, low: Array, high: Array, dim: int | None
) -> Array | None:
    """The gradients of both extremes, each shared by those who reach it."""
    first, second = grads
    of_low = None if first is None else shared_by_ties(first, input, low, dim)
    of_high = None if second is None else shared_by_ties(second, input, high, dim)
    return _added(of_low, of_high)


def gradient_of_var_mean(
    grads: Sequence[Array | None], input: Array, dim: Dims, correction: float | None
) -> Array | None:
    """The gradients of a variance and of the mean."""
    first, second = grads
    of_var = None if first is None else var_gradient(first, input, dim, correction)
    of_mean = None if second is None else mean_gradient(second, input.shape, dim)
    return _added(of_var, of_mean)


def gradient_of_std_mean(
    grads: Sequence[Array | None], input: Array, std: Array, dim: Dims, correction: float | None
) -> Array | None:
    """The gradients of a standard deviation and of the mean."""
    first, second = grads
    of_std = None if first is None else std_gradient(first, input, std, dim, correction)
    of_mean = None if second is None else mean_gradient(second, input.shape, dim)
    return _added(of_std, of_mean)


def _added(first: Array | None, second: Array | None) -> Array | None:
    """The sum of two gradients, of which one may be missing."""
    if first is None or second is None:
        return second if first is None else first
    return k.add(first, second)


# -- others ---------------------------------------------------------------------------------


def gradient_of_distance(
    grad: Array, a: Array, b: Array, result: Array, ord: float, first: NumpyDType, other: NumpyDType
) -> Array:
    """The gradient of the first of two tensors, of those dtypes, in their distance."""
    dtype = first if first.kind == "c" else other
    return vector_norm_gradient(grad, k.sub(a, b), result, ord, None, dtype)


def kept_shape(sizes: Shape, dim: Dims) -> Shape:
    """The shape of a reduction over `dim` that keeps the dimensions, with size 1."""
    return reduced_shape(sizes, axes_of(dim, len(sizes)), True)


def reduced_count(sizes: Shape, dim: Dims) -> int:
    """How many elements a reduction over `dim` merges into one."""
    if dim is None:
        return math.prod(sizes)
    return math.prod([sizes[d] for d in axes_of(dim, len(sizes))])


def other_dims(ndim: int, dim: int) -> tuple[int, ...]:
    """All dimensions but one, which may be counted from the back."""
    return tuple(d for d in range(ndim) if d != dim % ndim)


def reduces_all(sizes: Shape, dim: Dims) -> bool:
    """Whether a reduction over `dim` was asked for without naming dimensions."""
    return not sizes or dim is None or (not isinstance(dim, int) and len(dim) == 0)


# -- recurrences ----------------------------------------------------------------------------


def _moved_on(values: Array, dim: int, steps: int) -> Array:
    """The values moved by one place along `dim`, with a zero at the free end."""
    axis = dim % values.ndim
    behind = (0, 0) * (values.ndim - 1 - axis)
    return k.constant_pad(values, (*behind, steps, -steps), 0)


def recurrence_source(factors: Array, result: Array, dim: int, reverse: bool) -> Array:
    """What a change of the factors of `linear_recurrence` adds to its values."""
    if result.ndim == 0:
        return k.zeros_like(result)
    if reverse:
        return _moved_on(k.mul(factors, result), dim, -1)
    return k.mul(factors, _moved_on(result, dim, 1))


def recurrence_factors_gradient(
    grad: Array, factors: Array, result: Array, dim: int, reverse: bool
) -> Array:
    """The gradient of the factors of `linear_recurrence`."""
    if result.ndim == 0:
        return k.zeros_like(result)
    sums = k.linear_recurrence(grad, k.conj(factors), dim, not reverse)
    if reverse:
        return k.mul(_moved_on(sums, dim, 1), k.conj(result))
    return k.mul(sums, k.conj(_moved_on(result, dim, 1)))

"""Derivatives of reductions, running sums and normalisations."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.ops.formulas.support import kept_shape, reduced_count, reduces_all
from vtgrad.ops.types import Dims
from vtgrad.storage.arrays import Array, Shape

__all__ = [
    "cumsum_gradient",
    "logsumexp_gradient",
    "mean_gradient",
    "shared_by_mask",
    "shared_by_ties",
    "shared_by_whole_ties",
    "std_gradient",
    "sum_gradient",
    "var_gradient",
    "vector_norm_gradient",
]


def sum_gradient(grad: Array, sizes: Shape, dim: Dims) -> Array:
    """Every element has the gradient of the sum it went into."""
    return k.expand(k.reshape(grad, kept_shape(sizes, dim)), sizes)


def mean_gradient(grad: Array, sizes: Shape, dim: Dims) -> Array:
    """As for a sum, divided by the number of elements."""
    share = k.div(grad, reduced_count(sizes, dim))
    return k.expand(k.reshape(share, kept_shape(sizes, dim)), sizes)


def cumsum_gradient(grad: Array, dim: int) -> Array:
    """Each element went into its own sum and all later ones."""
    if grad.ndim == 0:
        return k.clone(grad)
    return k.flip(k.cumsum(k.flip(grad, (dim,)), dim), (dim,))


def shared_by_mask(grad: Array, mask: Array, dim: Dims) -> Array:
    """`grad` over the places where `mask` holds, in equal parts along `dim`."""
    return k.div(k.mul(grad, mask), k.sum(mask, dim, True))


def shared_by_ties(grad: Array, input: Array, result: Array, dim: Dims) -> Array:
    """The gradient of an extreme value: those who reach it share it equally."""
    kept = kept_shape(input.shape, dim)
    mask = k.eq(input, k.reshape(result, kept))
    return shared_by_mask(k.reshape(grad, kept), mask, dim)


def shared_by_whole_ties(grad: Array, input: Array, result: Array) -> Array:
    """The same for an extreme of all elements; if it is nan, the nans share the gradient."""
    nans = k.logical_and(k.isnan(input), k.isnan(result))
    mask = k.logical_or(k.eq(input, result), nans)
    return k.mul(k.div(grad, k.sum(mask)), mask)


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


def vector_norm_gradient(grad: Array, input: Array, result: Array, ord: float, dim: Dims) -> Array:
    """The gradient of a vector norm, taken as 0 where the norm is 0."""
    kept = kept_shape(input.shape, dim)
    grad, result = k.reshape(grad, kept), k.reshape(result, kept)
    if ord == 1:
        return k.mul(k.sgn(input), grad)
    if ord == 2:
        return k.mul(k.where(k.eq(result, 0), 0.0, k.div(input, result)), grad)
    size = k.abs(input)
    if ord in (float("inf"), float("-inf")):
        nans = k.logical_and(k.isnan(size), k.isnan(result))
        mask = k.logical_or(k.eq(size, result), nans)
        return k.mul(k.sgn(input), k.mul(k.div(grad, k.sum(mask, dim, True)), mask))
    if ord < 1:
        slope = k.where(k.eq(input, 0), 0.0, k.mul(k.sgn(input), k.pow(size, ord - 1)))
        return k.mul(k.mul(slope, grad), k.pow(result, 1 - ord))
    share = k.masked_fill(k.div(grad, k.pow(result, ord - 1)), k.eq(result, 0), 0)
    if ord < 2:
        return k.mul(k.mul(k.sgn(input), k.pow(size, ord - 1)), share)
    return k.mul(k.mul(input, k.pow(size, ord - 2)), share)


def logsumexp_gradient(grad: Array, input: Array, result: Array, dim: Dims) -> Array:
    """Each element gets its share of the sum of exponentials."""
    kept = kept_shape(input.shape, dim)
    share = k.exp(k.sub(input, k.reshape(result, kept)))
    return k.mul(k.reshape(grad, kept), k.conj(share))

# Compiled by mypyc.
"""Derivatives of cumulative sums and of recurrences."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array

__all__ = ["cumsum_gradient", "recurrence_factors_gradient", "recurrence_source"]


def cumsum_gradient(grad: Array, dim: int) -> Array:
    """Each element went into its own sum and all later ones."""
    if grad.ndim == 0:
        return k.clone(grad)
    return k.flip(k.cumsum(k.flip(grad, (dim,)), dim), (dim,))


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

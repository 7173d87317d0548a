# Compiled by mypyc.
"""Derivatives of the operators that choose between values."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Number

__all__ = [
    "gradient_inside",
    "gradient_of_lower",
    "gradient_of_upper",
    "is_at_least",
    "is_at_most",
    "shared_gradient",
]


def shared_gradient(grad: Array, a: Array, b: Array, lost: Array) -> Array:
    """The gradient of one of two values of which one was taken: half of it where both are equal."""
    return k.halved_where(k.where(lost, 0, grad), k.eq(a, b))


def gradient_inside(
    grad: Array, self: Array, low: Array | Number | None, high: Array | Number | None
) -> Array:
    """The gradient where the value is not outside of its bounds."""
    if low is None:
        assert high is not None
        return k.where(k.le(self, high), grad, 0)
    inside = k.ge(self, low)
    if high is not None:
        inside = k.logical_and(inside, k.le(self, high))
    return k.where(inside, grad, 0)


def gradient_of_lower(grad: Array, self: Array, low: Array | None, high: Array | None) -> Array:
    """The gradient of a lower bound: where the value is below it, and the upper one above."""
    assert low is not None
    taken = k.lt(self, low)
    if high is not None:
        taken = k.logical_and(taken, k.lt(low, high))
    return k.where(taken, grad, 0)


def gradient_of_upper(grad: Array, self: Array, low: Array | None, high: Array | None) -> Array:
    """The gradient of an upper bound: where the value, or the lower bound, is above it."""
    assert high is not None
    taken = k.gt(self, high)
    if low is not None:
        taken = k.logical_or(taken, k.lt(high, low))
    return k.where(taken, grad, 0)


def is_at_least(a: Array, b: Array) -> Array:
    """Where `fmax` takes the first value."""
    return k.logical_or(k.ge(a, b), k.isnan(b))


def is_at_most(a: Array, b: Array) -> Array:
    """Where `fmin` takes the first value."""
    return k.logical_or(k.le(a, b), k.isnan(b))

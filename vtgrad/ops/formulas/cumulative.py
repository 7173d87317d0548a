"""Derivatives of cumulative sums."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["cumsum_gradient", "gradient_of_logcumsumexp", "tangent_of_logcumsumexp"]


def cumsum_gradient(grad: Array, dim: int) -> Array:
    """Each element went into its own sum and all later ones."""
    if grad.ndim == 0:
        return k.clone(grad)
    return k.flip(k.cumsum(k.flip(grad, (dim,)), dim), (dim,))


def gradient_of_logcumsumexp(
    grad: Array, input: Array, result: Array, dim: int, dtype: NumpyDType
) -> Array:
    """Each element went into all later sums: those are added up as logarithms, signs apart."""
    if grad.ndim == 0:
        return k.clone(grad)
    if dtype.kind == "c":
        # No logarithm is taken of zeros: it has no derivative.
        there = k.ne(grad, 0)
        logs = k.sub(k.log(k.where(there, grad, 1)), k.conj(result))
        logs = k.where(there, logs, float("-inf"))
        logs = k.logcumsumexp(k.flip(logs, (dim,)), dim)
        return k.exp(k.add(k.flip(logs, (dim,)), k.conj(input)))
    total = k.zeros_like(grad)
    for sign in (1, -1):
        part = k.mul(grad, sign)
        there = k.gt(part, 0)
        logs = k.sub(k.log(k.where(there, part, 1)), result)
        logs = k.flip(k.where(there, logs, float("-inf")), (dim,))
        later = k.flip(k.logcumsumexp(logs, dim), (dim,))
        total = k.add(total, k.mul(k.exp(k.add(later, input)), sign))
    return total


def tangent_of_logcumsumexp(
    tangent: Array, input: Array, result: Array, dim: int, dtype: NumpyDType
) -> Array:
    """Each result has the tangents of all elements up to it, added up as logarithms."""
    if tangent.ndim == 0:
        return k.clone(tangent)
    if dtype.kind == "c":
        there = k.ne(tangent, 0)
        logs = k.add(k.log(k.where(there, tangent, 1)), input)
        logs = k.logcumsumexp(k.where(there, logs, float("-inf")), dim)
        return k.exp(k.sub(logs, _where_some(logs, result)))
    total = k.zeros_like(tangent)
    for sign in (1, -1):
        part = k.mul(tangent, sign)
        there = k.gt(part, 0)
        logs = k.add(k.log(k.where(there, part, 1)), input)
        logs = k.logcumsumexp(k.where(there, logs, float("-inf")), dim)
        total = k.add(total, k.mul(k.exp(k.sub(logs, _where_some(logs, result))), sign))
    return total


def _where_some(logs: Array, result: Array) -> Array:
    """The result, and 0 where no tangent came in: the result may be -inf there, as `logs` is."""
    return k.where(k.isinf(logs), 0, result)

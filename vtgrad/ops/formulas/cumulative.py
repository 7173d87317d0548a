# Compiled by mypyc.
"""Derivatives of cumulative sums."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array

__all__ = ["cumsum_gradient"]


def cumsum_gradient(grad: Array, dim: int) -> Array:
    """Each element went into its own sum and all later ones."""
    if grad.ndim == 0:
        return k.clone(grad)
    return k.flip(k.cumsum(k.flip(grad, (dim,)), dim), (dim,))

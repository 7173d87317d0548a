# Compiled by mypyc.
"""Derivatives of joins."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Shape

__all__ = ["cat_gradients", "stack_gradients"]


def cat_gradients(grad: Array, shapes: Sequence[Shape], dim: int) -> list[Array]:
    """For each joined tensor its part of the gradient."""
    parts: list[Array] = []
    start = 0
    axis = dim + len(grad.shape) if dim < 0 else dim
    for shape in shapes:
        # A tensor of shape (0,) joins anything and takes no place.
        if shape == (0,):
            parts.append(k.zeros_shaped(grad, shape))
        else:
            parts.append(k.slice(grad, axis, start, start + shape[axis]))
            start += shape[axis]
    return parts


def stack_gradients(grad: Array, dim: int) -> Sequence[Array]:
    """For each stacked tensor its slice of the gradient."""
    return k.unbind(grad, dim)

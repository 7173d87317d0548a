# Compiled by mypyc.
"""Derivatives that several families use."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Number

__all__ = ["scaled", "scaled_back"]


def scaled(term: Array, factor: Number) -> Array:
    """A term with a factor; the very object if the factor is one."""
    return term if factor == 1 else k.mul(term, factor)


def scaled_back(grad: Array, factor: Number) -> Array:
    """The gradient of a term with a factor; the very object if the factor is one."""
    return grad if factor == 1 else k.mul(grad, k.conj(factor))

# Compiled by mypyc.
"""Derivatives of the products of vectors and matrices."""

from __future__ import annotations

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.types import Geometry3
from vtgrad.storage.arrays import Array, Shape

__all__ = [
    "adjoint_of",
    "first_factor_gradient",
    "for_each",
    "gradient_of_trace",
    "is_column_major",
    "outer_factor",
    "outer_gradient",
    "second_factor_gradient",
]


def adjoint_of(matrix: Array) -> Array:
    """The last two dimensions exchanged, conjugated. May share memory with `matrix`."""
    return k.conj(k.transpose(matrix, -2, -1))


def first_factor_gradient(grad: Array, second: Array, geometry: Geometry3) -> Array:
    """The gradient of the first matrix of a product, in that matrix's memory order."""
    if is_column_major(geometry):
        return k.transpose(k.mm(k.conj(second), k.transpose(grad, 0, 1)), 0, 1)
    return k.mm(grad, adjoint_of(second))


def second_factor_gradient(grad: Array, first: Array, geometry: Geometry3) -> Array:
    """The gradient of the second matrix of a product, in that matrix's memory order."""
    if is_column_major(geometry):
        return k.transpose(k.mm(k.transpose(grad, 0, 1), k.conj(first)), 0, 1)
    return k.mm(adjoint_of(first), grad)


def outer_gradient(grad: Array, vec: Array) -> Array:
    """The gradient of the matrix that was multiplied by `vec`."""
    return k.mul(k.reshape(grad, (grad.shape[0], 1)), k.conj(vec))


def outer_factor(grad: Array, vec: Array) -> Array:
    """The rows of a gradient, each times the conjugate of its element of `vec`."""
    return k.mul(grad, k.conj(k.reshape(vec, (vec.shape[0], 1))))


def for_each(grad: Array, batch: Shape) -> Array:
    """A matrix for each of a stack, whose products were added up."""
    return k.expand(grad, (batch[0], *grad.shape))


def gradient_of_trace(grad: Array, sizes: Shape) -> Array:
    """The gradient on the diagonal, 0 elsewhere."""
    return k.diagonal_backward(k.expand(grad, (min(sizes),)), sizes, 0, 0, 1)


def is_column_major(geometry: Geometry3) -> bool:
    """Whether a matrix lies in memory column by column, without gaps."""
    sizes, strides, _ = geometry
    return strides[0] == 1 and strides[1] == sizes[0]

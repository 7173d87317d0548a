"""What the kernels of inverses, determinants and decompositions share: which matrices they take.

NumPy computes them in double precision and rounds the results once.
"""

from __future__ import annotations

from vtgrad.errors import DTypeError, MatrixShapeError
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.lazy_array import resolved

__all__ = ["checked_matrices", "checked_square", "is_vector_side"]


def checked_matrices(name: str, input: Array) -> Array:
    """The values of a stack of matrices.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the values are integers, bools or of half precision.
    """
    if input.ndim < 2:
        raise MatrixShapeError(
            f"{name}() needs a matrix or a stack of matrices, not shape {input.shape}",
            shape=input.shape,
        )
    if input.dtype.kind not in "fc" or input.dtype.itemsize < 4:
        raise DTypeError(
            f"{name}() needs float32, float64 or complex values, not {input.dtype}",
            dtype=input.dtype,
        )
    return resolved(input)


def checked_square(name: str, input: Array) -> Array:
    """The same of square matrices.

    Raises
    ------
    MatrixShapeError
        If they are not square, or there are fewer than two dimensions.
    DTypeError
        If the values are integers, bools or of half precision.
    """
    if input.ndim >= 2 and input.shape[-1] != input.shape[-2]:
        raise MatrixShapeError(
            f"{name}() needs square matrices, not shape {input.shape}", shape=input.shape
        )
    return checked_matrices(name, input)


def is_vector_side(left: Shape, right: Shape) -> bool:
    """Whether the right side of linear equations is one vector for each matrix.

    It is if it has one dimension, or the shape of the matrices without their last dimension; else
    its columns are the vectors. That is PyTorch's rule.
    """
    return len(right) == 1 or (len(left) > 1 and tuple(right) == tuple(left[:-1]))

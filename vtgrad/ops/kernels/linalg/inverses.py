"""Inverses of matrices, and systems of linear equations."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DTypeError, LinAlgError, MatrixShapeError
from vtgrad.ops.kernels.linalg.matrices import checked_matrices, checked_square, is_vector_side
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.storage.shapes import broadcast_shapes

__all__ = ["linalg_inv", "linalg_solve"]


def linalg_inv(input: Array) -> Array:
    """The inverse of each matrix.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    matrices = checked_square("linalg_inv", input)
    try:
        result: Array = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg_inv() cannot invert a singular matrix") from None
    return result


def linalg_solve(input: Array, other: Array) -> Array:
    """``x`` with ``input @ x = other``, for each matrix; see `is_vector_side`.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    matrices = checked_square("linalg_solve", input)
    if input.dtype != other.dtype:
        raise DTypeError(
            f"linalg_solve() needs operands of one dtype, not {input.dtype} and {other.dtype}",
            dtypes=(input.dtype, other.dtype),
        )
    right = resolved(other)
    is_vector = is_vector_side(input.shape, other.shape)
    if is_vector:
        right = right[..., np.newaxis]
    right = checked_matrices("linalg_solve", right)
    if right.shape[-2] != matrices.shape[-1]:
        raise MatrixShapeError(
            f"linalg_solve() cannot solve for a right side of shape {other.shape} with matrices "
            f"of shape {input.shape}",
            shapes=(input.shape, other.shape),
        )
    broadcast_shapes(matrices.shape[:-2], right.shape[:-2])
    try:
        result: Array = np.linalg.solve(matrices, right)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg_solve() got a singular matrix") from None
    return result[..., 0] if is_vector else result

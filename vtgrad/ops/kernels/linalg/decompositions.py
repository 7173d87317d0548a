"""Decompositions of matrices."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, LinAlgError
from vtgrad.ops.kernels.linalg.matrices import checked_matrices, checked_square
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved

__all__ = [
    "linalg_cholesky",
    "linalg_eigh",
    "linalg_half_lower",
    "linalg_inverse_gaps",
    "linalg_qr",
    "linalg_svd",
]


def linalg_cholesky(input: Array, symmetric: bool = False) -> Array:
    """The lower triangular ``l`` with ``l @ l.mH`` equal to each matrix.

    Of a matrix only the lower triangle is read, as if the upper one were its adjoint. Whether its
    derivatives are those of a whole Hermitian matrix is of no interest here.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """
    matrices = checked_square("linalg_cholesky", input)
    try:
        result: Array = np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg_cholesky() cannot decompose a matrix that is not positive definite"
        ) from None
    return result


def linalg_half_lower(input: Array) -> Array:
    """The lower triangle of each square matrix, with half of the diagonal."""
    # `tril` keeps the order of dimensions, in which the diagonals may have no common stride.
    result: Array = making.ascontiguousarray(np.tril(checked_square("linalg_half_lower", input)))
    _on_diagonal(result)[...] *= 0.5
    return result


def _on_diagonal(matrices: Array) -> Array:
    """The diagonals of new square matrices in row-major order, as a view that can be written."""
    size = matrices.shape[-1]
    elements: Array = matrices.reshape(*matrices.shape[:-2], size * size)
    return elements[..., :: size + 1]


def linalg_eigh(
    input: Array, by_adjoint: bool = False, symmetric: bool = False, values_only: bool = False
) -> tuple[Array, Array]:
    """The eigenvalues, from the smallest on, and the eigenvectors of each Hermitian matrix.

    Of a matrix only the lower triangle is read, as if the upper one were its adjoint. LAPACK may
    also get it as the upper triangle of the adjoint: eigenvectors have other phases then. For
    `symmetric` see `linalg_cholesky`, for `values_only` Note [Tangents of values alone].

    Raises
    ------
    LinAlgError
        If they are not found, as of nan.
    """
    matrices = checked_square("linalg_eigh", input)
    try:
        if by_adjoint:
            values, vectors = np.linalg.eigh(np.conj(np.swapaxes(matrices, -1, -2)), "U")
        else:
            values, vectors = np.linalg.eigh(matrices)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg_eigh() did not converge: a matrix may hold nan or inf") from None
    return values, vectors


def linalg_inverse_gaps(input: Array, values_only: bool = False) -> Array:
    """``1 / (input[..., j] - input[..., i])`` for each pair ``[..., i, j]``, and 0 for ``i == j``.

    Raises
    ------
    LinAlgError
        If two values of a row are equal. With `values_only` their element is nan instead.
    """
    if not input.ndim:
        raise DimensionError("linalg_inverse_gaps() needs rows, not a 0-d tensor", ndim=0)
    if input.dtype.kind != "f":
        raise DTypeError(
            f"linalg_inverse_gaps() needs real values, not {input.dtype}", dtype=input.dtype
        )
    values = resolved(input)
    gaps: Array = np.subtract(values[..., np.newaxis, :], values[..., np.newaxis], order="C")
    _on_diagonal(gaps)[...] = np.inf
    if np.count_nonzero(gaps) < gaps.size:
        if not values_only:
            raise LinAlgError(
                "eigenvectors and singular vectors have no derivative where two eigenvalues, or "
                "two singular values, are equal"
            )
        np.copyto(gaps, np.nan, where=gaps == 0)
    return np.reciprocal(gaps, gaps)


def linalg_qr(input: Array) -> tuple[Array, Array]:
    """Orthonormal columns and an upper triangular matrix, whose product is each matrix.

    Both have as many columns, or rows, as the smaller dimension of the matrix. The diagonal of the
    triangular matrix is real.
    """
    q, r = np.linalg.qr(checked_matrices("linalg_qr", input))
    return q, r


def linalg_svd(input: Array, values_only: bool = False) -> tuple[Array, Array, Array]:
    """Left singular vectors, singular values and the adjoint of right ones of each matrix.

    There are as many as the smaller dimension of the matrix has elements, the largest first. For
    `values_only` see Note [Tangents of values alone].

    Raises
    ------
    LinAlgError
        If they are not found, as of nan.
    """
    matrices = checked_matrices("linalg_svd", input)
    try:
        u, s, vh = np.linalg.svd(matrices, full_matrices=False)
    except np.linalg.LinAlgError:
        raise LinAlgError("linalg_svd() did not converge: a matrix may hold nan or inf") from None
    return u, s, vh

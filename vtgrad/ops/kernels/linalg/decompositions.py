"""Decompositions of matrices."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DimensionError, DTypeError, LinAlgError
from vtgrad.ops.kernels.linalg.matrices import checked_matrices, checked_square
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved

__all__ = ["linalg_cholesky", "linalg_eigh", "linalg_inverse_gaps", "linalg_qr", "linalg_svd"]


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


def linalg_eigh(
    input: Array, by_adjoint: bool = False, symmetric: bool = False
) -> tuple[Array, Array]:
    """The eigenvalues, from the smallest on, and the eigenvectors of each Hermitian matrix.

    Of a matrix only the lower triangle is read, as if the upper one were its adjoint. LAPACK may
    also get it as the upper triangle of the adjoint: eigenvectors have other phases then. For
    `symmetric` see `linalg_cholesky`.

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


def linalg_inverse_gaps(input: Array) -> Array:
    """``1 / (input[..., j] - input[..., i])`` for each pair ``[..., i, j]``, and 0 for ``i == j``.

    Raises
    ------
    LinAlgError
        If two values of a row are equal.
    """
    if not input.ndim:
        raise DimensionError("linalg_inverse_gaps() needs rows, not a 0-d tensor", ndim=0)
    if input.dtype.kind != "f":
        raise DTypeError(
            f"linalg_inverse_gaps() needs real values, not {input.dtype}", dtype=input.dtype
        )
    values = resolved(input)
    gaps: Array = values[..., np.newaxis, :] - values[..., np.newaxis]
    same = np.eye(values.shape[-1], dtype=bool)
    if np.any((gaps == 0) & ~same):
        raise LinAlgError(
            "eigenvectors and singular vectors have no derivative where two eigenvalues, or two "
            "singular values, are equal"
        )
    np.copyto(gaps, np.inf, where=same)
    return np.reciprocal(gaps)


def linalg_qr(input: Array) -> tuple[Array, Array]:
    """Orthonormal columns and an upper triangular matrix, whose product is each matrix.

    Both have as many columns, or rows, as the smaller dimension of the matrix. The diagonal of the
    triangular matrix is real.
    """
    q, r = np.linalg.qr(checked_matrices("linalg_qr", input))
    return q, r


def linalg_svd(input: Array) -> tuple[Array, Array, Array]:
    """Left singular vectors, singular values and the adjoint of right ones of each matrix.

    There are as many as the smaller dimension of the matrix has elements, the largest first.

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

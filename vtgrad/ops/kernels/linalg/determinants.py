"""Determinants, and the derivatives of a determinant by its elements.

Note [Derivatives of determinants]
The derivative of a determinant by the elements of its matrix are the cofactors. They are found by
the singular value decomposition ``u @ diag(s) @ vh``, and not by the inverse, so that singular
matrices have them too: but for ``det(u) * det(vh)`` and two rotations, they are the products of all
singular values but one. Their own derivatives are the products of all but two, and stay as exact.
Derivatives of the third order and above are those of minors, which there are n * n of.
"""

from __future__ import annotations

import numpy as np

from vtgrad.errors import LinAlgError, MatrixShapeError
from vtgrad.ops.kernels.linalg.matrices import checked_square
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved

__all__ = ["linalg_cofactors", "linalg_cofactors_along", "linalg_det", "linalg_slogdet"]


def linalg_slogdet(input: Array) -> tuple[Array, Array]:
    """The sign of the determinant of each matrix, and the logarithm of its absolute value.

    Of a singular matrix they are 0 and ``-inf``.
    """
    sign, logarithm = np.linalg.slogdet(checked_square("linalg_slogdet", input))
    return making.asarray(sign), making.asarray(logarithm)


def linalg_det(input: Array) -> Array:
    """The determinant of each matrix."""
    return making.asarray(np.linalg.det(checked_square("linalg_det", input)))


def linalg_cofactors(input: Array) -> Array:
    """The derivatives of the determinant of each matrix by its elements.

    See Note [Derivatives of determinants].
    """
    u, s, vh, factor = _decomposed(input)
    products = _products_of_others(s)[..., np.newaxis, :]
    result: Array = (factor * np.conj(u * products @ vh)).astype(input.dtype)
    return result


def linalg_cofactors_along(input: Array, other: Array) -> Array:
    """The derivatives of the cofactors of `input` along `other`; the shapes broadcast.

    It is linear in `other`, and the sum of its products with a third matrix stays the same if that
    and `other` change places.
    """
    if other.shape[-2:] != input.shape[-2:]:
        raise MatrixShapeError(
            f"linalg_cofactors_along() needs matrices of one shape, not {input.shape} and "
            f"{other.shape}",
            shape=other.shape,
        )
    u, s, vh, factor = _decomposed(input)
    v = np.conj(np.swapaxes(vh, -2, -1))
    along = np.conj(np.swapaxes(u, -2, -1)) @ resolved(other) @ v
    # With one singular value taken for 1, the products of the others are those of all but two.
    same = making.eye(s.shape[-1], dtype=bool)
    products = _products_of_others(np.where(same, 1.0, s[..., np.newaxis, :]))
    products = np.where(same, 0.0, products)
    diagonal = np.diagonal(along, 0, -2, -1)[..., np.newaxis]
    adjugate = v @ np.where(same, products @ diagonal, -products * along)
    adjugate = adjugate @ np.conj(np.swapaxes(u, -2, -1))
    result: Array = (factor * np.swapaxes(adjugate, -2, -1)).astype(input.dtype)
    return result


def _decomposed(input: Array) -> tuple[Array, Array, Array, Array]:
    """A singular value decomposition in double precision, and the determinant of its rotations."""
    matrices = checked_square("linalg_det", input)
    wide = matrices.astype(np.complex128 if matrices.dtype.kind == "c" else np.float64)
    try:
        u, s, vh = np.linalg.svd(wide)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "the derivative of linalg_det() was not found: a matrix may hold nan or inf"
        ) from None
    factor = np.linalg.det(u) * np.linalg.det(vh)
    return u, s, vh, making.asarray(factor)[..., np.newaxis, np.newaxis]


def _products_of_others(values: Array) -> Array:
    """For each element of a row the product of the others."""
    before, behind = making.ones_like(values), making.ones_like(values)
    np.cumprod(values[..., :-1], -1, out=before[..., 1:])
    np.cumprod(values[..., :0:-1], -1, out=behind[..., -2::-1])
    result: Array = before * behind
    return result

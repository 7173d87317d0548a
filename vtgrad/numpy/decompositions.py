"""The decompositions of `numpy.linalg`, where they have derivatives."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.linalg.orthogonal import rest_of_bases
from vtgrad.numpy.operands import ArrayLike, as_array, of
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["eigh", "eigvalsh", "qr", "svd", "svdvals"]

# The classes of NumPy's results have no public names.
_EIGH: Final[Any] = type(np.linalg.eigh(making.eye(1)))
_QR: Final[Any] = type(np.linalg.qr(making.eye(1)))
_SVD: Final[Any] = type(np.linalg.svd(making.eye(1)))


def _eigh(a: ArrayLike, triangle: str, values_only: bool) -> Sequence[TensorBase]:
    """Eigenvalues and eigenvectors, which have the phases that LAPACK gives for the triangle."""
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    x = inexact(of(a))
    if triangle == "L" or len(x.shape) < 2:
        return F.linalg_eigh(x, values_only=values_only)
    across = F.conj_physical(F.transpose(x, -2, -1))
    return F.linalg_eigh(across, by_adjoint=True, values_only=values_only)


def eigh(a: ArrayLike, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigh` with derivatives, where the eigenvalues differ."""
    return _EIGH(*map(as_array, _eigh(a, UPLO, False)))


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> ndarray:
    """`numpy.linalg.eigvalsh` with derivatives."""
    return as_array(_eigh(a, UPLO, True)[0])


def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """`numpy.linalg.svd` with derivatives, where the singular values differ.

    Raises
    ------
    NotSupportedError
        For the way of Hermitian matrices. In backward, if the vectors that only complete a basis
        have a gradient which is not zero, and in forward mode if there are such vectors.
    """
    x = inexact(of(a))
    if hermitian:
        raise NotSupportedError("vtgrad.numpy has no derivative of svd with hermitian=True")
    if not compute_uv:
        return as_array(F.linalg_svd(x, values_only=True)[1])
    if full_matrices and len(x.shape) >= 2 and x.shape[-1] != x.shape[-2]:
        u, s, vh = F.linalg_svd(x)
        columns, rows = rest_of_bases(typing.cast("Tensor", x))
        return _SVD(*map(as_array, (F.cat([u, columns], -1), s, F.cat([vh, rows], -2))))
    return _SVD(*map(as_array, F.linalg_svd(x)))


def svdvals(x: ArrayLike, /) -> ndarray:
    """`numpy.linalg.svdvals` with derivatives."""
    return typing.cast("ndarray", svd(x, compute_uv=False))


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """`numpy.linalg.qr` with derivatives, of the modes that are no raw numbers.

    Raises
    ------
    NotSupportedError
        For the vectors that only complete a basis, and for what LAPACK gives.
    """
    x = inexact(of(a))
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    tall = len(x.shape) >= 2 and x.shape[-2] > x.shape[-1]
    if mode == "raw" or (mode == "complete" and tall):
        raise NotSupportedError(f"vtgrad.numpy has no derivative of qr with mode={mode!r}")
    q, r = map(as_array, F.linalg_qr(x))
    return r if mode == "r" else _QR(q, r)

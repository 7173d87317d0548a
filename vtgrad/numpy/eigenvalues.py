"""Eigenvalues and eigenvectors of general matrices, as in `numpy.linalg`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from vtgrad.errors import LinAlgError
from vtgrad.linalg.eigenvalues import decomposed, is_basis
from vtgrad.linalg.matrices import real_of
from vtgrad.numpy.operands import ArrayLike, as_array, cast, of, value_of
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = ["eig", "eigvals"]

# Whether real eigenvalues are real numbers; from NumPy 2.5 on all are complex.
_ARE_REAL: Final = np.linalg.eigvals(making.eye(1)).dtype.kind == "f"

# The class of NumPy's results has no public name.
_EIG: Final[Any] = type(np.linalg.eig(making.eye(1)))


def eig(a: ArrayLike) -> Any:
    """`numpy.linalg.eig` with derivatives, of the vectors where the eigenvalues differ.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or its eigenvectors are no basis, to half of the digits: its
        eigenvalues have no derivative. In a derivative of the vectors, if two eigenvalues are
        equal.
    """
    return _EIG(*map(as_array, _decomposed(a, False)))


def eigvals(a: ArrayLike) -> ndarray:
    """`numpy.linalg.eigvals` with derivatives; see `eig`."""
    return as_array(_decomposed(a, True)[0])


def _decomposed(a: ArrayLike, values_only: bool) -> tuple[Tensor, Tensor]:
    x = inexact(of(a))
    if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        # NumPy's own error.
        np.linalg.eig(value_of(x))
    is_real = x._impl.array.dtype.kind == "f"
    values, vectors = decomposed(
        cast(x, np.result_type(x._impl.array.dtype, np.complex64)), values_only
    )
    if not is_basis(value_of(vectors)):
        raise LinAlgError(
            "the eigenvectors are no basis, or nearly none: the eigenvalues have no derivative. "
            "Pass a.detach() where no gradient is wanted"
        )
    if _ARE_REAL and is_real and not value_of(values).imag.any():
        return real_of(values), real_of(vectors)
    return values, vectors

"""Pseudoinverses and least squares solutions, where they have derivatives.

Where the columns of a matrix are not independent, the pseudoinverse jumps as the matrix changes,
and is refused.
"""

from __future__ import annotations

import typing
from typing import Any

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.linalg import pseudoinverses
from vtgrad.numpy.operands import ArrayLike, as_array, of, value_of
from vtgrad.numpy.promotion import common_inexact, inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array

__all__ = ["lstsq", "pinv"]


def pinv(a: ArrayLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """`numpy.linalg.pinv` with derivatives, of matrices of full rank.

    Raises
    ------
    NotSupportedError
        If a matrix is not of full rank, or `rcond` or `rtol` leaves out a singular value.
    """
    x = inexact(of(a))
    values = value_of(x)
    _check_rank(values)
    if rcond is not None or rtol is not None:
        _check_rank(values, rtol=rtol if rcond is None else rcond)
    # No singular value is left out.
    return as_array(pseudoinverses.pinv(x, atol=0.0, rtol=0.0, hermitian=hermitian))


def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None
) -> tuple[ndarray, ndarray, int, ndarray]:
    """`numpy.linalg.lstsq` with derivatives, for a matrix of independent columns.

    Raises
    ------
    NotSupportedError
        If the columns are not independent.
    """
    x, y = common_inexact(a, b)
    if len(x.shape) != 2 or len(y.shape) not in (1, 2) or x.shape[0] != y.shape[0]:
        # NumPy's own error.
        np.linalg.lstsq(value_of(x), value_of(y), rcond)
    found = pseudoinverses.lstsq(x, y, rcond=rcond, driver="gelsd")
    # In the type of LAPACK's integers, as NumPy.
    rank = typing.cast("int", np.intc(value_of(found.rank)))
    if rank < x.shape[1]:
        raise NotSupportedError(
            "vtgrad.numpy has no derivative of lstsq where the columns are not independent"
        )
    return (
        as_array(found.solution),
        as_array(found.residuals),
        rank,
        as_array(F.linalg_svd(x, values_only=True)[1]),
    )


def _check_rank(values: Array, rtol: Any = None) -> None:
    if np.any(np.linalg.matrix_rank(values, rtol=rtol) < min(values.shape[-2:])):
        raise NotSupportedError(
            "vtgrad.numpy has no derivative of the pseudoinverse of a matrix that is not of full "
            "rank"
        )

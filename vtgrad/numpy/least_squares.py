"""Pseudoinverses and least squares solutions, where they have derivatives.

Note [Derivatives of pseudoinverses]

Where its columns are independent, the pseudoinverse of a matrix is given by the normal equations.
NumPy computes the value by singular values, which keeps more digits. What the normal equations
leave over for it is solved for by an operator and added: nothing but roundings, but the derivatives
of the sum are those of the solution of the normal equations, of every order. Where the columns are
not independent, the pseudoinverse jumps as the matrix changes, and is refused.
"""

from __future__ import annotations

import typing
from typing import Any

import numpy as np

from vtgrad.errors import NotSupportedError
from vtgrad.numpy.operands import ArrayLike, as_array, fresh, of, value_of
from vtgrad.numpy.promotion import common_inexact, inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["lstsq", "pinv"]


def pinv(a: ArrayLike, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> ndarray:
    """`numpy.linalg.pinv` with derivatives, of matrices of full rank.

    Raises
    ------
    NotSupportedError
        If a matrix is not of full rank, or `rcond` or `rtol` leaves out a singular value.
    """
    x = inexact(of(a))
    options = {name: y for name, y in (("rcond", rcond), ("rtol", rtol)) if y is not None}
    values = value_of(x)
    found: Array = np.linalg.pinv(values, hermitian=hermitian, **options)
    _check_rank(values)
    if options:
        _check_rank(values, rtol=rtol if rcond is None else rcond)
    if x.shape[-2] >= x.shape[-1]:
        return as_array(_improved(x, fresh(np.eye(x.shape[-2], dtype=values.dtype)), fresh(found)))
    # The pseudoinverse of the adjoint is the adjoint of the pseudoinverse.
    turned = _adjoint(x)
    identity = fresh(np.eye(x.shape[-1], dtype=values.dtype))
    start = fresh(np.conj(np.swapaxes(found, -2, -1)).copy())
    return as_array(_adjoint(_improved(turned, identity, start)))


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
    solution, residuals, rank, _ = np.linalg.lstsq(value_of(x), value_of(y), rcond)
    if rank < x.shape[1]:
        raise NotSupportedError(
            "vtgrad.numpy has no derivative of lstsq where the columns are not independent"
        )
    right = F.unsqueeze(y, -1) if len(y.shape) == 1 else y
    start = solution[:, np.newaxis] if len(y.shape) == 1 else solution
    columns = _improved(x, right, fresh(start.copy()))
    if residuals.size:
        left = F.sub(right, F.matmul(x, columns))
        squares = F.mul(F.conj_physical(left), left)
        found = F.sum(F.real(squares) if squares._impl.array.dtype.kind == "c" else squares, 0)
    else:
        found = fresh(residuals)
    return (
        as_array(F.squeeze(columns, -1) if len(y.shape) == 1 else columns),
        as_array(found),
        typing.cast("int", rank),
        as_array(F.linalg_svd(x)[1]),
    )


def _improved(x: TensorBase, right: TensorBase, start: TensorBase) -> TensorBase:
    """The solution of the normal equations, which `start` is but for roundings."""
    rows = _adjoint(x)
    left = F.matmul(rows, F.sub(right, F.matmul(x, start)))
    return F.add(start, F.linalg_solve(F.matmul(rows, x), left))


def _adjoint(x: TensorBase) -> TensorBase:
    return F.conj_physical(F.transpose(x, -2, -1))


def _check_rank(values: Array, rtol: Any = None) -> None:
    if np.any(np.linalg.matrix_rank(values, rtol=rtol) < min(values.shape[-2:])):
        raise NotSupportedError(
            "vtgrad.numpy has no derivative of the pseudoinverse of a matrix that is not of full "
            "rank"
        )

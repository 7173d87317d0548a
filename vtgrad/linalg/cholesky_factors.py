"""Triangular factors of positive definite matrices, and what is solved by them."""

from __future__ import annotations

import typing
from typing import Final

from vtgrad.errors import MatrixShapeError
from vtgrad.linalg.factored_solve import keeps_factors
from vtgrad.linalg.infos import CHOLESKY, info_of, with_nan, without_failing
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    check_square,
    common_stack,
    identity_like,
    stored,
    stored_all,
    with_stack,
)
from vtgrad.linalg.results import CholeskyExResult
from vtgrad.linalg.stacked import Context, Stacked
from vtgrad.linalg.triangular import solved
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["cholesky", "cholesky_ex", "cholesky_inverse", "cholesky_solve"]

# From so many rows on triangular solves save more than the call of a Function costs.
_LARGE: Final = 96


@explained
def cholesky(A: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Return the triangular factors of positive definite matrices.

    One triangle of each matrix is read, as if the other were its adjoint. The gradient is
    Hermitian.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian positive definite matrices, of shape ``(*, n, n)``.
    upper : bool, default False
        Whether to read the upper triangle and return an upper factor.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor ``L`` with ``L @ L.mH == A``; or ``U`` with ``U.mH @ U == A``.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.linalg.cholesky(vt.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    check_square("linalg_cholesky", A)
    factor = _factor(adjoint(A) if upper else A)
    return stored("linalg_cholesky", adjoint(factor) if upper else factor, out, A)


def _factor(A: Tensor) -> Tensor:
    """The lower factors, whose gradients are those of whole Hermitian matrices."""
    size = A._impl.array.shape[-1]
    large = size >= _LARGE and keeps_factors(size)
    return _Cholesky.apply(A) if large else F.linalg_cholesky(A, True)


class _Cholesky(Stacked):
    """The factors of large matrices: derivatives solve with triangles, by SciPy.

    The operator `linalg_cholesky` solves with NumPy, which takes triangles for general matrices.
    For the formulas see there, and Note [Gradients of Hermitian matrices].
    """

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return F.linalg_cholesky(x)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        factor = typing.cast("Tensor", output)
        ctx.save_for_backward(factor)
        ctx.save_for_forward(factor)

    @staticmethod
    def backward(ctx: Context, grad: Tensor) -> Tensor:
        (factor,) = ctx.saved_tensors
        upper = adjoint(factor)
        half = solved(upper, F.linalg_half_lower(F.matmul(upper, grad)), True)
        whole = solved(upper, adjoint(half), True)
        return F.mul(F.add(whole, adjoint(whole)), 0.5)

    @staticmethod
    def jvp(ctx: Context, tangent: Tensor) -> Tensor:
        (factor,) = ctx.saved_tensors
        hermitian = F.mul(F.add(tangent, adjoint(tangent)), 0.5)
        half = adjoint(solved(factor, hermitian, False))
        return F.matmul(factor, F.linalg_half_lower(solved(factor, half, False)))


@explained
def cholesky_ex(
    A: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> CholeskyExResult:
    """Return the factors of `cholesky`, and which matrices are not positive definite.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian matrices, of shape ``(*, n, n)``.
    upper : bool, default False
        As of `cholesky`.
    check_errors : bool, default False
        Whether to raise if a matrix is not positive definite.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    L : Tensor
        The factors; nan for a matrix that is not positive definite.
    info : Tensor
        For each matrix 0, or the size of the first leading part that is not positive definite;
        int32.

    Raises
    ------
    LinAlgError
        With `check_errors`, if a matrix is not positive definite.

    Examples
    --------
    >>> vt.linalg.cholesky_ex(vt.tensor([[1.0, 0.0], [0.0, -1.0]])).info
    tensor(2, dtype=vtgrad.int32)
    """
    check_square("linalg_cholesky_ex", A)
    matrices = adjoint(A) if upper else A
    message = "linalg_cholesky_ex() got a matrix that is not positive definite"
    info = info_of(matrices, CHOLESKY, message if check_errors else "")
    factor = with_nan(_factor(without_failing(matrices, info)), info)
    found = CholeskyExResult(adjoint(factor) if upper else factor, info)
    return stored_all("linalg_cholesky_ex", found, out, A)


@explained
def cholesky_solve(
    B: Tensor, L: Tensor, upper: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == B``, where a factor of ``A`` is known.

    Parameters
    ----------
    B : Tensor
        The right sides, of shape ``(*, n, k)``.
    L : Tensor
        Factors of `cholesky`, of shape ``(*, n, n)``; the other triangle is not read. The
        dimensions in front broadcast.
    upper : bool, default False
        Whether they are upper factors.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `B`, with the dimensions in front broadcast.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> factor = vt.linalg.cholesky(vt.tensor([[4.0, 0.0], [0.0, 9.0]]))
    >>> vt.cholesky_solve(vt.tensor([[4.0], [18.0]]), factor)
    tensor([[1.],
            [2.]])
    """
    right = check_matrices("cholesky_solve", B, "B")
    left = check_square("cholesky_solve", L, "L")
    check_same_dtype("cholesky_solve", B, L)
    if right[-2] != left[-1]:
        raise MatrixShapeError(
            f"cholesky_solve() cannot solve for right sides of shape {right} with factors of shape "
            f"{left}",
            shapes=(left, right),
        )
    stack = common_stack("cholesky_solve", left, right)
    return stored(
        "cholesky_solve", _solved(with_stack(B, stack), with_stack(L, stack), upper), out, B, L
    )


def _solved(b: Tensor, factor: Tensor, upper: bool) -> Tensor:
    lower = adjoint(factor) if upper else factor
    return solved(adjoint(lower), solved(lower, b, False), True)


@explained
def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Return the inverses of matrices of which factors are known.

    Parameters
    ----------
    L : Tensor
        Factors of `cholesky`, of shape ``(*, n, n)``; the other triangle is not read.
    upper : bool, default False
        Whether they are upper factors.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `L`.

    Raises
    ------
    MatrixShapeError
        If the factors are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> factor = vt.linalg.cholesky(vt.tensor([[4.0, 0.0], [0.0, 16.0]]))
    >>> vt.cholesky_inverse(factor)
    tensor([[0.2500, 0.0000],
            [0.0000, 0.0625]])
    """
    shape = check_square("cholesky_inverse", L, "L")
    identity = with_stack(identity_like(L, shape[-1]), shape[:-2])
    return stored("cholesky_inverse", _solved(identity, L, upper), out, L)

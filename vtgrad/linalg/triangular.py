"""Equations with triangular matrices."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import LinAlgError, MatrixShapeError
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    check_square,
    common_stack,
    constant,
    stored,
    transposed,
    values,
    with_stack,
)
from vtgrad.linalg.scipy_modules import scipy_linalg_or_none
from vtgrad.linalg.stacked import Context, Stacked
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["solve_triangular", "solved", "triangle_of"]


@explained
def solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == B`` with triangular matrices.

    Only the triangle is read. A zero on the diagonal gives inf or nan where SciPy is installed,
    and an error without it: then NumPy's solver of general matrices is called.

    Parameters
    ----------
    A : Tensor
        Triangular matrices, of shape ``(*, n, n)``.
    B : Tensor
        The right sides, of shape ``(*, n, k)``, or ``(*, k, n)`` if not `left`; of the dtype of
        `A`. The dimensions in front broadcast.
    upper : bool
        Whether the upper triangles are read; else the lower ones.
    left : bool, default True
        Whether to solve ``A @ X == B``; else ``X @ A == B``.
    unitriangular : bool, default False
        Whether the diagonals are taken to be 1, and not read.
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
    LinAlgError
        Without SciPy, if there is a zero on the diagonal.

    Examples
    --------
    >>> a = vt.tensor([[2.0, 0.0], [1.0, 4.0]])
    >>> vt.linalg.solve_triangular(a, vt.tensor([[2.0], [9.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    left_shape = check_square("linalg_solve_triangular", A)
    right_shape = check_matrices("linalg_solve_triangular", B, "B")
    check_same_dtype("linalg_solve_triangular", A, B)
    if right_shape[-2 if left else -1] != left_shape[-1]:
        raise MatrixShapeError(
            f"linalg_solve_triangular() cannot solve for right sides of shape {right_shape} with "
            f"matrices of shape {left_shape}",
            shapes=(left_shape, right_shape),
        )
    stack = common_stack("linalg_solve_triangular", left_shape, right_shape)
    a, b = with_stack(A, stack), with_stack(B, stack)
    if left:
        found = solved(a, b, upper, unitriangular)
    else:
        found = transposed(solved(transposed(a), transposed(b), not upper, unitriangular))
    return stored("linalg_solve_triangular", found, out, A, B)


def solved(a: Tensor, b: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """The solutions of equations with triangular matrices, of stacks of one shape."""
    return _SolveTriangular.apply(a, b, upper, unit)


def triangle_of(x: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """The triangle of matrices that is read, with zeros elsewhere."""
    return F.triu(x, int(unit)) if upper else F.tril(x, -int(unit))


class _SolveTriangular(Stacked):
    """``inv(A) @ B`` of triangular A; ``dX = inv(A) @ (dB - dA @ X)``."""

    @staticmethod
    def forward(a: Tensor, b: Tensor, upper: bool, unit: bool) -> Tensor:
        return constant(_solution(values(a), values(b), upper, unit))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        a, _, upper, unit = typing.cast("tuple[Tensor, Tensor, bool, bool]", inputs)
        solution = typing.cast("Tensor", output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, solution)
        ctx.save_for_forward(a, solution)
        ctx.flags = upper, unit

    @staticmethod
    def backward(
        ctx: Context, grad: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, None, None]:
        if grad is None:
            return None, None, None, None
        a, solution = ctx.saved_tensors
        upper, unit = ctx.flags
        of_b = solved(adjoint(a), grad, not upper, unit)
        of_a = None
        if ctx.needs_input_grad[0]:
            of_a = F.neg(triangle_of(F.matmul(of_b, adjoint(solution)), upper, unit))
        return of_a, of_b, None, None

    @staticmethod
    def jvp(ctx: Context, of_a: Tensor | None, of_b: Tensor | None, *_: object) -> Tensor | None:
        a, solution = ctx.saved_tensors
        upper, unit = ctx.flags
        right = of_b
        if of_a is not None:
            moved = F.matmul(triangle_of(of_a, upper, unit), solution)
            right = F.neg(moved) if right is None else F.sub(right, moved)
        return None if right is None else solved(a, right, upper, unit)


def _solution(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    if not b.size:
        return making.zeros(b.shape, b.dtype)
    scipy = scipy_linalg_or_none()
    if scipy is None:
        return _solution_by_numpy(a, b, upper, unit)
    (trsm,) = scipy.get_blas_funcs(("trsm",), (a, b))
    found = making.empty(b.shape, b.dtype)
    for at in np.ndindex(*b.shape[:-2]):
        # As rows of the transposed matrices: arrays of C are those of Fortran, transposed.
        solution = making.call(trsm, 1, a[at].T, b[at].T, side=1, lower=int(upper), diag=int(unit))
        found[at] = solution.T
    return found


def _solution_by_numpy(a: Array, b: Array, upper: bool, unit: bool) -> Array:
    triangle = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    if unit:
        triangle = triangle + making.eye(a.shape[-1], dtype=a.dtype)
    try:
        found: Array = np.linalg.solve(triangle, b)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg_solve_triangular() got a zero on the diagonal; with SciPy the result has inf "
            "and nan there"
        ) from None
    return found

"""Equations whose unknown is a matrix beside others: SciPy's."""

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
    values,
    with_stack,
)
from vtgrad.linalg.scipy_modules import scipy_linalg
from vtgrad.linalg.stacked import Context, Stacked, are_finite, each
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["solve_continuous_lyapunov", "solve_sylvester"]


@explained
def solve_sylvester(a: Tensor, b: Tensor, q: Tensor) -> Tensor:
    """Return the solutions ``X`` of ``a @ X + X @ b == q``, as `scipy.linalg.solve_sylvester`.

    SciPy is needed.

    Parameters
    ----------
    a, b : Tensor
        Matrices of shapes ``(*, m, m)`` and ``(*, n, n)``. No eigenvalue of `a` is one of ``-b``.
    q : Tensor
        Of shape ``(*, m, n)``. The dimensions in front of all three broadcast.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, m, n)``.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.
    LinAlgError
        If there is no solution, or more than one.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> a, b = vt.tensor([[1.0]]), vt.tensor([[2.0]])
    >>> vt.linalg.solve_sylvester(a, b, vt.tensor([[6.0]])).tolist()
    [[2.0]]
    """
    shapes = (
        check_square("solve_sylvester", a, "a"),
        check_square("solve_sylvester", b, "b"),
        check_matrices("solve_sylvester", q, "q"),
    )
    check_same_dtype("solve_sylvester", a, b, q)
    if shapes[2][-2:] != (shapes[0][-1], shapes[1][-1]):
        raise MatrixShapeError(
            f"solve_sylvester() got matrices that do not fit: shapes {shapes}", shapes=shapes
        )
    stack = common_stack("solve_sylvester", *shapes)
    return _solved(*[with_stack(x, stack) for x in (a, b, q)])


@explained
def solve_continuous_lyapunov(a: Tensor, q: Tensor) -> Tensor:
    """Return the solutions ``X`` of ``a @ X + X @ a.mH == q``.

    SciPy is needed.

    Parameters
    ----------
    a, q : Tensor
        Matrices of shape ``(*, n, n)``. The dimensions in front broadcast.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, n, n)``.

    Raises
    ------
    MatrixShapeError, DTypeError, LinAlgError, MissingPackageError
        As of `solve_sylvester`.

    Examples
    --------
    >>> a = vt.tensor([[3.0]])
    >>> vt.linalg.solve_continuous_lyapunov(a, vt.tensor([[6.0]])).tolist()
    [[1.0]]
    """
    check_square("solve_continuous_lyapunov", a, "a")
    return solve_sylvester(a, adjoint(a), q)


def _solved(a: Tensor, b: Tensor, q: Tensor) -> Tensor:
    return _Sylvester.apply(a, b, q)


class _Sylvester(Stacked):
    """``a @ dX + dX @ b == dq - da @ X - X @ db``, and the adjoint equation for gradients."""

    @staticmethod
    def forward(a: Tensor, b: Tensor, q: Tensor) -> Tensor:
        call = scipy_linalg("solve_sylvester").solve_sylvester
        left, right, side = values(a), values(b), values(q)

        def of_one(x: Array, y: Array, z: Array) -> tuple[Array, ...]:
            if not are_finite(x, y, z):
                return (making.full(z.shape, np.nan),)
            try:
                return (making.call(call, x, y, z) if z.size else z,)
            except np.linalg.LinAlgError:
                raise LinAlgError("solve_sylvester() found no unique solution") from None

        results = ((side.shape[-2:], side.dtype),)
        return constant(each(of_one, side.shape[:-2], results, left, right, side)[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        a, b, _ = typing.cast("tuple[Tensor, Tensor, Tensor]", inputs)
        solution = typing.cast("Tensor", output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(a, b, solution)
        ctx.save_for_forward(a, b, solution)

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None
        a, b, solution = ctx.saved_tensors
        of_q = _solved(adjoint(a), adjoint(b), grad)
        across = adjoint(solution)
        return F.neg(F.matmul(of_q, across)), F.neg(F.matmul(across, of_q)), of_q

    @staticmethod
    def jvp(
        ctx: Context, of_a: Tensor | None, of_b: Tensor | None, of_q: Tensor | None
    ) -> Tensor | None:
        a, b, solution = ctx.saved_tensors
        side = of_q
        for moved in (
            None if of_a is None else F.matmul(of_a, solution),
            None if of_b is None else F.matmul(solution, of_b),
        ):
            if moved is not None:
                side = F.neg(moved) if side is None else F.sub(side, moved)
        return None if side is None else _solved(a, b, side)

"""Linear equations whose factors serve for the gradient as well: SciPy's LAPACK.

The gradient of a solution takes a second solution, with the adjoint matrix. Where SciPy is
installed, the factors of forward are kept, which saves a quarter of the work or more. Of small
matrices the factors cost less than the call; those are solved by the operator.
"""

from __future__ import annotations

import typing
from typing import Final

import numpy as np

from vtgrad.errors import LinAlgError
from vtgrad.later.is_plain import is_plain
from vtgrad.linalg.matrices import adjoint, constant, values
from vtgrad.linalg.scipy_modules import scipy_linalg, scipy_linalg_or_none
from vtgrad.linalg.stacked import Context, Stacked, each
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["keeps_factors", "solved_by_factors"]

# From so many rows on.
_LARGE: Final = 64


def keeps_factors(size: int) -> bool:
    """Whether equations with so many unknowns are solved here."""
    return size >= _LARGE and scipy_linalg_or_none() is not None


def solved_by_factors(a: Tensor, b: Tensor) -> Tensor:
    """The solutions of ``a @ x == b``, of stacks of one shape.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    return _Solve.apply(a, b)[0]


class _Solve(Stacked):
    """The solution, and beside it the factors of the matrix, which no derivative goes through."""

    @staticmethod
    def forward(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        matrices, sides = values(a), values(b)
        names = ("getrf", "getrs")
        getrf, getrs = scipy_linalg("linalg_solve").get_lapack_funcs(names, (matrices, sides))

        def of_one(one: Array, side: Array) -> tuple[Array, ...]:
            packed, pivots, info = making.call(getrf, one)
            if info > 0:
                raise LinAlgError("linalg_solve() got a singular matrix")
            return (
                making.call(getrs, packed, pivots, side)[0] if side.size else side,
                packed,
                pivots,
            )

        size = matrices.shape[-1]
        results = (
            (sides.shape[-2:], sides.dtype),
            ((size, size), matrices.dtype),
            ((size,), np.dtype(np.int32)),
        )
        stack = sides.shape[:-2]
        if stack:
            solution, packed, pivots = each(of_one, stack, results, matrices, sides)
        else:
            # As LAPACK has left them: a copy in the order of C costs as much as a solution.
            solution, packed, pivots = of_one(matrices, sides)
        return constant(solution), constant(packed), constant(pivots)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        a, _ = typing.cast("tuple[Tensor, Tensor]", inputs)
        solution, packed, pivots = typing.cast("tuple[Tensor, ...]", output)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(packed, pivots)
        ctx.save_for_backward(a, solution, packed, pivots)
        ctx.save_for_forward(a, solution)

    @staticmethod
    def backward(
        ctx: Context, grad: Tensor | None, *_: object
    ) -> tuple[Tensor | None, Tensor | None]:
        if grad is None:
            return None, None
        a, solution, packed, pivots = ctx.saved_tensors
        if not is_plain(grad, a, packed):
            # By its factors, which are constants, the result would have no derivative, and no
            # tangent where forward mode differentiates the gradient.
            of_b = F.linalg_solve(adjoint(a), grad)
        else:
            of_b = constant(_by_adjoint(values(packed), values(pivots), values(grad)))
        of_a = F.matmul(F.neg(of_b), adjoint(solution)) if ctx.needs_input_grad[0] else None
        return of_a, of_b

    @staticmethod
    def jvp(
        ctx: Context, of_a: Tensor | None, of_b: Tensor | None
    ) -> tuple[Tensor | None, None, None]:
        a, solution = ctx.saved_tensors
        side = of_b
        if of_a is not None:
            moved = F.matmul(of_a, solution)
            side = F.neg(moved) if side is None else F.sub(side, moved)
        return None if side is None else F.linalg_solve(a, side), None, None


def _by_adjoint(packed: Array, pivots: Array, sides: Array) -> Array:
    """The solutions with the adjoint matrices, by their factors."""
    (getrs,) = scipy_linalg("linalg_solve").get_lapack_funcs(("getrs",), (packed, sides))

    def of_one(one: Array, places: Array, side: Array) -> tuple[Array, ...]:
        return (making.call(getrs, one, places, side, trans=2)[0] if side.size else side,)

    if sides.ndim == 2:
        return of_one(packed, pivots, sides)[0]
    results = ((sides.shape[-2:], sides.dtype),)
    return each(of_one, sides.shape[:-2], results, packed, pivots, sides)[0]

"""Systems of linear equations of three diagonals, as one node of the graph."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from importlib import import_module

import numpy as np

from vtgrad.errors import MissingPackageError
from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.from_data import from_numpy
from vtgrad.tensor.tensor import Tensor

__all__ = ["solve_tridiagonal"]


def solve_tridiagonal(lower: Tensor, middle: Tensor, upper: Tensor, right: Tensor) -> Tensor:
    """The solutions of systems of linear equations, with ``scipy.linalg.solve_banded``.

    Equation i is ``lower[i] s[i - 1] + middle[i] s[i] + upper[i] s[i + 1] = right[i]``. The first
    element of `lower` and the last of `upper` do not count. It is differentiable by all four.

    Parameters
    ----------
    lower, middle, upper : Tensor
        The coefficients, n of each, of one dtype.
    right : Tensor
        The right sides, in columns of n elements.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    """
    return _Tridiagonal.apply(lower, middle, upper, right)


class _Tridiagonal(Function):
    @staticmethod
    def forward(lower: Tensor, middle: Tensor, upper: Tensor, right: Tensor) -> Tensor:
        operands = lower, middle, upper, right
        return from_numpy(_solved(*[resolved(x._impl.array) for x in operands]))

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        lower, middle, upper, _ = typing.cast("tuple[Tensor, ...]", inputs)
        solution = typing.cast("Tensor", output)
        ctx.save_for_backward(lower, middle, upper, solution)
        ctx.save_for_forward(lower, middle, upper, solution)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        lower, middle, upper, solution = ctx.saved_tensors
        # The adjoint has the coefficients of the columns as those of its rows.
        above, below = F.roll(F.conj(lower), -1, -1), F.roll(F.conj(upper), 1, -1)
        adjoint = _Tridiagonal.apply(below, F.conj(middle), above, grad)
        if not any(ctx.needs_input_grad[:3]):
            return None, None, None, adjoint
        conjugates = F.conj(solution)
        return (
            _products(adjoint, F.roll(conjugates, 1, -2), 0),
            _products(adjoint, conjugates, None),
            _products(adjoint, F.roll(conjugates, -1, -2), -1),
            adjoint,
        )

    @staticmethod
    def jvp(
        ctx: FunctionCtx, of_lower: Tensor, of_middle: Tensor, of_upper: Tensor, of_right: Tensor
    ) -> Tensor:
        lower, middle, upper, solution = ctx.saved_tensors
        without_first = F.mul(_column(of_lower), _without(F.roll(solution, 1, -2), 0))
        without_last = F.mul(_column(of_upper), _without(F.roll(solution, -1, -2), -1))
        change = F.mul(_column(of_middle), solution) + without_first + without_last
        return _Tridiagonal.apply(lower, middle, upper, of_right - change)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], *operands: Tensor
    ) -> tuple[Tensor, int]:
        pairs = list(zip(operands, in_dims, strict=True))
        ndims = [x.ndim - (dim is not None) for x, dim in pairs]
        # Dimensions of systems stand in front of those of one system.
        stack = max(*ndims[:3], ndims[3] - 1) - 1
        found = []
        for nr, (x, dim) in enumerate(pairs):
            if dim is not None:
                x = F.movedim(x, dim, 0)
                ones = [1] * (stack - (ndims[nr] - (1 if nr < 3 else 2)))
                x = F.reshape(x, (x.shape[0], *ones, *x.shape[1:]))
            found.append(x)
        lower, middle, upper, right = found
        return _Tridiagonal.apply(lower, middle, upper, right), 0


def _products(adjoint: Tensor, solution: Tensor, left_out: int | None) -> Tensor:
    """The gradient by one of the diagonals."""
    found = F.neg(F.sum_dim_IntList(F.mul(adjoint, solution), (-1,)))
    if left_out is None:
        return found
    return F.squeeze_dim(_without(_column(found), left_out), -1)


def _column(x: Tensor) -> Tensor:
    return F.unsqueeze(x, -1)


def _without(x: Tensor, row: int) -> Tensor:
    """The rows, with zeros in one of them."""
    mask = making.ones((x.shape[-2], 1), x._impl.array.dtype)
    mask[row] = 0
    return F.mul(x, from_numpy(mask))


def _solved(lower: Array, middle: Array, upper: Array, right: Array) -> Array:
    """The solutions; other dimensions broadcast."""
    try:
        solve_banded = import_module("scipy.linalg").solve_banded
    except ImportError:
        raise MissingPackageError(
            "splines need SciPy, the extra 'scipy': pip install scipy", package="scipy"
        ) from None
    size, count = right.shape[-2:]
    bands = np.stack(np.broadcast_arrays(np.roll(upper, 1, -1), middle, np.roll(lower, -1, -1)), -2)
    stack = bands.shape[:-2]
    lead = np.broadcast_shapes(stack, right.shape[:-2])
    bands[..., 0, 0] = bands[..., 2, -1] = 0
    if math.prod(stack) == 1:
        columns = np.moveaxis(right, -2, 0).reshape(size, -1)
        flat = bands.reshape(3, size)
        found: Array = making.call(solve_banded, (1, 1), flat, columns, check_finite=False)
        found = np.moveaxis(found.reshape(size, *right.shape[:-2], count), 0, -2)
        return making.ascontiguousarray(making.broadcast_to(found, (*lead, size, count)))
    bands = making.broadcast_to(bands, (*lead, 3, size))
    right = making.broadcast_to(right, (*lead, size, count))
    result = making.empty(right.shape, right.dtype)
    for index in np.ndindex(lead):
        part = bands[index], right[index]
        result[index] = making.call(solve_banded, (1, 1), *part, check_finite=False)
    return result

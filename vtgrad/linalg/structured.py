"""Banded and Toeplitz matrices, in the form of SciPy, and equations with them."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import LinAlgError, MatrixShapeError
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    common_stack,
    conjugate,
    constant,
    shape_of,
    values,
    with_stack,
)
from vtgrad.linalg.scipy_modules import scipy_linalg
from vtgrad.linalg.stacked import Context, Stacked, are_finite, each
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.functional import block_diag as block_diag
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["block_diag", "solve_banded", "solve_toeplitz", "toeplitz"]


@explained
def toeplitz(c: Tensor, r: Tensor | None = None) -> Tensor:
    """Return matrices whose diagonals are constant.

    Parameters
    ----------
    c : Tensor
        First columns, of shape ``(*, m)``.
    r : Tensor, optional
        First rows, of shape ``(*, n)`` and the dtype of `c`; their first element is not used. By
        default the conjugate of `c`.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, m, n)``.

    Raises
    ------
    MatrixShapeError
        If there is no dimension, or those in front differ.
    DTypeError
        If the dtypes differ.

    Examples
    --------
    >>> vt.linalg.toeplitz(vt.tensor([1, 2, 3]), vt.tensor([1, 4]))
    tensor([[1, 4],
            [2, 1],
            [3, 2]])
    """
    column = _vectors("toeplitz", c, "c")
    row = conjugate(c) if r is None else r
    sizes = _vectors("toeplitz", row, "r")
    check_same_dtype("toeplitz", c, row)
    if column[:-1] != sizes[:-1]:
        raise MatrixShapeError(
            f"toeplitz() got columns and rows that do not fit: shapes {column} and {sizes}",
            shapes=(column, sizes),
        )
    height, width = column[-1], sizes[-1]
    if not height or not width:
        return F.reshape(F.narrow(c, -1, 0, 0), (*column[:-1], height, width))
    diagonals = F.cat([F.flip(F.narrow(row, -1, 1, width - 1), (-1,)), c], -1)
    picked = F.index_select(diagonals, -1, constant(_diagonal_numbers(height, width).ravel()))
    return F.reshape(picked, (*column[:-1], height, width))


def _vectors(name: str, x: Tensor, argument: str) -> tuple[int, ...]:
    array = array_of(x, argument)
    if not array.ndim:
        raise MatrixShapeError(
            f"{name}() needs a vector for {argument}, not a 0-d tensor", shape=()
        )
    shape: tuple[int, ...] = array.shape
    return shape


def _diagonal_numbers(height: int, width: int) -> Array:
    """For each element the number of its diagonal, from the upper right corner on."""
    return making.arange(height)[:, np.newaxis] - making.arange(width) + (width - 1)


@explained
def solve_toeplitz(c_or_cr: Tensor | tuple[Tensor, Tensor], b: Tensor) -> Tensor:
    """Return the solutions ``x`` of ``toeplitz(c, r) @ x == b``, by Levinson's recursion.

    SciPy is needed. The recursion is fast, and less exact than `solve`.

    Parameters
    ----------
    c_or_cr : Tensor or tuple of two Tensor
        First columns, or first columns and rows, as of `toeplitz`: of shape ``(*, n)``.
    b : Tensor
        Right sides of the same dtype: a vector for each matrix, of shape ``(*, n)``, or columns
        ``(*, n, k)``.

    Returns
    -------
    Tensor
        A new tensor of the shape of `b`.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.
    LinAlgError
        If a leading part of a matrix is singular.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> vt.linalg.solve_toeplitz(vt.tensor([2.0, 0.0]), vt.tensor([2.0, 6.0])).tolist()
    [1.0, 3.0]
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, conjugate(c_or_cr))
    column, row = _vectors("solve_toeplitz", c, "c"), _vectors("solve_toeplitz", r, "r")
    sides, is_vector = _sides("solve_toeplitz", b, len(column))
    check_same_dtype("solve_toeplitz", c, r, b)
    shape = check_matrices("solve_toeplitz", sides, "b")
    if column != row or column != shape[:-1]:
        raise MatrixShapeError(
            f"solve_toeplitz() got columns, rows and right sides that do not fit: shapes {column}, "
            f"{row} and {shape_of(b)}",
            shapes=(column, row, shape_of(b)),
        )
    found = _solved_toeplitz(c, r, sides)
    return F.squeeze_dim(found, -1) if is_vector else found


def _sides(name: str, b: Tensor, ndim: int) -> tuple[Tensor, bool]:
    """Right sides as columns, and whether they were vectors."""
    if array_of(b, "b").ndim == ndim:
        return F.unsqueeze(b, -1), True
    return b, False


def _solved_toeplitz(c: Tensor, r: Tensor, b: Tensor) -> Tensor:
    return _SolveToeplitz.apply(c, r, b)


class _SolveToeplitz(Stacked):
    """``T @ dx == db - dT @ x``, and the adjoint equation for gradients."""

    @staticmethod
    def forward(c: Tensor, r: Tensor, b: Tensor) -> Tensor:
        call = scipy_linalg("solve_toeplitz").solve_toeplitz
        column, row, side = values(c), values(r), values(b)

        def of_one(x: Array, y: Array, z: Array) -> tuple[Array, ...]:
            if not are_finite(x, y, z):
                return (making.full(z.shape, np.nan),)
            try:
                return (making.call(call, (x, y), z) if z.size else z,)
            except np.linalg.LinAlgError:
                raise LinAlgError(
                    "solve_toeplitz() got a matrix of which a leading part is singular"
                ) from None

        results = ((side.shape[-2:], side.dtype),)
        return constant(each(of_one, side.shape[:-2], results, column, row, side)[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        c, r, _ = typing.cast("tuple[Tensor, Tensor, Tensor]", inputs)
        solution = typing.cast("Tensor", output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(c, r, solution)
        ctx.save_for_forward(c, r, solution)

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None
        c, r, solution = ctx.saved_tensors
        size = shape_of(c)[-1]
        rest = F.narrow(r, -1, 1, max(size - 1, 0)) if size else r
        first = F.narrow(c, -1, 0, min(size, 1))
        of_b = _solved_toeplitz(conjugate(F.cat([first, rest], -1)), conjugate(c), grad)
        whole = F.neg(F.matmul(of_b, adjoint(solution)))
        flat = F.reshape(whole, (*shape_of(c)[:-1], size * size))
        places = constant(_diagonal_numbers(size, size).ravel())
        zeros = constant(
            making.zeros((*shape_of(c)[:-1], max(2 * size - 1, 0)), c._impl.array.dtype)
        )
        sums = F.index_add(zeros, -1, places, flat)
        of_c = F.narrow(sums, -1, max(size - 1, 0), size)
        of_rest = F.flip(F.narrow(sums, -1, 0, max(size - 1, 0)), (-1,))
        return of_c, F.cat([F.zeros_like(first), of_rest], -1), of_b

    @staticmethod
    def jvp(
        ctx: Context, of_c: Tensor | None, of_r: Tensor | None, of_b: Tensor | None
    ) -> Tensor | None:
        c, r, solution = ctx.saved_tensors
        side = of_b
        if of_c is not None or of_r is not None:
            column = F.zeros_like(c) if of_c is None else of_c
            row = F.zeros_like(r) if of_r is None else of_r
            moved = F.matmul(toeplitz(column, row), solution)
            side = F.neg(moved) if side is None else F.sub(side, moved)
        return None if side is None else _solved_toeplitz(c, r, side)


@explained
def solve_banded(l_and_u: tuple[int, int], ab: Tensor, b: Tensor) -> Tensor:
    """Return the solutions ``x`` of equations with banded matrices, as `scipy.linalg.solve_banded`.

    SciPy is needed.

    Parameters
    ----------
    l_and_u : tuple of two int
        How many diagonals there are below the main one, and above it.
    ab : Tensor
        The diagonals, of shape ``(*, l + u + 1, n)``: element ``[u + i - j, j]`` is element
        ``[i, j]`` of the matrix.
    b : Tensor
        Right sides of the same dtype: a vector for each matrix, of shape ``(*, n)``, or columns
        ``(*, n, k)``.

    Returns
    -------
    Tensor
        A new tensor of the shape of `b`.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.
    LinAlgError
        If a matrix is singular.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> band = vt.tensor([[0.0, 1.0], [2.0, 2.0]])
    >>> vt.linalg.solve_banded((0, 1), band, vt.tensor([3.0, 2.0])).tolist()
    [1.0, 1.0]
    """
    below, above = l_and_u
    shape = check_matrices("solve_banded", ab, "ab")
    sides, is_vector = _sides("solve_banded", b, len(shape) - 1)
    right = check_matrices("solve_banded", sides, "b")
    check_same_dtype("solve_banded", ab, b)
    if below < 0 or above < 0 or shape[-2] != below + above + 1 or right[-2] != shape[-1]:
        raise MatrixShapeError(
            f"solve_banded() got {below} and {above} diagonals, which do not fit the "
            f"shapes {shape} and {shape_of(b)}",
            shapes=(shape, shape_of(b)),
        )
    stack = common_stack("solve_banded", shape, right)
    found = _solved_banded(with_stack(ab, stack), with_stack(sides, stack), below, above)
    return F.squeeze_dim(found, -1) if is_vector else found


def _solved_banded(band: Tensor, b: Tensor, below: int, above: int) -> Tensor:
    return _SolveBanded.apply(band, b, below, above)


def _places(count: int, size: int, shift: int, sign: int) -> tuple[Tensor, Tensor]:
    """For row r and column j the place ``j + sign * (r - shift)``, and where there is none."""
    rows = making.arange(count)[:, np.newaxis] - shift
    places = making.arange(size) + sign * rows
    outside = (places < 0) | (places >= size)
    return constant(np.where(outside, 0, places)), constant(outside)


def _shifted(band: Tensor, shift: int, sign: int) -> Tensor:
    """Each row of a band shifted by its number, with zeros where nothing is."""
    places, outside = _places(shape_of(band)[-2], shape_of(band)[-1], shift, sign)
    return F.masked_fill(F.gather(band, -1, F.expand(places, shape_of(band))), outside, 0)


def _rows_for_band(x: Tensor, count: int, shift: int, sign: int) -> Tensor:
    """For each row of a band and each column the row of `x` that meets it; zeros if none does."""
    *stack, size, width = shape_of(x)
    places, outside = _places(count, size, shift, sign)
    picked = F.index_select(x, -2, F.reshape(places, (count * size,)))
    whole = F.reshape(picked, (*stack, count, size, width))
    return F.masked_fill(whole, F.unsqueeze(outside, -1), 0)


class _SolveBanded(Stacked):
    """``A @ dx == db - dA @ x``, and the adjoint equation for gradients."""

    @staticmethod
    def forward(band: Tensor, b: Tensor, below: int, above: int) -> Tensor:
        call = scipy_linalg("solve_banded").solve_banded
        diagonals, side = values(band), values(b)

        def of_one(x: Array, y: Array) -> tuple[Array, ...]:
            if not y.size:
                return (y,)
            if not are_finite(x, y):
                return (making.full(y.shape, np.nan),)
            try:
                return (making.call(call, (below, above), x, y),)
            except np.linalg.LinAlgError:
                raise LinAlgError("solve_banded() got a singular matrix") from None

        results = ((side.shape[-2:], side.dtype),)
        return constant(each(of_one, side.shape[:-2], results, diagonals, side)[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        band, _, below, above = typing.cast("tuple[Tensor, Tensor, int, int]", inputs)
        solution = typing.cast("Tensor", output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(band, solution)
        ctx.save_for_forward(band, solution)
        ctx.diagonals = below, above

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None, None
        band, solution = ctx.saved_tensors
        below, above = ctx.diagonals
        # Row r of the adjoint's band is the opposite row, shifted.
        turned = conjugate(_shifted(F.flip(band, (-2,)), below, 1))
        of_b = _solved_banded(turned, grad, above, below)
        met = _rows_for_band(of_b, below + above + 1, above, 1)
        products = F.mul(met, conjugate(F.unsqueeze(solution, -3)))
        return F.neg(F.sum_dim_IntList(products, (-1,))), of_b, None, None

    @staticmethod
    def jvp(ctx: Context, of_band: Tensor | None, of_b: Tensor | None, *_: object) -> Tensor | None:
        band, solution = ctx.saved_tensors
        below, above = ctx.diagonals
        side = of_b
        if of_band is not None:
            met = _rows_for_band(solution, below + above + 1, above, -1)
            parts = F.mul(F.unsqueeze(_shifted(of_band, above, -1), -1), met)
            moved = F.sum_dim_IntList(parts, (-3,))
            side = F.neg(moved) if side is None else F.sub(side, moved)
        return None if side is None else _solved_banded(band, side, below, above)

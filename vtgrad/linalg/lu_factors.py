"""Triangular factors of general matrices, with exchanged rows: SciPy's LAPACK."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import DTypeError, MatrixShapeError, NotSupportedError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.linalg.infos import raise_for
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    check_square,
    columns_of,
    common_stack,
    constant,
    rows_of,
    shape_of,
    stored,
    stored_all,
    values,
    with_stack,
)
from vtgrad.linalg.results import LUFactorExResult, LUFactorResult, LUResult
from vtgrad.linalg.scipy_modules import scipy_linalg
from vtgrad.linalg.stacked import Context, Stacked, each
from vtgrad.linalg.triangular import solved
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["lu", "lu_factor", "lu_factor_ex", "lu_solve", "lu_unpack"]


@explained
def lu(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor, Tensor] | None = None
) -> LUResult:
    """Return triangular factors of matrices, ``P @ L @ U == A``.

    SciPy is needed. The factors have derivatives where the first ``min(m, n)`` columns of a matrix
    are independent.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    pivot : bool, default True
        Whether rows are exchanged; there is no other way.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    P : Tensor
        Permutations, of shape ``(*, m, m)`` and the dtype of `A`.
    L : Tensor
        Lower triangular with ones on the diagonal, of shape ``(*, m, min(m, n))``.
    U : Tensor
        Upper triangular, of shape ``(*, min(m, n), n)``.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    NotSupportedError
        If `pivot` is false.
    MissingPackageError
        If SciPy is not installed.

    Examples
    --------
    >>> p, l, u = vt.linalg.lu(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> p.tolist(), u.tolist()
    ([[0.0, 1.0], [1.0, 0.0]], [[4.0, 6.0], [0.0, 2.0]])
    """
    shape = check_matrices("linalg_lu", A)
    packed, _, order, _ = _factored("linalg_lu", A, pivot)
    return stored_all("linalg_lu", _unpacked(packed, order, shape[-2]), out, A)


@explained
def lu_factor(
    A: Tensor, *, pivot: bool = True, out: tuple[Tensor, Tensor] | None = None
) -> LUFactorResult:
    """Return the factors of `lu` in one matrix, as `lu_solve` takes them.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    pivot : bool, default True
        Whether rows are exchanged; there is no other way.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    LU : Tensor
        ``U``, and below its diagonal ``L`` without its own.
    pivots : Tensor
        With which row each was exchanged, counted from 1; int32, of shape ``(*, min(m, n))``.

    Raises
    ------
    LinAlgError
        If ``U`` has a zero on the diagonal, so that equations could not be solved by it.
    MatrixShapeError, DTypeError, NotSupportedError, MissingPackageError
        As of `lu`.

    Examples
    --------
    >>> found = vt.linalg.lu_factor(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> found.LU.tolist(), found.pivots.tolist()
    ([[4.0, 6.0], [0.0, 2.0]], [2, 2])
    """
    found = lu_factor_ex(A, pivot=pivot, check_errors=True)
    return stored_all("linalg_lu_factor", LUFactorResult(found.LU, found.pivots), out, A)


@explained
def lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LUFactorExResult:
    """Return the results of `lu_factor`, and which matrices have a zero pivot.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    pivot : bool, default True
        Whether rows are exchanged; there is no other way.
    check_errors : bool, default False
        Whether to raise if there is a zero pivot.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    LU, pivots : Tensor
        As of `lu_factor`.
    info : Tensor
        For each matrix 0, or the number of the first pivot that is zero; int32.

    Raises
    ------
    LinAlgError
        With `check_errors`, if ``U`` has a zero on the diagonal.
    MatrixShapeError, DTypeError, NotSupportedError, MissingPackageError
        As of `lu`.

    Examples
    --------
    >>> vt.linalg.lu_factor_ex(vt.tensor([[1.0, 1.0], [1.0, 1.0]])).info
    tensor(2, dtype=vtgrad.int32)
    """
    check_matrices("linalg_lu_factor", A)
    message = "linalg_lu_factor() got a singular matrix: U has a zero on its diagonal"
    packed, pivots, _, info = _factored(
        "linalg_lu_factor", A, pivot, message if check_errors else ""
    )
    return stored_all("linalg_lu_factor_ex", LUFactorExResult(packed, pivots, info), out, A)


@explained
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LUResult:
    """Return the factors of `lu` from the results of `lu_factor`.

    Parameters
    ----------
    LU_data, LU_pivots : Tensor
        The results of `lu_factor`.
    unpack_data, unpack_pivots : bool, default True
        Whether ``L`` and ``U``, and whether ``P`` is wanted. What is not has no elements.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    P, L, U : Tensor
        As of `lu`.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions, or the shapes do not fit.
    DTypeError
        If the pivots are not int32.

    Examples
    --------
    >>> found = vt.linalg.lu_factor(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> p, l, u = vt.lu_unpack(*found)
    >>> (p @ l @ u).tolist()
    [[0.0, 2.0], [4.0, 6.0]]
    """
    shape = check_matrices("lu_unpack", LU_data, "LU_data")
    none = constant(making.empty(0, LU_data._impl.array.dtype))
    found = LUResult(none, none, none)
    if unpack_pivots:
        _check_pivots("lu_unpack", LU_pivots, (*shape[:-2], min(shape[-2:])))
        order = _order(LU_pivots, shape[-2])
        found = found._replace(P=_permutation(order, LU_data))
    if unpack_data:
        found = found._replace(L=_lower(LU_data), U=_upper(LU_data))
    return stored_all("lu_unpack", found, out, LU_data)


@explained
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == B``, where the factors of ``A`` are known.

    Parameters
    ----------
    LU, pivots : Tensor
        The results of `lu_factor` of square matrices.
    B : Tensor
        The right sides, of shape ``(*, n, k)``, or ``(*, k, n)`` if not `left`. The dimensions in
        front broadcast.
    left : bool, default True
        Whether to solve ``A @ X == B``; else ``X @ A == B``.
    adjoint : bool, default False
        Whether to take the adjoint of ``A`` for ``A``.
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
        If the dtypes differ, or are not float32, float64 or complex; if pivots are not int32.

    Examples
    --------
    >>> found = vt.linalg.lu_factor(vt.tensor([[0.0, 2.0], [4.0, 6.0]]))
    >>> vt.linalg.lu_solve(*found, vt.tensor([[2.0], [10.0]])).tolist()
    [[1.0], [1.0]]
    """
    name = "linalg_lu_solve"
    factors = check_square(name, LU, "LU")
    right = check_matrices(name, B, "B")
    check_same_dtype(name, LU, B)
    _check_pivots(name, pivots, factors[:-1])
    if right[-2 if left else -1] != factors[-1]:
        raise MatrixShapeError(
            f"{name}() cannot solve for right sides of shape {right} with factors of shape "
            f"{factors}",
            shapes=(factors, right),
        )
    stack = common_stack(name, factors, right)
    packed, b = with_stack(LU, stack), with_stack(B, stack)
    order = _order(with_stack(pivots, stack, 1), factors[-1])
    if left:
        found = _solved(packed, order, b, adjoint)
    else:
        turned = _adjoint(b)
        found = _adjoint(_solved(packed, order, turned, not adjoint))
    return stored(name, found, out, LU, B)


# The functions of this module have an argument of this name.
_adjoint = adjoint


def _solved(packed: Tensor, order: Tensor, b: Tensor, of_adjoint: bool) -> Tensor:
    if of_adjoint:
        inner = solved(_adjoint(packed), b, False)
        found = solved(_adjoint(packed), inner, True, True)
        return _with_rows(found, _inverse(order))
    inner = solved(packed, _with_rows(b, order), False, True)
    return solved(packed, inner, True)


def _check_pivots(name: str, pivots: Tensor, shape: tuple[int, ...]) -> None:
    refuse_names(name, pivots)
    array = pivots._impl.array
    if array.dtype != np.int32:
        raise DTypeError(f"{name}() needs pivots of dtype int32, not {array.dtype}")
    if array.shape != shape:
        raise MatrixShapeError(
            f"{name}() needs pivots of shape {shape}, not {array.shape}", shape=array.shape
        )


def _lower(packed: Tensor) -> Tensor:
    height, width = shape_of(packed)[-2:]
    count = min(height, width)
    unit = constant(making.eye(height, count, dtype=packed._impl.array.dtype))
    return F.add(F.tril(columns_of(packed, 0, count), -1), unit)


def _upper(packed: Tensor) -> Tensor:
    return F.triu(rows_of(packed, 0, min(shape_of(packed)[-2:])))


def _unpacked(packed: Tensor, order: Tensor, height: int) -> LUResult:
    return LUResult(_permutation(order, packed), _lower(packed), _upper(packed))


def _permutation(order: Tensor, like: Tensor) -> Tensor:
    """The matrices ``P`` with ``P @ x`` having row r of x in place ``order[r]``."""
    places = constant(making.arange(shape_of(order)[-1]))
    ones = F.eq(F.unsqueeze(places, -1), F.unsqueeze(order, -2))
    return F.to_dtype(ones, like._impl.array.dtype)


def _with_rows(x: Tensor, order: Tensor) -> Tensor:
    """Row ``order[r]`` in place r."""
    index = F.expand(F.unsqueeze(order, -1), shape_of(x))
    return F.gather(x, -2, index)


def _inverse(order: Tensor) -> Tensor:
    return F.argsort(order, -1)


def _order(pivots: Tensor, height: int) -> Tensor:
    """Which row of a matrix each row of its factors stems from."""
    return _Order.apply(pivots, height)


def _order_of(pivots: Array, height: int) -> Array:
    order = making.broadcast_to(making.arange(height), (*pivots.shape[:-1], height)).copy()
    for place in range(pivots.shape[-1]):
        other = pivots[..., place, np.newaxis].astype(np.int64) - 1
        here = order[..., place, np.newaxis].copy()
        order[..., place, np.newaxis] = np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, here, -1)
    return order


class _Order(Stacked):
    """Whole numbers, which have no derivative."""

    @staticmethod
    def forward(pivots: Tensor, height: int) -> Tensor:
        return constant(_order_of(values(pivots), height))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.mark_non_differentiable(typing.cast("Tensor", output))


def _factored(
    name: str, x: Tensor, pivot: bool, message: str = ""
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if not pivot:
        raise NotSupportedError(f"{name}() has no way without exchanged rows; leave pivot=True")
    return _Factor.apply(x, name, message)


class _Factor(Stacked):
    """Factors in one matrix, the pivots, the order of rows, and which pivot is zero.

    With the rows in order, ``A == L @ U``. Of a wide matrix the columns of U behind the square part
    are ``inv(L) @ A``, and of a tall one the rows of L below it are ``A @ inv(U)``.
    """

    @staticmethod
    def forward(x: Tensor, name: str, message: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        matrices = values(x)
        (getrf,) = scipy_linalg(name).get_lapack_funcs(("getrf",), (matrices,))
        *stack, height, width = matrices.shape
        count = min(height, width)

        def of_one(one: Array) -> tuple[Array, ...]:
            if not one.size:
                return one, making.zeros(count, np.int32), making.zeros((), np.int32)
            packed, pivots, info = making.call(getrf, one)
            return packed, pivots + 1, making.asarray(max(info, 0))

        whole = np.dtype(np.int32)
        results = (((height, width), matrices.dtype), ((count,), whole), ((), whole))
        packed, pivots, info = each(of_one, tuple(stack), results, matrices)
        raise_for(info, message)
        order = _order_of(pivots, height)
        return constant(packed), constant(pivots), constant(order), constant(info)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        packed, pivots, order, info = typing.cast("tuple[Tensor, ...]", output)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(pivots, order, info)
        ctx.save_for_backward(packed, order)
        ctx.save_for_forward(packed, order)

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None, *_: object) -> tuple[Tensor | None, None, None]:
        if grad is None:
            return None, None, None
        packed, order = ctx.saved_tensors
        height, width = shape_of(packed)[-2:]
        count = min(height, width)
        square = rows_of(columns_of(packed, 0, count), 0, count)
        of_square = rows_of(columns_of(grad, 0, count), 0, count)
        of_l, of_u = F.tril(of_square, -1), F.triu(of_square)
        lower, upper = _lower(square), F.triu(square)
        rest: Tensor | None = None
        if width > count:
            right = columns_of(packed, count, width)
            rest = solved(adjoint(lower), columns_of(grad, count, width), True, True)
            of_l = F.sub(of_l, F.tril(F.matmul(rest, adjoint(right)), -1))
        elif height > count:
            below = rows_of(packed, count, height)
            rest = _divided(rows_of(grad, count, height), adjoint(upper), False)
            of_u = F.sub(of_u, F.triu(F.matmul(adjoint(below), rest)))
        inner = F.add(
            F.tril(F.matmul(adjoint(lower), of_l), -1), F.triu(F.matmul(of_u, adjoint(upper)))
        )
        found = _divided(solved(adjoint(lower), inner, True, True), adjoint(upper), False)
        if rest is not None:
            found = F.cat([found, rest], -1 if width > count else -2)
        return _with_rows(found, _inverse(order)), None, None

    @staticmethod
    def jvp(ctx: Context, tangent: Tensor | None, *_: object) -> tuple[Tensor | None, ...]:
        if tangent is None:
            return None, None, None, None
        packed, order = ctx.saved_tensors
        moved = _with_rows(tangent, order)
        height, width = shape_of(packed)[-2:]
        count = min(height, width)
        square = rows_of(columns_of(packed, 0, count), 0, count)
        lower, upper = _lower(square), F.triu(square)
        inner = rows_of(columns_of(moved, 0, count), 0, count)
        inner = _divided(solved(lower, inner, False, True), upper, True)
        of_l = F.matmul(lower, F.tril(inner, -1))
        of_u = F.matmul(F.triu(inner), upper)
        found = F.add(of_l, of_u)
        if width > count:
            right = columns_of(packed, count, width)
            rest = F.sub(columns_of(moved, count, width), F.matmul(of_l, right))
            found = F.cat([found, solved(lower, rest, False, True)], -1)
        elif height > count:
            below = rows_of(packed, count, height)
            rest = F.sub(rows_of(moved, count, height), F.matmul(below, of_u))
            found = F.cat([found, _divided(rest, upper, True)], -2)
        return found, None, None, None


def _divided(x: Tensor, triangle: Tensor, upper: bool) -> Tensor:
    """``x @ inv(triangle)``."""
    return F.transpose(
        solved(F.transpose(triangle, -2, -1), F.transpose(x, -2, -1), not upper), -2, -1
    )

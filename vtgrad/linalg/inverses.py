"""Inverses, and linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from vtgrad.errors import MatrixShapeError, OptionValueError
from vtgrad.linalg.factored_solve import keeps_factors, solved_by_factors
from vtgrad.linalg.infos import INVERSE, info_of, with_nan, without_failing
from vtgrad.linalg.matrices import (
    check_same_dtype,
    check_square,
    common_stack,
    shape_of,
    stored,
    stored_all,
    transposed,
    with_stack,
)
from vtgrad.linalg.results import InvExResult, SolveExResult
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.linalg.matrices import is_vector_side
from vtgrad.storage.shapes import normalize_dim
from vtgrad.tensor.tensor import Tensor

__all__ = ["inv", "inv_ex", "solve", "solve_ex", "tensorinv", "tensorsolve"]


@explained
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverses of square matrices.

    Equations are solved by `solve`, which is faster and more exact than a product with the inverse.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `A`.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.

    Examples
    --------
    >>> vt.linalg.inv(vt.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return F.linalg_inv(A, out=out)


@explained
def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> InvExResult:
    """Return the inverses of square matrices, and which matrices are singular.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    check_errors : bool, default False
        Whether to raise if a matrix is singular.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    inverse : Tensor
        The inverses; nan for a singular matrix.
    info : Tensor
        For each matrix 0, or the number of the first pivot that is zero; int32.

    Raises
    ------
    LinAlgError
        With `check_errors`, if a matrix is singular.

    Examples
    --------
    >>> vt.linalg.inv_ex(vt.tensor([[1.0, 1.0], [1.0, 1.0]])).info
    tensor(2, dtype=vtgrad.int32)
    """
    check_square("linalg_inv_ex", A)
    message = "linalg_inv_ex() cannot invert a singular matrix"
    info = info_of(A, INVERSE, message if check_errors else "")
    found = InvExResult(with_nan(F.linalg_inv(without_failing(A, info)), info), info)
    return stored_all("linalg_inv_ex", found, out, A)


@explained
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor:
    """Return the solutions ``X`` of linear equations ``A @ X == B``.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    B : Tensor
        Right sides of the dtype of `A`: a vector for each matrix, of shape ``(n,)`` or ``(*, n)``,
        or the columns of matrices ``(*, n, k)``; rows of ``(*, k, n)`` if not `left`.
    left : bool, default True
        Whether to solve ``A @ X == B``; else ``X @ A == B``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of the shape of `B`, with the dimensions in front broadcast.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    MatrixShapeError
        If the shapes do not fit; if `B` is vectors, and `left` is false.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.

    Examples
    --------
    >>> vt.linalg.solve(vt.tensor([[2.0, 0.0], [0.0, 4.0]]), vt.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    shape = array_of(A, "A").shape
    if left and not (shape and keeps_factors(shape[-1])):
        return F.linalg_solve(A, B, out=out)
    return stored("linalg_solve", _solved(A, B, left), out, A, B)


@explained
def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> SolveExResult:
    """Return the solutions of linear equations, and which matrices are singular.

    Parameters
    ----------
    A, B : Tensor
        Matrices and right sides, as of `solve`.
    left : bool, default True
        As of `solve`.
    check_errors : bool, default False
        Whether to raise if a matrix is singular.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    result : Tensor
        The solutions; nan for a singular matrix.
    info : Tensor
        For each matrix 0, or the number of the first pivot that is zero; int32.

    Raises
    ------
    LinAlgError
        With `check_errors`, if a matrix is singular.

    Examples
    --------
    >>> found = vt.linalg.solve_ex(vt.tensor([[2.0]]), vt.tensor([3.0]))
    >>> found.result, found.info
    (tensor([1.5000]), tensor(0, dtype=vtgrad.int32))
    """
    check_square("linalg_solve_ex", A)
    message = "linalg_solve_ex() got a singular matrix"
    info = info_of(A, INVERSE, message if check_errors else "")
    right = _solved(without_failing(A, info), B, left)
    fails = F.unsqueeze(F.ne(info, 0), -1)
    if not is_vector_side(shape_of(A), shape_of(B)):
        fails = F.unsqueeze(fails, -1)
    found = SolveExResult(F.masked_fill(right, fails, float("nan")), info)
    return stored_all("linalg_solve_ex", found, out, A, B)


def _solved(A: Tensor, B: Tensor, left: bool) -> Tensor:
    if left:
        return _solved_left(A, B)
    a = check_square("linalg_solve", A)
    check_same_dtype("linalg_solve", A, B)
    b = shape_of(B)
    if is_vector_side(a, b):
        raise MatrixShapeError(
            f"linalg_solve() with left=False needs matrices, not vectors of shape {b}", shape=b
        )
    if len(b) < 2 or b[-1] != a[-1]:
        raise MatrixShapeError(
            f"linalg_solve() cannot solve for left sides of shape {b} with matrices of shape {a}",
            shapes=(a, b),
        )
    right = transposed(B)
    if is_vector_side(a, shape_of(right)):
        # By its shape alone it would be taken for vectors.
        return F.squeeze_dim(
            transposed(F.linalg_solve(transposed(F.unsqueeze(A, 0)), F.unsqueeze(right, 0))), 0
        )
    return transposed(F.linalg_solve(transposed(A), right))


def _solved_left(A: Tensor, B: Tensor) -> Tensor:
    a, b = shape_of(A), shape_of(B)
    is_vector = is_vector_side(a, b)
    right = (*b, 1) if is_vector else b
    fits = len(a) > 1 and len(right) > 1 and a[-2] == a[-1] == right[-2]
    if not fits or not keeps_factors(a[-1]) or A._impl.array.dtype != B._impl.array.dtype:
        return F.linalg_solve(A, B)
    check_square("linalg_solve", A)
    stack = common_stack("linalg_solve", a, right)
    sides = F.unsqueeze(B, -1) if is_vector else B
    found = solved_by_factors(with_stack(A, stack), with_stack(sides, stack))
    return F.squeeze_dim(found, -1) if is_vector else found


@explained
def tensorsolve(
    A: Tensor, B: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the solution ``X`` of ``tensordot(A, X, X.ndim) == B``.

    Parameters
    ----------
    A : Tensor
        Of shape ``B.shape + X.shape``; the two have as many elements.
    B : Tensor
        The right side.
    dims : sequence of int, optional
        Dimensions of `A` that are moved to its end first.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    LinAlgError
        If the equations are singular.
    MatrixShapeError
        If there are not as many equations as unknowns.

    Examples
    --------
    >>> vt.linalg.tensorsolve(2 * vt.eye(4).reshape(2, 2, 4), vt.ones(2, 2))
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    shape = shape_of(A)
    x = A
    if dims is not None:
        moved = [normalize_dim(dim, len(shape)) for dim in dims]
        x = F.movedim(A, moved, tuple(range(len(shape) - len(moved), len(shape))))
    unknowns = shape_of(x)[len(shape_of(B)) :]
    size = prod(unknowns)
    if size != prod(shape_of(B)) or prod(shape) != size * size:
        raise MatrixShapeError(
            f"linalg_tensorsolve() needs as many equations as unknowns, not tensors of shapes "
            f"{shape} and {shape_of(B)}",
            shapes=(shape, shape_of(B)),
        )
    found = F.linalg_solve(F.reshape(x, (size, size)), F.reshape(B, (size,)))
    return stored("linalg_tensorsolve", F.reshape(found, unknowns), out, A, B)


@explained
def tensorinv(A: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of the linear map ``X -> tensordot(A, X, X.ndim)``.

    Parameters
    ----------
    A : Tensor
        The map; its first `ind` dimensions have as many elements as the others.
    ind : int, default 2
        How many dimensions the results of the map have.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of shape ``A.shape[ind:] + A.shape[:ind]``.

    Raises
    ------
    LinAlgError
        If the map has no inverse.
    MatrixShapeError
        If it is not square.
    OptionValueError
        If `ind` is not positive.

    Examples
    --------
    >>> vt.linalg.tensorinv(vt.eye(6).reshape(2, 3, 6)).shape
    vtgrad.Size([6, 2, 3])
    """
    if ind <= 0:
        raise OptionValueError(
            f"linalg_tensorinv() needs a positive ind, not {ind}", argument="ind"
        )
    shape = shape_of(A)
    first, last = shape[:ind], shape[ind:]
    if prod(first) != prod(last):
        raise MatrixShapeError(
            f"linalg_tensorinv() needs a square map, not one of shape {last} to {first}",
            shape=shape,
        )
    size = prod(last)
    found = F.reshape(F.linalg_inv(F.reshape(A, (size, size))), (*last, *first))
    return stored("linalg_tensorinv", found, out, A)

"""Pseudoinverses, least squares solutions and ranks.

Note [Derivatives of pseudoinverses]
Where the rank of a matrix stays the same, its pseudoinverse has a derivative: Golub and Pereyra,
1973. Where a matrix has not full rank, the pseudoinverse jumps as soon as the rank changes; the
derivative is then that along the changes that keep the rank.
"""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import LinAlgError, MatrixShapeError, OptionValueError
from vtgrad.linalg.matrices import (
    adjoint,
    check_matrices,
    check_same_dtype,
    check_square,
    common_stack,
    conjugate,
    constant,
    epsilon,
    real_of,
    shape_of,
    stored,
    values,
    with_stack,
)
from vtgrad.linalg.results import LstSqResult
from vtgrad.linalg.stacked import Context, Stacked, each
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.shapes import broadcast_shapes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.tensor.tensor import Tensor

__all__ = ["lstsq", "matrix_rank", "pinv"]


# LAPACK's routines for least squares; all find the same where the columns are independent.
_DRIVERS: typing.Final = ("gels", "gelsy", "gelsd", "gelss")


@explained
def pinv(
    A: Tensor,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the pseudoinverses of matrices.

    Where a matrix has not full rank, the gradient is that along changes that keep the rank; with
    `hermitian` it is that along Hermitian changes.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    atol, rtol : float or Tensor, optional
        Singular values up to ``max(atol, rtol * largest)`` are taken for 0. A tensor has a number
        for each matrix. By default `atol` is 0, and `rtol` is ``max(m, n)`` times the distance
        from 1 to the next number, or 0 if a positive `atol` is given.
    hermitian : bool, default False
        Whether the matrices are Hermitian; then the lower triangles are read.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*, n, m)``.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions; with `hermitian`, if the matrices are not square.
    DTypeError
        If the dtype is not float32, float64 or complex.
    ShapeError
        If the shapes of the tolerances and the matrices do not broadcast.
    LinAlgError
        If singular values are not found, as of nan.

    Examples
    --------
    >>> vt.linalg.pinv(vt.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    shape = (check_square if hermitian else check_matrices)("linalg_pinv", A)
    matrices, least, relative = _with_tolerances("linalg_pinv", A, shape, atol, rtol)
    found = _Pinv.apply(matrices, least, relative, hermitian)
    return stored("linalg_pinv", found, out, A)


@explained
def matrix_rank(
    A: Tensor,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return the ranks of matrices, which have no derivative.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    atol, rtol : float or Tensor, optional
        How many singular values are larger than ``max(atol, rtol * largest)`` is counted; see
        `pinv`.
    hermitian : bool, default False
        Whether the matrices are Hermitian; then the lower triangles are read.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new tensor of shape ``(*)``, int64.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions; with `hermitian`, if the matrices are not square.
    DTypeError
        If the dtype is not float32, float64 or complex.
    ShapeError
        If the shapes of the tolerances and the matrices do not broadcast.

    Examples
    --------
    >>> vt.linalg.matrix_rank(vt.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    shape = (check_square if hermitian else check_matrices)("linalg_matrix_rank", A)
    matrices, least, relative = _with_tolerances(
        "linalg_matrix_rank", F.detach(A), shape, atol, rtol
    )
    found = _Rank.apply(matrices, least, relative, hermitian)
    return stored("linalg_matrix_rank", found, out)


@explained
def lstsq(
    A: Tensor, B: Tensor, *, rcond: float | None = None, driver: str | None = None
) -> LstSqResult:
    """Return the solutions of least squares problems, of least length.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    B : Tensor
        Right sides of the dtype of `A`: the columns of ``(*, m, k)``, or a vector for each matrix,
        of shape ``(*, m)``.
    rcond : float, optional
        Singular values up to `rcond` times the largest are taken for 0. By default ``max(m, n)``
        times the distance from 1 to the next number.
    driver : {"gelsy", "gels", "gelsd", "gelss"}, default "gelsy"
        Which of the further results there are, as in PyTorch. The solution is always found by
        singular values.

    Returns
    -------
    solution : Tensor
        Of shape ``(*, n, k)``, or ``(*, n)``.
    residuals : Tensor
        The sums of squares that are left over, of shape ``(*, k)``; without elements unless
        ``m > n`` and all matrices have full rank, and for the driver ``"gelsy"``.
    rank : Tensor
        Of shape ``(*)``, int64; without elements for the driver ``"gels"``.
    singular_values : Tensor
        Of shape ``(*, min(m, n))``, which have no derivative here; without elements for the
        drivers ``"gels"`` and ``"gelsy"``.

    Raises
    ------
    MatrixShapeError
        If the shapes do not fit.
    DTypeError
        If the dtypes differ, or are not float32, float64 or complex.
    OptionValueError
        If there is no such driver.
    LinAlgError
        If singular values are not found, as of nan.

    Examples
    --------
    >>> a = vt.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dtype=vt.float64)
    >>> vt.linalg.lstsq(a, vt.tensor([1.0, 3.0, 5.0], dtype=vt.float64)).solution.round(decimals=9)
    tensor([1., 2.], dtype=vtgrad.float64)
    """
    driver = "gelsy" if driver is None else driver
    if driver not in _DRIVERS:
        raise OptionValueError(
            f"linalg_lstsq() has the drivers {_DRIVERS}, not {driver!r}", argument="driver"
        )
    left = check_matrices("linalg_lstsq", A)
    dtype = check_same_dtype("linalg_lstsq", A, B)
    right = shape_of(B)
    is_vector = len(right) == 1 or right == left[:-1]
    b = F.unsqueeze(B, -1) if is_vector else B
    if len(shape_of(b)) < 2 or shape_of(b)[-2] != left[-2]:
        raise MatrixShapeError(
            f"linalg_lstsq() cannot solve for right sides of shape {right} with matrices of shape "
            f"{left}",
            shapes=(left, right),
        )
    stack = common_stack("linalg_lstsq", left, shape_of(b))
    height, width = left[-2:]
    limit = max(height, width) * epsilon(dtype) if rcond is None else float(rcond)
    a, b = with_stack(A, stack), with_stack(b, stack)
    solution, rank, sizes, fits = _LeastSquares.apply(a, b, limit)
    none = constant(making.empty(0, sizes._impl.array.dtype))
    # In PyTorch it requires grad, too.
    residuals = F.narrow(F.reshape(real_of(solution), (-1,)), 0, 0, 0)
    if height > width and shape_of(fits)[-1] and driver != "gelsy":
        left_over = F.sub(b, F.matmul(a, solution))
        squares = F.mul(conjugate(left_over), left_over)
        residuals = F.sum_dim_IntList(F.real(squares) if dtype.kind == "c" else squares, (-2,))
    return LstSqResult(
        F.squeeze_dim(solution, -1) if is_vector else solution,
        residuals,
        constant(making.empty(0, np.int64)) if driver == "gels" else rank,
        none if driver in ("gels", "gelsy") else sizes,
    )


def _with_tolerances(
    name: str, x: Tensor, shape: Shape, atol: float | Tensor | None, rtol: float | Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The matrices, and the two tolerances for each of them as float64: stacks of one shape."""
    given = atol is not None and (isinstance(atol, TensorBase) or atol > 0)
    least: float | Tensor | None = 0.0 if atol is None else atol
    relative: float | Tensor | None = rtol
    if rtol is None:
        usual = max(shape[-2:]) * epsilon(x._impl.array.dtype)
        relative = usual
        if isinstance(atol, TensorBase):
            relative = F.where(F.gt(F.detach(atol), 0), 0.0, usual)
        elif given:
            relative = 0.0
    tolerances = [_for_each(name, value, shape[:-2]) for value in (least, relative)]
    # Tensors with more dimensions than the matrices make a stack of results.
    stack = broadcast_shapes(*[shape_of(value) for value in tolerances])
    first, second = [with_stack(value, stack, 0) for value in tolerances]
    return with_stack(x, stack), first, second


def _for_each(name: str, value: float | Tensor | None, stack: Shape) -> Tensor:
    if isinstance(value, TensorBase):
        if value._impl.array.dtype.kind == "c":
            raise OptionValueError(f"{name}() takes real tolerances, not complex ones")
        wide = F.to_dtype(F.detach(value), np.dtype(np.float64))
        return F.broadcast_to(wide, broadcast_shapes(shape_of(wide), stack))
    return constant(making.full(stack, value, np.float64))


class _Rank(Stacked):
    """Whole numbers, which have no derivative."""

    @staticmethod
    def forward(x: Tensor, least: Tensor, relative: Tensor, hermitian: bool) -> Tensor:
        matrices = values(x)
        try:
            if hermitian:
                sizes = np.abs(np.linalg.eigvalsh(matrices))
            else:
                sizes = np.linalg.svd(matrices, compute_uv=False)
        except np.linalg.LinAlgError:
            raise LinAlgError("linalg_matrix_rank() found no singular values") from None
        return constant(_are_large(sizes, values(least), values(relative)).sum(-1))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.mark_non_differentiable(typing.cast("Tensor", output))


def _are_large(sizes: Array, least: Array, relative: Array) -> Array:
    """Which singular values count."""
    largest = sizes.max(-1, initial=0.0).astype(np.float64)
    limit = np.maximum(least, relative * largest)
    large: Array = sizes > limit[..., np.newaxis]
    return large


class _Pinv(Stacked):
    """The pseudoinverse; see Note [Derivatives of pseudoinverses]."""

    @staticmethod
    def forward(x: Tensor, least: Tensor, relative: Tensor, hermitian: bool) -> Tensor:
        matrices = values(x)
        try:
            if hermitian:
                sizes, vectors = np.linalg.eigh(matrices)
                left, right = vectors, np.conj(np.swapaxes(vectors, -1, -2))
                large = _are_large(np.abs(sizes), values(least), values(relative))
            else:
                left, sizes, right = np.linalg.svd(matrices, full_matrices=False)
                large = _are_large(sizes, values(least), values(relative))
        except np.linalg.LinAlgError:
            raise LinAlgError(
                "linalg_pinv() did not converge: a matrix may hold nan or inf"
            ) from None
        inverse = making.zeros(large.shape, sizes.dtype)
        np.divide(1, sizes, out=inverse, where=large)
        back = np.conj(np.swapaxes(right, -1, -2)) * inverse[..., np.newaxis, :]
        return constant(back @ np.conj(np.swapaxes(left, -1, -2)))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        x, found = typing.cast("Tensor", inputs[0]), typing.cast("Tensor", output)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, found)
        ctx.save_for_forward(x, found)
        ctx.hermitian = typing.cast("bool", inputs[3])

    @staticmethod
    def backward(ctx: Context, grad: Tensor | None) -> tuple[Tensor | None, None, None, None]:
        if grad is None:
            return None, None, None, None
        x, found = ctx.saved_tensors
        x = _as_read(x) if ctx.hermitian else x
        return _gradient_of_pinv(grad, x, found), None, None, None

    @staticmethod
    def jvp(ctx: Context, tangent: Tensor | None, *_: object) -> Tensor | None:
        if tangent is None:
            return None
        x, found = ctx.saved_tensors
        x = _as_read(x) if ctx.hermitian else x
        return _tangent_of_pinv(tangent, x, found)


def _as_read(x: Tensor) -> Tensor:
    """Hermitian matrices of the lower triangles, which alone are read."""
    return F.add(F.tril(x), adjoint(F.tril(x, -1)))


def _gradient_of_pinv(grad: Tensor, x: Tensor, p: Tensor) -> Tensor:
    """The gradient of a matrix from that of its pseudoinverse."""
    ph, gh = adjoint(p), adjoint(grad)
    total = F.neg(F.matmul(F.matmul(ph, grad), ph))
    # What columns leave out, and what rows leave out; of square matrices of full rank nothing.
    columns = F.matmul(F.matmul(gh, p), ph)
    total = F.add(total, F.sub(columns, F.matmul(x, F.matmul(p, columns))))
    rows = F.matmul(ph, F.matmul(p, gh))
    return F.add(total, F.sub(rows, F.matmul(F.matmul(rows, p), x)))


def _tangent_of_pinv(tangent: Tensor, x: Tensor, p: Tensor) -> Tensor:
    """The tangent of the pseudoinverse from that of a matrix."""
    ph, th = adjoint(p), adjoint(tangent)
    total = F.neg(F.matmul(F.matmul(p, tangent), p))
    columns = F.matmul(F.matmul(p, ph), th)
    total = F.add(total, F.sub(columns, F.matmul(F.matmul(columns, x), p)))
    rows = F.matmul(F.matmul(th, ph), p)
    return F.add(total, F.sub(rows, F.matmul(p, F.matmul(x, rows))))


class _LeastSquares(Stacked):
    """``pinv(A) @ B``, with the rank and the singular values as further results.

    The last dimension of the fourth is 1 if all matrices have independent columns, and else 0.
    """

    @staticmethod
    def forward(a: Tensor, b: Tensor, limit: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        left, right = values(a), values(b)
        *stack, height, width = left.shape
        count = min(height, width)

        def of_one(one: Array, side: Array) -> tuple[Array, ...]:
            solution, _, rank, sizes = np.linalg.lstsq(one, side, limit)
            return solution, making.asarray(rank), sizes

        try:
            found = each(
                of_one,
                tuple(stack),
                (
                    ((width, right.shape[-1]), left.dtype),
                    ((), np.dtype(np.int64)),
                    ((count,), np.finfo(left.dtype).dtype),
                ),
                left,
                right,
            )
        except np.linalg.LinAlgError:
            raise LinAlgError(
                "linalg_lstsq() did not converge: a matrix may hold nan or inf"
            ) from None
        # All samples of vmap must have residuals, or none, so that this is a shape.
        fits = making.empty((*stack, int((found[1] == width).all())))
        return constant(found[0]), constant(found[1]), constant(found[2]), constant(fits)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        a, b, limit = typing.cast("tuple[Tensor, Tensor, float]", inputs)
        _, rank, sizes, fits = typing.cast("tuple[Tensor, ...]", output)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(rank, sizes, fits)
        ctx.save_for_backward(a, b)
        ctx.save_for_forward(a, b)
        ctx.limit = limit

    @staticmethod
    def backward(
        ctx: Context, grad: Tensor | None, *_: object
    ) -> tuple[Tensor | None, Tensor | None, None]:
        if grad is None:
            return None, None, None
        a, b = ctx.saved_tensors
        p = pinv(a, atol=0.0, rtol=ctx.limit)
        of_a = None
        if ctx.needs_input_grad[0]:
            of_a = _gradient_of_pinv(F.matmul(grad, adjoint(b)), a, p)
        return of_a, F.matmul(adjoint(p), grad), None

    @staticmethod
    def jvp(
        ctx: Context, of_a: Tensor | None, of_b: Tensor | None, _: object
    ) -> tuple[Tensor | None, None, None, None]:
        a, b = ctx.saved_tensors
        p = pinv(a, atol=0.0, rtol=ctx.limit)
        total = None if of_b is None else F.matmul(p, of_b)
        if of_a is not None:
            moved = F.matmul(_tangent_of_pinv(of_a, a, p), b)
            total = moved if total is None else F.add(total, moved)
        return total, None, None, None

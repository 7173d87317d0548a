"""Factors of symmetric matrices that need not be positive definite: SciPy's LAPACK."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import DTypeError, MatrixShapeError, MissingPackageError, NoDerivativeError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.linalg.infos import raise_for
from vtgrad.linalg.matrices import (
    check_matrices,
    check_same_dtype,
    check_square,
    common_stack,
    constant,
    stored,
    stored_all,
    values,
    with_stack,
)
from vtgrad.linalg.results import LDLFactorExResult, LDLFactorResult
from vtgrad.linalg.scipy_modules import scipy_linalg
from vtgrad.linalg.stacked import Context, Stacked, each, refusing
from vtgrad.ops.calling.explain import explained
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["ldl_factor", "ldl_factor_ex", "ldl_solve"]


@explained
def ldl_factor(
    A: Tensor, *, hermitian: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> LDLFactorResult:
    """Return the factors ``L @ D @ L.mT`` of symmetric matrices, as `ldl_solve` takes them.

    SciPy is needed. The lower triangles are read. There is no derivative, as in PyTorch.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian matrices, of shape ``(*, n, n)``.
    hermitian : bool, default False
        Whether complex matrices are Hermitian; else they are symmetric.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    LD : Tensor
        ``L`` and ``D`` in one matrix, as LAPACK leaves them.
    pivots : Tensor
        LAPACK's pivots, int32, of shape ``(*, n)``.

    Raises
    ------
    LinAlgError
        If ``D`` is singular.
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    MissingPackageError
        If SciPy is not installed.
    NoDerivativeError
        In backward and in forward mode.

    Examples
    --------
    >>> found = vt.linalg.ldl_factor(vt.tensor([[2.0, 0.0], [0.0, -4.0]]))
    >>> found.LD.tolist(), found.pivots.tolist()
    ([[2.0, 0.0], [0.0, -4.0]], [1, 2])
    """
    found = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return stored_all("linalg_ldl_factor", LDLFactorResult(found.LD, found.pivots), out, A)


@explained
def ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> LDLFactorExResult:
    """Return the results of `ldl_factor`, and for which matrices ``D`` is singular.

    SciPy is needed.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian matrices, of shape ``(*, n, n)``.
    hermitian : bool, default False
        Whether complex matrices are Hermitian; else they are symmetric.
    check_errors : bool, default False
        Whether to raise if ``D`` is singular.
    out : tuple of three Tensor, optional
        Where the results are stored.

    Returns
    -------
    LD, pivots : Tensor
        As of `ldl_factor`.
    info : Tensor
        For each matrix 0, or the number of the first zero in ``D``; int32.

    Raises
    ------
    LinAlgError
        With `check_errors`, if ``D`` is singular.
    MatrixShapeError, DTypeError, MissingPackageError, NoDerivativeError
        As of `ldl_factor`.

    Examples
    --------
    >>> vt.linalg.ldl_factor_ex(vt.tensor([[0.0, 0.0], [0.0, 1.0]])).info
    tensor(1, dtype=vtgrad.int32)
    """
    check_square("linalg_ldl_factor", A)
    message = "linalg_ldl_factor() got a singular matrix: D has a zero on its diagonal"
    packed, pivots, info = _LDL.apply(A, hermitian, message if check_errors else "")
    return stored_all("linalg_ldl_factor_ex", LDLFactorExResult(packed, pivots, info), out, A)


@explained
def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """Return the solutions ``X`` of ``A @ X == B``, where the factors of ``A`` are known.

    SciPy is needed, of version 1.15 or newer. There is no derivative, as in PyTorch.

    Parameters
    ----------
    LD, pivots : Tensor
        The results of `ldl_factor`.
    B : Tensor
        The right sides, of shape ``(*, n, k)``. The dimensions in front broadcast.
    hermitian : bool, default False
        As it was passed to `ldl_factor`.
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
        If the dtypes differ, or are not float32, float64 or complex; if pivots are no integers.
    MissingPackageError
        If SciPy is not installed, or has no such routine.
    NoDerivativeError
        In backward and in forward mode.

    Examples
    --------
    >>> found = vt.linalg.ldl_factor(vt.tensor([[2.0, 0.0], [0.0, -4.0]]))
    >>> vt.linalg.ldl_solve(*found, vt.tensor([[2.0], [8.0]])).tolist()
    [[1.0], [-2.0]]
    """
    name = "linalg_ldl_solve"
    factors = check_square(name, LD, "LD")
    right = check_matrices(name, B, "B")
    check_same_dtype(name, LD, B)
    refuse_names(name, pivots)
    numbers = pivots._impl.array
    if numbers.dtype.kind not in "iu":
        raise DTypeError(f"{name}() needs integers for pivots, not {numbers.dtype}")
    if numbers.shape != factors[:-1] or right[-2] != factors[-1]:
        raise MatrixShapeError(
            f"{name}() got factors, pivots and right sides that do not fit: shapes {factors}, "
            f"{numbers.shape} and {right}",
            shapes=(factors, numbers.shape, right),
        )
    stack = common_stack(name, factors, right)
    found = _Solved.apply(
        with_stack(LD, stack), with_stack(pivots, stack, 1), with_stack(B, stack), hermitian
    )
    return stored(name, found, out, LD, B)


class _WithoutDerivative(Stacked):
    """A Function that refuses in backward and in forward mode."""

    backward = jvp = staticmethod(
        refusing(
            NoDerivativeError,
            "the factors of linalg_ldl_factor(), and what linalg_ldl_solve() finds by them, have "
            "no derivative; linalg_solve() has one",
        )
    )


class _LDL(_WithoutDerivative):
    """LAPACK's factors, pivots and number of the first zero."""

    @staticmethod
    def forward(x: Tensor, hermitian: bool, message: str) -> tuple[Tensor, Tensor, Tensor]:
        matrices = values(x)
        names = _names(matrices, hermitian, "f")
        (call,) = scipy_linalg("linalg_ldl_factor").get_lapack_funcs(names, (matrices,))
        *stack, size, _ = matrices.shape

        def of_one(one: Array) -> tuple[Array, ...]:
            if not size:
                return one, making.zeros(0, np.int32), making.zeros((), np.int32)
            # LAPACK keeps the other triangle, which is not a part of the result.
            packed, pivots, info = making.call(call, one, lower=1)
            return np.tril(packed), _counted_from_one(pivots), making.asarray(max(info, 0))

        whole = np.dtype(np.int32)
        results = (((size, size), matrices.dtype), ((size,), whole), ((), whole))
        packed, pivots, info = each(of_one, tuple(stack), results, matrices)
        raise_for(info, message)
        return constant(packed), constant(pivots), constant(info)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        _, pivots, info = typing.cast("tuple[Tensor, Tensor, Tensor]", output)
        ctx.mark_non_differentiable(pivots, info)


def _counted_from_one(pivots: Array) -> Array:
    """LAPACK's pivots; a release of SciPy may count from 0, which shows by a 0."""
    return pivots + 1 if pivots.size and (pivots == 0).any() else pivots


class _Solved(_WithoutDerivative):
    """LAPACK's solution by the factors."""

    @staticmethod
    def forward(packed: Tensor, pivots: Tensor, b: Tensor, hermitian: bool) -> Tensor:
        factors, right = values(packed), values(b)
        names = _names(factors, hermitian, "s")
        try:
            (call,) = scipy_linalg("linalg_ldl_solve").get_lapack_funcs(names, (factors, right))
        except ValueError:
            raise MissingPackageError(
                "linalg_ldl_solve() needs a newer SciPy, which has LAPACK's routine "
                f"{names[0]}: pip install --upgrade scipy",
                package="scipy",
            ) from None

        def of_one(one: Array, places: Array, side: Array) -> tuple[Array, ...]:
            return (making.call(call, one, places, side, lower=1)[0] if side.size else side,)

        results = ((right.shape[-2:], right.dtype),)
        found = each(of_one, right.shape[:-2], results, factors, values(pivots), right)
        return constant(found[0])

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        pass


def _names(matrices: Array, hermitian: bool, step: str) -> tuple[str]:
    """The routine that factors, or solves by the factors."""
    return (f"{'he' if hermitian and matrices.dtype.kind == 'c' else 'sy'}tr{step}",)

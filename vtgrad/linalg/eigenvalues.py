"""Eigenvalues and eigenvectors.

Note [Phases of eigenvectors]
The length of an eigenvector is 1, and LAPACK turns a complex one so that its largest element, or
the first of equal ones, is real. The derivatives here are those of these vectors. A loss that makes
sense does not depend on the phase, and then they are PyTorch's.
"""

from __future__ import annotations

import math
import typing

import numpy as np

from vtgrad.errors import LinAlgError, OptionValueError
from vtgrad.graph.batch import is_batched
from vtgrad.linalg.matrices import (
    adjoint,
    check_square,
    constant,
    diagonal_of,
    shape_of,
    stored,
    stored_all,
    values,
)
from vtgrad.linalg.results import EighResult, EigResult
from vtgrad.linalg.stacked import Context, Stacked
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.tensor.tensor import Tensor

__all__ = ["decomposed", "eig", "eigh", "eigvals", "eigvalsh", "is_basis"]


@explained
def eig(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> EigResult:
    """Return the eigenvalues and eigenvectors of square matrices.

    Eigenvalues have derivatives where the eigenvectors are a basis, and eigenvectors where besides
    the eigenvalues differ. Hermitian matrices are for `eigh`.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    eigenvalues : Tensor
        Complex, of shape ``(*, n)``, in no order.
    eigenvectors : Tensor
        Complex, of shape ``(*, n, n)``, as columns of length 1.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    LinAlgError
        If they are not found, as of nan. In a derivative, if the eigenvectors are no basis to half
        of the digits, and in one of the vectors, if two eigenvalues are equal.

    Examples
    --------
    >>> vt.linalg.eig(vt.tensor([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    tensor([2.+0.j, 3.+0.j])
    """
    found = _complex(A, "linalg_eig", False)
    return stored_all("linalg_eig", EigResult(*found), out, A)


@explained
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the eigenvalues of square matrices.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, n, n)``.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new complex tensor of shape ``(*, n)``, in no order.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    LinAlgError
        If they are not found, as of nan. In a derivative, if the eigenvectors are no basis to half
        of the digits; in a second derivative, if two eigenvalues are equal.

    Examples
    --------
    >>> vt.linalg.eigvals(vt.tensor([[0.0, 1.0], [-1.0, 0.0]])).imag.tolist()
    [1.0, -1.0]
    """
    return stored("linalg_eigvals", _complex(A, "linalg_eigvals", True)[0], out, A)


@explained
def eigh(A: Tensor, UPLO: str = "L", *, out: tuple[Tensor, Tensor] | None = None) -> EighResult:
    """Return the eigenvalues and eigenvectors of Hermitian matrices.

    One triangle of each matrix is read, as if the other were its adjoint. The gradient is
    Hermitian. Eigenvectors are given up to a sign, of complex matrices up to a phase: a loss must
    not depend on it.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian matrices, of shape ``(*, n, n)``.
    UPLO : {"L", "U"}, default "L"
        Whether the lower or the upper triangle is read.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    eigenvalues : Tensor
        Real, of shape ``(*, n)``, from the smallest on.
    eigenvectors : Tensor
        Of shape ``(*, n, n)``, as columns of length 1.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    OptionValueError
        If `UPLO` is something else.
    LinAlgError
        If they are not found, as of nan. In a derivative of the vectors, if two eigenvalues are
        equal.

    Examples
    --------
    >>> a = vt.tensor([[2.0, 0.0], [0.0, 3.0]], requires_grad=True)
    >>> vt.linalg.eigh(a).eigenvalues[0].backward()
    >>> a.grad
    tensor([[1., 0.],
            [0., 0.]])
    """
    values_, vectors = _hermitian(A, UPLO, "linalg_eigh", False)
    return stored_all("linalg_eigh", EighResult(values_, vectors), out, A)


@explained
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor:
    """Return the eigenvalues of Hermitian matrices.

    Parameters
    ----------
    A : Tensor
        Symmetric or Hermitian matrices, of shape ``(*, n, n)``.
    UPLO : {"L", "U"}, default "L"
        Whether the lower or the upper triangle is read.
    out : Tensor, optional
        Where the result is stored.

    Returns
    -------
    Tensor
        A new real tensor of shape ``(*, n)``, from the smallest on.

    Raises
    ------
    MatrixShapeError
        If the matrices are not square.
    DTypeError
        If their dtype is not float32, float64 or complex.
    OptionValueError
        If `UPLO` is something else.
    LinAlgError
        If they are not found, as of nan. In a second derivative, if two are equal.

    Examples
    --------
    >>> vt.linalg.eigvalsh(vt.tensor([[2.0, 0.0], [0.0, 3.0]])).tolist()
    [2.0, 3.0]
    """
    return stored("linalg_eigvalsh", _hermitian(A, UPLO, "linalg_eigvalsh", True)[0], out, A)


def _hermitian(A: Tensor, triangle: str, name: str, values_only: bool) -> tuple[Tensor, Tensor]:
    if triangle.upper() not in ("L", "U"):
        raise OptionValueError(f"{name}() takes 'L' or 'U' for UPLO, not {triangle!r}")
    check_square(name, A)
    upper = triangle.upper() == "U"
    # LAPACK gives other phases for the other triangle.
    values_, vectors = F.linalg_eigh(adjoint(A) if upper else A, upper, True, values_only)
    return values_, vectors


def _complex(A: Tensor, name: str, values_only: bool) -> tuple[Tensor, Tensor]:
    check_square(name, A)
    dtype = A._impl.array.dtype
    wanted = dtype if dtype.kind == "c" else np.result_type(dtype, np.complex64)
    return decomposed(A if dtype.kind == "c" else F.to_dtype(A, wanted), values_only)


def decomposed(x: Tensor, values_only: bool) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of matrices, in the dtype of the matrices.

    For `values_only` see Note [Tangents of values alone].

    Raises
    ------
    LinAlgError
        If they are not found.
    """
    found = _Eigen.apply(x, values_only)
    return found[0], found[1]


def is_basis(vectors: Array) -> bool:
    """Whether eigenvectors are a basis, to half of the digits."""
    if not vectors.size:
        return True
    least = np.sqrt(np.finfo(vectors.dtype).eps)
    return not (np.linalg.svd(vectors, compute_uv=False)[..., -1] < least).any()


def _real_elements(vectors: Array) -> Array:
    """Ones where LAPACK has turned a vector in the complex plane so that this element is real."""
    sizes = np.where(vectors.imag == 0, np.abs(vectors), -1)
    ones = making.zeros_like(vectors)
    if vectors.size:
        np.put_along_axis(ones, sizes.argmax(-2, keepdims=True), 1, -2)
    return ones


class _Eigen(Stacked):
    """Eigenvalues and eigenvectors as functions of matrices A, with A @ V == V * w.

    With P = inv(V) @ dA @ V it is dw = diag(P), and dV = V @ (P / gaps) up to a multiple of each
    vector. Its real part follows from the length, which stays 1, and its imaginary part from the
    element that LAPACK makes real. The third result has a one at that element.
    """

    @staticmethod
    def forward(x: Tensor, values_only: bool) -> tuple[Tensor, Tensor, Tensor]:
        matrices = values(x)
        if matrices.dtype.kind == "c" and not matrices.imag.any():
            # LAPACK treats real matrices in a way of their own.
            found = np.linalg.eig(matrices.real)
        else:
            found = np.linalg.eig(matrices)
        real = _real_elements(found[1])
        dtype: NumpyDType = matrices.dtype
        made = [constant(making.asarray(y).astype(dtype)) for y in (*found, real)]
        return made[0], made[1], made[2]

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        found = typing.cast("tuple[Tensor, Tensor, Tensor]", output)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(found[2])
        ctx.save_for_backward(*found)
        ctx.save_for_forward(*found)
        ctx.values_only = inputs[1] is True

    @staticmethod
    def backward(
        ctx: Context, of_values: Tensor | None, of_vectors: Tensor | None, _: object
    ) -> tuple[Tensor | None, None]:
        values_, vectors, real = ctx.saved_tensors
        across = adjoint(vectors)
        inner = None if of_values is None else F.diag_embed(of_values)
        if of_vectors is not None:
            lengths = diagonal_of(F.matmul(adjoint(of_vectors), vectors))
            turned = F.sub(of_vectors, F.mul(vectors, F.unsqueeze(F.real(lengths), -2)))
            if vectors._impl.array.dtype.kind == "c":
                turns = F.true_divide(F.unsqueeze(F.imag(lengths), -2), _pinned(real, vectors))
                turned = F.add(turned, F.mul(F.mul(real, 1j), turns))
            part = F.mul(F.matmul(across, turned), F.conj_physical(_inverse_gaps(values_, False)))
            inner = part if inner is None else F.add(inner, part)
        if inner is None:
            return None, None
        return _solved_for(across, F.matmul(inner, across)), None

    @staticmethod
    def jvp(ctx: Context, tangent: Tensor | None, _: object) -> tuple[Tensor | None, ...]:
        if tangent is None:
            return None, None, None
        values_, vectors, real = ctx.saved_tensors
        in_basis = _solved_for(vectors, F.matmul(tangent, vectors))
        of_values = F.clone(diagonal_of(in_basis))
        moved = F.matmul(vectors, F.mul(in_basis, _inverse_gaps(values_, ctx.values_only)))
        lengths = F.real(diagonal_of(F.matmul(adjoint(vectors), moved)))
        change = F.sub(moved, F.mul(vectors, F.unsqueeze(lengths, -2)))
        if vectors._impl.array.dtype.kind == "c":
            turn = F.imag(F.sum_dim_IntList(F.mul(real, moved), (-2,), True))
            turn = F.true_divide(turn, _pinned(real, vectors))
            change = F.sub(change, F.mul(F.mul(vectors, 1j), turn))
        return of_values, change, None


def _solved_for(vectors: Tensor, right: Tensor) -> Tensor:
    if not is_batched(vectors) and not is_basis(values(vectors)):
        raise LinAlgError(
            "the eigenvectors are no basis, or nearly none: the eigenvalues have no derivative"
        )
    return F.linalg_solve(vectors, right)


def _pinned(real: Tensor, vectors: Tensor) -> Tensor:
    """The elements that LAPACK makes real."""
    return F.real(F.sum_dim_IntList(F.mul(real, vectors), (-2,), True))


def _inverse_gaps(x: Tensor, values_only: bool) -> Tensor:
    """``1 / (x[..., j] - x[..., i])`` for each pair, and 0 for ``i == j``."""
    same = constant(making.eye(shape_of(x)[-1], dtype=np.bool_))
    gaps = F.sub(F.unsqueeze(x, -2), F.unsqueeze(x, -1))
    equal = F.logical_and(F.eq(gaps, 0), F.logical_not(same))
    if values_only:
        gaps = F.masked_fill(gaps, equal, math.nan)
    elif not is_batched(equal) and values(equal).any():
        raise LinAlgError("eigenvectors have no derivative where two eigenvalues are equal")
    return F.masked_fill(F.reciprocal(F.masked_fill(gaps, same, 1)), same, 0)

"""Eigenvalues and eigenvectors of general matrices, as in `numpy.linalg`."""

from __future__ import annotations

import typing
from typing import Any, Final

import numpy as np

from vtgrad.errors import LinAlgError
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.numpy.operands import ArrayLike, as_array, cast, fresh, of, value_of
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["eig", "eigvals"]

# The class of NumPy's results has no public name.
_EIG: Final[Any] = type(np.linalg.eig(np.eye(1)))


def eig(a: ArrayLike) -> Any:
    """`numpy.linalg.eig` with derivatives, of the vectors where the eigenvalues differ.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or its eigenvectors are no basis, to half of the digits: its
        eigenvalues have no derivative. In a derivative of the vectors, if two eigenvalues are
        equal.
    """
    return _EIG(*map(as_array, _decomposed(a)))


def eigvals(a: ArrayLike) -> ndarray:
    """`numpy.linalg.eigvals` with derivatives; see `eig`."""
    return as_array(_decomposed(a)[0])


def _decomposed(a: ArrayLike) -> tuple[Tensor, Tensor]:
    x = inexact(of(a))
    values, vectors = np.linalg.eig(value_of(x))
    least = np.sqrt(np.finfo(vectors.dtype).eps)
    if vectors.size and (np.linalg.svd(vectors, compute_uv=False)[..., -1] < least).any():
        raise LinAlgError(
            "the eigenvectors are no basis, or nearly none: the eigenvalues have no derivative. "
            "Pass a.detach() where no gradient is wanted"
        )
    return _Eigen.apply(
        cast(x, vectors.dtype), fresh(values), fresh(vectors), fresh(_real_elements(vectors))
    )


def _real_elements(vectors: Array) -> Array:
    """Ones where LAPACK has turned a vector in the complex plane so that this element is real."""
    sizes = np.where(vectors.imag == 0, np.abs(vectors), -1)
    ones = np.zeros_like(vectors)
    if vectors.size:
        np.put_along_axis(ones, sizes.argmax(-2, keepdims=True), 1, -2)
    return ones


class _Eigen(Function):
    """Eigenvalues and eigenvectors as functions of matrices A, with A @ V == V * w.

    With P = inv(V) @ dA @ V it is dw = diag(P), and dV = V @ (P / gaps) up to a multiple of each
    vector. Its real part follows from the length, which stays 1, and its imaginary part from the
    element that LAPACK makes real. The results are saved, so that derivatives of this are recorded
    by them.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        matrices: Tensor, values: Tensor, vectors: Tensor, real: Tensor
    ) -> tuple[Tensor, Tensor]:
        return values.clone(), vectors.clone()

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        values, vectors = typing.cast("tuple[Tensor, Tensor]", output)
        real = typing.cast("Tensor", inputs[3])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(values, vectors, real)
        ctx.save_for_forward(values, vectors, real)

    @staticmethod
    def backward(
        ctx: FunctionCtx, of_values: Tensor | None, of_vectors: Tensor | None
    ) -> tuple[Tensor | None, None, None, None]:
        values, vectors, real = ctx.saved_tensors
        adjoint = _adjoint(vectors)
        inner = None if of_values is None else F.diag_embed(of_values)
        if of_vectors is not None:
            lengths = _diagonal(F.matmul(_adjoint(of_vectors), vectors))
            turned = of_vectors - vectors * F.unsqueeze(F.real(lengths), -2)
            if vectors.is_complex():
                pinned = F.real((real * vectors).sum(-2, keepdims=True))
                turned = turned + real * 1j * (F.unsqueeze(F.imag(lengths), -2) / pinned)
            part = F.matmul(adjoint, turned) * F.conj(_inverse_gaps(values))
            inner = part if inner is None else inner + part
        if inner is None:
            return None, None, None, None
        return F.linalg_solve(adjoint, F.matmul(inner, adjoint)), None, None, None

    @staticmethod
    def jvp(ctx: FunctionCtx, tangent: Tensor, *_: object) -> tuple[Tensor, Tensor]:
        values, vectors, real = ctx.saved_tensors
        in_basis = F.linalg_solve(vectors, F.matmul(tangent, vectors))
        moved = F.matmul(vectors, in_basis * _inverse_gaps(values))
        lengths = F.real(_diagonal(F.matmul(_adjoint(vectors), moved)))
        change = moved - vectors * F.unsqueeze(lengths, -2)
        if vectors.is_complex():
            pinned = F.real((real * vectors).sum(-2, keepdims=True))
            turn = F.imag((real * moved).sum(-2, keepdims=True)) / pinned
            change = change - vectors * 1j * turn
        return _diagonal(in_basis), change


def _adjoint(x: Tensor) -> Tensor:
    return F.conj(F.transpose(x, -2, -1))


def _diagonal(x: Tensor) -> Tensor:
    return F.diagonal(x, 0, -2, -1)


def _inverse_gaps(values: Tensor) -> Tensor:
    """``1 / (values[..., j] - values[..., i])`` for each pair, and 0 for ``i == j``."""
    same = fresh(np.eye(values.shape[-1], dtype=values._impl.array.dtype))
    gaps = F.unsqueeze(values, -2) - F.unsqueeze(values, -1)
    if bool(((gaps == 0) & (same == 0)).any()):
        raise LinAlgError("eigenvectors have no derivative where two eigenvalues are equal")
    return (1 - same) / (gaps + same)

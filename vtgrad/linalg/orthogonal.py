"""Orthonormal factors: `qr`, and columns that complete a basis."""

from __future__ import annotations

import typing

import numpy as np

from vtgrad.errors import NotSupportedError, OptionValueError
from vtgrad.graph.batch import is_batched
from vtgrad.linalg.matrices import check_matrices, constant, stored_all, values
from vtgrad.linalg.results import QRResult
from vtgrad.linalg.stacked import Context, Stacked, refusing
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.tensor.tensor import Tensor

__all__ = ["complement", "qr", "rest_of_bases"]


@explained
def qr(A: Tensor, mode: str = "reduced", *, out: tuple[Tensor, Tensor] | None = None) -> QRResult:
    """Return orthonormal columns ``Q`` and upper triangular ``R`` with ``Q @ R == A``.

    The factors have derivatives where the first ``min(m, n)`` columns of a matrix are independent.

    Parameters
    ----------
    A : Tensor
        Matrices of shape ``(*, m, n)``.
    mode : {"reduced", "complete", "r"}, default "reduced"
        ``"reduced"`` gives ``min(m, n)`` columns, and ``"complete"`` a basis of m columns, which
        has no derivative if there are more rows than columns. ``"r"`` gives only ``R``, and a
        ``Q`` without elements.
    out : tuple of two Tensor, optional
        Where the results are stored.

    Returns
    -------
    Q : Tensor
        Of shape ``(*, m, min(m, n))``, or ``(*, m, m)``.
    R : Tensor
        Of shape ``(*, min(m, n), n)``, or ``(*, m, n)``. Its diagonal is real.

    Raises
    ------
    MatrixShapeError
        If there are fewer than two dimensions.
    DTypeError
        If the dtype is not float32, float64 or complex.
    OptionValueError
        If there is no such mode.
    NotSupportedError
        In backward and in forward mode, of the complete basis of a tall matrix.
    LinAlgError
        In backward and in forward mode, if the columns are dependent.

    Examples
    --------
    >>> q, r = vt.linalg.qr(vt.tensor([[0.0, 2.0], [-1.0, 5.0]]))
    >>> (q @ r).tolist()
    [[0.0, 2.0], [-1.0, 5.0]]
    """
    if mode not in ("reduced", "complete", "r"):
        raise OptionValueError(
            f"linalg_qr() has the modes 'reduced', 'complete' and 'r', not {mode!r}",
            argument="mode",
        )
    shape = check_matrices("linalg_qr", A)
    if mode == "complete" and shape[-2] > shape[-1]:
        found = QRResult(*_CompleteQR.apply(A))
    else:
        q, r = F.linalg_qr(A)
        if mode == "r":
            q = constant(making.empty(0, A._impl.array.dtype))
        found = QRResult(q, r)
    return stored_all("linalg_qr", found, out, A)


def complement(x: Tensor) -> Tensor:
    """Columns that complete orthonormal columns to a basis, as constants."""
    return _Complement.apply(F.detach(x))


def rest_of_bases(x: Tensor) -> tuple[Tensor, Tensor]:
    """The vectors by which NumPy completes the singular vectors of matrices: columns, and rows.

    A gradient of them that is not zero is refused.

    Raises
    ------
    NotSupportedError
        In backward, of such a gradient; in forward mode.
    """
    found = _RestOfBases.apply(x)
    return found[0], found[1]


class _RestOfBases(Stacked):
    """Vectors of which nothing is determined but what they span."""

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        matrices = values(x)
        u, s, vh = np.linalg.svd(matrices)
        count = s.shape[-1]
        columns, rows = u[..., count:], vh[..., count:, :]
        return constant(making.ascontiguousarray(columns)), constant(making.ascontiguousarray(rows))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Context, *grads: Tensor | None) -> None:
        for grad in grads:
            # Samples of a batch cannot be looked at.
            if grad is not None and (is_batched(grad) or values(grad).any()):
                _refuse_rest()

    @staticmethod
    def jvp(ctx: Context, *tangents: Tensor | None) -> typing.NoReturn:
        _refuse_rest()


def _refuse_rest() -> typing.NoReturn:
    raise NotSupportedError(
        "the singular vectors that only complete a basis have no derivative; pass "
        "full_matrices=False, or use the first min(m, n) of them"
    )


class _Complement(Stacked):
    """Constants: a basis of what orthonormal columns leave out may be any."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        columns = values(x)
        found = np.linalg.qr(columns, mode="complete")[0]
        return constant(making.ascontiguousarray(found[..., columns.shape[-1] :]))

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.mark_non_differentiable(typing.cast("Tensor", output))


class _CompleteQR(Stacked):
    """The factors of tall matrices with a basis of all columns, which has no derivative."""

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        q, r = np.linalg.qr(values(x), mode="complete")
        return constant(q), constant(r)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        pass

    backward = jvp = staticmethod(
        refusing(
            NotSupportedError,
            "linalg_qr() with mode='complete' has no derivative for matrices with more rows than "
            "columns; use mode='reduced'",
        )
    )

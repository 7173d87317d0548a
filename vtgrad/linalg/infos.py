"""Which matrices of a stack LAPACK refuses: the functions whose names end with ``_ex``."""

from __future__ import annotations

import typing
from typing import Final

import numpy as np

from vtgrad.errors import LinAlgError
from vtgrad.linalg.matrices import constant, identity_like, shape_of, values
from vtgrad.linalg.stacked import Context, Stacked
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.tensor.tensor import Tensor

__all__ = ["CHOLESKY", "INVERSE", "info_of", "raise_for", "with_nan", "without_failing"]

CHOLESKY: Final = "cholesky"
INVERSE: Final = "inverse"


def info_of(x: Tensor, kind: str, message: str = "") -> Tensor:
    """For each matrix 0, or the number of the first pivot that fails; int32.

    Raises
    ------
    LinAlgError
        If there is a message, and a matrix fails.
    """
    return _Info.apply(F.detach(x), kind, message)


def raise_for(info: Array, message: str) -> None:
    """Raise `LinAlgError` if there is a message, and a matrix fails."""
    if message and info.any():
        raise LinAlgError(message)


def without_failing(x: Tensor, info: Tensor) -> Tensor:
    """The matrices, with an identity in place of those that fail."""
    fails = _for_matrices(info)
    return F.where(fails, identity_like(x, shape_of(x)[-1]), x)


def with_nan(x: Tensor, info: Tensor) -> Tensor:
    """Results of matrices, with nan for those that fail."""
    return F.masked_fill(x, _for_matrices(info), float("nan"))


def _for_matrices(info: Tensor) -> Tensor:
    return F.unsqueeze(F.unsqueeze(F.ne(info, 0), -1), -1)


class _Info(Stacked):
    """Whole numbers, which have no derivative."""

    @staticmethod
    def forward(x: Tensor, kind: str, message: str) -> Tensor:
        matrices = values(x)
        call = np.linalg.cholesky if kind == CHOLESKY else np.linalg.inv
        info = making.zeros(matrices.shape[:-2], np.int32)
        if not _passes(call, matrices):
            for at in np.ndindex(*info.shape):
                if not _passes(call, matrices[at]):
                    info[at] = _first_failing(matrices[at], kind)
        raise_for(info, message)
        return constant(info)

    @staticmethod
    def setup_context(ctx: Context, inputs: tuple[object, ...], output: object) -> None:
        ctx.mark_non_differentiable(typing.cast("Tensor", output))


def _passes(call: object, matrices: Array) -> bool:
    try:
        typing.cast("typing.Callable[[Array], Array]", call)(matrices)
    except np.linalg.LinAlgError:
        return False
    return True


def _first_failing(matrix: Array, kind: str) -> int:
    """The size of the first leading part that fails; of a product with a zero pivot, its number."""
    size: int = matrix.shape[-1]
    if kind == INVERSE:
        # The columns that depend on those before them have a zero pivot.
        for count in range(1, size):
            if np.linalg.matrix_rank(matrix[:, :count]) < count:
                return count
        return size
    for count in range(1, size):
        if not _passes(np.linalg.cholesky, matrix[:count, :count]):
            return count
    return size

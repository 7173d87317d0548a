"""Condition numbers of matrices, where they have derivatives."""

from __future__ import annotations

from typing import Any

from vtgrad.errors import LinAlgError
from vtgrad.numpy.decompositions import svdvals
from vtgrad.numpy.norms import norm
from vtgrad.numpy.operands import ArrayLike, of, result
from vtgrad.numpy.promotion import inexact
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.numpy.solving import inv
from vtgrad.ops.generated import functional as F

__all__ = ["cond"]


def cond(x: ArrayLike, p: Any = None) -> ndarray:
    """`numpy.linalg.cond` with derivatives.

    Raises
    ------
    LinAlgError
        If there are no elements, or, with another norm than by singular values, a matrix is
        singular: its condition is infinite, and has no derivative.
    """
    matrices = inexact(of(x))
    if 0 in matrices.shape:
        raise LinAlgError("cond() is not defined for matrices without elements")
    if p is not None and p not in (2, -2):
        return norm(matrices, p, (-2, -1)) * norm(inv(matrices), p, (-2, -1))
    sizes = svdvals(matrices)
    largest, least = F.select(sizes, -1, 0), F.select(sizes, -1, -1)
    return result(F.true_divide(least, largest) if p == -2 else F.true_divide(largest, least))

"""Condition numbers of matrices, where they have derivatives."""

from __future__ import annotations

import math
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
        If the matrices have no elements, or, with another norm than by singular values, one is
        singular: its condition is infinite, and has no derivative.
    """
    matrices = inexact(of(x))
    if 0 in matrices.shape[-2:]:
        raise LinAlgError("cond() is not defined for matrices without elements")
    if p is not None and p not in (2, -2):
        return norm(matrices, p, (-2, -1)) * norm(inv(matrices), p, (-2, -1))
    sizes = svdvals(matrices)
    largest, least = F.select(sizes, -1, 0), F.select(sizes, -1, -1)
    found = F.true_divide(least, largest) if p == -2 else F.true_divide(largest, least)
    # As in NumPy, what is NaN without one among the elements is infinite: 0 / 0, of zeros only.
    given = F.any(F.isnan(matrices), (-2, -1))
    undefined = F.logical_and(F.isnan(found), F.logical_not(given))
    return result(F.where(undefined, math.inf, found))

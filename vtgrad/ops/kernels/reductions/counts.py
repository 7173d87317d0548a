"""Sums without nan, and counts of nonzero elements."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DTypeError
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.kernels.reductions.reduce import sum
from vtgrad.ops.kernels.support.elementwise import zero_of
from vtgrad.storage.arrays import Array, NumpyDType

__all__ = ["count_nonzero", "nansum"]


def count_nonzero(self: Array, dim: Dims = None) -> Array:
    """The number of nonzero elements, of all or along dimensions; a nan counts as nonzero."""
    return sum(self != 0, dim)


def nansum(
    self: Array, dim: Dims = None, keepdim: bool = False, dtype: NumpyDType | None = None
) -> Array:
    """The sum with 0 for nan.

    Raises
    ------
    DTypeError
        If the values are complex.
    """
    if self.dtype.kind == "c":
        raise DTypeError("nansum of complex values is not defined", dtype=self.dtype)
    if self.dtype.kind == "f":
        self = np.where(np.isnan(self), zero_of(self.dtype), self)
    return sum(self, dim, keepdim, dtype)

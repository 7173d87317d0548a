"""Fourier transforms."""

from __future__ import annotations

import numpy as np

from vtgrad.errors import DimensionError, DTypeError
from vtgrad.storage.arrays import Array
from vtgrad.storage.geometry import normalize_dim
from vtgrad.storage.lazy_array import resolved

__all__ = ["fft_c2c"]


def fft_c2c(self: Array, dim: int, inverse: bool) -> Array:
    """The sums of a complex transform along a dimension, not divided by their number.

    The inverse one has the conjugates of ``exp(-2 pi i k n / size)``: each is the other's adjoint.
    """
    if self.dtype.kind != "c":
        raise DTypeError(f"fft_c2c() needs complex values, not {self.dtype}", dtype=self.dtype)
    if not self.ndim:
        raise DimensionError("fft_c2c() needs a dimension, and a 0-d tensor has none", ndim=0)
    dim = normalize_dim(dim, self.ndim)
    if inverse:
        return np.fft.ifft(resolved(self), axis=dim, norm="forward")
    return np.fft.fft(resolved(self), axis=dim)

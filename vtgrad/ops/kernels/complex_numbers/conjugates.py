# Compiled by mypyc.
"""Conjugates, and complex memory as pairs of real numbers."""

from __future__ import annotations

from typing import overload

import numpy as np

from vtgrad.ops.kernels.support.result_strides import empty_like_preserving
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Number
from vtgrad.storage.lazy_array import resolved

__all__ = ["conj", "conj_physical", "resolve_conj", "view_as_complex", "view_as_real"]


@overload
def conj(a: Array) -> Array: ...
@overload
def conj(a: Number) -> Number: ...
@overload
def conj(a: Array | Number) -> Array | Number: ...
def conj(a: Array | Number) -> Array | Number:
    """The complex conjugate; the operand itself if it is real."""
    if isinstance(a, np.ndarray):
        return conj_physical(a) if a.dtype.kind == "c" else a
    return a.conjugate() if isinstance(a, complex) else a


def conj_physical(input: Array, *, out: Array | None = None) -> Array:
    """A copy with every value replaced by its complex conjugate."""
    if out is None:
        out = empty_like_preserving(input.dtype, input)
    if input.dtype.kind == "c":
        np.conjugate(input, out=out)
    else:
        np.copyto(out, input, casting="unsafe")
    return out


# -- pairs of real numbers ------------------------------------------------------------------


def resolve_conj(input: Array) -> Array:
    """The array itself, or the values of a lazy one."""
    plain: Array = resolved(input)
    return plain


def view_as_real(self: Array) -> Array:
    """Complex numbers as pairs of real ones, in a new last dimension."""
    part: Array = self.real
    pairs: Array = making.as_strided(part, (*part.shape, 2), (*part.strides, part.itemsize))
    return pairs


def view_as_complex(self: Array) -> Array:
    """Pairs of real numbers, in an array without gaps, as complex ones."""
    numbers: Array = self.view(np.complex64 if self.itemsize == 4 else np.complex128)
    return numbers[..., 0]

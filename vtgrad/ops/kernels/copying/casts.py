# Compiled by mypyc.
"""Copies in another dtype."""

from __future__ import annotations

import numpy as np

from vtgrad.ops.kernels.support.result_strides import empty_in_format
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType
from vtgrad.storage.memory_format import MemoryFormat

__all__ = ["to_dtype"]


def to_dtype(
    input: Array, dtype: NumpyDType, *, memory_format: MemoryFormat | None = None
) -> Array:
    """A copy in `dtype`, in a memory format, by default in the same memory order.

    Complex values lose their imaginary part when `dtype` is floating or integer; floating
    values are cut off towards zero when it is integer.
    """
    out = empty_in_format(dtype, input, memory_format)
    if type(input) in PLAIN and input.dtype is dtype:
        out[...] = input
    elif input.dtype.kind == "c" and dtype.kind in "fiu":
        np.copyto(out, input.real, casting="unsafe")
    else:
        np.copyto(out, input, casting="unsafe")
    return out

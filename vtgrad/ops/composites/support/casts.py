"""Casts that composites and generated functions make before they call an operator."""

from __future__ import annotations

from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.generated import functional as F
from vtgrad.storage.argument_types import T
from vtgrad.storage.dtypes import DType

__all__ = ["in_dtype"]


def in_dtype(input: T, dtype: DType | None) -> T:
    """The tensor itself if it has the dtype, or none is asked for; else a recorded cast of it.

    Raises
    ------
    ArgumentTypeError
        If `input` is no tensor.
    """
    wanted = numpy_or_none(dtype)
    if wanted is None or wanted == array_of(input, "input").dtype:
        return input
    return F.to_dtype(input, wanted)

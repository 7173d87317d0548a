"""logsumexp and softmax under their public names."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dim, checked_dims
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["log_softmax", "logsumexp", "softmax"]


T = TypeVar("T", bound=TensorBase)


def logsumexp(input: T, dim: Dims, keepdim: bool = False, *, out: T | None = None) -> T:
    """Logarithm of the sum of exponentials over dimensions, safe against overflow."""
    if dim is None:
        raise ArgumentTypeError("logsumexp() needs dim", argument="dim")
    return F.logsumexp_dim(input, checked_dims(dim), check_flag(keepdim, "keepdim"), out=out)


def softmax(input: T, dim: int, dtype: DType | None = None, *, out: T | None = None) -> T:
    """Exponentials over their sum along `dim`, computed in `dtype` if it is given."""
    return F.softmax_dim(_converted(input, dtype), checked_dim(dim), out=out)


def log_softmax(input: T, dim: int, dtype: DType | None = None, *, out: T | None = None) -> T:
    """Logarithm of `softmax`, accurate also where that is tiny."""
    return F.log_softmax_dim(_converted(input, dtype), checked_dim(dim), out=out)


def _converted(x: T, dtype: DType | None) -> T:
    wanted = numpy_or_none(dtype)
    if wanted is None or wanted == array_of(x, "input").dtype:
        return x
    return F.to_dtype(x, wanted)

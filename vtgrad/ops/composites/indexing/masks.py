"""The places of the elements that are not zero."""

from __future__ import annotations

from typing import Literal, TypeVar, overload

from vtgrad.errors import OptionValueError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["argwhere", "nonzero"]


T = TypeVar("T", bound=TensorBase)


def argwhere(input: T) -> T:
    """Places of the elements that are not zero, one row for each; see `nonzero`."""
    return F.nonzero_rows(input)


@overload
def nonzero(input: T, *, as_tuple: Literal[False] = False, out: T | None = None) -> T: ...
@overload
def nonzero(input: T, *, as_tuple: Literal[True], out: None = None) -> tuple[T, ...]: ...
def nonzero(input: T, *, as_tuple: bool = False, out: T | None = None) -> T | tuple[T, ...]:
    """Places of the elements that are not zero.

    Parameters
    ----------
    input : Tensor
        What to look through.
    as_tuple : bool, default False
        Whether to return one vector per dimension, fit for indexing, instead of a matrix with
        one row per element.
    out : Tensor, optional
        Where to store the matrix.
    """
    if not check_flag(as_tuple, "as_tuple"):
        return F.nonzero_rows(input, out=out)
    if out is not None:
        raise OptionValueError("nonzero() has no out= for a tuple of vectors")
    rows = F.nonzero_rows(input if array_of(input, "input").ndim else F.reshape(input, (1,)))
    return tuple(F.unbind(rows, 1))

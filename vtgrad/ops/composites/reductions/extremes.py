"""``max``, ``min`` and ``median``: of everything, along a dimension, or of two tensors."""

from __future__ import annotations

from typing import TypeVar, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import UNSET, Unset, check_flag, check_pair, checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.reductions import (
    MaxDimResult,
    MedianDimResult,
    MinDimResult,
)
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["max", "median", "min"]


T = TypeVar("T", bound=TensorBase)


def _refuse_keepdim_alone(name: str, keepdim: bool | Unset) -> None:
    if keepdim is not UNSET:
        raise ArgumentTypeError(f"{name}() takes keepdim only together with dim")


def _flag(keepdim: bool | Unset) -> bool:
    return False if keepdim is UNSET else check_flag(keepdim, "keepdim")


def _single(name: str, out: T | tuple[T, T] | None) -> T | None:
    if isinstance(out, tuple):
        raise ArgumentTypeError(f"{name}() has one result here: out= takes one tensor")
    return out


def _pair(name: str, x: T, out: T | tuple[T, T] | None) -> tuple[T, T] | None:
    if isinstance(out, TensorBase):
        raise ArgumentTypeError(f"{name}() has two results here: out= takes two tensors")
    check_pair(out, array_of(x, "input").dtype)
    return out


@overload
def max(input: T, *, out: T | None = None) -> T: ...
@overload
def max(input: T, dim: TensorBase, *, out: T | None = None) -> T: ...
@overload
def max(input: T, *, other: TensorBase, out: T | None = None) -> T: ...
@overload
def max(
    input: T, dim: int, keepdim: bool = False, *, out: tuple[T, T] | None = None
) -> MaxDimResult[T]: ...
def max(
    input: T,
    dim: int | TensorBase | Unset = UNSET,
    keepdim: bool | Unset = UNSET,
    *,
    other: TensorBase | None = None,
    out: T | tuple[T, T] | None = None,
) -> T | MaxDimResult[T]:
    """Largest elements: of all, along a dimension, or of two tensors pair by pair.

    Parameters
    ----------
    input : Tensor
        Where to look. A nan counts as larger than every number.
    dim : int or Tensor, optional
        A dimension, or the second tensor. Without it the result is one element, whose gradient
        is shared among all that are equal to it.
    keepdim : bool, optional
        Whether the dimension stays, with size 1.
    other : Tensor, optional
        The second tensor.
    out : Tensor or (Tensor, Tensor), optional
        Where to store the results.

    Returns
    -------
    Tensor or named tuple
        With a dimension: ``values`` and the int64 ``indices``, the first among equals.
    """
    second = dim if isinstance(dim, TensorBase) else other
    if second is not None:
        _refuse_keepdim_alone("max", keepdim)
        return F.maximum(input, second, out=_single("max", out))
    if dim is UNSET:
        _refuse_keepdim_alone("max", keepdim)
        return F.max_default(input, out=_single("max", out))
    return F.max_dim(input, checked_dim(dim), _flag(keepdim), out=_pair("max", input, out))


@overload
def min(input: T, *, out: T | None = None) -> T: ...
@overload
def min(input: T, dim: TensorBase, *, out: T | None = None) -> T: ...
@overload
def min(input: T, *, other: TensorBase, out: T | None = None) -> T: ...
@overload
def min(
    input: T, dim: int, keepdim: bool = False, *, out: tuple[T, T] | None = None
) -> MinDimResult[T]: ...
def min(
    input: T,
    dim: int | TensorBase | Unset = UNSET,
    keepdim: bool | Unset = UNSET,
    *,
    other: TensorBase | None = None,
    out: T | tuple[T, T] | None = None,
) -> T | MinDimResult[T]:
    """Smallest elements: of all, along a dimension, or of two tensors; see `max`."""
    second = dim if isinstance(dim, TensorBase) else other
    if second is not None:
        _refuse_keepdim_alone("min", keepdim)
        return F.minimum(input, second, out=_single("min", out))
    if dim is UNSET:
        _refuse_keepdim_alone("min", keepdim)
        return F.min_default(input, out=_single("min", out))
    return F.min_dim(input, checked_dim(dim), _flag(keepdim), out=_pair("min", input, out))


@overload
def median(input: T) -> T: ...
@overload
def median(
    input: T, dim: int, keepdim: bool = False, *, out: tuple[T, T] | None = None
) -> MedianDimResult[T]: ...
def median(
    input: T,
    dim: int | Unset = UNSET,
    keepdim: bool | Unset = UNSET,
    *,
    out: tuple[T, T] | None = None,
) -> T | MedianDimResult[T]:
    """The middle element of all or along a dimension, the lower of two; nan if there is one."""
    if dim is UNSET:
        _refuse_keepdim_alone("median", keepdim)
        if out is not None:
            raise ArgumentTypeError("median() takes out= only together with dim")
        return F.median_default(input)
    return F.median_dim(input, checked_dim(dim), _flag(keepdim), out=_pair("median", input, out))

"""``max`` and ``min``: of everything, along a dimension, or of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.arguments import array_of, is_array
from vtgrad.ops.calling.constants import constant
from vtgrad.ops.calling.reduction_arguments import (
    UNSET,
    Unset,
    check_flag,
    check_pair,
    dim_or_name,
    either,
)
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.reductions import (
    MaxResult,
    MinResult,
)
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["max", "min"]


T = TypeVar("T", bound=TensorBase)


def _given(
    name: str,
    by_position: int | str | TensorBase | Unset,
    dim: int | str | TensorBase | Unset,
    other: TensorBase | None,
    axis: int | str | Unset | None,
    keepdim: bool | Unset,
) -> tuple[int | str | TensorBase | Unset, TensorBase | None]:
    """The dimension or the second tensor: a tensor by position is a dimension beside keepdim."""
    if axis is not UNSET and axis is not None:
        dim = either(dim, axis, "dim and axis")
    if (by_position is not UNSET) + (dim is not UNSET) + (other is not None) > 1:
        raise ArgumentTypeError(f"{name}() takes one dimension or one second tensor, not both")
    if by_position is UNSET:
        return dim, other
    if is_array(by_position):
        by_position = constant(by_position)
    if isinstance(by_position, TensorBase) and keepdim is UNSET:
        return UNSET, by_position
    return by_position, other


def _keepdim(
    name: str, dim: int | str | TensorBase | Unset, keepdim: bool | Unset, keepdims: bool
) -> bool:
    """Whether the dimension stays, which only a dimension can."""
    if keepdim is UNSET and keepdims is False:
        return False
    if dim is UNSET:
        raise ArgumentTypeError(f"{name}() takes keepdim only together with dim")
    own = keepdim is not UNSET and check_flag(keepdim, "keepdim")
    return check_flag(keepdims, "keepdims") or own


def _single(name: str, out: T | Sequence[T] | None) -> T | None:
    if out is None or isinstance(out, TensorBase):
        return out
    raise ArgumentTypeError(f"{name}() has one result here: out= takes one tensor")


def _pair(name: str, x: T, out: T | Sequence[T] | None) -> Sequence[T] | None:
    if isinstance(out, TensorBase):
        raise ArgumentTypeError(f"{name}() has two results here: out= takes two tensors")
    check_pair(out, array_of(x, "input").dtype)
    return out


@overload
def max(input: T, *, out: T | None = None, axis: None = None) -> T: ...
@overload
def max(input: T, dim_or_other: TensorBase, *, out: T | None = None) -> T: ...
@overload
def max(input: T, *, other: TensorBase, out: T | None = None) -> T: ...
@overload
def max(
    input: T,
    dim_or_other: int | str,
    keepdim: bool = False,
    *,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MaxResult[T]: ...
@overload
def max(
    input: T,
    *,
    dim: int | str,
    keepdim: bool = False,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MaxResult[T]: ...
@overload
def max(
    input: T,
    *,
    axis: int | str,
    keepdim: bool = False,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MaxResult[T]: ...
def max(
    input: T,
    dim_or_other: int | str | TensorBase | Unset = UNSET,
    keepdim: bool | Unset = UNSET,
    *,
    dim: int | str | TensorBase | Unset = UNSET,
    other: TensorBase | None = None,
    out: T | Sequence[T] | None = None,
    axis: int | str | Unset | None = UNSET,
    keepdims: bool = False,
) -> T | MaxResult[T]:
    """Return the largest element: of all, along a dimension, or of two tensors pair by pair.

    A nan counts as larger than every number. Without a dimension, elements equal to the result
    share the gradient. Along a dimension the first of several equal elements is the one that is
    found, and it gets the gradient. With a second tensor the function is `maximum`.

    Parameters
    ----------
    input : Tensor
        Real values.
    dim_or_other : int or Tensor, optional
        The dimension or the second tensor, by position.
    keepdim : bool, default False
        Whether the dimension stays, with size 1. Only together with a dimension.
    dim : int, optional
        The dimension by keyword; a 0-d integer tensor is one, too.
    other : Tensor, optional
        The second tensor by keyword. It broadcasts with `input`.
    out : Tensor or pair of Tensor, optional
        Where the result is stored; with a dimension, the values in their dtype and the int64
        indices.
    axis : int or None, optional
        NumPy's name of `dim`; None means that there is no dimension.
    keepdims : bool, default False
        NumPy's name of `keepdim`.

    Returns
    -------
    Tensor or MaxResult
        A new tensor; with a dimension, a named tuple of ``values`` and int64 ``indices``, the
        places along the dimension.

    Raises
    ------
    ShapeError
        If there is no element and no dimension, or two tensors do not broadcast.
    DimensionError
        If the dimension does not exist or has size 0.
    NotSupportedError
        If `input` is complex, without `dim`.
    DTypeError
        If `input` is complex, with `dim`.
    ArgumentTypeError
        If the arguments do not go together, as a dimension and a second tensor do not.
    ResultTypeError
        If the dtype of `out` does not fit.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 5.0], [7.0, 2.0]])
    >>> vt.max(x)
    tensor(7.)
    >>> vt.max(x, 1)
    MaxResult(values=tensor([5., 7.]), indices=tensor([1, 0]))
    >>> vt.max(x, vt.tensor(3.0))
    tensor([[3., 5.],
            [7., 3.]])
    >>> w = vt.tensor([2.0, 2.0, 1.0], requires_grad=True)
    >>> vt.max(w).backward()
    >>> w.grad
    tensor([0.5000, 0.5000, 0.0000])
    """
    if keys.active and is_overridden(input, dim_or_other, dim, other, out):
        return call_override(
            max,
            input,
            dim_or_other,
            keepdim,
            dim=dim,
            other=other,
            out=out,
            axis=axis,
            keepdims=keepdims,
        )
    given, second = _given("max", dim_or_other, dim, other, axis, keepdim)
    keepdim = _keepdim("max", given, keepdim, keepdims)
    if given is not UNSET:
        return F.max_dim(input, dim_or_name(given), keepdim, out=_pair("max", input, out))
    if second is None:
        return F.max_default(input, out=_single("max", out))
    return F.maximum(input, second, out=_single("max", out))


@overload
def min(input: T, *, out: T | None = None, axis: None = None) -> T: ...
@overload
def min(input: T, dim_or_other: TensorBase, *, out: T | None = None) -> T: ...
@overload
def min(input: T, *, other: TensorBase, out: T | None = None) -> T: ...
@overload
def min(
    input: T,
    dim_or_other: int | str,
    keepdim: bool = False,
    *,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MinResult[T]: ...
@overload
def min(
    input: T,
    *,
    dim: int | str,
    keepdim: bool = False,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MinResult[T]: ...
@overload
def min(
    input: T,
    *,
    axis: int | str,
    keepdim: bool = False,
    out: Sequence[T] | None = None,
    keepdims: bool = False,
) -> MinResult[T]: ...
def min(
    input: T,
    dim_or_other: int | str | TensorBase | Unset = UNSET,
    keepdim: bool | Unset = UNSET,
    *,
    dim: int | str | TensorBase | Unset = UNSET,
    other: TensorBase | None = None,
    out: T | Sequence[T] | None = None,
    axis: int | str | Unset | None = UNSET,
    keepdims: bool = False,
) -> T | MinResult[T]:
    """Return the smallest element: of all, along a dimension, or of two tensors pair by pair.

    A nan counts as smaller than every number. Without a dimension, elements equal to the result
    share the gradient. Along a dimension the first of several equal elements is the one that is
    found, and it gets the gradient. With a second tensor the function is `minimum`.

    Parameters
    ----------
    input : Tensor
        Real values.
    dim_or_other : int or Tensor, optional
        The dimension or the second tensor, by position.
    keepdim : bool, default False
        Whether the dimension stays, with size 1. Only together with a dimension.
    dim : int, optional
        The dimension by keyword; a 0-d integer tensor is one, too.
    other : Tensor, optional
        The second tensor by keyword. It broadcasts with `input`.
    out : Tensor or pair of Tensor, optional
        Where the result is stored; with a dimension, the values in their dtype and the int64
        indices.
    axis : int or None, optional
        NumPy's name of `dim`; None means that there is no dimension.
    keepdims : bool, default False
        NumPy's name of `keepdim`.

    Returns
    -------
    Tensor or MinResult
        A new tensor; with a dimension, a named tuple of ``values`` and int64 ``indices``, the
        places along the dimension.

    Raises
    ------
    ShapeError
        If there is no element and no dimension, or two tensors do not broadcast.
    DimensionError
        If the dimension does not exist or has size 0.
    NotSupportedError
        If `input` is complex, without `dim`.
    DTypeError
        If `input` is complex, with `dim`.
    ArgumentTypeError
        If the arguments do not go together, as a dimension and a second tensor do not.
    ResultTypeError
        If the dtype of `out` does not fit.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 5.0], [7.0, 2.0]])
    >>> vt.min(x)
    tensor(1.)
    >>> vt.min(x, 1)
    MinResult(values=tensor([1., 2.]), indices=tensor([0, 1]))
    >>> vt.min(x, vt.tensor(3.0))
    tensor([[1., 3.],
            [3., 2.]])
    >>> w = vt.tensor([1.0, 1.0, 2.0], requires_grad=True)
    >>> vt.min(w).backward()
    >>> w.grad
    tensor([0.5000, 0.5000, 0.0000])
    """
    if keys.active and is_overridden(input, dim_or_other, dim, other, out):
        return call_override(
            min,
            input,
            dim_or_other,
            keepdim,
            dim=dim,
            other=other,
            out=out,
            axis=axis,
            keepdims=keepdims,
        )
    given, second = _given("min", dim_or_other, dim, other, axis, keepdim)
    keepdim = _keepdim("min", given, keepdim, keepdims)
    if given is not UNSET:
        return F.min_dim(input, dim_or_name(given), keepdim, out=_pair("min", input, out))
    if second is None:
        return F.min_default(input, out=_single("min", out))
    return F.minimum(input, second, out=_single("min", out))

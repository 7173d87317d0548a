"""Sorting under its public names."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import UNSET, Unset, check_flag, check_pair, checked_dim
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.sorting import SortDimResult, SortStableResult, TopkDimResult
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["sort", "topk"]


T = TypeVar("T", bound=TensorBase)


def sort(
    input: T,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | Unset | None = UNSET,
    out: tuple[T, T] | None = None,
) -> SortDimResult[T] | SortStableResult[T]:
    """Sort the elements along a dimension.

    A nan counts as larger than every number. Equal elements always keep their order. The
    gradient of a value goes to the element that it came from.

    Parameters
    ----------
    input : Tensor
        Real values; a 0-d tensor counts as one of one element.
    dim : int, default -1
        The dimension.
    descending : bool, default False
        Whether the largest come first.
    stable : bool or None, optional
        Whether equal elements must keep their order; they do anyway.
    out : pair of Tensor, optional
        Where values and indices are written, the latter in int64.

    Returns
    -------
    named tuple of Tensor
        `values`, a new tensor of the shape and dtype of `input`, and `indices`, of int64, where
        each value stood.

    Raises
    ------
    DTypeError
        If the values are complex.
    DimensionError
        If `input` has no dimension `dim`.
    ArgumentTypeError
        If `descending` or `stable` is no bool, or `out` no pair of tensors.
    ResultTypeError
        If `out` does not have the dtypes of the results.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> values, indices = vt.sort(vt.tensor([3.0, 1.0, float("nan"), 2.0]))
    >>> values
    tensor([1., 2., 3., nan])
    >>> indices
    tensor([1, 3, 0, 2])
    """
    axis, down = checked_dim(dim), check_flag(descending, "descending")
    check_pair(out, array_of(input, "input").dtype)
    if stable is UNSET:
        return F.sort_dim(input, axis, down, out=out)
    if stable is not None:
        check_flag(stable, "stable")
    return F.sort_stable(input, stable, axis, down, out=out)


def topk(
    input: T,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: tuple[T, T] | None = None,
) -> TopkDimResult[T]:
    """Return the largest or smallest elements along a dimension.

    A nan counts as larger than every number. Of equal elements those with lower indices are
    taken. The gradient of a value goes to the element that it came from.

    Parameters
    ----------
    input : Tensor
        Real values, but not bool; a 0-d tensor counts as one of one element.
    k : int
        How many elements.
    dim : int, default -1
        The dimension.
    largest : bool, default True
        Whether the largest are wanted, or the smallest.
    sorted : bool, default True
        Whether they must come in order; they do anyway.
    out : pair of Tensor, optional
        Where values and indices are written, the latter in int64.

    Returns
    -------
    named tuple of Tensor
        `values`, of the dtype of `input` and size `k` in the dimension, the most extreme first,
        and `indices`, of int64, where each value stood.

    Raises
    ------
    ElementIndexError
        If there are fewer than `k` elements, or `k` is negative.
    DTypeError
        If the values are bool or complex.
    DimensionError
        If `input` has no dimension `dim`.
    ResultTypeError
        If `out` does not have the dtypes of the results.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([3.0, 1.0, 4.0, 5.0], requires_grad=True)
    >>> values, indices = vt.topk(x, 2)
    >>> values.detach(), indices
    (tensor([5., 4.]), tensor([3, 2]))
    >>> values.sum().backward()
    >>> x.grad
    tensor([0., 0., 1., 1.])
    """
    check_pair(out, array_of(input, "input").dtype)
    return F.topk_dim(
        input,
        checked_dim(k, "k"),
        checked_dim(dim),
        check_flag(largest, "largest"),
        check_flag(sorted, "sorted"),
        out=out,
    )

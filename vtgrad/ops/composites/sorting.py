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
    """The elements in order along a dimension, and where each stood.

    Parameters
    ----------
    input : Tensor
        What to sort; nan counts as larger than every number.
    dim : int, default -1
        The dimension to sort along.
    descending : bool, default False
        Whether the largest come first.
    stable : bool, optional
        Whether equal elements must keep their order; they do in any case.
    out : (Tensor, Tensor), optional
        Where to store the results.

    Returns
    -------
    named tuple
        ``values`` and the int64 ``indices``.
    """
    axis, down = checked_dim(dim), check_flag(descending, "descending")
    check_pair(out, array_of(input, "input").dtype)
    if stable is UNSET:
        return F.sort_dim(input, axis, down, out=out)
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
    """The `k` largest or smallest elements along a dimension, in order, and their places.

    Raises
    ------
    ElementIndexError
        If there are fewer than `k` elements along the dimension.
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

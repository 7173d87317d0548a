"""Reductions under their public names: choosing the overload, checking the arguments."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, ResultTypeError
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.reduction_arguments import (
    UNSET,
    Unset,
    check_flag,
    checked_dim,
    checked_dims,
    dtype_with_out,
    either,
)
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "all",
    "any",
    "mean",
    "nanmean",
    "nansum",
    "prod",
    "sum",
]


T = TypeVar("T", bound=TensorBase)


def sum(
    input: T,
    dim: Dims | Unset = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
    keepdims: bool = False,
) -> T:
    """Sum of all elements, or over dimensions.

    Parameters
    ----------
    input : Tensor
        What to sum. Integers and bools are summed as int64.
    dim : int, sequence of int or None, optional
        The dimensions to sum over; all if it is None, empty or not given.
    keepdim : bool, default False
        Whether the summed dimensions stay, with size 1.
    dtype : DType, optional
        The dtype to sum in, and of the result.
    out : Tensor, optional
        Where to store the result.
    axis, keepdims
        NumPy's names of `dim` and `keepdim`.

    Returns
    -------
    Tensor
        A new tensor.
    """
    if dim is UNSET and axis is UNSET and not (keepdim or keepdims) and out is None:
        return F.sum_default(input, dtype=dtype)
    dim = either(dim, axis)
    keep = check_flag(keepdim, "keepdim") or check_flag(keepdims, "keepdims")
    dims = None if dim is UNSET else checked_dims(dim)
    return F.sum_dim_IntList(input, dims, keep, dtype=dtype_with_out(dtype, out), out=out)


def mean(
    input: T,
    dim: Dims | Unset = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
    keepdims: bool = False,
) -> T:
    """Arithmetic mean of all elements, or over dimensions; the arguments are those of `sum`.

    Raises
    ------
    DTypeError
        If the result would be neither floating nor complex.
    """
    if dim is UNSET and axis is UNSET and not (keepdim or keepdims) and out is None:
        return F.mean_default(input, dtype=dtype)
    dim = either(dim, axis)
    keep = check_flag(keepdim, "keepdim") or check_flag(keepdims, "keepdims")
    dims = None if dim is UNSET else checked_dims(dim)
    if dtype is not None:
        dtype_with_out(dtype, out)
    return F.mean_dim(input, dims, keep, dtype=dtype, out=out)


def nansum(
    input: T,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
) -> T:
    """The sum with 0 for nan; the arguments are those of `sum`.

    What is nan has no gradient.
    """
    keep = check_flag(keepdim, "keepdim")
    return F.nansum_dim(input, checked_dims(dim), keep, dtype=dtype_with_out(dtype, out), out=out)


def nanmean(
    input: T,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
) -> T:
    """The mean of what is not nan; the arguments are those of `mean`.

    Raises
    ------
    DTypeError
        If the values are not floating.
    """
    if array_of(input, "input").dtype.kind not in "fc":
        raise DTypeError(f"nanmean of {input.dtype} values: they must be floating")
    count = F.sum_dim_IntList(
        F.logical_not(F.isnan(input)), checked_dims(dim), check_flag(keepdim, "keepdim")
    )
    return F.div(nansum(input, dim, keepdim, dtype=dtype), count, out=out)


def prod(
    input: T,
    dim: int | Unset = UNSET,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
    axis: int | Unset = UNSET,
    keepdims: bool = False,
) -> T:
    """Product of all elements, or over one dimension; integers and bools become int64."""
    chosen = either(dim, axis)
    keep = check_flag(keepdim, "keepdim") or check_flag(keepdims, "keepdims")
    if chosen is UNSET:
        if keep or out is not None:
            raise ArgumentTypeError("prod() takes keepdim and out only together with dim")
        return F.prod_default(input, dtype=dtype)
    return F.prod_dim_int(
        input, checked_dim(chosen), keep, dtype=dtype_with_out(dtype, out), out=out
    )


def any(
    input: T,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Whether some element is not zero: of all, or over dimensions."""
    dims = checked_dims(dim if axis is UNSET else axis)
    return F.any_dim(_for_truth_in(out, input), dims, check_flag(keepdim, "keepdim"), out=out)


def all(
    input: T,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Whether no element is zero: of all, or over dimensions."""
    dims = checked_dims(dim if axis is UNSET else axis)
    return F.all_dim(_for_truth_in(out, input), dims, check_flag(keepdim, "keepdim"), out=out)


def _for_truth_in(out: TensorBase | None, input: T) -> T:
    """What to ask for truth if it is stored in ``out``: uint8 was its dtype before there was bool.

    Raises
    ------
    ResultTypeError
        If ``out`` is of another dtype than these two.
    """
    if isinstance(out, TensorBase):
        if out._impl.dtype not in (np.bool_, np.uint8):
            raise ResultTypeError(
                f"out= has dtype {out.dtype.name}, but the operator stores bool or uint8 only",
                target=out.dtype,
            )
        if out._impl.dtype == np.bool_ and isinstance(input, TensorBase):
            # The truth of uint8 is uint8, which bool does not take.
            return F.to_dtype(input, out._impl.dtype) if input._impl.dtype == np.uint8 else input
    return input

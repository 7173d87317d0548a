"""Reductions under their public names: choosing the overload, checking the arguments."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, ResultTypeError
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
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
    """Return the sum of all elements, or over dimensions.

    Integers and bools are summed as int64. Each element has the gradient of the sum that it
    went into. The sum of no elements is 0.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    dim : int, sequence of int or None, optional
        The dimensions to sum over; all of them if it is None, empty or not given.
    keepdim : bool, default False
        Whether the summed dimensions stay, with size 1.
    dtype : DType, optional
        The dtype to sum in, and of the result.
    out : Tensor, optional
        Where the result is written.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.
    keepdims : bool, default False
        NumPy's name of `keepdim`.

    Returns
    -------
    Tensor
        A new tensor without the dimensions `dim`, or with size 1 there.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If both `dim` and `axis` are given, or `keepdim` is no bool.
    DTypeError
        If `dtype` is given and `out` has another.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> vt.sum(x, 1, keepdim=True).detach()
    tensor([[3.],
            [7.]])
    >>> vt.sum(x, 0)[1].backward()
    >>> x.grad
    tensor([[0., 1.],
            [0., 1.]])
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
    """Return the arithmetic mean of all elements, or over dimensions.

    The mean of nothing is nan. Half precision is summed in single precision and rounded once.
    The gradient is spread evenly: each element gets the incoming one over the number of
    elements averaged.

    Parameters
    ----------
    input : Tensor
        Floating or complex values, or others with `dtype`.
    dim : int, sequence of int or None, optional
        The dimensions to average over; all if it is None, empty or not given.
    keepdim : bool, default False
        Whether these dimensions stay, with size 1.
    dtype : dtype, optional
        Floating or complex dtype to compute in, and that of the result.
    out : Tensor, optional
        Where the result is stored, cast to the dtype of `out`.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.
    keepdims : bool, default False
        NumPy's name of `keepdim`.

    Returns
    -------
    Tensor
        A new tensor without these dimensions.

    Raises
    ------
    DTypeError
        If the result would be neither floating nor complex, or `dtype` is not that of `out`.
    DimensionError
        If a dimension does not exist.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If `dim` and `axis` are both given, or an argument has a wrong type.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad while recording.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
    >>> vt.mean(x.detach(), 0)
    tensor([2., 4.])
    >>> vt.mean(x).backward()
    >>> x.grad
    tensor([[0.2500, 0.2500],
            [0.2500, 0.2500]])
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
    """Return the sum of the elements, each nan counted as 0.

    Integers and bools are summed as int64. The gradient of an element is that of its sum, and 0
    where the element is nan.

    Parameters
    ----------
    input : Tensor
        Real values.
    dim : int, sequence of int or None, default None
        The dimensions to sum over; all of them if it is None or empty.
    keepdim : bool, default False
        Whether the summed dimensions stay, with size 1.
    dtype : DType, optional
        The dtype to sum in, and of the result.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor without the dimensions `dim`, or with size 1 there.

    Raises
    ------
    DTypeError
        If the values are complex, or `dtype` is given and `out` has another.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> y = vt.nansum(x)
    >>> y.backward()
    >>> y.item(), x.grad
    (4.0, tensor([1., 0., 1.]))
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
    """Return the mean of the elements that are not nan.

    Where all elements are nan the mean is nan. The gradient of a mean is shared equally by the
    elements that it was taken of; a nan has gradient 0.

    Parameters
    ----------
    input : Tensor
        Real floating values.
    dim : int, sequence of int or None, default None
        The dimensions to take the mean over; all of them if it is None or empty.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    dtype : DType, optional
        The dtype that the sum is computed in.
    out : Tensor, optional
        Where the result is written.

    Returns
    -------
    Tensor
        A new tensor without the dimensions `dim`, or with size 1 there.

    Raises
    ------
    DTypeError
        If the values are not real and floating, or `dtype` is neither floating nor complex.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([[1.0, float("nan")], [3.0, 4.0]])
    >>> vt.nanmean(x)
    tensor(2.6667)
    >>> vt.nanmean(x, dim=1)
    tensor([1.0000, 3.5000])
    """
    found, wanted = array_of(input, "input").dtype, numpy_or_none(dtype)
    if found.kind != "f":
        raise DTypeError(f"nanmean of {found} values: they must be real and floating", dtype=found)
    if wanted is not None and wanted.kind not in "fc":
        raise DTypeError(
            f"nanmean cannot compute a mean as {wanted}: pass a floating or complex dtype",
            dtype=wanted,
        )
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
    """Return the product of all elements, or over one dimension.

    Integers and bools are multiplied as int64. The gradient of an element is the product of the
    others, also where elements are zero. The product of no elements is 1.

    Parameters
    ----------
    input : Tensor
        Any dtype and shape.
    dim : int, optional
        The dimension; all of them if it is not given. Several dimensions are not taken.
    keepdim : bool, default False
        Whether the dimension stays, with size 1; only with `dim`.
    dtype : DType, optional
        The dtype to multiply in, and of the result.
    out : Tensor, optional
        Where the result is written; only with `dim`.
    axis : int, optional
        NumPy's name of `dim`.
    keepdims : bool, default False
        NumPy's name of `keepdim`.

    Returns
    -------
    Tensor
        A new tensor; 0-d without `dim`.

    Raises
    ------
    DimensionError
        If `input` has no such dimension.
    ArgumentTypeError
        If `dim` is no integer, both `dim` and `axis` are given, or `keepdim` or `out` without
        them.
    DTypeError
        If `dtype` is given and `out` has another.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([0.0, 2.0, 3.0], requires_grad=True)
    >>> vt.prod(x).backward()
    >>> x.grad
    tensor([6., 0., 0.])
    >>> vt.prod(vt.tensor([[1, 2], [3, 4]]), dim=1)
    tensor([ 2, 12])
    """
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
    dim: Dims | Unset = UNSET,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Return whether some element is not 0, of all or over dimensions.

    A nan counts as true. Without elements the result is False. There is no gradient.

    Parameters
    ----------
    input : Tensor
        The values, of any dtype.
    dim : int, sequence of int or None, optional
        The dimensions to reduce; all without it or if None, none if it is empty.
    keepdim : bool, default False
        Whether reduced dimensions stay, with size 1.
    out : Tensor, optional
        Where the result is stored; bool or uint8.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    Tensor
        A new tensor of bools; of uint8, as zeros and ones, if `input` is of uint8.

    Raises
    ------
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If a dimension is named twice.
    ArgumentTypeError
        If `dim` is neither an integer nor a sequence of integers, both `dim` and `axis` are
        given, or `keepdim` is not a bool.
    ResultTypeError
        If `out` is neither of bool nor of uint8.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 0.0], [0.0, 0.0]])
    >>> vt.any(x)
    tensor(True)
    >>> vt.any(x, dim=1)
    tensor([ True, False])
    >>> vt.any(x < 0, dim=0, keepdim=True)
    tensor([[False, False]])
    """
    dims = _dims_or_all(dim, axis)
    return F.any_dim(_for_truth_in(out, input), dims, check_flag(keepdim, "keepdim"), out=out)


def all(
    input: T,
    dim: Dims | Unset = UNSET,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Return whether no element is 0, of all or over dimensions.

    A nan counts as true. Without elements the result is True. There is no gradient.

    Parameters
    ----------
    input : Tensor
        The values, of any dtype.
    dim : int, sequence of int or None, optional
        The dimensions to reduce; all without it or if None, none if it is empty.
    keepdim : bool, default False
        Whether reduced dimensions stay, with size 1.
    out : Tensor, optional
        Where the result is stored; bool or uint8.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    Tensor
        A new tensor of bools; of uint8, as zeros and ones, if `input` is of uint8.

    Raises
    ------
    DimensionError
        If there is no dimension `dim`.
    ShapeError
        If a dimension is named twice.
    ArgumentTypeError
        If `dim` is neither an integer nor a sequence of integers, both `dim` and `axis` are
        given, or `keepdim` is not a bool.
    ResultTypeError
        If `out` is neither of bool nor of uint8.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 0.0], [2.0, 3.0]])
    >>> vt.all(x)
    tensor(False)
    >>> vt.all(x, dim=1)
    tensor([False,  True])
    >>> vt.all(x > 0, dim=0, keepdim=True)
    tensor([[ True, False]])
    """
    dims = _dims_or_all(dim, axis)
    return F.all_dim(_for_truth_in(out, input), dims, check_flag(keepdim, "keepdim"), out=out)


def _dims_or_all(dim: Dims | Unset, axis: Dims | Unset) -> Dims:
    """The dimensions under PyTorch's or NumPy's name; None, for all of them, if none are given."""
    chosen = either(dim, axis)
    return None if chosen is UNSET else checked_dims(chosen)


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

"""Reductions that cast what they reduce, or are made of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from vtgrad.errors import DTypeError, ResultTypeError
from vtgrad.ops.calling.arguments import array_of, numpy_or_none
from vtgrad.ops.calling.reduction_arguments import (
    UNSET,
    Unset,
    check_flag,
    dims_or_names,
    either,
)
from vtgrad.ops.calling.take_over import call_override, is_overridden
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.storage.dtypes import DType
from vtgrad.storage.key_set import keys
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "all",
    "any",
    "nanmean",
]


T = TypeVar("T", bound=TensorBase)


def nanmean(
    input: T,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
    keepdims: bool = False,
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
    ArgumentTypeError
        If both `dim` and `axis` are given, or `keepdim` is no bool.
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
    if keys.active and is_overridden(input, out):
        return call_override(
            nanmean, input, dim, keepdim, dtype=dtype, out=out, axis=axis, keepdims=keepdims
        )
    if axis is not UNSET:
        if dim is not None:
            either(dim, axis, "dim and axis")
        dim = axis
    if keepdims is not False:
        keepdim = check_flag(keepdim, "keepdim") or check_flag(keepdims, "keepdims")
    found, wanted = array_of(input, "input").dtype, numpy_or_none(dtype)
    if found.kind != "f":
        raise DTypeError(f"nanmean of {found} values: they must be real and floating", dtype=found)
    if wanted is not None and wanted.kind not in "fc":
        raise DTypeError(
            f"nanmean cannot compute a mean as {wanted}: pass a floating or complex dtype",
            dtype=wanted,
        )
    count = F.sum_dim_IntList(
        F.logical_not(F.isnan(input)), dims_or_names(dim), check_flag(keepdim, "keepdim")
    )
    return F.div(F.nansum(input, dim, keepdim, dtype=dtype), count, out=out)


def any(
    input: T,
    dim: Dims | str | Sequence[str] | Unset = UNSET,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | str | Sequence[str] | Unset = UNSET,
    keepdims: bool = False,
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
    keepdims : bool, default False
        NumPy's name of `keepdim`.

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
        given, or `keepdim` or `keepdims` is not a bool.
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
    keep = check_flag(keepdim, "keepdim") | check_flag(keepdims, "keepdims")
    return F.any_dim(_for_truth_in(out, input), dims, keep, out=out)


def all(
    input: T,
    dim: Dims | str | Sequence[str] | Unset = UNSET,
    keepdim: bool = False,
    *,
    out: T | None = None,
    axis: Dims | str | Sequence[str] | Unset = UNSET,
    keepdims: bool = False,
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
    keepdims : bool, default False
        NumPy's name of `keepdim`.

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
        given, or `keepdim` or `keepdims` is not a bool.
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
    keep = check_flag(keepdim, "keepdim") | check_flag(keepdims, "keepdims")
    return F.all_dim(_for_truth_in(out, input), dims, keep, out=out)


def _dims_or_all(dim: object, axis: object) -> Dims:
    """The dimensions under PyTorch's or NumPy's name; None, for all of them, if none are given."""
    chosen = dim if axis is UNSET else either(dim, axis, "dim and axis")
    return None if chosen is UNSET else dims_or_names(chosen)


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

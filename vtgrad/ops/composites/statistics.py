"""Spread, norms, normalisation and running sums under their public names."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DTypeError, NotSupportedError, ShapeError
from vtgrad.ops.arguments import array_of, numpy_or_none
from vtgrad.ops.explain import explained
from vtgrad.ops.from_python import number_of
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.reductions import StdMeanDimResult, VarMeanDimResult
from vtgrad.ops.reduction_arguments import (
    UNSET,
    Unset,
    check_flag,
    checked_dim,
    checked_dims,
    dtype_with_out,
    either,
)
from vtgrad.ops.types import Dims
from vtgrad.storage.arrays import Number
from vtgrad.storage.dtypes import DType
from vtgrad.storage.tensor_base import TensorBase

__all__ = [
    "cumprod",
    "cumprod_",
    "cumsum",
    "cumsum_",
    "log_softmax",
    "logsumexp",
    "norm",
    "softmax",
    "std",
    "std_mean",
    "var",
    "var_mean",
]

T = TypeVar("T", bound=TensorBase)


def _spread_arguments(
    dim: Dims | Unset,
    unbiased: bool | Unset,
    keepdim: bool,
    correction: float | Unset | None,
) -> tuple[Dims, float | None, bool]:
    """The arguments of `var` and `std`: the dimensions, the correction, and `keepdim`.

    A single bool is `unbiased`, the older way to say that the correction is 1 or 0.
    """
    if dim is True or dim is False:
        dim, unbiased = UNSET, dim
    if unbiased is not UNSET:
        if correction is not UNSET:
            raise ArgumentTypeError("unbiased and correction say the same: give one of them")
        correction = 1 if check_flag(unbiased, "unbiased") else 0
    if correction is UNSET:
        correction = None
    elif correction is not None:
        number = number_of(correction, "correction")
        if isinstance(number, complex):
            raise ArgumentTypeError("correction must be a real number", argument="correction")
        correction = number
    dims = None if dim is UNSET else checked_dims(dim)
    return dims, correction, check_flag(keepdim, "keepdim")


def var(
    input: T,
    dim: Dims | Unset = UNSET,
    unbiased: bool | Unset = UNSET,
    keepdim: bool = False,
    *,
    correction: float | Unset | None = UNSET,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Variance of all elements, or over dimensions.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    dim : int, sequence of int or None, optional
        The dimensions; all if not given. A bool here is `unbiased`.
    unbiased : bool, optional
        True for a correction of 1, False for 0.
    keepdim : bool, default False
        Whether the dimensions stay, with size 1.
    correction : float, default 1
        What is subtracted from the number of elements before dividing by it.
    out : Tensor, optional
        Where to store the result.
    axis
        NumPy's name of `dim`.

    Returns
    -------
    Tensor
        Real, also for complex values.
    """
    dims, less, keep = _spread_arguments(either(dim, axis), unbiased, keepdim, correction)
    return F.var_dim(input, dims, less, keep, out=out)


def std(
    input: T,
    dim: Dims | Unset = UNSET,
    unbiased: bool | Unset = UNSET,
    keepdim: bool = False,
    *,
    correction: float | Unset | None = UNSET,
    out: T | None = None,
    axis: Dims | Unset = UNSET,
) -> T:
    """Standard deviation of all elements, or over dimensions; the arguments are those of `var`."""
    dims, less, keep = _spread_arguments(either(dim, axis), unbiased, keepdim, correction)
    return F.std_dim(input, dims, less, keep, out=out)


def var_mean(
    input: T,
    dim: Dims | Unset = UNSET,
    unbiased: bool | Unset = UNSET,
    keepdim: bool = False,
    *,
    correction: float | Unset | None = UNSET,
    axis: Dims | Unset = UNSET,
) -> VarMeanDimResult[T]:
    """Variance and mean together; the arguments are those of `var`."""
    dims, less, keep = _spread_arguments(either(dim, axis), unbiased, keepdim, correction)
    return F.var_mean_dim(input, dims, less, keep)


def std_mean(
    input: T,
    dim: Dims | Unset = UNSET,
    unbiased: bool | Unset = UNSET,
    keepdim: bool = False,
    *,
    correction: float | Unset | None = UNSET,
    axis: Dims | Unset = UNSET,
) -> StdMeanDimResult[T]:
    """Standard deviation and mean together; the arguments are those of `var`."""
    dims, less, keep = _spread_arguments(either(dim, axis), unbiased, keepdim, correction)
    return F.std_mean_dim(input, dims, less, keep)


def _norm_order(p: Number | str | TensorBase | None, dims: Dims) -> float:
    if p is None:
        return 2
    if p == "nuc":
        raise NotSupportedError("the nuclear norm is not implemented", ord=p)
    if isinstance(p, str):
        if p == "fro" and not (isinstance(dims, tuple) and len(dims) > 2):
            return 2
        raise ShapeError(
            "norm() knows the orders 'fro' (of at most two dimensions) and numbers, "
            f"not {p!r} of dim={dims}",
            ord=p,
        )
    order: object = p
    if isinstance(p, TensorBase):
        array = array_of(p, "p")
        order = array.item() if array.size == 1 else array.shape
    elif isinstance(p, np.generic):
        order = p.item()
    if isinstance(order, (int, float)):
        return order
    raise DTypeError(f"the order of a norm must be a real number, not {order!r}", ord=order)


@explained
def norm(
    input: T,
    p: Number | str | TensorBase | None = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    *,
    out: T | None = None,
) -> T:
    """Vector norm of all elements, or over dimensions.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    p : float or "fro", default "fro"
        The order: any number, infinities included; 0 counts what is not zero. ``"fro"`` and
        None mean 2.
    dim : int, sequence of int or None, optional
        The dimensions; all if not given.
    keepdim : bool, default False
        Whether the dimensions stay, with size 1.
    dtype : DType, optional
        A wider dtype to compute in.
    out : Tensor, optional
        Where to store the result.

    Raises
    ------
    NotSupportedError
        For the nuclear norm.
    """
    dims, keep = checked_dims(dim), check_flag(keepdim, "keepdim")
    order = _norm_order(p, dims)
    return F.linalg_vector_norm(input, order, dims, keep, dtype=dtype, out=out)


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


def cumsum(input: T, dim: int, *, dtype: DType | None = None, out: T | None = None) -> T:
    """Running sums along `dim`; integers and bools become int64 unless `dtype` is given."""
    return F.cumsum_dim(input, checked_dim(dim), dtype=dtype_with_out(dtype, out), out=out)


def cumprod(input: T, dim: int, *, dtype: DType | None = None, out: T | None = None) -> T:
    """Running products along `dim`; integers and bools become int64 unless `dtype` is given."""
    return F.cumprod_dim(input, checked_dim(dim), dtype=dtype_with_out(dtype, out), out=out)


def _check_own_dtype(x: TensorBase, dtype: DType | None) -> None:
    if array_of(x, "input").dtype.kind == "b":
        raise NotSupportedError("running sums and products are not defined in bool", dtype=x.dtype)
    if dtype is not None and numpy_or_none(dtype) != array_of(x, "input").dtype:
        raise DTypeError(f"in place, dtype= can only be the tensor's own {x.dtype}", dtype=dtype)


def cumsum_(input: T, dim: int, *, dtype: DType | None = None) -> T:
    """Replace the elements by the running sums along `dim`."""
    _check_own_dtype(input, dtype)
    return F.cumsum_dim_(input, checked_dim(dim))


def cumprod_(input: T, dim: int, *, dtype: DType | None = None) -> T:
    """Replace the elements by the running products along `dim`."""
    _check_own_dtype(input, dtype)
    return F.cumprod_dim_(input, checked_dim(dim))

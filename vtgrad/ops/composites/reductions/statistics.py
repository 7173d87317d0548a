"""var and std under their public names."""

from __future__ import annotations

from typing import TypeVar

from vtgrad.errors import ArgumentTypeError
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import UNSET, Unset, check_flag, checked_dims, either
from vtgrad.ops.calling.types import Dims
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.reductions import StdMeanDimResult, VarMeanDimResult
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["std", "std_mean", "var", "var_mean"]


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

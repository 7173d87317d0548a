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
    """Return the variance of all elements, or over dimensions.

    The sum of squared distances from the mean, divided by the number of elements less
    `correction`; of complex values the distance is an absolute value. A correction of 1 makes
    it an unbiased estimate (Bessel's correction). The derivative is
    `2 * (input - mean) / (n - correction)`.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    dim : int, sequence of int or None, optional
        The dimensions; all of them if it is None, empty or not given. A bool here is
        `unbiased`.
    unbiased : bool, optional
        True for a correction of 1, False for one of 0.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    correction : float, default 1
        What is subtracted from the number of elements, before the sum of squares is divided by
        it.
    out : Tensor, optional
        Where the result is written.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    Tensor
        A new real tensor; inf or nan if there are no more elements than `correction`.

    Raises
    ------
    DTypeError
        If the values are integers or bools.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If both `unbiased` and `correction` are given, or both `dim` and `axis`.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([1.0, 3.0], requires_grad=True)
    >>> vt.var(x, correction=0).item()
    1.0
    >>> vt.var(x).backward()
    >>> x.grad
    tensor([-2.,  2.])
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
    """Return the standard deviation of all elements, or over dimensions.

    The square root of `var`, with the same arguments. The gradient is 0 where the deviation is
    0.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    dim : int, sequence of int or None, optional
        The dimensions; all of them if it is None, empty or not given. A bool here is
        `unbiased`.
    unbiased : bool, optional
        True for a correction of 1, False for one of 0.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    correction : float, default 1
        What is subtracted from the number of elements, before the sum of squares is divided by
        it.
    out : Tensor, optional
        Where the result is written.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    Tensor
        A new real tensor; inf or nan if there are no more elements than `correction`.

    Raises
    ------
    DTypeError
        If the values are integers or bools.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If both `unbiased` and `correction` are given, or both `dim` and `axis`.
    ResultTypeError
        If the dtype of `out` cannot hold the result.
    OutGradError
        If `out` is given and an argument requires grad, while recording.

    Examples
    --------
    >>> x = vt.tensor([[1.0, 3.0], [2.0, 2.0]])
    >>> vt.std(x, 1)
    tensor([1.4142, 0.0000])
    >>> vt.std(x, 1, correction=0)
    tensor([1., 0.])
    """
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
    """Return the variance and the mean of all elements, or over dimensions.

    As `var` and `mean`, in one call.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    dim : int, sequence of int or None, optional
        The dimensions; all of them if it is None, empty or not given. A bool here is
        `unbiased`.
    unbiased : bool, optional
        True for a correction of 1, False for one of 0.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    correction : float, default 1
        What is subtracted from the number of elements, before the sum of squares is divided by
        it.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    named tuple of Tensor
        `var`, which is real, and `mean`, of the dtype of `input`.

    Raises
    ------
    DTypeError
        If the values are integers or bools.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If both `unbiased` and `correction` are given, or both `dim` and `axis`.

    Examples
    --------
    >>> var, mean = vt.var_mean(vt.tensor([[1.0, 3.0], [2.0, 2.0]]), 1, correction=0)
    >>> var, mean
    (tensor([1., 0.]), tensor([2., 2.]))
    """
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
    """Return the standard deviation and the mean of all elements, or over dimensions.

    As `std` and `mean`, in one call.

    Parameters
    ----------
    input : Tensor
        Floating or complex values.
    dim : int, sequence of int or None, optional
        The dimensions; all of them if it is None, empty or not given. A bool here is
        `unbiased`.
    unbiased : bool, optional
        True for a correction of 1, False for one of 0.
    keepdim : bool, default False
        Whether the reduced dimensions stay, with size 1.
    correction : float, default 1
        What is subtracted from the number of elements, before the sum of squares is divided by
        it.
    axis : int, sequence of int or None, optional
        NumPy's name of `dim`.

    Returns
    -------
    named tuple of Tensor
        `std`, which is real, and `mean`, of the dtype of `input`.

    Raises
    ------
    DTypeError
        If the values are integers or bools.
    DimensionError
        If `input` has no such dimension.
    ShapeError
        If a dimension is given twice.
    ArgumentTypeError
        If both `unbiased` and `correction` are given, or both `dim` and `axis`.

    Examples
    --------
    >>> std, mean = vt.std_mean(vt.tensor([1.0, 2.0, 3.0]))
    >>> std, mean
    (tensor(1.), tensor(2.))
    """
    dims, less, keep = _spread_arguments(either(dim, axis), unbiased, keepdim, correction)
    return F.std_mean_dim(input, dims, less, keep)

"""Softmaxes along a dimension, and one with random numbers."""

from __future__ import annotations

from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag, checked_dim, dim_or_name
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.drawing import target_of_draw
from vtgrad.storage.dtypes import DType
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


@explained
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Return exponentials, divided by their sum along a dimension.

    Parameters
    ----------
    input : Tensor
        Floating values, or values of any dtype if `dtype` is given.
    dim : int, optional
        The dimension. Without it, which warns, it is 0 of tensors with none, one or three
        dimensions, and 1 of others.
    _stacklevel : int
        It changes nothing: a warning is about the line that called the library.
    dtype : dtype, optional
        The dtype in which it is computed.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.nn.functional.softmax(vt.tensor([0.0, 1000.0, 1000.0]), 0)
    tensor([0.0000, 0.5000, 0.5000])
    """
    return F.softmax(input, _dimension("softmax", input, dim), dtype)


@explained
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Return logarithms of `softmax`, exact where it is near 0.

    Parameters
    ----------
    input, dim, _stacklevel, dtype
        As of `softmax`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.nn.functional.log_softmax(vt.tensor([0.0, 1000.0]), 0)
    tensor([-1000.,     0.])
    """
    return F.log_softmax(input, _dimension("log_softmax", input, dim), dtype)


@explained
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Return the `softmax` of the negative elements.

    Parameters
    ----------
    input, dim, _stacklevel, dtype
        As of `softmax`.

    Returns
    -------
    Tensor
        A new tensor of the shape of `input`.

    Raises
    ------
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> vt.nn.functional.softmin(vt.tensor([0.0, 1000.0, 0.0]), 0)
    tensor([0.5000, 0.0000, 0.5000])
    """
    return F.softmax(F.neg(input), _dimension("softmin", input, dim), dtype)


@explained
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Return the softmax of logits with random numbers, which draws classes when `tau` is small.

    Parameters
    ----------
    logits : Tensor
        Logarithms of weights of classes, floating.
    tau : float, default 1
        What the sums are divided by before the softmax.
    hard : bool, default False
        Whether the result is 1 for the class with the largest value and 0 for others, with the
        gradient of the softmax.
    eps : float, optional
        It changes nothing, and another value than the default warns.
    dim : int, default -1
        The dimension of classes.

    Returns
    -------
    Tensor
        A new tensor of the shape of `logits`.

    Raises
    ------
    NotSupportedError
        If `logits` is not floating.
    DimensionError
        If there is no such dimension.

    Examples
    --------
    >>> x = vt.nn.functional.gumbel_softmax(vt.tensor([0.0, 0.0, 9.0]), hard=True)
    >>> x.sum().item()
    1.0
    """
    refuse_names("gumbel_softmax", logits)
    if eps != 1e-10:
        warn("eps of gumbel_softmax() changes nothing")
    check_kind("gumbel_softmax", logits, name="logits")
    axis = checked_dim(dim)
    drawn = F.log(F.exponential_(target_of_draw(F.empty_like(F.detach(logits)))))
    shares = F.softmax_dim(F.div(F.sub(logits, drawn), real_of(tau, "tau")), axis)
    if not check_flag(hard, "hard"):
        return shares
    index = F.max_dim(F.detach(shares), axis, True)[1]
    ones = F.scatter_value(F.zeros_like(F.detach(shares)), axis, index, 1)
    return F.add(F.sub(ones, F.detach(shares)), shares)


def _dimension(function: str, input: Tensor, dim: int | None) -> int:
    """The dimension, which is that of PyTorch where there is none."""
    ndim = array_of(input, "input").ndim
    if dim is None:
        dim = 0 if ndim in (0, 1, 3) else 1
        warn(f"{function}() was called without a dimension, and takes dimension {dim}; pass dim=")
    return dim_or_name(dim)

"""Losses of numbers beside the numbers that are wanted."""

from __future__ import annotations

import math

from vtgrad.errors import ArgumentValueError, NotSupportedError, OptionValueError
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.promotion import result_dtype
from vtgrad.storage.warn import warn
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
]


@explained
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return squares of differences.

    Parameters
    ----------
    input, target : Tensor
        What was found and what is wanted; they broadcast, with a warning.
    weight : Tensor, optional
        A weight for each element, by which its loss is multiplied. The mean is divided by the sum
        of weights.
    size_average, reduce : bool, optional
        PyTorch's older way to say the reduction.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    NotSupportedError
        If both are integers.
    ArgumentValueError
        If there is no such reduction, or the weights have another shape than `input`.

    Examples
    --------
    >>> vt.nn.functional.mse_loss(vt.tensor([1.0, 3.0]), vt.tensor([0.0, 0.0]))
    tensor(5.)
    """
    mode = reduction_of(reduction, size_average, reduce)
    difference = _difference("mse_loss", input, target)
    return _weighted(F.mul(difference, difference), weight, input, mode, by_weight=True)


@explained
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return absolute values of differences; where they are 0, the derivative is 0.

    Parameters
    ----------
    input, target : Tensor
        What was found and what is wanted, complex too; they broadcast, with a warning.
    weight : Tensor, optional
        A weight for each element, by which its loss is multiplied. The mean is divided by the sum
        of weights.
    size_average, reduce : bool, optional
        PyTorch's older way to say the reduction.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    DTypeError, NotSupportedError
        If the mean of integers is asked for, or both are bools.
    ArgumentValueError
        If there is no such reduction, or the weights have another shape than `input`.

    Examples
    --------
    >>> vt.nn.functional.l1_loss(vt.tensor([1.0, -3.0]), vt.tensor([0.0, 0.0]))
    tensor(2.)
    """
    mode = reduction_of(reduction, size_average, reduce)
    losses = F.abs(_difference("l1_loss", input, target, "fciu"))
    return _weighted(losses, weight, input, mode, by_weight=True)


@explained
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return squares of small differences, and values of lines for others.

    Of a difference ``d`` that is ``d * d / (2 * beta)`` up to `beta`, and ``abs(d) - beta / 2``
    beyond.

    Parameters
    ----------
    input, target : Tensor
        What was found and what is wanted; they broadcast, with a warning.
    beta : float, default 1.0
        Up to which difference the loss is a parabola, not negative; with 0 it is `l1_loss`.
    size_average, reduce : bool, optional
        PyTorch's older way to say the reduction.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    OptionValueError
        If `beta` is negative.
    NotSupportedError
        If both are integers.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> vt.nn.functional.smooth_l1_loss(vt.tensor([1.0, 3.0]), vt.zeros(2), reduction="none")
    tensor([0.5000, 2.5000])
    """
    mode = reduction_of(reduction, size_average, reduce)
    width = real_of(beta, "beta")
    if not width >= 0:
        raise OptionValueError(f"smooth_l1_loss() takes no negative beta, got {width}")
    difference = _difference("smooth_l1_loss", input, target)
    if not width:
        return reduced(F.abs(difference), mode)
    return reduced(_huber(difference, width, width), mode)


@explained
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return squares of small differences, and values of lines for others.

    Of a difference ``d`` that is ``d * d / 2`` up to `delta`, and ``delta * (abs(d) - delta / 2)``
    beyond.

    Parameters
    ----------
    input, target : Tensor
        What was found and what is wanted; they broadcast, with a warning.
    delta : float, default 1.0
        Up to which difference the loss is a parabola, positive.
    weight : Tensor, optional
        A weight for each element, by which its loss is multiplied.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    OptionValueError
        If `delta` is not positive.
    NotSupportedError
        If both are integers.
    ArgumentValueError
        If there is no such reduction, or the weights have another shape than `input`.

    Examples
    --------
    >>> vt.nn.functional.huber_loss(vt.tensor([1.0, 3.0]), vt.zeros(2), "none", 2.0)
    tensor([0.5000, 4.0000])
    """
    mode = reduction_of(reduction)
    width = real_of(delta, "delta")
    if not width > 0:
        raise OptionValueError(f"huber_loss() takes a positive delta, got {width}")
    difference = _difference("huber_loss", input, target)
    return _weighted(_huber(difference, width), weight, input, mode)


@explained
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return negative logarithms of the probabilities of counts, but for their factorials.

    Parameters
    ----------
    input : Tensor
        Expected counts, or their logarithms.
    target : Tensor
        The counts.
    log_input : bool, default True
        Whether `input` holds logarithms: ``exp(input) - target * input``, else
        ``input - target * log(input + eps)``.
    full : bool, default False
        Whether the factorial of a count above 1 is added, by Stirling's formula.
    eps : float, default 1e-08
        What is added before a logarithm is taken.
    size_average, reduce : bool, optional
        PyTorch's older way to say the reduction.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ShapeError
        If the shapes do not broadcast.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x, y = vt.tensor([0.0, 1.0]), vt.tensor([1.0, 0.0])
    >>> vt.nn.functional.poisson_nll_loss(x, y, reduction="sum")
    tensor(3.7183)
    """
    refuse_names("poisson_nll_loss", input, target)
    mode = reduction_of(reduction, size_average, reduce)
    array_of(input, "input")
    array_of(target, "target")
    if check_flag(log_input, "log_input"):
        losses = F.sub(F.exp(input), F.mul(target, input))
    else:
        losses = F.sub(input, F.mul(target, F.log(F.add(input, real_of(eps, "eps")))))
    if check_flag(full, "full"):
        small = F.le(target, 1)
        counts = F.masked_fill(target, small, 2)
        stirling = F.sub(F.mul(counts, F.log(counts)), counts)
        stirling = F.add(stirling, F.mul(F.log(F.mul(counts, 2 * math.pi)), 0.5))
        losses = F.add(losses, F.masked_fill(stirling, small, 0))
    return reduced(losses, mode)


@explained
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return ``(log(var) + (input - target)**2 / var) / 2``, of normal densities.

    Parameters
    ----------
    input : Tensor
        Means.
    target : Tensor
        Values.
    var : Tensor or float
        Variances, not negative: of the shape of `input`, or without its last dimension, or with
        size 1 in one dimension.
    full : bool, default False
        Whether the constant ``log(2 * pi) / 2`` is added.
    eps : float, default 1e-06
        The least variance. The gradient of a smaller one is that of `eps`.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ArgumentValueError
        If there is no such reduction, a variance is negative, or their shape does not fit.
    ShapeError
        If `target` does not broadcast.

    Examples
    --------
    >>> vt.nn.functional.gaussian_nll_loss(vt.tensor([1.0]), vt.tensor([3.0]), vt.tensor([1.0]))
    tensor(2.)
    """
    refuse_names("gaussian_nll_loss", input, target, var)
    mode = reduction_of(reduction)
    shape = array_of(input, "input").shape
    array_of(target, "target")
    if isinstance(var, Tensor):
        variances = var
        if (innermost(var)._impl.array < 0).any():
            raise ArgumentValueError("gaussian_nll_loss() got a negative variance")
    else:
        number = real_of(var, "var")
        if number < 0:
            raise ArgumentValueError(f"gaussian_nll_loss() got the negative variance {number}")
        variances = F.full_like(input, number)
    sizes = variances._impl.array.shape
    if sizes != shape:
        if sizes == shape[:-1]:
            variances = F.unsqueeze(variances, -1)
        elif (
            len(sizes) != len(shape)
            or sum([one for all_, one in zip(shape, sizes, strict=True) if all_ != one]) != 1
        ):
            raise ArgumentValueError(
                f"variances of shape {list(sizes)} do not belong to means of {list(shape)}"
            )
    lacking = F.clamp_min_default(F.rsub_Scalar(F.detach(variances), real_of(eps, "eps")), 0)
    variances = F.add(variances, lacking)
    difference = F.sub(input, target)
    losses = F.div(F.mul(difference, difference), variances)
    losses = F.mul(F.add(F.log(variances), losses), 0.5)
    if check_flag(full, "full"):
        losses = F.add(losses, 0.5 * math.log(2 * math.pi))
    return reduced(losses, mode)


@explained
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return ``target * (log(target) - input)``, the terms of Kullback and Leibler's divergence.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities.
    target : Tensor
        The probabilities of the distribution from which the other one differs; they broadcast.
    log_target : bool, default False
        Whether `target` holds logarithms too.
    size_average, reduce : bool, optional
        PyTorch's older way to say the reduction.
    reduction : {"mean", "sum", "batchmean", "none"}, default "mean"
        The mean or the sum of the terms, their sum divided by the first size, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    NotSupportedError
        If a tensor is not floating.
    ShapeError
        If the shapes do not broadcast.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> p, q = vt.tensor([[0.5, 0.5]]), vt.tensor([[0.25, 0.75]])
    >>> vt.nn.functional.kl_div(q.log(), p, reduction="batchmean")
    tensor(0.1438)
    """
    refuse_names("kl_div", input, target)
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    mode = "sum" if by_batch else reduction_of(reduction, size_average, reduce)
    check_kind("kl_div", input)
    check_kind("kl_div", target, name="target")
    if mode == "mean" and size_average is None and reduce is None:
        warn(
            'reduction="mean" divides by the number of elements; "batchmean", which divides by the '
            "first size, gives the divergence"
        )
    if check_flag(log_target, "log_target"):
        terms = F.mul(F.exp(target), F.sub(target, input))
    else:
        terms = F.sub(F.xlogy_Tensor(target, target), F.mul(target, input))
    found = reduced(terms, mode)
    shape = input._impl.array.shape
    return F.div(found, shape[0]) if by_batch and shape else found


def _difference(function: str, input: Tensor, target: Tensor, kinds: str = "f") -> Tensor:
    refuse_names(function, input, target)
    shapes = [array_of(x, name).shape for x, name in ((input, "input"), (target, "target"))]
    if shapes[0] != shapes[1]:
        warn(
            f"{function}() got an input of shape {list(shapes[0])} and a target of shape "
            f"{list(shapes[1])}, which broadcast; most programs want one shape"
        )
    dtype = result_dtype(input._impl.array, target._impl.array)
    if dtype.kind not in kinds:
        raise NotSupportedError(f"{function}() does not take differences of {dtype.name}")
    # Bools have no differences, but stand for 0 and 1 beside numbers.
    input, target = (
        F.to_dtype(x, dtype) if x._impl.array.dtype.kind == "b" else x for x in (input, target)
    )
    return F.sub(input, target)


def _huber(difference: Tensor, width: float, scale: float = 1.0) -> Tensor:
    """A parabola within `width`, and lines with the same slope beside it, divided by a number."""
    near = F.clamp_default(difference, -width, width)
    beyond = F.sub(difference, F.mul(near, 0.5))
    # The quotient of `near`: products are not in the range of float16.
    return F.mul(near if scale == 1 else F.div(near, scale), beyond)


def _weighted(
    losses: Tensor, weight: Tensor | None, input: Tensor, mode: str, by_weight: bool = False
) -> Tensor:
    """The reduced losses; with weights the mean may be divided by their sum."""
    if weight is None:
        return reduced(losses, mode)
    if array_of(weight, "weight").shape != input._impl.array.shape:
        raise ArgumentValueError(
            f"weights of shape {list(weight.shape)} do not belong to an input of "
            f"{list(input.shape)}"
        )
    losses = F.mul(losses, weight)
    if by_weight and mode == "mean":
        return F.div(F.sum_default(losses), F.sum_default(weight))
    return reduced(losses, mode)

"""Losses of answers with two values."""

from __future__ import annotations

import typing

from vtgrad.errors import ArgumentValueError, DimensionError, OptionValueError, ShapeError
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.nn.functional.smooth_activations import logsigmoid
from vtgrad.nn.functional.traced import is_traced
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
]


@explained
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``-target * log(input) - (1 - target) * log(1 - input)``.

    A logarithm is -100 at least, and the gradient
    ``(input - target) / max(input * (1 - input), 1e-12)``, so both are finite at 0 and at 1.

    Parameters
    ----------
    input : Tensor
        Probabilities, floating.
    target : Tensor
        The probabilities that are wanted, of the same shape.
    weight : Tensor, optional
        What each loss is multiplied by; it broadcasts.
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
    NotSupportedError
        If `input` is not floating.
    OptionValueError
        If a value of `input` is below 0 or above 1, or the dtypes differ.
    ArgumentValueError
        If there is no such reduction, or the shapes differ.

    Examples
    --------
    >>> x, y = vt.tensor([0.5, 0.0]), vt.tensor([1.0, 1.0])
    >>> vt.nn.functional.binary_cross_entropy(x, y, reduction="none")
    tensor([  0.6931, 100.0000])
    """
    refuse_names("binary_cross_entropy", input, target, weight)
    mode = reduction_of(reduction, size_average, reduce)
    dtype = check_kind("binary_cross_entropy", input)
    _check_shapes("binary_cross_entropy", input, target)
    if target._impl.array.dtype != dtype:
        raise OptionValueError(
            f"binary_cross_entropy() takes one dtype, not {dtype.name} and {target.dtype.name}"
        )
    values = innermost(input)._impl.array
    # Comparisons with nan are false, as they are for PyTorch.
    if ((values < 0) | (values > 1)).any():
        raise OptionValueError("binary_cross_entropy() takes probabilities, between 0 and 1")
    if is_traced():
        # A Function hides which element depends on which.
        losses = _losses(input, target)
    else:
        losses = _CrossEntropy.apply(input, target)
    return reduced(losses if weight is None else F.mul(losses, weight), mode)


@explained
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the `binary_cross_entropy` of the sigmoids of logits, without rounding them.

    Parameters
    ----------
    input : Tensor
        The logits, floating.
    target : Tensor
        The probabilities that are wanted, of the same shape.
    weight : Tensor, optional
        What each loss is multiplied by; it broadcasts.
    pos_weight : Tensor, optional
        What the part of the loss with ``target`` is multiplied by; it broadcasts.
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
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If a weight does not broadcast.
    ArgumentValueError
        If there is no such reduction, or the shapes differ.

    Examples
    --------
    >>> logits = vt.tensor([0.0, 1000.0])
    >>> vt.nn.functional.binary_cross_entropy_with_logits(logits, vt.zeros(2), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    refuse_names("binary_cross_entropy_with_logits", input, target, weight, pos_weight)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("binary_cross_entropy_with_logits", input)
    _check_shapes("binary_cross_entropy_with_logits", input, target)
    logarithms = logsigmoid(input)
    if pos_weight is not None:
        logarithms = F.mul(logarithms, F.add(F.mul(F.sub(pos_weight, 1), target), 1))
    losses = F.sub(F.mul(F.rsub_Scalar(target, 1), input), logarithms)
    return reduced(losses if weight is None else F.mul(losses, weight), mode)


@explained
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``log(1 + exp(-target * input))``.

    Parameters
    ----------
    input : Tensor
        Scores, floating.
    target : Tensor
        1 or -1 for each of them, of the same shape.
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
    NotSupportedError
        If `input` is not floating.
    ShapeError
        If the shapes differ.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x, y = vt.tensor([2.0, 1000.0]), vt.tensor([1, -1])
    >>> vt.nn.functional.soft_margin_loss(x, y, reduction="none")
    tensor([1.2693e-01, 1.0000e+03])
    """
    refuse_names("soft_margin_loss", input, target)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("soft_margin_loss", input)
    shape = input._impl.array.shape
    if array_of(target, "target").shape != shape:
        raise ShapeError(f"{list(target.shape)} targets do not belong to scores of {list(shape)}")
    return reduced(F.neg(logsigmoid(F.mul(input, target))), mode)


@explained
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return means of the cross entropies of many answers with two values.

    Parameters
    ----------
    input : Tensor
        Logits, floating, with a class for each element along the last dimension.
    target : Tensor
        1 for each class that a sample belongs to, 0 for others; it broadcasts.
    weight : Tensor, optional
        What the losses of classes are multiplied by.
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
    NotSupportedError
        If `input` is not floating.
    DimensionError
        If `input` is 0-d.
    ShapeError
        If `target` does not broadcast.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x, y = vt.tensor([[0.0, 1000.0]]), vt.tensor([[1.0, 1.0]])
    >>> vt.nn.functional.multilabel_soft_margin_loss(x, y)
    tensor(0.3466)
    """
    refuse_names("multilabel_soft_margin_loss", input, target, weight)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("multilabel_soft_margin_loss", input)
    array_of(target, "target")
    shape = input._impl.array.shape
    if not shape:
        raise DimensionError("multilabel_soft_margin_loss() needs a dimension of classes", ndim=0)
    wrong = F.mul(F.rsub_Scalar(target, 1), logsigmoid(F.neg(input)))
    losses = F.neg(F.add(F.mul(target, logsigmoid(input)), wrong))
    if weight is not None:
        losses = F.mul(losses, weight)
    return reduced(F.div(F.sum_dim_IntList(losses, (len(shape) - 1,)), shape[-1]), mode)


class _CrossEntropy(Function):
    """The losses of probabilities, whose derivatives are finite at 0 and at 1."""

    generate_vmap_rule = True

    @staticmethod
    def forward(input: Tensor, target: Tensor) -> Tensor:
        return _losses(input, target)

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[object, ...], output: object) -> None:
        ctx.save_for_backward(*typing.cast("tuple[Tensor, Tensor]", inputs))
        ctx.save_for_forward(*typing.cast("tuple[Tensor, Tensor]", inputs))

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        input, target = ctx.saved_tensors
        by_input, by_target = ctx.needs_input_grad
        return (
            F.mul(grad, _by_probability(input, target)) if by_input else None,
            F.mul(grad, _by_target(input)) if by_target else None,
        )

    @staticmethod
    def jvp(ctx: FunctionCtx, of_input: Tensor, of_target: Tensor) -> Tensor:
        input, target = ctx.saved_tensors
        moved = F.mul(of_input, _by_probability(input, target))
        return F.add(moved, F.mul(of_target, _by_target(input)))


def _losses(input: Tensor, target: Tensor) -> Tensor:
    right = F.clamp_min_default(F.log(input), -100)
    wrong = F.clamp_min_default(F.log1p(F.neg(input)), -100)
    return F.sub(F.mul(F.sub(target, 1), wrong), F.mul(target, right))


def _by_probability(input: Tensor, target: Tensor) -> Tensor:
    spread = F.clamp_min_default(F.mul(F.rsub_Scalar(input, 1), input), 1e-12)
    return F.div(F.sub(input, target), spread)


def _by_target(input: Tensor) -> Tensor:
    wrong = F.clamp_min_default(F.log1p(F.neg(input)), -100)
    return F.sub(wrong, F.clamp_min_default(F.log(input), -100))


def _check_shapes(function: str, input: Tensor, target: Tensor) -> None:
    shape = input._impl.array.shape
    if array_of(target, "target").shape != shape:
        raise ArgumentValueError(
            f"{function}() takes one shape, not {list(shape)} and {list(target.shape)}"
        )

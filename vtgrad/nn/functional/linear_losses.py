"""The loss of classes whose scores are a linear map."""

from __future__ import annotations

import math

from vtgrad.errors import NotSupportedError, ShapeError
from vtgrad.nn.functional.class_losses import cross_entropy
from vtgrad.nn.functional.linear_maps import linear
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = ["linear_cross_entropy"]


@explained
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: None = None,
) -> Tensor:
    """Return `cross_entropy` of what `linear` makes of the input.

    Parameters
    ----------
    input : Tensor
        Floating values: a row for each sample, or one sample.
    linear_weight : Tensor
        A row for each class; with dimensions between that of classes and that of columns each
        sample has as many losses.
    target : Tensor
        Classes or their probabilities, as of `cross_entropy`.
    linear_bias : Tensor, optional
        What is added to the scores, of the shape of `linear_weight` without columns.
    weight : Tensor, optional
        A factor for each class.
    reduction : {"mean", "sum", "none"}, default "mean"
        As of `cross_entropy`.
    ignore_index : int, optional
        The class that does not count, -100 by default.
    label_smoothing : float, default 0.0
        As of `cross_entropy`.
    options : None
        PyTorch's choices of how to save memory, which there are not.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    NotSupportedError
        If `options` are given, or the values are not floating.
    ShapeError
        If a shape does not fit.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x, w = vt.tensor([[1.0, 0.0]]), vt.tensor([[0.0, 1.0], [0.0, 1.0]])
    >>> vt.nn.functional.linear_cross_entropy(x, w, vt.tensor([1]))
    tensor(0.6931)
    """
    if options is not None:
        raise NotSupportedError("linear_cross_entropy() has no options to save memory")
    scores = _scores(input, linear_weight, linear_bias)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        scores,
        target,
        weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _scores(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    shape, sizes = array_of(input, "input").shape, array_of(weight, "linear_weight").shape
    if len(sizes) < 2:
        raise ShapeError(
            "linear_cross_entropy() takes a weight with rows and columns, not of shape "
            f"{list(sizes)}",
            shape=sizes,
        )
    if len(sizes) == 2:
        return linear(input, weight, bias)
    if len(shape) != 2:
        raise ShapeError(
            "linear_cross_entropy() takes rows of samples if there are several losses for each, "
            f"not {list(shape)}",
            shape=shape,
        )
    # A row for each class and loss.
    rows = F.reshape(weight, (math.prod(sizes[:-1]), sizes[-1]))
    found = F.reshape(linear(input, rows), (shape[0], *sizes[:-1]))
    if bias is None:
        return found
    if array_of(bias, "linear_bias").shape != sizes[:-1]:
        raise ShapeError(
            f"a bias of shape {list(bias.shape)} does not belong to scores of {list(sizes[:-1])}"
        )
    return F.add(found, bias)

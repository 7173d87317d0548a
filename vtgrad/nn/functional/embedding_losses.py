"""Losses of pairs and of triples of vectors or scores."""

from __future__ import annotations

from collections.abc import Callable

from vtgrad.errors import ArgumentValueError, ShapeError
from vtgrad.later.distances import pairwise_distance
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import real_of
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.generated import functional as F
from vtgrad.tensor.tensor import Tensor

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@explained
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return distances of what is alike, and ``max(0, margin - distance)`` of what is not.

    Parameters
    ----------
    input : Tensor
        Distances.
    target : Tensor
        1 for what is alike, -1 for what is not; it broadcasts.
    margin : float, default 1.0
        The distance that is far enough.
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
    >>> vt.nn.functional.hinge_embedding_loss(vt.tensor([0.25, 0.25]), vt.tensor([1, -1]))
    tensor(0.5000)
    """
    refuse_names("hinge_embedding_loss", input, target)
    mode = reduction_of(reduction, size_average, reduce)
    array_of(input, "input")
    array_of(target, "target")
    apart = F.clamp_min_default(F.rsub_Scalar(input, real_of(margin, "margin")), 0)
    losses = F.where_self(F.eq(target, 1), 0, apart)
    return reduced(F.add(losses, F.where_self(F.eq(target, -1), 0, input)), mode)


@explained
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, margin - target * (input1 - input2))``.

    Parameters
    ----------
    input1, input2 : Tensor
        Scores, of as many dimensions; they broadcast.
    target : Tensor
        1 where the first score is to be higher, -1 where the second is.
    margin : float, default 0
        The difference that is large enough.
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
        If the numbers of dimensions differ, or the shapes do not broadcast.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> a, b = vt.tensor([1.0, 1.0]), vt.tensor([0.0, 2.0])
    >>> vt.nn.functional.margin_ranking_loss(a, b, vt.tensor([1, 1]))
    tensor(0.5000)
    """
    refuse_names("margin_ranking_loss", input1, input2, target)
    mode = reduction_of(reduction, size_average, reduce)
    operands = (input1, "input1"), (input2, "input2"), (target, "target")
    if len({array_of(x, name).ndim for x, name in operands}) > 1:
        shapes = ", ".join([str(list(x.shape)) for x, _ in operands])
        raise ShapeError(f"margin_ranking_loss() takes as many dimensions of all, got {shapes}")
    losses = F.mul(F.neg(target), F.sub(input1, input2))
    return reduced(F.clamp_min_default(F.add(losses, real_of(margin, "margin")), 0), mode)


@explained
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``1 - cosine`` of what is alike, and ``max(0, cosine - margin)`` of others.

    Parameters
    ----------
    input1, input2 : Tensor
        A vector each, or a vector in each row; they broadcast.
    target : Tensor
        1 for vectors that are alike, -1 for others: 0-d for vectors, a vector for rows.
    margin : float, default 0
        The cosine that is small enough.
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
        If the dimensions do not fit.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> a, b = vt.tensor([[1.0, 0.0], [1.0, 0.0]]), vt.tensor([[0.0, 1.0], [2.0, 0.0]])
    >>> vt.nn.functional.cosine_embedding_loss(a, b, vt.tensor([1, -1]), reduction="none")
    tensor([1., 1.])
    """
    refuse_names("cosine_embedding_loss", input1, input2, target)
    mode = reduction_of(reduction, size_average, reduce)
    ndim = array_of(target, "target").ndim
    shapes = [array_of(x, name).shape for x, name in ((input1, "input1"), (input2, "input2"))]
    if ndim > 1 or any(len(shape) != ndim + 1 for shape in shapes):
        raise ShapeError(
            f"cosine_embedding_loss() takes vectors, or matrices and a vector of targets, not "
            f"{list(shapes[0])}, {list(shapes[1])} and {list(target.shape)}"
        )
    product = F.sum_dim_IntList(F.mul(input1, input2), (ndim,))
    squares = [F.add(F.sum_dim_IntList(F.mul(x, x), (ndim,)), 1e-12) for x in (input1, input2)]
    cosines = F.div(product, F.sqrt(F.mul(*squares)))
    alike = F.where_self(F.eq(target, 1), F.rsub_Scalar(cosines, 1), 0)
    apart = F.clamp_min_default(F.sub(cosines, real_of(margin, "margin")), 0)
    return reduced(F.add(alike, F.where_self(F.eq(target, -1), apart, 0)), mode)


@explained
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, margin + near - far)`` of two distances.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        A vector each, along the last dimension: what is compared, what is to be near to it, and
        what is to be far away. They have as many dimensions, and broadcast.
    margin : float, default 1.0
        How much farther is far enough, positive.
    p, eps : float, default 2 and 1e-06
        The order of the norm, and what is added to each difference, as of `pairwise_distance`.
    swap : bool, default False
        Whether the distance of `positive` from `negative` counts if it is smaller than that of
        the anchor.
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
    ArgumentValueError
        If there is no such reduction, or `margin` is not positive.
    ShapeError
        If the numbers of dimensions differ, or the shapes do not broadcast.

    Examples
    --------
    >>> a, p, n = vt.tensor([[0.0, 0.0]]), vt.tensor([[1.0, 0.0]]), vt.tensor([[0.0, 1.5]])
    >>> vt.nn.functional.triplet_margin_loss(a, p, n)
    tensor(0.5000)
    """
    mode = reduction_of(reduction, size_average, reduce)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return _triplet("triplet_margin_loss", anchor, positive, negative, distance, margin, swap, mode)


@explained
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return ``max(0, margin + near - far)`` with a distance of one's own.

    Parameters
    ----------
    anchor, positive, negative : Tensor
        A vector each, along the last dimension: what is compared, what is to be near to it, and
        what is to be far away. They have as many dimensions, and broadcast.
    margin : float, default 1.0
        How much farther is far enough, positive.
    distance_function : callable, optional
        From two tensors to their distance, `pairwise_distance` by default.
    swap : bool, default False
        Whether the distance of `positive` from `negative` counts if it is smaller than that of
        the anchor.
    reduction : {"mean", "sum", "none"}, default "mean"
        The mean or the sum of the losses, or all of them.

    Returns
    -------
    Tensor
        A new tensor, 0-d unless all losses are returned.

    Raises
    ------
    ArgumentValueError
        If there is no such reduction, or `margin` is not positive.
    ShapeError
        If the numbers of dimensions differ, or the shapes do not broadcast.

    Examples
    --------
    >>> a, p, n = vt.tensor([[0.0]]), vt.tensor([[1.0]]), vt.tensor([[1.5]])
    >>> def far(x, y):
    ...     return (x - y).abs().sum(-1)
    >>> vt.nn.functional.triplet_margin_with_distance_loss(a, p, n, distance_function=far)
    tensor(0.5000)
    """
    name = "triplet_margin_with_distance_loss"
    mode = reduction_of(reduction)
    distance = pairwise_distance if distance_function is None else distance_function
    return _triplet(name, anchor, positive, negative, distance, margin, swap, mode)


def _triplet(
    function: str,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    mode: str,
) -> Tensor:
    refuse_names(function, anchor, positive, negative)
    number = real_of(margin, "margin")
    if not number > 0:
        raise ArgumentValueError(f"{function}() takes a positive margin, got {number}")
    operands = (anchor, "anchor"), (positive, "positive"), (negative, "negative")
    if len({array_of(x, name).ndim for x, name in operands}) > 1:
        shapes = ", ".join([str(list(x.shape)) for x, _ in operands])
        raise ShapeError(f"{function}() takes as many dimensions of all, got {shapes}")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if check_flag(swap, "swap"):
        far = F.minimum(far, distance(positive, negative))
    return reduced(F.clamp_min_default(F.sub(F.add(near, number), far), 0), mode)

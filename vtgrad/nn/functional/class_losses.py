"""Losses of samples that belong to classes."""

from __future__ import annotations

import math

import numpy as np

from vtgrad.errors import (
    ArgumentValueError,
    DimensionError,
    DTypeError,
    OptionValueError,
    OutOfRangeError,
    ShapeError,
)
from vtgrad.later.refuse_names import refuse_names
from vtgrad.nn.functional.floating import check_kind, real_of
from vtgrad.nn.functional.reduction import reduced, reduction_of
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.generated import functional as F
from vtgrad.ops.rules.batches.values import innermost
from vtgrad.storage.integers import index_of
from vtgrad.tensor.tensor import Tensor

__all__ = ["cross_entropy", "multi_margin_loss", "multilabel_margin_loss", "nll_loss"]


@explained
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return negative logarithms of the probabilities of classes.

    Parameters
    ----------
    input : Tensor
        Logarithms of probabilities: the dimension of classes is the first of a vector, and the
        second of tensors with more dimensions.
    target : Tensor
        The class of each sample, of int64 or uint8: the shape of `input` without that dimension.
    weight : Tensor, optional
        A weight for each class. The mean is divided by the sum of the weights of the samples.
    ignore_index : int, default -100
        The class of samples that do not count.
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
    DTypeError
        If the classes are not integers, or `weight` has another dtype than `input`.
    OutOfRangeError
        If there is no such class.
    ShapeError
        If the shapes do not fit, or there is not a weight for each class.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x = vt.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    >>> vt.nn.functional.nll_loss(x, vt.tensor([0, 1]), reduction="none")
    tensor([0.6931, 0.2877])
    """
    refuse_names("nll_loss", input, target, weight)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("nll_loss", input)
    axis = _check_classes("nll_loss", input, target)
    return _of_classes(input, target, weight, index_of(ignore_index, "ignore_index"), mode, axis)


@explained
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropies of samples that belong to classes, by their logits.

    Parameters
    ----------
    input : Tensor
        Logits: the dimension of classes is the first of a vector, and the second of tensors with
        more dimensions.
    target : Tensor
        The class of each sample, of int64 or uint8, in the shape of `input` without that dimension;
        or probabilities of all classes, in the shape of `input`.
    weight : Tensor, optional
        A weight for each class. With classes the mean is divided by the sum of the weights of the
        samples.
    ignore_index : int, default -100
        The class of samples that do not count.
    label_smoothing : float, default 0.0
        How much of the probability is spread over all classes, from 0 to 1.
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
    DTypeError
        If the classes are not integers, or `weight` has another dtype than `input`.
    OutOfRangeError
        If there is no such class.
    OptionValueError
        If `label_smoothing` is not between 0 and 1, or `ignore_index` is not negative beside
        probabilities.
    DimensionError
        If `input` is 0-d.
    ShapeError
        If the shapes do not fit, or there is not a weight for each class.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> logits = vt.tensor([[0.0, 0.0], [0.0, 1000.0]])
    >>> vt.nn.functional.cross_entropy(logits, vt.tensor([0, 0]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    >>> vt.nn.functional.cross_entropy(logits, vt.tensor([[0.5, 0.5], [0.0, 1.0]]))
    tensor(0.3466)
    """
    refuse_names("cross_entropy", input, target, weight)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("cross_entropy", input)
    ignored = index_of(ignore_index, "ignore_index")
    smoothing = real_of(label_smoothing, "label_smoothing")
    if not 0 <= smoothing <= 1:
        raise OptionValueError(f"label_smoothing must be between 0 and 1, not {smoothing}")
    shape = input._impl.array.shape
    if not shape:
        raise DimensionError("cross_entropy() needs a dimension of classes", ndim=0)
    if array_of(target, "target").shape == shape:
        if target._impl.array.dtype.kind != "f":
            raise OptionValueError(
                f"probabilities of classes are floats, not {target.dtype.name}; classes have the "
                "shape of the logits without the dimension of classes"
            )
        if ignored >= 0:
            raise OptionValueError("ignore_index does not apply to probabilities of classes")
        return _of_probabilities(input, target, weight, smoothing, mode)
    axis = _check_classes("cross_entropy", input, target)
    logarithms = F.log_softmax_dim(input, axis)
    losses = _of_classes(logarithms, target, weight, ignored, mode, axis)
    if not smoothing:
        return losses
    spread = logarithms if weight is None else F.mul(logarithms, _along(weight, shape, axis))
    every = F.neg(F.sum_dim_IntList(spread, (axis,)))
    skipped = _skipped(target, ignored)
    if skipped is not None:
        every = F.masked_fill(every, skipped, 0)
    if mode == "mean":
        every = _mean_of_samples(every, target, weight, skipped)
    else:
        every = reduced(every, mode)
    part = smoothing / shape[axis] if shape[axis] else math.nan
    return F.add(F.mul(losses, 1 - smoothing), F.mul(every, part))


@explained
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return means of powers of ``max(0, margin - score of the class + score of another)``.

    Parameters
    ----------
    input : Tensor
        Scores: a row for each sample, or those of one.
    target : Tensor
        The class of each sample, of int64.
    p : {1, 2}, default 1
        The power.
    margin : float, default 1.0
        The difference of scores that is large enough.
    weight : Tensor, optional
        A weight for each class.
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
    DTypeError
        If the classes are not of int64.
    OptionValueError
        If there is no such class.
    ShapeError
        If the shapes do not fit.
    ArgumentValueError
        If there is no such reduction, `p` is neither 1 nor 2, or the weights are no vector.

    Examples
    --------
    >>> x = vt.tensor([[0.1, 0.2, 0.4, 0.8]])
    >>> vt.nn.functional.multi_margin_loss(x, vt.tensor([3]))
    tensor(0.3250)
    """
    refuse_names("multi_margin_loss", input, target, weight)
    mode = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ArgumentValueError(f"p of multi_margin_loss() is 1 or 2, not {p}")
    if weight is not None and array_of(weight, "weight").ndim != 1:
        raise ArgumentValueError(
            f"weights of classes are a vector, not of shape {list(weight.shape)}"
        )
    check_kind("multi_margin_loss", input)
    rows, classes = _rows_and_classes("multi_margin_loss", input, target)
    size = rows._impl.array.shape[1]
    columns = F.unsqueeze(_classes_within("multi_margin_loss", classes, size), 1)
    own = F.sub(F.gather(rows, 1, columns), real_of(margin, "margin"))
    losses = F.relu(F.scatter_value(F.sub(rows, own), 1, columns, 0))
    if p == 2:
        losses = F.mul(losses, losses)
    if weight is not None:
        if weight._impl.array.shape != (size,):
            raise ShapeError(f"multi_margin_loss() got {weight.shape[0]} weights of {size} classes")
        losses = F.mul(losses, F.index_select(weight, 0, F.squeeze_dim(columns, 1))[:, None])
    if mode == "mean":
        return F.mean_default(losses)
    losses = F.div(F.sum_dim_IntList(losses, (1,)), size)
    return reduced(losses if target._impl.array.ndim else F.squeeze_dim(losses, 0), mode)


@explained
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return means of ``max(0, 1 - score of a class + score of another)`` over pairs of classes.

    The first of a pair is one of the sample, the second is not.

    Parameters
    ----------
    input : Tensor
        Scores: a row for each sample, or those of one.
    target : Tensor
        The classes of each sample, of int64 and in the shape of `input`: those in front of the
        first -1.
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
    DTypeError
        If the classes are not of int64.
    OptionValueError
        If there is no such class.
    ShapeError
        If the shapes differ, or there are more than two dimensions.
    ArgumentValueError
        If there is no such reduction.

    Examples
    --------
    >>> x, y = vt.tensor([[0.1, 0.2, 0.4, 0.8]]), vt.tensor([[3, 0, -1, 1]])
    >>> vt.nn.functional.multilabel_margin_loss(x, y)
    tensor(0.8500)
    """
    refuse_names("multilabel_margin_loss", input, target)
    mode = reduction_of(reduction, size_average, reduce)
    check_kind("multilabel_margin_loss", input)
    shape = input._impl.array.shape
    if len(shape) > 2 or array_of(target, "target").shape != shape or 0 in shape[-1:]:
        raise ShapeError(
            f"multilabel_margin_loss() takes rows of scores and of classes in one shape, not "
            f"{list(shape)} and {list(target.shape)}"
        )
    if target._impl.array.dtype != "int64":
        raise DTypeError(f"classes are of int64, not {target.dtype.name}", dtype=target.dtype)
    size = shape[-1] if shape else 1
    rows, given = (F.reshape(x, (-1 if size else 0, size)) for x in (input, target))
    # What stands behind the first -1 does not count.
    counts = F.eq(F.cumsum_dim(F.lt(given, 0), 1), 0)
    numbers = innermost(F.sum_dim_IntList(counts, (1,)))._impl.array
    most = int(numbers.max()) if numbers.size else 0
    given, counts = F.narrow(given, 1, 0, most), F.narrow(counts, 1, 0, most)
    places = _classes_within(
        "multilabel_margin_loss", F.masked_fill(given, F.logical_not(counts), 0), size
    )
    hits = F.scatter_add(
        F.zeros_shaped(given, rows._impl.array.shape),
        1,
        places,
        F.to_dtype(counts, given._impl.array.dtype),
    )
    others = F.unsqueeze(F.eq(hits, 0), 1)
    gaps = F.rsub_Scalar(F.sub(F.unsqueeze(F.gather(rows, 1, places), 2), F.unsqueeze(rows, 1)), 1)
    pairs = F.logical_and(F.unsqueeze(counts, 2), others)
    losses = F.relu(F.masked_fill(gaps, F.logical_not(pairs), 0))
    losses = F.div(F.sum_dim_IntList(losses, (1, 2)), max(size, 1))
    return reduced(losses if len(shape) > 1 else F.squeeze_dim(losses, 0), mode)


def _check_classes(function: str, input: Tensor, target: Tensor) -> int:
    """The dimension of classes, if the shape and the dtype of the samples' classes fit."""
    shape = array_of(input, "input").shape
    classes = array_of(target, "target")
    if not shape:
        raise ShapeError(f"{function}() needs a dimension of classes, and input is 0-d", shape=())
    axis = 1 if len(shape) > 1 else 0
    if classes.shape != shape[:axis] + shape[axis + 1 :]:
        raise ShapeError(
            f"{function}() got classes of shape {list(classes.shape)} for an input of "
            f"{list(shape)}; they have no dimension {axis}, and agree in others"
        )
    if classes.dtype not in ("int64", "uint8"):
        raise DTypeError(f"classes are of int64, not {target.dtype.name}", dtype=target.dtype)
    return axis


def _of_classes(
    logarithms: Tensor, target: Tensor, weight: Tensor | None, ignored: int, mode: str, axis: int
) -> Tensor:
    size = logarithms._impl.array.shape[axis]
    if weight is not None:
        _check_weight(weight, logarithms, axis)
    skipped = _skipped(target, ignored)
    classes = _long(target if skipped is None else F.masked_fill(target, skipped, 0))
    values = innermost(classes)._impl.array
    if values.size and not (values.min() >= 0 and values.max() < size):
        # Without any class, samples that do not count have the class 0 here.
        if size or skipped is None or not innermost(skipped)._impl.array.all():
            wrong = values.min() if values.min() < 0 else values.max()
            raise OutOfRangeError(f"there is no class {wrong}: there are {size}")
    if not size:
        # Every sample is skipped.
        picked = F.sum_dim_IntList(logarithms, (axis,))
    else:
        picked = F.squeeze_dim(F.gather(logarithms, axis, F.unsqueeze(classes, axis)), axis)
    losses = F.neg(picked)
    if weight is not None and size:
        losses = F.mul(losses, _chosen(weight, classes))
    if skipped is not None:
        losses = F.masked_fill(losses, skipped, 0)
    return (
        _mean_of_samples(losses, target, weight, skipped)
        if mode == "mean"
        else reduced(losses, mode)
    )


def _skipped(target: Tensor, ignored: int) -> Tensor | None:
    """Which samples do not count; None if all do."""
    skipped = F.eq(target, ignored)
    return skipped if innermost(skipped)._impl.array.any() else None


def _mean_of_samples(
    losses: Tensor, target: Tensor, weight: Tensor | None, skipped: Tensor | None
) -> Tensor:
    """The sum of losses, divided by that of the weights of the samples that count."""
    if weight is None or not weight._impl.array.size:
        if skipped is None:
            return F.mean_default(losses)
        counted = F.to_dtype(F.logical_not(skipped), losses._impl.array.dtype)
    elif skipped is None:
        counted = _chosen(weight, _long(target))
    else:
        classes = _long(F.masked_fill(target, skipped, 0))
        counted = F.masked_fill(_chosen(weight, classes), skipped, 0)
    return F.div(F.sum_default(losses), F.sum_default(counted))


def _of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, smoothing: float, mode: str
) -> Tensor:
    shape = input._impl.array.shape
    axis = 1 if len(shape) > 1 else 0
    if weight is not None:
        _check_weight(weight, input, axis)
    if smoothing:
        part = smoothing / shape[axis] if shape[axis] else math.nan
        target = F.add(F.mul(target, 1 - smoothing), part)
    terms = F.mul(F.log_softmax_dim(input, axis), target)
    if weight is not None:
        terms = F.mul(terms, _along(weight, shape, axis))
    if mode == "none":
        return F.neg(F.sum_dim_IntList(terms, (axis,)))
    total = F.neg(F.sum_default(terms))
    samples = math.prod(shape[:axis] + shape[axis + 1 :]) if shape[axis] else math.nan
    return total if mode == "sum" else F.div(total, samples)


def _check_weight(weight: Tensor, input: Tensor, axis: int) -> None:
    given, values = array_of(weight, "weight"), input._impl.array
    if given.shape != (values.shape[axis],):
        raise ShapeError(
            f"{values.shape[axis]} classes have as many weights, not of shape {list(given.shape)}"
        )
    if given.dtype != values.dtype:
        raise DTypeError(f"weights of {given.dtype.name} do not fit {values.dtype.name}")


def _chosen(weight: Tensor, classes: Tensor) -> Tensor:
    """The weight of the class of each sample."""
    shape = classes._impl.array.shape
    flat = F.index_select(weight, 0, F.reshape(classes, (math.prod(shape),)))
    return F.reshape(flat, shape)


def _along(weight: Tensor, shape: tuple[int, ...], axis: int) -> Tensor:
    """Weights of classes in the place of the dimension of classes."""
    return F.reshape(weight, (shape[axis], *(1,) * (len(shape) - axis - 1)))


def _long(classes: Tensor) -> Tensor:
    """Classes as indices are."""
    dtype = classes._impl.array.dtype
    return classes if dtype == np.int64 else F.to_dtype(classes, np.dtype(np.int64))


def _rows_and_classes(function: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of scores, and the class of each."""
    shape = input._impl.array.shape
    classes = array_of(target, "target")
    samples = shape[0] if len(shape) > 1 else 1
    size = shape[-1] if shape else 1
    if len(shape) > 2 or not size or classes.ndim > 1 or classes.size != samples:
        raise ShapeError(
            f"{function}() takes rows of scores and a class for each, not {list(shape)} and "
            f"{list(classes.shape)}"
        )
    if classes.dtype != "int64":
        raise DTypeError(f"classes are of int64, not {target.dtype.name}", dtype=target.dtype)
    return F.reshape(input, (samples, size)), F.reshape(target, (samples,))


def _classes_within(function: str, classes: Tensor, size: int) -> Tensor:
    values = innermost(classes)._impl.array
    if values.size and not (values.min() >= 0 and values.max() < size):
        raise OptionValueError(f"{function}() got a class outside of the {size} that there are")
    return classes

"""How often values occur, one by one or in bins.

Counts are constants to the values that are counted. Sums of weights are recorded in the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar, cast

import numpy as np

from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    NotSupportedError,
    OptionValueError,
    ShapeError,
)
from vtgrad.graph.tracer import read_value
from vtgrad.later.beside import beside
from vtgrad.later.refuse_names import refuse_names
from vtgrad.later.store_result import store_result
from vtgrad.ops.calling.arguments import array_of
from vtgrad.ops.calling.explain import explained
from vtgrad.ops.calling.from_python import number_of
from vtgrad.ops.calling.reduction_arguments import check_flag
from vtgrad.ops.composites.support.undifferentiable import without_derivative
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType
from vtgrad.storage.integers import integer
from vtgrad.storage.strides import check_sizes
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["bincount", "histc", "histogram", "histogramdd", "sums_in_bins"]


T = TypeVar("T", bound=TensorBase)


class HistogramResult(NamedTuple, Generic[T]):
    """Results of `vtgrad.histogram`."""

    hist: T
    bin_edges: T


class HistogramddResult(NamedTuple, Generic[T]):
    """Results of `vtgrad.histogramdd`."""

    hist: T
    bin_edges: tuple[T, ...]


def sums_in_bins(numbers: T, weights: T, count: int) -> T:
    """The sum of the weights in each bin.

    Parameters
    ----------
    numbers : Tensor
        A vector of the bins' numbers.
    weights : Tensor
        A vector.
    count : int
        The number of bins.
    """
    return F.index_add(F.zeros_shaped(weights, (count,)), 0, numbers, weights)


@explained
def bincount(input: T, weights: TensorBase | None = None, minlength: int = 0) -> T:
    """Return how often each number from 0 on occurs, or the sum of its weights.

    Parameters
    ----------
    input : Tensor
        A vector of integers that are not negative.
    weights : Tensor, optional
        A vector with what each occurrence adds. The result is recorded in it.
    minlength : int, default 0
        The least length of the result.

    Returns
    -------
    Tensor
        A new vector: of int64, of float32 for such weights, and of float64 for all others.

    Raises
    ------
    ShapeError
        If `input` is not a vector, or there are not as many weights.
    NotSupportedError
        If `input` is not of integers.
    OptionValueError
        If a number or `minlength` is negative.
    BatchedTensorError
        Inside of `vmap`, if `input` differs by sample: the length depends on its values.

    Examples
    --------
    >>> vt.bincount(vt.tensor([0, 1, 1, 3]))
    tensor([1, 2, 0, 1])
    >>> w = vt.tensor([0.5, 1.0, 2.0], requires_grad=True)
    >>> y = vt.bincount(vt.tensor([0, 1, 1]), w)
    >>> y.detach()
    tensor([0.5000, 3.0000])
    >>> y[1].backward()
    >>> w.grad
    tensor([0., 1., 1.])
    """
    refuse_names("bincount", input, weights)
    numbers = array_of(input, "input")
    least = integer(minlength)
    if numbers.dtype.kind not in "iu":
        raise NotSupportedError(f"bincount() counts integers, not {input.dtype.name}")
    if least < 0:
        raise OptionValueError("minlength must not be negative", minlength=least)
    if numbers.ndim != 1:
        raise ShapeError(f"bincount() takes a vector, got shape {list(numbers.shape)}")
    if weights is not None and array_of(weights, "weights").shape != numbers.shape:
        raise ShapeError(
            f"bincount() takes a weight for each number, got shape {list(weights.shape)} for "
            f"{list(numbers.shape)}"
        )
    read_value(input)
    if not numbers.size:
        check_sizes((least,), 8)
        return beside(input, making.zeros(least, np.int64))
    if numbers.min() < 0:
        raise OptionValueError("bincount() counts no negative numbers")
    count = max(least, int(numbers.max()) + 1)
    check_sizes((count,), 8)
    if weights is None:
        return beside(input, np.bincount(numbers.astype(np.int64), minlength=least))
    kind = weights._impl.array.dtype
    if kind != np.float32:
        weights = F.to_dtype(weights, np.dtype(np.float64))
    places = numbers.astype(np.int64)
    given = cast("T", weights)
    return sums_in_bins(beside(input, places), given, count)


def _check_floating(name: str, x: TensorBase, kinds: Sequence[type]) -> Array:
    array = array_of(x, "input")
    if array.dtype.type not in kinds:
        raise NotSupportedError(f"{name}() has no meaning for {x.dtype.name}", dtype=x.dtype)
    return array


def _limits(
    name: str, values: Array, low: float, high: float, margin: float
) -> tuple[float, float]:
    """The ends of the outermost bins."""
    if low == high and values.size:
        low, high = values.min(), values.max()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise OptionValueError(f"{name}() needs finite bounds, not {low} and {high}")
    if low > high:
        raise OptionValueError(f"{name}() takes a minimum below the maximum, not {low} and {high}")
    return (low - margin, high + margin) if low == high else (low, high)


@explained
def histc(input: T, bins: int = 100, min: float = 0, max: float = 0, *, out: T | None = None) -> T:
    """Return how many elements lie in each of several bins of one width.

    Parameters
    ----------
    input : Tensor
        Floats of any shape. Those outside of the bins, and nan, are not counted.
    bins : int, default 100
        The number of bins.
    min, max : float, default 0
        The lower end of the first bin, and the upper one of the last. If they are equal, they are
        the smallest and the largest element.
    out : Tensor, optional
        Where the result is stored; it must have its dtype.

    Returns
    -------
    Tensor
        A new vector in the dtype of `input`. It has no derivative.

    Raises
    ------
    NotSupportedError
        If `input` is not of floats.
    OptionValueError
        If there is no bin, or the bounds are not finite or in the wrong order.

    Examples
    --------
    >>> vt.histc(vt.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    refuse_names("histc", input)
    array = _check_floating("histc", input, (np.float16, np.float32, np.float64))
    count = integer(bins)
    if count <= 0:
        raise OptionValueError(f"histc() needs a bin at least, not {count}", bins=count)
    check_sizes((count,), 8)
    kind = array.dtype.type
    ends = [float(kind(_number(x, name))) for x, name in ((min, "min"), (max, "max"))]
    if ends[0] > ends[1]:
        raise OptionValueError(f"histc() takes a min below max, not {min} and {max}")
    read_value(input)
    limits = _limits("histc", array, ends[0], ends[1], 1)
    low, high = [making.asarray(x, array.dtype) for x in limits]
    values = array.reshape(-1)
    values = values[(values >= low) & (values <= high)]
    numbers = ((values - low) / (high - low) * making.asarray(count, array.dtype)).astype(np.int64)
    numbers[numbers == count] -= 1
    found = np.bincount(numbers, minlength=count).astype(array.dtype)
    return store_result(beside(input, found), out, "histc", input, exact=True, differentiable=False)


def _number(value: object, name: str) -> float:
    number = number_of(value, name)
    if isinstance(number, complex):
        raise ArgumentTypeError(f"argument {name!r} must be a real number", argument=name)
    return float(number)


@explained
def histogram(
    input: T,
    bins: int | TensorBase,
    *,
    range: Sequence[float] | None = None,
    weight: TensorBase | None = None,
    density: bool = False,
    out: Sequence[T] | None = None,
) -> HistogramResult[T]:
    """Return how many elements lie in each of several bins, and the edges of the bins.

    A bin has its lower edge, and the last one has both. The result is recorded in the weights. The
    edges that follow from the elements have no derivative: backward through them raises.

    Parameters
    ----------
    input : Tensor
        Floats of any shape.
    bins : int or Tensor
        The number of bins of one width, or their edges: an ascending vector.
    range : (float, float), optional
        The ends of the bins, by default the smallest and the largest element.
    weight : Tensor, optional
        How much each element counts, in the shape and the dtype of `input`.
    density : bool, default False
        Whether the sums are divided so that their integral is 1.
    out : pair of Tensor, optional
        Where the two results are stored, in their dtype.

    Returns
    -------
    HistogramResult
        A named tuple of ``hist`` and ``bin_edges``, in the dtype of `input`.

    Raises
    ------
    NotSupportedError
        If `input` is not of floats.
    DTypeError
        If the edges or the weights have another dtype than `input`.
    ShapeError
        If the edges are no vector, or the weights have another shape.
    OptionValueError
        If there is no bin, or the range is not finite or in the wrong order.

    Examples
    --------
    >>> x = vt.tensor([1.0, 2.0, 1.0])
    >>> hist, bin_edges = vt.histogram(x, bins=4, range=(0.0, 4.0))
    >>> hist, bin_edges
    (tensor([0., 2., 1., 0.]), tensor([0., 1., 2., 3., 4.]))
    >>> vt.histogram(x, vt.tensor([0.0, 1.5, 2.0]), density=True).hist
    tensor([0.4444, 0.6667])
    """
    refuse_names("histogram", input, bins, weight)
    _check_floating("histogram", input, (np.float16, np.float32, np.float64))
    if range is not None and isinstance(bins, TensorBase) and bins.ndim:
        raise ArgumentTypeError("histogram() takes edges or a range, not both", argument="range")
    rows = F.reshape(input, (-1, 1))
    heavy = None if weight is None else _weights("histogram", input, weight, input.shape)
    hist, (edges,) = _histogram("histogram", rows, [bins], range, heavy, density)
    if out is None:
        return HistogramResult(hist, edges)
    if not isinstance(out, (list, tuple)) or len(out) != 2:
        raise ArgumentTypeError("out= of histogram() takes two tensors", argument="out")
    given = [input, bins, weight]
    return HistogramResult(
        store_result(hist, out[0], "histogram", *given, exact=True),
        store_result(edges, out[1], "histogram", *given, exact=True),
    )


@explained
def histogramdd(
    input: T,
    bins: int | Sequence[int] | Sequence[TensorBase],
    *,
    range: Sequence[float] | None = None,
    weight: TensorBase | None = None,
    density: bool = False,
) -> HistogramddResult[T]:
    """Return how many points lie in each of several boxes, and the edges of the boxes.

    The result is recorded in the weights, as that of `histogram`.

    Parameters
    ----------
    input : Tensor
        Points: floats, with the coordinates along the last dimension.
    bins : int, sequence of int or sequence of Tensor
        The number of bins in all directions or in each one, or the edges in each.
    range : sequence of float, optional
        The lower and the upper end in each direction, in a row.
    weight : Tensor, optional
        How much each point counts, in the dtype of `input`.
    density : bool, default False
        Whether the sums are divided so that their integral is 1.

    Returns
    -------
    HistogramddResult
        A named tuple of ``hist``, with one dimension for each coordinate, and ``bin_edges``, a
        tuple of vectors.

    Raises
    ------
    NotSupportedError
        If `input` is not of floats.
    DTypeError
        If the edges or the weights have another dtype than `input`.
    ShapeError
        If `input` has fewer than two dimensions, or another shape does not fit.
    OptionValueError
        If there is no bin, or the range is not finite or in the wrong order.

    Examples
    --------
    >>> points = vt.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
    >>> hist, edges = vt.histogramdd(points, bins=[2, 2])
    >>> hist
    tensor([[0., 1.],
            [2., 1.]])
    >>> edges[0]
    tensor([0., 1., 2.])
    """
    array = _check_floating("histogramdd", input, (np.float16, np.float32, np.float64))
    if array.ndim < 2:
        raise ShapeError("histogramdd() takes points: two dimensions at least")
    dims = array.shape[-1]
    given: list[int | TensorBase]
    if isinstance(bins, Sequence) and not isinstance(bins, (str, bytes)):
        given = [*bins]
    elif isinstance(bins, (str, bytes)):
        raise ArgumentTypeError("bins of histogramdd() are numbers or edges", argument="bins")
    else:
        given = [integer(bins)] * dims
    if len(given) != dims:
        raise ShapeError(f"histogramdd() takes bins for {dims} coordinates, got {len(given)}")
    refuse_names("histogramdd", input, weight, *given)
    heavy = None
    if weight is not None:
        heavy = _weights("histogramdd", input, weight, array.shape[:-1])
    rows = F.reshape(input, (-1, dims)) if array.size else F.reshape(input, (0, dims))
    hist, edges = _histogram("histogramdd", rows, given, range, heavy, density)
    return HistogramddResult(hist, tuple(edges))


def _weights(name: str, input: T, weight: TensorBase, shape: tuple[int, ...]) -> T:
    array = array_of(weight, "weight")
    if array.dtype != input._impl.array.dtype:
        raise DTypeError(
            f"{name}() takes weights of dtype {input.dtype.name}, not {weight.dtype.name}"
        )
    if array.shape != shape and array.size != math.prod(shape):
        raise ShapeError(f"{name}() takes weights of shape {list(shape)}, not {list(array.shape)}")
    return F.reshape(cast("T", weight), -1)


def _histogram(
    name: str,
    rows: T,
    bins: Sequence[int | TensorBase],
    range: Sequence[float] | None,
    weight: T | None,
    density: bool,
) -> tuple[T, list[T]]:
    """The sums in all boxes, and the edges in all directions; `rows` are the points."""
    check_flag(density, "density")
    if range is not None and len(range) != 2 * len(bins):
        raise OptionValueError(f"{name}() takes {2 * len(bins)} ends in range, got {len(range)}")
    read_value(rows)
    points = rows._impl.array
    numbers: Array = making.zeros(points.shape[0], np.int64)
    outside: Array = making.zeros(points.shape[0], np.bool_)
    sizes: list[int] = []
    edges: list[T] = []
    for nr, given in enumerate(bins):
        ends = (0.0, 0.0)
        if range is not None:
            ends = (_number(range[2 * nr], "range"), _number(range[2 * nr + 1], "range"))
        edge = _edges(name, rows, nr, given, ends)
        values = edge._impl.array
        inner, beyond = _in_bins(values, points[:, nr])
        sizes.append(values.size - 1)
        numbers = numbers * sizes[-1] + inner
        outside |= beyond
        edges.append(edge)
    count = math.prod(sizes)
    check_sizes(tuple(sizes), 8)
    if weight is None:
        counts = np.bincount(numbers[~outside], minlength=count)
        hist = beside(rows, counts.astype(points.dtype).reshape(sizes))
    else:
        weight = F.masked_fill(weight, beside(rows, outside), 0)
        hist = sums_in_bins(beside(rows, numbers), weight, count)
        if len(sizes) > 1:
            hist = F.clone(F.view_shape(hist, sizes))
    return (_density(hist, edges) if density else hist), edges


def _edges(name: str, rows: T, nr: int, given: int | TensorBase, ends: tuple[float, ...]) -> T:
    points = rows._impl.array
    if isinstance(given, TensorBase):
        array = given._impl.array
        if array.ndim != 1:
            raise ShapeError(f"{name}() takes a vector of edges, got shape {list(array.shape)}")
        if array.dtype != points.dtype:
            raise DTypeError(f"{name}() takes edges of dtype {points.dtype}, not {array.dtype}")
        if array.size < 2:
            raise OptionValueError(f"{name}() needs a bin at least")
        read_value(given)
        return F.clone(cast("T", given))
    count = integer(given)
    if count <= 0:
        raise OptionValueError(f"{name}() needs a bin at least, not {count}", bins=count)
    if not points.size and ends[0] == ends[1]:
        ends = (0.0, 1.0)
    check_sizes((count + 1,), 8)
    low, high = _limits(name, points[:, nr], ends[0], ends[1], 0.5)
    found = beside(rows, _spaced(float(low), float(high), count + 1, points.dtype))
    return without_derivative(found, rows) if ends[0] == ends[1] else found


def _spaced(low: float, high: float, count: int, dtype: NumpyDType) -> Array:
    """Numbers of one distance; the second half counts back from the end, which is exact."""
    step = (high - low) / (count - 1)
    numbers = making.arange(count)
    first = numbers < count // 2
    return np.where(first, low + step * numbers, high - step * (count - 1 - numbers)).astype(dtype)


def _in_bins(edges: Array, values: Array) -> tuple[Array, Array]:
    """The number of the bin of each value, and whether it is in none."""
    found = np.searchsorted(edges, values, "right") - 1
    beyond = ~((values >= edges[0]) & (values <= edges[-1]))
    return np.where(beyond, 0, np.minimum(found, edges.size - 2)).astype(np.int64), beyond


def _density(hist: T, edges: Sequence[T]) -> T:
    """The sums divided by the volumes, and by the sum of all."""
    found = F.true_divide(hist, F.sum(hist))
    for nr, edge in enumerate(edges):
        widths = F.sub(F.slice(edge, 0, 1), F.slice(edge, 0, 0, -1))
        sizes = [-1 if d == nr else 1 for d in range(len(edges))]
        found = F.true_divide(found, F.view_shape(widths, sizes))
    return found

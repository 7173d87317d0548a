"""Histograms: counts have no derivative, sums of weights, densities and edges have.

Note [Derivatives of histograms]

NumPy counts, and says where the edges are and what is wrong. An element that has a derivative does
not change a count, so counts are constants. What is recorded is the sum of the weights in each
bin, the edges that follow from the smallest and the largest element or are given, and densities.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from vtgrad.later.histograms import sums_in_bins
from vtgrad.numpy import reductions
from vtgrad.numpy.calculus import diff
from vtgrad.numpy.function import function
from vtgrad.numpy.on_values import any_differentiated, on_values
from vtgrad.numpy.operands import (
    ArrayLike,
    as_array,
    cast,
    fresh,
    has_dtype,
    of_numbers,
    places_in,
    value_of,
)
from vtgrad.numpy.public_ndarray import ndarray
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.tensor_base import TensorBase

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

Bins = ArrayLike | str

_FLOAT64: Final = np.dtype(np.float64)


def _is_array(bins: object) -> bool:
    """Whether bins are given by their edges."""
    if isinstance(bins, TensorBase):
        return bins._impl.array.ndim == 1
    return not isinstance(bins, str) and np.ndim(typing.cast("Any", bins)) == 1


def _constant(edges: Array) -> ndarray:
    """Edges as an array of the namespace; NumPy's own of a dtype that tensors do not have."""
    return fresh(edges) if has_dtype(edges.dtype) else typing.cast("ndarray", edges)


def _edges(found: Array, x: ndarray, bins: object, range: object) -> ndarray:
    """The edges of bins as they follow from what is recorded; NumPy has found their values."""
    if _is_array(bins):
        edges = of_numbers(typing.cast("ArrayLike", bins))
        return edges if any_differentiated(edges) else _constant(found)
    limits: list[ndarray]
    if range is not None:
        limits = [of_numbers(end) for end in typing.cast("Sequence[ArrayLike]", range)]
    elif any_differentiated(x) and x._impl.array.size:
        limits = [of_numbers(reductions.min(x)), of_numbers(reductions.max(x))]
    else:
        return _constant(found)
    if not any_differentiated(*limits):
        return _constant(found)
    low, high = [cast(end, found.dtype) for end in limits]
    if value_of(low) == value_of(high):
        low, high = as_array(F.sub(low, 0.5)), as_array(F.add(high, 0.5))
    parts = fresh(making.linspace(0, 1, len(found), dtype=found.dtype))
    return as_array(F.add(F.mul(low, F.rsub(parts, 1)), F.mul(high, parts)))


def _numbers(edges: Array, x: Array) -> Array:
    """The number of the bin of each element, and that of the last one and one more outside."""
    count = len(edges) - 1
    found = np.searchsorted(edges, x, "right") - 1
    found = np.where(x == edges[-1], count - 1, found)
    return np.where((found < 0) | (x > edges[-1]) | np.isnan(x), count, found)


def _sums(weights: ndarray, numbers: Array, count: int) -> ndarray:
    """The sum of the weights in each of a number of bins; what is in the bin behind is left out."""
    whole = sums_in_bins(fresh(numbers.reshape(-1)), as_array(F.reshape(weights, -1)), count + 1)
    return as_array(F.slice(whole, 0, 0, count))


def _probe(weights: ArrayLike | None) -> ArrayLike | None:
    """Weights that NumPy can look at; a sample inside of `vmap` has no values."""
    if isinstance(weights, TensorBase) and weights._impl.key_set:
        return making.ones(weights._impl.array.shape, weights._impl.array.dtype)
    return weights


@function
def histogram_bin_edges(
    a: ArrayLike, bins: Bins = 10, range: ArrayLike | None = None, weights: ArrayLike | None = None
) -> ndarray:
    """The edges of the bins of a histogram.

    Parameters
    ----------
    a : array_like
        The values, which are flattened.
    bins : int, array_like or str
        The number of bins, their edges, or how NumPy estimates the number.
    range : (float, float), optional
        The lower and the upper end; by default the smallest and the largest value.
    weights : array_like, optional
        Not used.

    Returns
    -------
    ndarray
        One more than there are bins; see Note [Derivatives of histograms].

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.histogram_bin_edges(np.array([0.0, 3.0, 4.0]), 2)
    array([0., 2., 4.])
    """
    found = on_values(np.histogram_bin_edges, a, bins, range, _probe(weights))
    if not any_differentiated(a, bins, range):
        return found
    return _edges(places_in(found), of_numbers(a), bins, range)


@function
def histogram(
    a: ArrayLike,
    bins: Bins = 10,
    range: ArrayLike | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, ndarray]:
    """How many values lie in each of some bins, or the sums of their weights.

    Parameters
    ----------
    a : array_like
        The values, which are flattened.
    bins, range
        As of `histogram_bin_edges`.
    density : bool, optional
        Whether the result is a density, whose integral is 1.
    weights : array_like, optional
        The weight of each value.

    Returns
    -------
    tuple of ndarray
        The counts, sums or densities, and the edges. Counts have no derivative; see
        Note [Derivatives of histograms].

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.histogram([1.0, 2.0, 4.0], 2, weights=np.array([1.0, 2.0, 3.0]))
    (array([3., 3.]), array([1. , 2.5, 4. ]))
    """
    counts, found = on_values(np.histogram, a, bins, range, density, _probe(weights))
    if not any_differentiated(a, bins, range, weights):
        return counts, found
    x = of_numbers(a)
    edges = _edges(places_in(found), x, bins, range)
    if not density and not any_differentiated(weights):
        return counts, edges
    numbers = _numbers(places_in(found), value_of(x))
    given = fresh(making.ones(numbers.shape)) if weights is None else of_numbers(weights)
    if given.dtype.kind not in "fc":
        given = cast(given, _FLOAT64)
    sums = _sums(given, numbers, len(found) - 1)
    if density:
        widths = cast(diff(of_numbers(edges)), np.result_type(edges.dtype, _FLOAT64))
        return sums / widths / sums.sum(), edges
    return sums, edges


@function
def histogramdd(
    sample: ArrayLike,
    bins: Sequence[Bins] | Bins = 10,
    range: Sequence[ArrayLike | None] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, list[ndarray]]:
    """How many points lie in each cell of a grid, or the sums of their weights.

    Parameters
    ----------
    sample : array_like
        The points in rows, or a sequence of their coordinates along each axis.
    bins : int or sequence
        The number of bins, or for each axis its number or edges.
    range : sequence, optional
        For each axis its ends, or None.
    density, weights
        As of `histogram`.

    Returns
    -------
    ndarray, list of ndarray
        The counts, sums or densities, and the edges along each axis. Counts have no derivative; see
        Note [Derivatives of histograms].

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> found, edges = np.histogramdd(np.array([[0.0, 0.0], [1.0, 2.0]]), 2)
    >>> found
    array([[1., 0.],
           [0., 1.]])
    """
    found, places = on_values(np.histogramdd, sample, bins, range, density, _probe(weights))
    if not any_differentiated(sample, bins, range, weights):
        return found, list(places)
    points = of_numbers(sample)
    if isinstance(sample, (list, tuple)) or points._impl.array.ndim == 1:
        # A sequence of coordinates; a single axis has them too.
        turned = F.atleast_2d(points)
        points = as_array(F.permute(turned, (1, 0)))
    number = len(places)
    each: Any = bins if isinstance(bins, (list, tuple)) or _is_array(bins) else [bins] * number
    limits: Any = [None] * number if range is None else range
    columns = [as_array(F.select(points, 1, dim)) for dim in making.arange(number).tolist()]
    edges = [
        _edges(places_in(place), column, each[nr], limits[nr])
        for nr, (place, column) in enumerate(zip(places, columns, strict=True))
    ]
    if not density and not any_differentiated(weights):
        return found, edges
    sizes = tuple([len(place) - 1 for place in places])
    numbers = [
        _numbers(places_in(place), value_of(column))
        for place, column in zip(places, columns, strict=True)
    ]
    outside = np.any([nr == size for nr, size in zip(numbers, sizes, strict=True)], axis=0)
    inside = [np.where(outside, 0, nr) for nr in numbers]
    count = int(np.prod(sizes))
    flat = np.where(outside, count, np.ravel_multi_index(tuple(inside), sizes))
    given = fresh(making.ones(flat.shape)) if weights is None else of_numbers(weights)
    sums = as_array(F.reshape(_sums(cast(given, _FLOAT64), flat, count), sizes))
    if density:
        total = sums.sum()
        for dim, one in enumerate(edges):
            shape = [1] * number
            shape[dim] = -1
            sums = sums / cast(diff(of_numbers(one)), _FLOAT64).reshape(shape)
        sums = sums / total
    return sums, edges


@function
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Sequence[Bins] | Bins = 10,
    range: Sequence[ArrayLike | None] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[ndarray, ndarray, ndarray]:
    """How many points of a plane lie in each cell of a grid, or the sums of their weights.

    Parameters
    ----------
    x, y : array_like
        The coordinates.
    bins : int or array_like or pair of these
        The number of bins or the edges, for both axes or for each.
    range, density, weights
        As of `histogramdd`.

    Returns
    -------
    tuple of ndarray
        The counts, sums or densities, and the edges along both axes.

    Examples
    --------
    >>> import vtgrad.numpy as np
    >>> np.histogram2d(np.array([0.0, 1.0]), [0.0, 2.0], 2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    if not any_differentiated(x, y, bins, range, weights):
        found = on_values(np.histogram2d, x, y, bins, range, density, weights)
        return typing.cast("tuple[ndarray, ndarray, ndarray]", found)
    pair = [of_numbers(x), of_numbers(y)]
    if len(pair[0]) != len(pair[1]):
        raise ValueError("x and y must have the same length.")
    given: Any = bins
    if (isinstance(bins, (list, tuple)) or _is_array(bins)) and len(given) not in (1, 2):
        bins = [given, given]
    sums, edges = histogramdd(pair, bins, range, density, weights)
    return sums, edges[0], edges[1]

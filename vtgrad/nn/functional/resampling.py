"""Weighted sums of elements along a dimension, as one node of the graph.

Note [A resampling is a sparse matrix]

Each element of the result is the sum of a few elements of the dimension, each times its weight: a
product with a sparse matrix, held as the triples of its entries. The adjoint is the same with
source and target exchanged, so one Function is enough for derivatives of any order. Entries that
are not there have no part in a sum, so an element that is not finite spoils no other result.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np

from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.nn.functional.pooling_geometry import adaptive_bounds
from vtgrad.nn.functional.traced import is_traced
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["Resampling", "even_windows", "resampled"]

T = TypeVar("T", bound=Tensor)

# Up to how many terms of a sum are added one after the other, each for all sums at once.
_LAYERS: Final = 8


class Resampling(NamedTuple):
    """The entries of a sparse matrix.

    Attributes
    ----------
    out : int
        How many elements the result has.
    size : int
        How many elements there are to choose from.
    targets, sources : numpy.ndarray
        By entry, the element of the result and the element that it takes, int64.
    weights : numpy.ndarray or None
        By entry, the factor, float64; None if all are 1.
    """

    out: int
    size: int
    targets: Array
    sources: Array
    weights: Array | None

    def turned(self) -> Resampling:
        """The adjoint."""
        return Resampling(self.size, self.out, self.sources, self.targets, self.weights)


def even_windows(size: int, count: int) -> tuple[Resampling, Array]:
    """The sums of the windows that split a dimension evenly, and how many elements each has."""
    starts, ends = adaptive_bounds(size, count)
    lengths = ends - starts
    targets = np.repeat(making.arange(count), lengths)
    # The number of each entry in its window, beyond the start of the window.
    before = np.cumsum(lengths) - lengths
    sources = making.arange(len(targets)) + np.repeat(starts - before, lengths)
    return Resampling(count, size, targets, sources, None), lengths


def resampled(x: T, dim: int, table: Resampling) -> T:
    """The sums along a dimension, in the dtype of `x`; see Note [A resampling is a sparse matrix].

    Parameters
    ----------
    x : Tensor
        A floating-point or complex tensor.
    dim : int
        The dimension, not negative.
    """
    axis = dim - x._impl.array.ndim
    if is_traced():
        return typing.cast("T", _traced(x, axis, table))
    return typing.cast("T", _Resampled.apply(x, axis, table))


def _traced(x: Tensor, axis: int, table: Resampling) -> Tensor:
    """The sums by operators, see Note [Windows while a pattern is found]."""
    array = x._impl.array
    terms = F.index_select(x, axis, beside(x, table.sources))
    if table.weights is not None:
        weights = table.weights.astype(np.finfo(array.dtype).dtype)
        terms = F.mul(terms, beside(x, weights.reshape(-1, *[1] * (-axis - 1))))
    shape = list(array.shape)
    shape[axis] = table.out
    zeros = F.zeros_shaped(F.detach(x), tuple(shape))
    return F.index_add(zeros, axis, beside(x, table.targets), terms)


class _Context(FunctionCtx):
    axis: int
    table: Resampling


class _Resampled(Function):
    """See Note [A resampling is a sparse matrix]; the axis counts from the end."""

    @staticmethod
    def forward(x: Tensor, axis: int, table: Resampling) -> Tensor:
        array = resolved(x._impl.array)
        wide = array.astype(np.float32) if array.dtype == np.float16 else array
        return beside(x, _sums(wide, axis, table).astype(array.dtype, copy=False))

    @staticmethod
    def setup_context(ctx: _Context, inputs: tuple[object, ...], output: object) -> None:
        _, ctx.axis, ctx.table = typing.cast("tuple[Tensor, int, Resampling]", inputs)

    @staticmethod
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor, None, None]:
        return _Resampled.apply(grad, ctx.axis, ctx.table.turned()), None, None

    @staticmethod
    def jvp(ctx: _Context, tangent: Tensor, *_: None) -> Tensor:
        return _Resampled.apply(tangent, ctx.axis, ctx.table)

    @staticmethod
    def vmap(
        info: VmapInfo, in_dims: Sequence[int | None], x: Tensor, axis: int, table: Resampling
    ) -> tuple[Tensor, int]:
        assert in_dims[0] is not None
        return _Resampled.apply(F.movedim(x, in_dims[0], 0), axis, table), 0


def _sums(x: Array, axis: int, table: Resampling) -> Array:
    shape = list(x.shape)
    shape[axis] = table.out
    total = making.zeros(tuple(shape), x.dtype)
    dtype = np.finfo(x.dtype).dtype
    behind = (1,) * (-axis - 1)
    counts = np.bincount(table.targets, minlength=table.out)
    if counts.max(initial=0) > _LAYERS:
        return _sums_of_runs(x, axis, table, counts, total)
    for targets, sources, weights in _layers(table):
        part = np.take(x, sources, axis)
        if weights is not None:
            part = part * weights.astype(dtype).reshape(-1, *behind)
        if len(targets) == table.out:
            np.add(total, part, out=total)
        else:
            total[_index(x.ndim, axis, targets)] += part
    return total


def _index(ndim: int, axis: int, places: Array) -> tuple[slice | Array, ...]:
    """An index of places of one dimension, which are in order; neighbours are a slice."""
    index: list[slice | Array] = [slice(None)] * ndim
    index[axis] = places
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == len(places):
        index[axis] = slice(first, last + 1)
    return tuple(index)


def _sums_of_runs(x: Array, axis: int, table: Resampling, counts: Array, total: Array) -> Array:
    """As `_sums`, with all terms in memory at once, those of each target side by side."""
    order = np.argsort(table.targets, kind="stable")
    terms = np.take(x, table.sources[order], axis)
    if table.weights is not None:
        weights = table.weights[order].astype(np.finfo(x.dtype).dtype)
        terms = terms * weights.reshape(-1, *[1] * (-axis - 1))
    there = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[there]
    total[_index(x.ndim, axis, there)] = np.add.reduceat(terms, starts, axis)
    return total


def _layers(table: Resampling) -> list[tuple[Array, Array, Array | None]]:
    """The entries in parts that have each target at most once, in the order of the targets."""
    targets = table.targets
    counts = np.bincount(targets, minlength=table.out)
    by_target = np.argsort(targets, kind="stable")
    first = np.repeat(np.cumsum(counts) - counts, counts)
    # The number of each entry among those of its target.
    ranks = making.arange(len(targets)) - first
    order = by_target[np.argsort(ranks, kind="stable")]
    ends = np.cumsum(np.bincount(ranks)).tolist()
    layers = []
    for start, end in zip([0, *ends], ends, strict=False):
        chosen = order[start:end]
        weights = None if table.weights is None else table.weights[chosen]
        layers.append((targets[chosen], table.sources[chosen], weights))
    return layers

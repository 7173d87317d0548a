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
from typing import NamedTuple, TypeVar

import numpy as np

from vtgrad.function.batched_apply import VmapInfo
from vtgrad.function.function import Function
from vtgrad.function.function_ctx import FunctionCtx
from vtgrad.later.beside import beside
from vtgrad.nn.functional.pooling_geometry import adaptive_bounds
from vtgrad.ops.generated import functional as F
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["Resampling", "even_windows", "resampled"]

T = TypeVar("T", bound=Tensor)


class Resampling(NamedTuple):
    """The entries of a sparse matrix.

    Attributes
    ----------
    out : int
        How many elements the result has.
    size : int
        How many elements there are to choose from.
    targets, sources : tuple of int
        By entry, the element of the result and the element that it takes.
    weights : tuple of float
        By entry, the factor.
    """

    out: int
    size: int
    targets: tuple[int, ...]
    sources: tuple[int, ...]
    weights: tuple[float, ...]

    def turned(self) -> Resampling:
        """The adjoint."""
        return Resampling(self.size, self.out, self.sources, self.targets, self.weights)


def even_windows(size: int, count: int) -> Resampling:
    """The sums of the windows that split a dimension evenly."""
    pairs = [
        (nr, place)
        for nr, (start, end) in enumerate(adaptive_bounds(size, count))
        for place in range(start, end)
    ]
    targets = tuple([nr for nr, _ in pairs])
    return Resampling(count, size, targets, tuple([n for _, n in pairs]), (1.0,) * len(pairs))


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
    return typing.cast("T", _Resampled.apply(x, axis, table))


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
    for targets, sources, weights in _layers(table):
        part = np.take(x, sources, axis)
        if any(w != 1 for w in weights):
            part = part * making.array(weights, dtype).reshape(-1, *behind)
        if len(targets) == table.out:
            np.add(total, part, out=total)
        else:
            index: list[slice | list[int]] = [slice(None)] * x.ndim
            index[axis] = targets
            total[tuple(index)] += part
    return total


def _layers(table: Resampling) -> list[tuple[list[int], list[int], list[float]]]:
    """The entries in parts that have each target once, in the order of the targets."""
    layers: list[tuple[list[int], list[int], list[float]]] = []
    seen = [0] * table.out
    entries = sorted(zip(table.targets, table.sources, table.weights, strict=True))
    for target, source, weight in entries:
        nr = seen[target]
        seen[target] = nr + 1
        if nr == len(layers):
            layers.append(([], [], []))
        targets, sources, weights = layers[nr]
        targets.append(target)
        sources.append(source)
        weights.append(weight)
    return layers

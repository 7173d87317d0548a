"""Helpers for values that are stored or merged at places, and for arrays around arrays.

See Note [Which write survives] for the gradients of stored values.
"""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.ops.formulas.indexing import gathered_to
from vtgrad.ops.formulas.support import number_of_elements
from vtgrad.storage.arrays import Array, Shape

__all__ = [
    "block_diag_gradients",
    "index_reduce_self_gradient",
    "index_reduce_source_gradient",
    "masked_scatter_source_gradient",
    "narrow_copy_gradient",
    "put_self_gradient",
    "put_source_gradient",
    "scatter_reduce_self_gradient",
    "scatter_reduce_source_gradient",
    "turned_back",
]


# -- new arrays around old ones -------------------------------------------------------------


def narrow_copy_gradient(grad: Array, sizes: Shape, dim: int, start: int, length: int) -> Array:
    """Zeros with the gradient in the range that was copied."""
    first = start + sizes[dim] if start < 0 else start
    return k.slice_backward(grad, sizes, dim, first, first + length, 1)


def turned_back(grad: Array, turns: int, dims: Sequence[int]) -> Array:
    """The gradient, turned the other way."""
    return k.rot90_turns(grad, -turns, dims)


def block_diag_gradients(grad: Array, shapes: Sequence[Shape]) -> list[Array]:
    """For each block its part of the gradient."""
    parts: list[Array] = []
    row = column = 0
    for shape in shapes:
        height = shape[0] if len(shape) == 2 else 1
        width = shape[-1] if shape else 1
        rows = k.slice(grad, 0, row, row + height)
        parts.append(k.reshape(k.slice(rows, 1, column, column + width), shape))
        row += height
        column += width
    return parts


# -- stored values --------------------------------------------------------------------------


def put_self_gradient(grad: Array, index: Array, accumulate: bool) -> Array:
    """Zero where values were stored, the gradient itself where they were added."""
    if accumulate:
        return grad
    return k.put(grad, index, k.zeros_shaped(grad, index.shape))


def put_source_gradient(
    grad: Array, index: Array, self_sizes: Shape, sizes: Shape, accumulate: bool
) -> Array:
    """The gradient at each place written, for the values that stayed there."""
    taken = k.take(grad, index)
    if not accumulate:
        lost = k.put_overwritten(index, number_of_elements(self_sizes))
        taken = k.masked_fill(taken, lost, 0)
    return k.reshape(taken, sizes)


def masked_scatter_source_gradient(grad: Array, mask: Array, sizes: Shape) -> Array:
    """The gradient at the true places, for as many first values; zeros for the rest."""
    taken = k.masked_select(grad, mask)
    count, used = number_of_elements(sizes), taken.shape[0]
    if used < count:
        taken = k.slice_backward(taken, (count,), 0, 0, used, 1)
    return k.reshape(taken, sizes)


# -- merged values --------------------------------------------------------------------------


def scatter_reduce_self_gradient(
    grad: Array,
    self: Array,
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    include_self: bool,
    result: Array,
) -> Array:
    """The gradient of what was there before."""
    if 0 in index.shape:
        return grad
    if reduce == "prod":
        return k.scatter_prod_backward(grad, self, dim, index, src, include_self, True)
    if reduce == "mean":
        grad = k.div(grad, _merged_counts(grad, dim, index, include_self))
    elif reduce != "sum":
        values = _leading(src, index.shape)
        shared = _shared(grad, self, dim, index, values, include_self, result)
        grad = k.mul(shared, _equal(grad, self, result))
    return grad if include_self else k.scatter(grad, dim, index, 0)


def scatter_reduce_source_gradient(
    grad: Array,
    self: Array,
    dim: int,
    index: Array,
    src: Array,
    reduce: str,
    include_self: bool,
    result: Array,
) -> Array:
    """The gradient of the values merged into it."""
    if 0 in index.shape:
        return k.zeros_shaped(grad, src.shape)
    if reduce == "prod":
        taken = k.scatter_prod_backward(grad, self, dim, index, src, include_self, False)
        return gathered_to(taken, src.shape)
    if reduce == "sum":
        return gathered_to(k.gather(grad, dim, index), src.shape)
    if reduce == "mean":
        grad = k.div(grad, _merged_counts(grad, dim, index, include_self))
        return gathered_to(k.gather(grad, dim, index), src.shape)
    values = _leading(src, index.shape)
    won = _equal(grad, values, k.gather(result, dim, index))
    shared = _shared(grad, self, dim, index, values, include_self, result)
    return gathered_to(k.mul(won, k.gather(shared, dim, index)), src.shape)


def index_reduce_self_gradient(
    grad: Array,
    self: Array,
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    include_self: bool,
    result: Array,
) -> Array:
    """The gradient of what was there before."""
    each = k.repeated_index(index, source.shape, dim)
    return scatter_reduce_self_gradient(grad, self, dim, each, source, reduce, include_self, result)


def index_reduce_source_gradient(
    grad: Array,
    self: Array,
    dim: int,
    index: Array,
    source: Array,
    reduce: str,
    include_self: bool,
    result: Array,
) -> Array:
    """The gradient of the slices merged into it."""
    each = k.repeated_index(index, source.shape, dim)
    return scatter_reduce_source_gradient(
        grad, self, dim, each, source, reduce, include_self, result
    )


def _merged_counts(grad: Array, dim: int, index: Array, include_self: bool) -> Array:
    """How many values each element of a mean was made of."""
    ones = _ones(grad, index.shape)
    if include_self:
        return k.scatter_add(_ones(grad, grad.shape), dim, index, ones)
    counts = k.scatter_add(k.zeros_shaped(grad, grad.shape), dim, index, ones)
    return k.masked_fill(counts, k.eq(counts, 0), 1)


def _shared(
    grad: Array,
    self: Array,
    dim: int,
    index: Array,
    values: Array,
    include_self: bool,
    result: Array,
) -> Array:
    """The gradient of an extreme, divided by the number of values that are equally extreme.

    No value is equal to nan: where the result is nan the gradients are.
    """
    own = _equal(grad, self, result)
    if not include_self:
        own = k.scatter(own, dim, index, 0)
    won = _equal(grad, values, k.gather(result, dim, index))
    return k.div(grad, k.scatter_add(own, dim, index, won))


def _equal(like: Array, values: Array, others: Array) -> Array:
    """Ones where values are equal and zeros elsewhere, of the dtype of another array."""
    return k.masked_fill(_ones(like, values.shape), k.ne(values, others), 0)


def _ones(like: Array, sizes: Shape) -> Array:
    """Ones of the dtype of another array."""
    return k.add(k.zeros_shaped(like, sizes), 1)


def _leading(src: Array, sizes: Shape) -> Array:
    """The leading part of a source that has these sizes."""
    if len(src.shape) != len(sizes):
        return k.reshape(src, sizes)
    for axis, size in enumerate(sizes):
        if src.shape[axis] != size:
            src = k.slice(src, axis, 0, size)
    return src

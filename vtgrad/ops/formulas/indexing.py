# Compiled by mypyc.
"""Derivatives of reading, storing and merging at indices.

See Note [Which write survives] for the gradients of stored values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.storage.arrays import Array, Number, Shape

__all__ = [
    "gather_gradient",
    "gathered_to",
    "index_add_source_gradient",
    "index_copy_source_gradient",
    "index_put_self_gradient",
    "index_put_values_gradient",
    "index_reduce_self_gradient",
    "index_reduce_source_gradient",
    "index_select_gradient",
    "masked_scatter_source_gradient",
    "masked_select_gradient",
    "masked_total",
    "number_of_elements",
    "put_self_gradient",
    "put_source_gradient",
    "scatter_reduce_self_gradient",
    "scatter_reduce_source_gradient",
    "scatter_source_gradient",
    "take_gradient",
]


# -- along one dimension --------------------------------------------------------------------


def gather_gradient(grad: Array, self: Array, dim: int, index: Array) -> Array:
    """Every mention of an element adds to its gradient."""
    return k.scatter_add(k.zeros_shaped(grad, self.shape), dim, index, grad)


def gathered_to(grad: Array, sizes: Shape) -> Array:
    """A gradient of the leading part of a source, with zeros for the rest of the source."""
    if 0 in grad.shape:
        return k.zeros_shaped(grad, sizes)
    if len(grad.shape) != len(sizes):
        return k.reshape(grad, sizes)
    for axis, size in enumerate(sizes):
        length = grad.shape[axis]
        if length != size:
            shape = (*grad.shape[:axis], size, *grad.shape[axis + 1 :])
            grad = k.slice_backward(grad, shape, axis, 0, length, 1)
    return grad


def scatter_source_gradient(
    grad: Array, dim: int, index: Array, self_sizes: Shape, sizes: Shape
) -> Array:
    """The gradient of each element written, for the values that stayed there."""
    taken = k.gather(grad, dim, index)
    lost = k.scatter_overwritten(index, self_sizes, dim)
    return gathered_to(k.masked_fill(taken, lost, 0), sizes)


def index_select_gradient(grad: Array, sizes: Shape, dim: int, index: Array) -> Array:
    """Every mention of a slice adds to its gradient."""
    return k.index_add(k.zeros_shaped(grad, sizes), dim, index, grad)


def index_add_source_gradient(
    grad: Array, dim: int, index: Array, source: Array, alpha: Number
) -> Array:
    """The gradient of each slice's target, times the factor."""
    taken = k.reshape(k.index_select(grad, dim, index), source.shape)
    return taken if alpha == 1 else k.mul(taken, alpha)


def index_copy_source_gradient(grad: Array, dim: int, index: Array, source: Array) -> Array:
    """The gradient of each slice's target, for the slices that stayed there."""
    taken = k.reshape(k.index_select(grad, dim, index), source.shape)
    extent = grad.shape[dim] if grad.shape else 1
    return k.masked_fill(taken, k.index_copy_overwritten(index, source.shape, dim, extent), 0)


# -- flat, masks, index arrays --------------------------------------------------------------


def take_gradient(grad: Array, self: Array, index: Array) -> Array:
    """Every mention of an element adds to its gradient."""
    return k.take_spread(grad, self.shape, index)


def masked_select_gradient(grad: Array, self: Array, mask: Array) -> Array:
    """The gradient at the chosen elements; an element that was repeated sums them."""
    spread = k.masked_spread(grad, _broadcast(self.shape, mask.shape), mask)
    return k.sum_to_size(spread, self.shape)


def masked_total(grad: Array, mask: Array) -> Array:
    """The sum of the gradient over a mask: that of a value that was filled in."""
    return k.sum(k.masked_select(grad, mask))


def index_put_self_gradient(
    grad: Array, indices: Sequence[Array], positions: Shape, accumulate: bool
) -> Array:
    """Zero where values were stored, the gradient itself where they were added."""
    if accumulate:
        return grad
    return k.index_put_at(grad, indices, positions, k.zeros_shaped(grad, ()))


def index_put_values_gradient(
    grad: Array,
    indices: Sequence[Array],
    positions: Shape,
    self_sizes: Shape,
    sizes: Shape,
    accumulate: bool,
) -> Array:
    """The gradient of each element written, for the values that stayed there."""
    taken = k.index_at(grad, indices, positions)
    if not accumulate:
        taken = k.masked_fill(taken, k.index_put_overwritten(indices, positions, self_sizes), 0)
    return k.sum_to_size(taken, sizes)


def _broadcast(a: Shape, b: Shape) -> Shape:
    """The common shape of two that are known to have one."""
    lead = max(len(a), len(b))
    a, b = (1,) * (lead - len(a)) + tuple(a), (1,) * (lead - len(b)) + tuple(b)
    return tuple([n if m == 1 else m for n, m in zip(a, b, strict=True)])


# -- stored values --------------------------------------------------------------------------


def put_self_gradient(grad: Array, index: Array, accumulate: bool) -> Array:
    """Zero where values were stored, the gradient itself where they were added."""
    if accumulate:
        return grad
    return k.put(grad, index, k.zeros_shaped(grad, index.shape))


def put_source_gradient(
    grad: Array, index: Array, self_sizes: Shape, sizes: Shape, accumulate: bool
) -> Array:
    """The gradient of each element written, for the values that stayed there."""
    taken = k.take(grad, index)
    if not accumulate:
        lost = k.put_overwritten(index, number_of_elements(self_sizes))
        taken = k.masked_fill(taken, lost, 0)
    return k.reshape(taken, sizes)


def masked_scatter_source_gradient(grad: Array, mask: Array, sizes: Shape) -> Array:
    """The gradient at the true elements, for as many first values; zeros for the rest."""
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
    return k.div(grad, k.checked_counts(k.scatter_add(own, dim, index, won), result))


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


def number_of_elements(sizes: Shape) -> int:
    """How many elements a shape has."""
    return math.prod(sizes)

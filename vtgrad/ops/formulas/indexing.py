"""Helpers for joins, views with several results, and indexing.

See Note [Which write survives] for the gradients of stored values.
"""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.ops import kernels as k
from vtgrad.ops.types import Geometry3, MemoryFormat
from vtgrad.storage.arrays import Array, Number, Shape

__all__ = [
    "as_strided_gradient",
    "cat_gradients",
    "gather_gradient",
    "gathered_to",
    "gradient_beyond",
    "index_add_source_gradient",
    "index_copy_source_gradient",
    "index_put_self_gradient",
    "index_put_values_gradient",
    "index_select_gradient",
    "inverse_order",
    "joined_pairs",
    "masked_select_gradient",
    "masked_total",
    "opposite",
    "repeat_gradient",
    "scatter_source_gradient",
    "split_gradient",
    "stack_gradients",
    "take_gradient",
    "unbind_gradient",
]


# -- numbers --------------------------------------------------------------------------------


def inverse_order(dims: Sequence[int]) -> list[int]:
    """The order of dimensions that undoes a permutation."""
    count = len(dims)
    order = [0] * count
    for place, dim in enumerate(dims):
        order[dim + count if dim < 0 else dim] = place
    return order


def opposite(shifts: int | Sequence[int]) -> int | list[int]:
    """Shifts that undo a roll."""
    return -shifts if isinstance(shifts, int) else [-shift for shift in shifts]


# -- pieces ---------------------------------------------------------------------------------


def as_strided_gradient(
    grad: Array, input_geometry: Geometry3, output_geometry: Geometry3
) -> Array:
    """The gradient of the argument of `as_strided`; constant zeros if nothing was shown."""
    if 0 in output_geometry[0]:
        return k.zeros_shaped(grad, input_geometry[0])
    return k.as_strided_backward(grad, input_geometry, output_geometry)


def gradient_beyond(
    grad: Array, base_geometry: Geometry3, input_geometry: Geometry3, output_geometry: Geometry3
) -> Array:
    """The gradient of a base where `as_strided` of a view of it showed more than the view."""
    if 0 in output_geometry[0]:
        return k.zeros_shaped(grad, base_geometry[0])
    ones = k.add(k.zeros_shaped(grad, input_geometry[0]), 1)
    seen = k.as_strided_forward(ones, input_geometry, output_geometry)
    beyond = k.masked_fill(grad, k.ne(seen, 0), 0)
    return k.as_strided_backward(beyond, base_geometry, output_geometry)


def split_gradient(
    grads: Sequence[Array | None],
    sizes: Shape,
    dim: int,
    split_sizes: Sequence[int] | None = None,
) -> Array:
    """The pieces' gradients joined; a piece without one counts as zeros."""
    present = next(grad for grad in grads if grad is not None)
    axis = dim + len(sizes) if dim < 0 else dim
    whole = sizes[axis]
    # Pieces of one size: the first one tells it, unless it is missing.
    size = whole
    if split_sizes is None and len(grads) > 1:
        for place, grad in enumerate(grads):
            if grad is not None and place < len(grads) - 1:
                size = grad.shape[axis]
                break
        else:
            size = (whole - present.shape[axis]) // (len(grads) - 1)
    parts: list[Array] = []
    start = 0
    for place, grad in enumerate(grads):
        length = min(size, whole - start) if split_sizes is None else split_sizes[place]
        start += length
        if grad is None:
            grad = k.zeros_shaped(present, (*sizes[:axis], length, *sizes[axis + 1 :]))
        parts.append(grad)
    return k.cat(parts, axis)


def unbind_gradient(grads: Sequence[Array | None], dim: int) -> Array:
    """The slices' gradients stacked; a slice without one counts as zeros."""
    present = next(grad for grad in grads if grad is not None)
    return k.stack([k.zeros_like(present) if grad is None else grad for grad in grads], dim)


def cat_gradients(grad: Array, shapes: Sequence[Shape], dim: int) -> list[Array]:
    """For each joined tensor its part of the gradient."""
    parts: list[Array] = []
    start = 0
    axis = dim + len(grad.shape) if dim < 0 else dim
    for shape in shapes:
        # A tensor of shape (0,) joins anything and takes no place.
        if shape == (0,):
            parts.append(k.zeros_shaped(grad, shape))
        else:
            parts.append(k.slice(grad, axis, start, start + shape[axis]))
            start += shape[axis]
    return parts


def stack_gradients(grad: Array, dim: int) -> Sequence[Array]:
    """For each stacked tensor its slice of the gradient."""
    return k.unbind(grad, dim)


def repeat_gradient(grad: Array, repeats: Sequence[int], sizes: Shape) -> Array:
    """The sum over all tiles."""
    if 0 in repeats:
        return k.zeros_shaped(grad, sizes)
    padded = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    tiles = [n for pair in zip(repeats, padded, strict=True) for n in pair]
    over = tuple(range(0, len(tiles), 2))
    return k.reshape(k.sum(k.reshape(grad, tiles), over), sizes) if over else grad


def joined_pairs(grad: Array) -> Array:
    """Complex numbers from pairs of real ones, which may lie anywhere."""
    # A copy also where they lie well: a part of an array may begin in the middle of a number.
    return k.view_as_complex(k.clone(grad, memory_format=MemoryFormat.CONTIGUOUS))


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
    """The gradient at each place written, for the values that stayed there."""
    taken = k.gather(grad, dim, index)
    lost = k.scatter_overwritten(index, self_sizes, dim)
    return gathered_to(k.masked_fill(taken, lost, 0), sizes)


def index_select_gradient(grad: Array, sizes: Shape, dim: int, index: Array) -> Array:
    """Every mention of a slice adds to its gradient."""
    return k.index_add(k.zeros_shaped(grad, sizes), dim, index, grad)


def index_add_source_gradient(
    grad: Array, dim: int, index: Array, source: Array, alpha: Number
) -> Array:
    """The gradient of each slice's place, times the factor."""
    taken = k.reshape(k.index_select(grad, dim, index), source.shape)
    return taken if alpha == 1 else k.mul(taken, alpha)


def index_copy_source_gradient(grad: Array, dim: int, index: Array, source: Array) -> Array:
    """The gradient of each slice's place, for the slices that stayed there."""
    taken = k.reshape(k.index_select(grad, dim, index), source.shape)
    extent = grad.shape[dim] if grad.shape else 1
    return k.masked_fill(taken, k.index_copy_overwritten(index, source.shape, dim, extent), 0)


# -- flat, masks, index arrays --------------------------------------------------------------


def take_gradient(grad: Array, self: Array, index: Array) -> Array:
    """Every mention of an element adds to its gradient."""
    return k.take_spread(grad, self.shape, index)


def masked_select_gradient(grad: Array, self: Array, mask: Array) -> Array:
    """The gradient at the chosen places; an element that was repeated sums them."""
    spread = k.masked_spread(grad, _broadcast(self.shape, mask.shape), mask)
    return k.sum_to_size(spread, self.shape)


def masked_total(grad: Array, mask: Array) -> Array:
    """The sum of the gradient over a mask: that of a value that was filled in."""
    return k.sum(k.masked_select(grad, mask))


def index_put_self_gradient(
    grad: Array, indices: Sequence[Array], places: Shape, accumulate: bool
) -> Array:
    """Zero where values were stored, the gradient itself where they were added."""
    if accumulate:
        return grad
    return k.index_put_at(grad, indices, places, k.zeros_shaped(grad, ()))


def index_put_values_gradient(
    grad: Array,
    indices: Sequence[Array],
    places: Shape,
    self_sizes: Shape,
    sizes: Shape,
    accumulate: bool,
) -> Array:
    """The gradient at each place written, for the values that stayed there."""
    taken = k.index_at(grad, indices, places)
    if not accumulate:
        taken = k.masked_fill(taken, k.index_put_overwritten(indices, places, self_sizes), 0)
    return k.sum_to_size(taken, sizes)


def _broadcast(a: Shape, b: Shape) -> Shape:
    """The common shape of two that are known to have one."""
    lead = max(len(a), len(b))
    a, b = (1,) * (lead - len(a)) + tuple(a), (1,) * (lead - len(b)) + tuple(b)
    return tuple([n if m == 1 else m for n, m in zip(a, b, strict=True)])

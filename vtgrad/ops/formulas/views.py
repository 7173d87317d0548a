# Compiled by mypyc.
"""Derivatives of views, of one result and of several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from vtgrad.ops import kernels as k
from vtgrad.ops.calling.types import Geometry3
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import has_self_overlap, is_contiguous, reach, steps_through

__all__ = [
    "as_strided_gradient",
    "gradient_beyond",
    "inverse_order",
    "is_plain_part",
    "narrow_copy_gradient",
    "output_geometry",
    "split_gradient",
    "unbind_gradient",
]


def inverse_order(dims: Sequence[int]) -> list[int]:
    """The order of dimensions that undoes a permutation."""
    count = len(dims)
    order = [0] * count
    for index, dim in enumerate(dims):
        order[dim + count if dim < 0 else dim] = index
    return order


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
        for index, grad in enumerate(grads):
            if grad is not None and index < len(grads) - 1:
                size = grad.shape[axis]
                break
        else:
            size = (whole - present.shape[axis]) // (len(grads) - 1)
    parts: list[Array] = []
    start = 0
    for index, grad in enumerate(grads):
        length = min(size, whole - start) if split_sizes is None else split_sizes[index]
        start += length
        if grad is None:
            grad = k.zeros_shaped(present, (*sizes[:axis], length, *sizes[axis + 1 :]))
        parts.append(grad)
    return k.cat(parts, axis)


def unbind_gradient(grads: Sequence[Array | None], dim: int) -> Array:
    """The slices' gradients stacked; a slice without one counts as zeros."""
    present = next(grad for grad in grads if grad is not None)
    return k.stack([k.zeros_like(present) if grad is None else grad for grad in grads], dim)


def narrow_copy_gradient(grad: Array, sizes: Shape, dim: int, start: int, length: int) -> Array:
    """Zeros with the gradient in the range that was copied."""
    first = start + sizes[dim] if start < 0 else start
    return k.slice_backward(grad, sizes, dim, first, first + length, 1)


def output_geometry(
    input_geometry: Geometry3,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Geometry3:
    """The geometry that `as_strided` makes; without an offset it keeps its argument's."""
    offset = input_geometry[2] if storage_offset is None else storage_offset
    return tuple(size), tuple(stride), offset


# A stale view gets a new producer after each write, for the same geometry.
@lru_cache(maxsize=1024)
def is_plain_part(
    input_geometry: Geometry3,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> bool:
    """Whether the result of `as_strided` names elements of the input, each at most once.

    Then the gradient of the input can be written through a view. Of inputs that are not
    contiguous this recognises the parts that slices and selections make.
    """
    sizes, strides, start = input_geometry
    if 0 in size or has_self_overlap(tuple(size), tuple(stride)):
        return False
    part = output_geometry(input_geometry, size, stride, storage_offset)
    if not is_contiguous(sizes, strides):
        return steps_through(input_geometry, part) is not None
    low, high = reach(*part)
    first, last = reach(sizes, strides, start)
    return first <= low and high <= last

# Compiled by mypyc.
"""Giving a tensor another shape on its own memory, which grows if necessary."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import TypeVar

from vtgrad.errors import ArgumentTypeError, OutOfBoundsError, ResizeError
from vtgrad.graph.set_history import requires_grad
from vtgrad.storage.arrays import Shape
from vtgrad.storage.growth import grow
from vtgrad.storage.inference_tensors import (
    is_inference_mode_enabled,
    refuse_outside_inference_mode,
)
from vtgrad.storage.lazy_array import like
from vtgrad.storage.memory_format import MemoryFormat, strides_in_format
from vtgrad.storage.strides import check_in_bounds, reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.change_geometry import change_geometry
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import producer_of, view_meta_of

__all__ = ["checked_sizes", "make_room", "needed_bytes", "resize", "resized"]

T = TypeVar("T", bound=TensorBase)

# More bytes than can be addressed.
_MOST_BYTES = 2**62


def resize(target: T, sizes: Sequence[int], memory_format: MemoryFormat | None) -> T:
    """Give `target` another shape, in a memory format, from its first element on.

    Without a format the tensor becomes row-major, but only if the shape changes. The version moves
    if the shape changes, or the order; elements are neither moved nor written. New elements are
    zero.

    Raises
    ------
    ResizeError
        If the tensor requires grad, in any grad mode (but a leaf may be resized in inference mode),
        or its memory cannot grow.
    OutOfBoundsError
        If a size is negative or too large.
    MemoryFormatError
        If the format is for another number of dimensions, or to be preserved.
    """
    if requires_grad(target) and not (is_inference_mode_enabled() and _is_unrecorded(target)):
        raise ResizeError("a tensor that requires grad cannot be resized; resize a detached clone")
    shape = checked_sizes(sizes)
    strides = strides_in_format(
        shape, MemoryFormat.CONTIGUOUS if memory_format is None else memory_format
    )
    impl = target._impl
    if impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    if impl.sizes == shape:
        if memory_format is None or impl.strides == strides:
            return target
        lengths = zip(shape, impl.strides, strides, strict=True)
        if 0 in shape or all(n == 1 or old == new for n, old, new in lengths):
            # The elements stay at their offsets: only strides that no index uses differ.
            impl.set_geometry_of(resized(impl, shape, strides))
            return target
    make_room(impl, shape, strides)
    # Another order puts other elements at the same indices, without a new version in PyTorch.
    change_geometry(target, resized(impl, shape, strides), "resize_")
    return target


def _is_unrecorded(target: TensorBase) -> bool:
    """Whether a tensor that requires grad has no producer, or is a view that can never have one."""
    view = view_meta_of(target)
    if view is not None and view.creation_meta is CreationMeta.INFERENCE_MODE:
        return view.grad_fn_ is None
    return producer_of(target) is None


def make_room(impl: TensorImpl, sizes: Shape, strides: Shape) -> None:
    """Let the memory grow, if necessary, for another geometry from the first element on.

    Raises
    ------
    ResizeError
        If the memory cannot grow.
    OutOfBoundsError
        If the geometry is malformed.
    """
    grow(impl.storage, needed_bytes(sizes, strides, impl.storage_offset, impl.dtype.itemsize))


def resized(impl: TensorImpl, sizes: Shape, strides: Shape) -> TensorImpl:
    """An alias with another geometry from the first element on, which fits the memory."""
    array = impl.storage.strided(impl.dtype, sizes, strides, impl.storage_offset)
    return impl.alias(like(impl.array, array), impl.byte_offset, strides)


def needed_bytes(sizes: Shape, strides: Shape, offset: int, item: int) -> int:
    """The number of bytes of storage that a geometry needs.

    Raises
    ------
    OutOfBoundsError
        If it is malformed, or exceeds what can be addressed.
    """
    check_in_bounds(sizes, strides, offset, _MOST_BYTES // item)
    return 0 if 0 in sizes else (reach(sizes, strides, offset)[1] + 1) * item


def checked_sizes(sizes: Sequence[int], name: str = "size") -> Shape:
    """Sizes, or strides, as a tuple of Python's integers.

    Raises
    ------
    ArgumentTypeError
        If they are not a sequence of integers.
    OutOfBoundsError
        If one is negative.
    """
    try:
        shape = tuple([index(size) for size in sizes])
    except TypeError:
        raise ArgumentTypeError(
            f"argument {name!r} must be a sequence of integers", argument=name
        ) from None
    if shape and min(shape) < 0:
        raise OutOfBoundsError(f"{name} must not be negative, got {shape}", argument=name)
    return shape

# Compiled by mypyc.
"""Checks before a write.

Note [Read-only memory]

A tensor is read-only if its array is: `from_numpy` of a read-only array makes one. Its views are
read-only too: NumPy makes its own ones so, and `alias_at` those that are made of the bytes of a
storage, which other tensors may write (`make_read_only`). So NumPy refuses every store, and a check
must only refuse it before anything has changed. Other writes pay nothing for that: the layout of a
read-only array is `PECULIAR`, which the short forms of writes leave to `write`, and `write` reads
one flag, `carray`, which says both that an array has no gaps and that it may be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from vtgrad.errors import (
    InputOverlapError,
    LeafWriteError,
    NotSupportedError,
    ReadOnlyError,
    SelfOverlapError,
    ViewOfLeafWriteError,
)
from vtgrad.graph.edge import Edge
from vtgrad.storage.arrays import PLAIN
from vtgrad.storage.geometry import (
    Geometry,
    Overlap,
    covers,
    every_byte,
    has_self_overlap,
    overlap,
    reach,
)
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.creation_meta import CreationMeta, refuse_if_restricted
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta, refuse_other_memory

__all__ = [
    "check_base",
    "check_inplace",
    "check_input_overlap",
    "check_memory",
    "flattened",
]

_DEFAULT: Final = CreationMeta.DEFAULT


def check_inplace(tensor: TensorBase) -> None:
    """Raise if a recorded write to `tensor` would make gradients wrong.

    Only called when recording is on and the written tensor or an operand requires grad: all
    other writes are free.

    Raises
    ------
    ViewInvalidError
        For a view whose creation forbids it; see Note [Creation of views].
    ViewOfLeafWriteError, LeafWriteError
        For a leaf that requires grad, or a view of one.
    """
    known = tensor._impl.autograd_meta
    if known is None or isinstance(known, Edge):
        return  # a result is no leaf
    if isinstance(known, DifferentiableViewMeta):
        meta = known
        if meta.creation_meta is not _DEFAULT:
            refuse_if_restricted(
                meta.creation_meta,
                modified=False,
                producer=meta.describe(),
                made_at=meta.restricted_at(),
            )
        base_meta = meta.base._impl.autograd_meta
        if (base_meta is None or not base_meta.was_produced()) and meta.needs_gradient():
            raise ViewOfLeafWriteError(
                "cannot write to a view of a leaf that requires grad: the leaf's gradient would "
                "belong to a value that is gone. Write under no_grad, or to a clone of the leaf",
                shape=tensor.shape,
            )
    elif not known.was_produced() and known.needs_gradient():
        raise LeafWriteError(
            "cannot write to a leaf that requires grad: its gradient would belong to a value "
            "that is gone. Write under no_grad, or to a clone of the leaf",
            shape=tensor.shape,
        )


def check_memory(tensor: TensorBase, *, distinct: bool = True) -> None:
    """Raise if the memory of `tensor` cannot be written element by element.

    Parameters
    ----------
    distinct : bool
        Whether no two elements may be one memory location: the remaining value would be undefined.

    Raises
    ------
    ReadOnlyError
        If the memory is read-only.
    SelfOverlapError
        If two elements are one location.
    """
    impl = tensor._impl
    flags = impl.array.flags
    if flags.carray:
        return
    if not flags.writeable:
        raise ReadOnlyError(
            f"cannot write to a tensor of shape {list(impl.sizes)}: its memory is read-only. Write "
            "to a clone",
            shape=impl.sizes,
        )
    if not distinct or flags.c_contiguous:
        return
    array = impl.array
    # An overlap in bytes is one in elements: strides are whole elements.
    if has_self_overlap(array.shape, array.strides):
        raise SelfOverlapError(
            f"cannot write to a tensor of shape {list(impl.sizes)} and strides "
            f"{list(impl.strides)}: several of its elements are one memory location. "
            "Write to a clone",
            shape=impl.sizes,
            strides=impl.strides,
        )


def check_input_overlap(target: TensorImpl, source: TensorImpl, *, distinct: bool) -> None:
    """Raise if an input overlaps the written tensor without being the same elements.

    Parameters
    ----------
    distinct : bool
        Also raise if they are the same elements.

    Raises
    ------
    InputOverlapError
        If so: the values that the operator reads would depend on the order of writing.
    """
    if type(source.array) not in PLAIN or type(target.array) not in PLAIN:
        # The values of lazy tensors are read, or stored, as a copy.
        return
    if target is source:
        # True also for an empty tensor and for one with gaps.
        shared = Overlap.FULL
    elif target._storage is None or target._storage is not source._storage:
        return
    else:
        shared = overlap(*_in_one_unit(target, source))
        if shared is Overlap.PARTIAL and _same_bytes(target, source):
            shared = Overlap.FULL
    if shared is Overlap.PARTIAL or (distinct and shared is Overlap.FULL):
        raise InputOverlapError(
            "an input and the written tensor share memory in a way that makes the result depend "
            "on the order of reading and writing; clone the input first",
            target_shape=target.sizes,
            input_shape=source.sizes,
        )


def check_base(target: TensorBase) -> None:
    """Raise if the base's gradient has no separate part for a write to a view.

    Raises
    ------
    SelfOverlapError
        If elements of the base share memory, or the view has memory that is not the base's.
    NotSupportedError
        If complex numbers are viewed in a real base that begins in the middle of one.
    ViewInvalidError
        If the view or its base was moved to other memory.
    """
    view = target._impl
    meta = view.autograd_meta
    if type(meta) is not DifferentiableViewMeta:
        return
    base = meta.base._impl
    if base._storage is not view._storage and view.array.size:
        refuse_other_memory()
    if (
        meta.view_fn is not None
        and meta.view_fn.crosses_dtypes
        and base.array.dtype.kind == "f"
        and base.byte_offset % (2 * base.array.itemsize)
    ):
        # The gradient's memory begins with the base's first element.
        raise NotSupportedError(
            "cannot record a write to such a view of a tensor that begins in the middle of a "
            "complex number; make the view from a clone of the base",
            offset=base.storage_offset,
        )
    whole, part = base.array, view.array
    dense = whole.flags.c_contiguous
    if dense:
        # The usual case: two ranges of bytes, one inside the other.
        start = view.byte_offset - base.byte_offset
        last = start + part.nbytes
        if not part.flags.c_contiguous:
            start, last = reach(part.shape, part.strides, start)
            last += part.itemsize
        if start >= 0 and last <= whole.nbytes:
            return
    elif has_self_overlap(base.sizes, base.strides):
        raise SelfOverlapError(
            "cannot record a write to a view of a base whose elements share memory locations; "
            "clone the base first",
            shape=base.sizes,
            strides=base.strides,
        )
    if not covers(*_in_one_unit(base, view)):
        raise SelfOverlapError(
            "cannot record a write to a view that shows memory outside of its base, or between "
            "its base's elements; make the view from a tensor that covers it",
            shape=target.shape,
            base_shape=base.sizes,
        )


def _same_bytes(a: TensorImpl, b: TensorImpl) -> bool:
    """Whether two dense blocks begin and end together, so that writing begins after all is read.

    As real numbers seen as complex ones: operands of two dtypes are converted first.
    """
    return (
        a.byte_offset == b.byte_offset
        and a.numel * a.array.itemsize == b.numel * b.array.itemsize
        and a.strides == b.strides
        and a.dtype != b.dtype
    )


def _in_one_unit(a: TensorImpl, b: TensorImpl) -> tuple[Geometry, Geometry]:
    """Both geometries in elements or, if those differ in size, in bytes."""
    if a.array.itemsize == b.array.itemsize:
        return a.geometry, b.geometry
    return _in_bytes(a), _in_bytes(b)


def _in_bytes(impl: TensorImpl) -> Geometry:
    item = impl.array.itemsize
    return every_byte(impl.sizes, tuple([s * item for s in impl.strides]), impl.byte_offset, item)


def flattened(arguments: Sequence[object]) -> Sequence[object]:
    """The arguments, with the items of lists among them."""
    for x in arguments:
        if isinstance(x, (list, tuple)):
            break
    else:
        return arguments
    flat: list[object] = []
    for x in arguments:
        if isinstance(x, (list, tuple)):
            flat.extend(x)
        else:
            flat.append(x)
    return flat

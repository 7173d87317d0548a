"""Moving a tensor to other memory: ``set_``."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from vtgrad.errors import ArgumentTypeError, DeviceError, DTypeError, ShapeError, ViewInvalidError
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import requires_grad
from vtgrad.storage import making
from vtgrad.storage.arrays import Shape
from vtgrad.storage.dtypes import dtype_of
from vtgrad.storage.geometry import contiguous_strides
from vtgrad.storage.growth import check_growth, grow
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.lazy_array import like
from vtgrad.storage.storage import Storage
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.change_geometry import change_geometry
from vtgrad.views.check_inplace import check_inplace
from vtgrad.views.differentiable_view_meta import view_meta_of
from vtgrad.views.resize import needed_bytes
from vtgrad.views.write import Recorder

__all__ = ["set_memory"]

T = TypeVar("T", bound=TensorBase)


def set_memory(
    target: T,
    recorder: Recorder,
    source: TensorBase | Storage | None,
    storage_offset: int | None,
    size: Shape | None,
    stride: Shape | None,
) -> T:
    """Let `target` use other memory.

    The version of `target` moves. It keeps its counter, and shares it with its views, which stay on
    the old memory. The counter of the source does not move, now or when `target` is written later.
    `target` stays a lazy conjugate or negative if it was one.

    Parameters
    ----------
    recorder : Recorder
        Makes the node of the operator, which cannot be differentiated.
    source : TensorBase, Storage or None
        The owner of the memory; None for no memory.
    storage_offset, size, stride : int, tuple of int, tuple of int, optional
        The part of the memory; for a tensor the offset counts from the tensor's own.

    Raises
    ------
    DeviceError
        If the memory is on another device.
    DTypeError
        If a tensor of another dtype is given without a part of its memory.
    ShapeError
        If a part of the memory of a tensor that is not row-major is given.
    OutOfBoundsError
        If the geometry is malformed.
    ResizeError
        If it exceeds the memory, which cannot grow.
    LeafWriteError, ViewInvalidError
        If this would have to be recorded for a leaf that requires grad, or for a view.
    """
    impl = target._impl
    if impl.version_counter is INFERENCE:
        refuse_outside_inference_mode()
    if size is None and isinstance(source, TensorBase) and source._impl.dtype != impl.dtype:
        raise DTypeError(
            f"a tensor of {dtype_of(impl.dtype).name} cannot be set to one of "
            f"{dtype_of(source._impl.dtype).name}"
        )
    # For a part of a tensor's memory, only the memory of the tensor matters.
    origin = source if size is None else None
    recording = is_recording() and requires_grad(target, origin) and impl.dtype.kind in "fc"
    if recording:
        check_inplace(target)
        if view_meta_of(target) is not None:
            raise ViewInvalidError(
                "set_ of a view would leave its base, which gradients of the view belong to; "
                "use it under no_grad, or on a detached tensor"
            )
    storage, sizes, strides, offset = _geometry(impl, source, storage_offset, size, stride)
    if source is not None and storage.device != impl.device:
        raise DeviceError(
            f"the tensor is on {impl.device}, the memory on {storage.device}",
            expected=impl.device,
            found=storage.device,
        )
    storage.device = impl.device
    needed = needed_bytes(sizes, strides, offset, impl.dtype.itemsize)
    check_growth(storage, needed)
    node = recorder(target, origin, inplace=True) if recording else None
    grow(storage, needed)
    array = storage.strided(impl.dtype, sizes, strides, offset)
    changed = TensorImpl(like(impl.array, array))
    changed.byte_offset = offset * impl.dtype.itemsize
    changed._storage = storage
    changed._strides = strides
    change_geometry(target, changed, "set_", node, same_elements=False)
    return target


def _geometry(
    impl: TensorImpl,
    source: TensorBase | Storage | None,
    storage_offset: int | None,
    size: Shape | None,
    stride: Shape | None,
) -> tuple[Storage, Shape, Shape, int]:
    """Memory, sizes, strides and offset in elements from the arguments of `set_`."""
    if size is None or storage_offset is None:
        if not (size is None and storage_offset is None and stride is None):
            raise ArgumentTypeError("set_ needs an offset and sizes, or neither")
        if source is None:
            return Storage(making.empty(0, np.uint8)), (0,), (1,), 0
        if isinstance(source, Storage):
            return source, (source.nbytes() // impl.dtype.itemsize,), (1,), 0
        other = source._impl
        return other.storage, other.sizes, other.strides, other.storage_offset
    if source is None:
        raise ArgumentTypeError("set_ with an offset and sizes needs memory", argument="source")
    # Without strides a tensor that has these sizes keeps its own.
    kept = impl.strides if impl.sizes == size else contiguous_strides(size)
    sizes, strides = size, kept if stride is None else stride
    if isinstance(source, Storage):
        return source, sizes, strides, storage_offset
    if not source._impl.is_contiguous:
        raise ShapeError("set_ takes a part of the memory of row-major tensors; pass a storage")
    # For a tensor the offset counts from the tensor's first element.
    start = source._impl.storage_offset
    if storage_offset < 0:
        start = 0
    return source._impl.storage, sizes, strides, start + storage_offset

# Compiled by mypyc.
"""The operators that the lower layers use, see `vtgrad.graph.operators`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vtgrad.graph.batch import BatchLevel
from vtgrad.graph.edge import Edge
from vtgrad.graph.input_metadata import InputMetadata, metadata_of
from vtgrad.graph.node import Node
from vtgrad.graph.recording import is_recording
from vtgrad.graph.set_history import gradient_edge, meta_of, requires_grad
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated.views_nodes import AsStridedBackward0
from vtgrad.ops.kernels.copying.broadcasting import sum_to_size
from vtgrad.ops.rules.batches.values import levels_of, rebatched
from vtgrad.ops.view_impls.views import alias_at
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, NumpyDType, Shape
from vtgrad.storage.device import Device
from vtgrad.storage.excluded_keys import run_excluding
from vtgrad.storage.geometry import Geometry, reach
from vtgrad.storage.inference_tensors import refuse_outside_inference_mode
from vtgrad.storage.key_set import NAMED
from vtgrad.storage.lazy_array import like
from vtgrad.storage.memory_format import MemoryFormat
from vtgrad.storage.mode import mode_of
from vtgrad.storage.on_device import impl_on, on_device
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.thread_state import changed, run_with
from vtgrad.storage.version_counter import INFERENCE
from vtgrad.views.check_inplace import check_memory
from vtgrad.views.make_view import make_view

__all__ = ["InstalledOperators"]


def _turned(a: TensorBase, size: Shape, stride: Shape, offset: int) -> TensorBase:
    """The same view by operators, which know samples and tangents: upward, then turned round."""
    backward = [] if 0 in size else [dim for dim, step in enumerate(stride) if step < 0]
    lowest = offset + sum([(size[dim] - 1) * stride[dim] for dim in backward])
    view = F.as_strided_part(a, size, tuple(map(abs, stride)), lowest)
    for dim in backward:
        view = F.slice(view, dim, size[dim] - 1, None, -1)
    return view


class InstalledOperators:
    """Implements `vtgrad.graph.operators.Operators`.

    Parameters
    ----------
    tensor_class : type
        The class of tensors that the library makes by itself.
    """

    __slots__ = ("tensor_class",)

    tensor_class: type[TensorBase]

    def __init__(self, tensor_class: type[TensorBase]) -> None:
        self.tensor_class = tensor_class

    def wrap(self, impl: TensorImpl) -> TensorBase:
        """A tensor of the default class."""
        cls = self.tensor_class
        # As in `TensorBase._wrap`, which would be one more call.
        make = cls._make
        tensor: TensorBase = make(cls)
        tensor._impl = impl
        return tensor

    def add(self, a: TensorBase, b: TensorBase) -> TensorBase:
        """Sum, out of place."""
        return F.add(a, b)

    def clone(self, a: TensorBase) -> TensorBase:
        """A copy on a buffer of its own."""
        return F.clone(a)

    def row_major_clone(self, a: TensorBase) -> TensorBase:
        """A row-major copy on a buffer of its own."""
        return F.clone(a, memory_format=MemoryFormat.CONTIGUOUS)

    def clone_strided(self, a: TensorBase, sizes: Shape, strides: Shape) -> TensorBase:
        """A copy on a buffer of its own, laid out with these strides."""
        low, high = reach(sizes, strides)
        return F.copy_(self._zeros(a, (sizes, strides, -low), high - low + 1, levels_of(a)), a)

    def zeros(self, shape: Shape, dtype: NumpyDType, device: Device) -> TensorBase:
        """Zeros."""
        return self.wrap(impl_on(making.zeros(shape, dtype), device))

    def zeros_as_memory(self, a: TensorBase, tangent: TensorBase) -> TensorBase:
        """Zeros with the geometry of `a`, in a buffer as large as its storage; not a view."""
        impl = a._impl
        length = impl.storage.nbytes() // impl.array.itemsize
        return self._zeros(a, impl.geometry, length, levels_of(tangent))

    def _zeros(
        self, model: TensorBase, geometry: Geometry, length: int, levels: Sequence[BatchLevel]
    ) -> TensorBase:
        """Zeros with a geometry; for levels a batch, whose samples have a memory each.

        Parameters
        ----------
        length : int
            The number of elements in that memory.
        """
        dtype = model._impl.array.dtype
        sizes, strides, offset = geometry
        for level in levels:
            sizes, strides = (level.size, *sizes), (length, *strides)
            length *= level.size
        fresh = impl_on(making.zeros(length, dtype), model._impl.device)
        # Lazy as the model: what is viewed of both is then viewed by the same steps.
        array = like(model._impl.array, fresh.storage.strided(dtype, sizes, strides, offset))
        whole = self.wrap(fresh.alias(array, offset * dtype.itemsize, strides))
        return rebatched(whole, levels)

    def move(self, a: TensorBase, device: Device) -> TensorBase:
        """A copy on another device."""
        moved: TensorBase = on_device(device, F.to_dtype, a, a._impl.dtype)
        return moved

    def zeros_like(self, a: TensorBase) -> TensorBase:
        """Zeros in the memory order of a tensor."""
        return F.zeros_like(a)

    def as_strided(self, a: TensorBase, size: Shape, stride: Shape, offset: int) -> TensorBase:
        """A view at a geometry inside the storage."""
        if not stride or min(stride) >= 0:
            return F.as_strided_part(a, size, stride, offset)
        # Users make no views with negative strides but by slices; this is one made again.
        if a._impl.key_set:
            return _turned(a, size, stride, offset)
        impl = alias_at(a._impl, size, stride, offset)
        node = (
            AsStridedBackward0.record(a, size, stride, offset)
            if is_recording() and requires_grad(a)
            else None
        )
        return make_view(a, impl, node)

    def as_strided_node(self, base: TensorBase, view: TensorImpl) -> Node:
        """The node that `as_strided` of `base` would have if it gave `view`."""
        node = AsStridedBackward0(None, gradient_edge(base))
        # `TensorImpl.geometry` inline: every stale view that is read has a new node.
        impl = base._impl
        array, strides = impl.array, impl._strides
        node.self_geometry = (
            array.shape,
            impl.strides if strides is None else strides,
            impl.byte_offset // array.itemsize,
        )
        array, strides = view.array, view._strides
        node.size = array.shape
        node.stride = view.strides if strides is None else strides
        node.storage_offset = view.byte_offset // array.itemsize
        node.input_metadata = metadata_of(view)
        return node

    def strided_node(
        self, edge: Edge | None, base: Geometry, view: Geometry, dtype: NumpyDType, device: Device
    ) -> Node:
        """The node of a view at a geometry of the value that `edge` leads to."""
        node = AsStridedBackward0(None, edge)
        node.self_geometry = base
        node.size, node.stride, node.storage_offset = view
        node.input_metadata = (InputMetadata(view[0], dtype, device),)
        return node

    def replayed_node(
        self, base: TensorBase, view_fn: Callable[[TensorBase], TensorBase]
    ) -> Node | None:
        """The node of the view that `view_fn`, run with recording on, makes of `base`.

        None if the base does not require grad.
        """
        recording = changed(mode=mode_of(grad=True, inference=False))
        meta = meta_of(run_with(recording, view_fn, base))
        assert meta is not None
        return meta.grad_fn_

    def copy_(self, target: TensorBase, source: TensorBase) -> TensorBase:
        """Overwrite `target`."""
        return F.copy_(target, source)

    def zero_(self, target: TensorBase) -> TensorBase:
        """Fill `target` with zeros."""
        return F.zero_(target)

    def add_(self, target: TensorBase, source: TensorBase) -> TensorBase:
        """Add into `target`."""
        return F.add_(target, source)

    def check_add_(self, target: TensorBase, shape: Shape, dtype: NumpyDType) -> None:
        """Raise what `add_` would raise for a source of this shape and dtype.

        Raises
        ------
        VtgradError
            If the target is an inference tensor, overlaps itself or is read-only, or if shapes or
            dtypes do not fit.
        """
        impl = target._impl
        if impl.version_counter is INFERENCE:
            refuse_outside_inference_mode()
        check_memory(target)
        source = making.broadcast_to(making.zeros((), dtype), shape)
        twin = TensorImpl(making.zeros(impl.sizes, impl.dtype))
        F.add_(self.wrap(twin), self.wrap(TensorImpl(source)))

    def sum_to_size(self, a: Array, size: Shape) -> Array:
        """An array summed over every dimension in which `size` was broadcast to its shape."""
        return sum_to_size(a, size)

    def unnamed(self, a: TensorBase) -> TensorBase:
        """The same value without names of dimensions."""
        alias: TensorBase = run_excluding(NAMED, F.alias, a)
        alias._impl.set_names(None)
        return alias

    def fit(self, a: TensorBase, shape: Shape, dtype: NumpyDType) -> TensorBase:
        """A gradient summed to `shape` and cast to `dtype`, the real part for real dtypes."""
        if a.shape != shape:
            a = F.sum_to_size(a, shape)
        return a if a._impl.dtype == dtype else F.to_dtype(a, dtype)

# Compiled by mypyc.
"""The node of a leaf: it adds gradients into ``.grad``."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from threading import get_ident
from typing import ClassVar

import numpy as np

from vtgrad.errors import GradientError
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.changed_leaf_shape import (
    byte_strides_of_grad,
    check_changed_leaf,
    in_shape_of,
    reshaped_grad,
)
from vtgrad.graph.grad_stores import GradStores, is_plainly_added_to
from vtgrad.graph.hooks import GradCell, LeafState, graph_lock
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import LEAF_SEQUENCE_NR, Node
from vtgrad.graph.operators import operators
from vtgrad.graph.region import Gradient
from vtgrad.graph.saved_variable_errors import leaf_moved_error
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage import making
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import is_non_overlapping_and_dense
from vtgrad.storage.on_device import impl_on
from vtgrad.storage.record_write import begin_write_as, on_behalf
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl

__all__ = ["AccumulateGrad"]


class AccumulateGrad(Node):
    """Adds incoming gradients to the leaf's ``.grad``.

    The node holds the cell, not the leaf: the leaf's metadata owns this node, so a reference to the
    leaf would close a cycle.

    Attributes
    ----------
    cell : GradCell
        The cell that holds ``.grad``.
    byte_strides : tuple of int
        Strides of a new ``.grad``: the leaf's if those are dense.
    leaf_changed, reordered : bool
        Whether the leaf's shape or dtype has differed from the node's, before or after the node was
        made; and whether the leaf only has other strides on the same elements. See Note [Leaves
        that change their shape].
    """

    __slots__ = ("_leaf", "byte_strides", "cell", "leaf_changed", "reordered")

    is_leaf_node: ClassVar[bool] = True
    edge_rule: ClassVar[int] = FIXED_EDGES

    cell: GradCell
    byte_strides: Shape
    leaf_changed: bool
    reordered: bool
    _leaf: weakref.ref[TensorBase]

    @staticmethod
    def of_leaf(leaf: TensorBase, cell: GradCell) -> AccumulateGrad:
        """The node of a leaf with this cell."""
        node = AccumulateGrad(())
        numbering = this_thread.numbering
        if numbering.next_nr == node.sequence_nr + 1:
            # As in PyTorch, leaves take no number of their thread.
            numbering.next_nr = node.sequence_nr
        impl = leaf._impl
        node._leaf = weakref.ref(leaf)
        node.sequence_nr = LEAF_SEQUENCE_NR
        node.cell = cell
        node.leaf_changed = False
        node.reordered = False
        node.lay_out_like(impl)
        node.input_metadata = (InputMetadata(impl.sizes, impl.dtype, impl.device),)
        return node

    def lay_out_like(self, impl: TensorImpl) -> None:
        """Let a new ``.grad`` have the strides of the leaf."""
        self.byte_strides = byte_strides_of_grad(impl)

    def name(self) -> str:
        """PyTorch's name of the same node."""
        return "torch::autograd::AccumulateGrad"

    def leaf_cell(self) -> GradCell:
        """The cell that holds ``.grad``."""
        return self.cell

    @property
    def weak_leaf(self) -> weakref.ref[TensorBase]:
        """A weak reference to the leaf."""
        return self._leaf

    def move_to(self, leaf: TensorBase) -> None:
        """Refer to another handle, which has taken over the leaf's values and metadata."""
        self._leaf = weakref.ref(leaf)

    @property
    def variable(self) -> TensorBase | None:
        """The leaf, while it lives."""
        return self._leaf()

    def _impl_by_now(self) -> TensorImpl | None:
        """The leaf's impl; if the leaf is dead, the impl that its post-accumulate hooks keep."""
        leaf = self._leaf()
        return self.cell.memory if leaf is None else leaf._impl

    def check_saved(self) -> None:
        """Raise if the leaf has become a result, or another shape, since the graph was recorded.

        Raises
        ------
        StaleSavedError
            If the leaf is a result now: the gradient would belong to a value that is gone.
        ShapeError
            If the gradient does not fit the leaf's present shape.
        """
        self.check_fits_leaf(self.cell.grad)
        leaf = self._leaf()
        if leaf is not None:
            meta = leaf._impl.autograd_meta
            if isinstance(meta, AutogradMeta) and meta.is_view:
                # A view detects a write of its base only when `grad_fn` is read.
                meta.grad_fn(leaf)
        if self.cell.leaf_state is LeafState.MOVED:
            raise leaf_moved_error(self, None if leaf is None else leaf._impl.version_counter)

    def check_fits_leaf(self, present: TensorBase | None) -> None:
        """Raise if a gradient of the leaf's former value does not fit its present shape.

        Parameters
        ----------
        present : TensorBase or None
            The ``.grad`` to which the gradient is added.

        Raises
        ------
        ShapeError
            If so.
        """
        changed = self._impl_by_now() if self.leaf_changed else None
        if changed is not None:
            byte_strides = self.byte_strides if self.reordered else None
            check_changed_leaf(self.input_metadata[0].shape, byte_strides, changed, present)

    def in_shape_of_leaf(self, grad: TensorBase) -> TensorBase:
        """A gradient that `check_fits_leaf` has accepted, in the leaf's present shape."""
        impl = self._impl_by_now()
        return grad if impl is None else in_shape_of(grad, impl)

    def check_grad(self) -> None:
        """Raise if ``.grad`` may not be added to in place.

        Raises
        ------
        VtgradError
            As ``add_`` does: for a ``.grad`` that overlaps itself, is an inference tensor, or now
            has a shape or dtype that the gradient does not fit.
        """
        grad = self.cell.grad
        if grad is None or self.cell.leaf_state is not LeafState.ACCUMULATES:
            return
        meta = self.input_metadata[0]
        shape = meta.shape
        impl = self._impl_by_now() if self.leaf_changed else None
        if impl is not None:
            shape = impl.sizes
            grad = reshaped_grad(grad, impl)
        if not is_plainly_added_to(grad._impl, shape, meta.dtype):
            operators().check_add_(grad, shape, meta.dtype)

    def prepare(self, stores: GradStores, grad: Array, owned: bool) -> None:
        """Prepare to add one gradient; an owned array may become ``.grad`` itself.

        Raises
        ------
        VtgradError
            As `check_grad` does, if a hook has replaced ``.grad`` since that check.
        """
        cell = self.cell
        if cell.leaf_state is not LeafState.ACCUMULATES:
            return
        # The sum that is prepared already, or the present `.grad`.
        current = stores.tensors.get(cell, cell.grad)
        impl = self._impl_by_now() if self.leaf_changed else None
        strides = self.byte_strides
        if impl is not None:
            grad = grad.reshape(impl.sizes)
            strides = byte_strides_of_grad(impl, grad.itemsize)
            if current is not None:
                reshaped = reshaped_grad(current, impl)
                if reshaped is not current:
                    current = reshaped
                    stores.tensors[cell] = reshaped
        if current is None:
            grad = _laid_out(grad, owned, strides)
            stores.tensors[cell] = operators().wrap(impl_on(grad, self.input_metadata[0].device))
        else:
            stores.add(current, grad, owned)

    def prepare_recorded(self, stores: GradStores, grad: TensorBase) -> None:
        """Prepare to add one gradient out of place, so that the sum is part of the graph."""
        cell = self.cell
        if cell.leaf_state is not LeafState.ACCUMULATES:
            return
        impl = self._impl_by_now() if self.leaf_changed else None
        strides = self.byte_strides
        if impl is not None:
            grad = in_shape_of(grad, impl)
            strides = byte_strides_of_grad(impl, grad._impl.array.itemsize)
        present = stores.tensors.get(cell, cell.grad)
        stores.tensors[cell] = (
            self._own_copy(grad, strides) if present is None else operators().add(present, grad)
        )

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """Accumulate an array that has other readers."""
        grad = grads[0]
        if grad is not None:
            with graph_lock:
                stores = GradStores()
                self.prepare(stores, grad, False)
                stores.commit()
        self.run_post_hooks()
        return ()

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """Accumulate out of place, so that the sum is part of the graph.

        Raises
        ------
        GradientError
            If the gradient, which a user may pass by calling the node, has another shape.
        """
        grad = grads[0]
        if grad is not None:
            grad = self._fitted(grad)
            with graph_lock:
                stores = GradStores()
                self.prepare_recorded(stores, grad)
                stores.commit()
        self.run_post_hooks()
        return ()

    def _fitted(self, grad: TensorBase) -> TensorBase:
        """A gradient of the leaf's dtype."""
        meta, array = self.input_metadata[0], grad._impl.array
        if array.shape != meta.shape:
            raise GradientError(
                f"a gradient of shape {list(array.shape)} does not fit a leaf of shape "
                f"{list(meta.shape)}",
                node=self.name(),
                expected=meta.shape,
                found=array.shape,
            )
        return grad if array.dtype == meta.dtype else operators().fit(grad, meta.shape, meta.dtype)

    def _own_copy(self, grad: TensorBase, byte_strides: Shape) -> TensorBase:
        """A recorded copy with these strides, which has no other reader.

        As in PyTorch the copy is a clone, in row-major order, if the leaf is not dense.
        """
        leaf = self._impl_by_now()
        if leaf is not None and not is_non_overlapping_and_dense(leaf.sizes, leaf.strides):
            return operators().row_major_clone(grad)
        size = grad._impl.array.itemsize
        strides = tuple([stride // size for stride in byte_strides])
        thread = get_ident()
        try:
            begin_write_as("backward")
            return operators().clone_strided(grad, grad._impl.sizes, strides)
        finally:
            on_behalf.pop(thread, None)

    def run_post_hooks(self) -> None:
        """Call the leaf's post-accumulate hooks; as in PyTorch, also if no gradient arrived."""
        hooks = self.cell.post_accumulate
        if hooks is not None:
            for hook in tuple(hooks.entries.values()):
                hook(self)


def _laid_out(grad: Array, owned: bool, byte_strides: Shape) -> Array:
    """A gradient with these strides: the array itself if it is owned and has them."""
    if owned and grad.strides == byte_strides and grad.size:
        return grad
    copy: Array = making.empty(grad.size, grad.dtype)
    if grad.size == 0:
        return copy.reshape(grad.shape)
    copy = making.ndarray(grad.shape, grad.dtype, copy, 0, byte_strides)
    np.copyto(copy, grad)
    return copy

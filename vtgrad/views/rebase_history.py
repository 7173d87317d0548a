# Compiled by mypyc.
"""Giving a written tensor its new producer."""

from __future__ import annotations

from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.hooks import LeafState
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.interrupted_write import UNFINISHED
from vtgrad.graph.node import Node
from vtgrad.graph.set_history import gradient_edge, own_meta
from vtgrad.graph.thread_levels import thread
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage.geometry import reach
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta, producer_of

__all__ = [
    "begin_rebase",
    "end_rebase",
    "leave_unfinished",
    "rebase_history",
    "set_own_history",
    "slices_of",
]


def set_own_history(tensor: TensorBase, node: Node, *, same_elements: bool = False) -> None:
    """Make `node` the producer of a tensor's present value, without a change of its base.

    Parameters
    ----------
    same_elements : bool
        Whether the tensor only has other strides on the same elements. A retained gradient then
        stays with the former producer, as in PyTorch: it has that shape.
    """
    impl = tensor._impl
    node.input_metadata = metadata_of(impl)
    meta = own_meta(tensor)
    meta.stop_being_leaf(LeafState.MOVED)
    if same_elements:
        meta.store_producer(node, 0)
    else:
        meta.set_gradient_edge(node, 0)
    if isinstance(meta, DifferentiableViewMeta):
        meta.written_by = None
        meta.attr_version = impl.version


def rebase_history(tensor: TensorBase, node: Node) -> None:
    """Record that the operator of `node` has written to `tensor`.

    A tensor that is not a view gets `node` as its producer. For a view, the base gets a
    `CopySlices` over `node`, and the view's own producer is a part of that. All other views of the
    base rebuild their producers on the next read, see Note [A view's producer goes stale].

    The three steps are separate functions for `write`, which stores between the second and the
    third.
    """
    slices = slices_of(tensor, node)
    holder = begin_rebase(tensor, slices)
    end_rebase(tensor, node, slices, tensor._impl.version, holder)


def slices_of(tensor: TensorBase, node: Node) -> CopySlices | None:
    """The base's next producer; None for a tensor that is not a view. Changes nothing."""
    impl = tensor._impl
    meta = impl.autograd_meta
    node.input_metadata = metadata_of(impl)
    if type(meta) is not DifferentiableViewMeta:
        return None
    base, replay = meta.base, meta.view_fn
    return CopySlices.of_write(
        base._impl,
        gradient_edge(base),
        impl.array,
        impl.byte_offset,
        None if replay is None else replay.moved(_start_of(base._impl)),
        node,
    )


def begin_rebase(tensor: TensorBase, slices: CopySlices | None) -> AutogradMeta:
    """Remove the former producer; see Note [Unfinished writes].

    A running transform takes note, see Note [What a transform leaves behind].

    Returns
    -------
    AutogradMeta
        The metadata, of the tensor or of its base, that gets the new producer.
    """
    transform = thread.transform
    if transform is not None:
        transform.add(tensor)
    if slices is not None:
        view = tensor._impl.autograd_meta
        assert isinstance(view, DifferentiableViewMeta)
        tensor = view.base
        if transform is not None:
            transform.add(tensor)
    meta = own_meta(tensor)
    if meta.requires_grad_ or meta.grad_accumulator is not None:
        meta.stop_being_leaf(LeafState.MOVED)
    meta.store_producer(UNFINISHED, 0)
    return meta


def leave_unfinished(tensor: TensorBase) -> None:
    """Remove the producer permanently; see Note [Unfinished writes].

    The node of a leaf stays: it belongs to any value of the leaf.
    """
    meta = tensor._impl.autograd_meta
    base = meta.base if isinstance(meta, DifferentiableViewMeta) else tensor
    if producer_of(base) is not None:
        own_meta(base).store_producer(UNFINISHED, 0)


def end_rebase(
    tensor: TensorBase, node: Node, slices: CopySlices | None, version: int, holder: AutogradMeta
) -> None:
    """Give the stored value its producer.

    Parameters
    ----------
    version : int
        The version that the write made.
    holder : AutogradMeta
        What `begin_rebase` returned.
    """
    if slices is None:
        holder.set_gradient_edge(node, 0)
        return
    holder.set_gradient_edge(slices, 0)
    meta = tensor._impl.autograd_meta
    assert isinstance(meta, DifferentiableViewMeta)
    if meta.retains_grad or meta.view_fn is not None or meta.requires_grad_:
        # The view itself was written: its earlier producers are no longer valid.
        meta.base_fn = node
        meta.grad_fn(tensor)
    else:
        # The number after that of `slices` is reserved for the view's producer, built later.
        this_thread.numbering.next_nr += 1
        meta.was_written(slices, version)


def _start_of(impl: TensorImpl) -> int:
    """Offset of the lowest element in the storage, in bytes, which may not be the first."""
    array = impl.array
    return impl.byte_offset + reach(array.shape, array.strides)[0]

"""Giving a written tensor its new producer."""

from __future__ import annotations

import weakref
from typing import TypeAlias

from ..graph.autograd_meta import AutogradMeta
from ..graph.functions import gradient_edge, own_meta
from ..graph.hooks import LeafState, NodeHooks
from ..graph.input_metadata import metadata_of
from ..graph.node import Node
from ..graph.this_thread import this_thread
from ..storage.geometry import reach
from ..storage.tensor_base import TensorBase
from ..storage.tensor_impl import TensorImpl
from .copy_slices import CopySlices
from .differentiable_view_meta import DifferentiableViewMeta

__all__ = ["History", "history_of", "rebase_history", "restore_history", "set_own_history"]

# The fields of a tensor's metadata that a new producer changes, and that metadata.
_Place: TypeAlias = tuple[
    AutogradMeta,
    Node | None,
    int,
    bool,
    tuple[weakref.ref[NodeHooks], int] | None,
    LeafState | None,
]
# What views have beside: version, last write, the base's producer and earlier hooks; and the base,
# with its own place if it has one.
_ViewPlace: TypeAlias = tuple[
    int,
    CopySlices | None,
    Node | None,
    tuple[tuple[weakref.ref[NodeHooks], int], ...],
    TensorBase,
    _Place | None,
]

# What `rebase_history` changes, as `history_of` found it; None of a tensor without metadata.
History: TypeAlias = tuple[_Place | None, _ViewPlace | None]


def history_of(tensor: TensorBase) -> History:
    """What `restore_history` needs to undo a `rebase_history`."""
    meta: AutogradMeta | None = tensor._impl.autograd_meta  # type: ignore[assignment]  # as in `gradient_edge`
    if meta is None:
        return None, None
    place = _place_of(meta)
    if type(meta) is not DifferentiableViewMeta:
        return place, None
    base = meta.base
    of_base: AutogradMeta | None = base._impl.autograd_meta  # type: ignore[assignment]  # as above
    return place, (
        meta.attr_version,
        meta.written_by,
        meta.base_fn,
        meta.kept_on,
        base,
        None if of_base is None else _place_of(of_base),
    )


def _place_of(meta: AutogradMeta) -> _Place:
    return (
        meta,
        meta.grad_fn_,
        meta.output_nr,
        meta.requires_grad_,
        meta.retained_at,
        None if meta.cell is None else meta.cell.leaf_state,
    )


def restore_history(tensor: TensorBase, history: History) -> None:
    """Undo whatever `rebase_history` has done since, all of it or a part."""
    place, view = history
    _restore(tensor, place)
    if view is None:
        return
    attr_version, written_by, base_fn, kept_on, base, base_place = view
    meta = tensor._impl.autograd_meta
    assert isinstance(meta, DifferentiableViewMeta)
    meta.attr_version = attr_version
    meta.written_by = written_by
    meta.base_fn = base_fn
    meta.kept_on = kept_on
    for reference, nr in kept_on:
        hooks = reference()
        if hooks is not None:
            hooks.retain_grad[nr] = meta.own_cell()
    _restore(base, base_place)


def _restore(tensor: TensorBase, place: _Place | None) -> None:
    if place is None:
        tensor._impl.autograd_meta = None
        return
    meta, node, output_nr, requires_grad, retained_at, leaf_state = place
    meta.grad_fn_ = node
    meta.output_nr = output_nr
    meta.requires_grad_ = requires_grad
    if meta.cell is not None and leaf_state is not None:
        meta.cell.leaf_state = leaf_state
    if meta.retained_at is not retained_at:
        meta.retain_at(None)
        meta.retained_at = retained_at
        hooks = None if retained_at is None else retained_at[0]()
        if retained_at is not None and hooks is not None:
            hooks.retain_grad[retained_at[1]] = meta.own_cell()


def set_own_history(tensor: TensorBase, node: Node, *, same_elements: bool = False) -> None:
    """Make `node` the producer of a tensor's present value, without telling its base.

    Parameters
    ----------
    same_elements : bool
        Whether the tensor only looks at its elements in another way. A retained gradient then
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
    """Record that the operator of `node` wrote to `tensor`; called after the version has moved.

    A tensor that is no view gets `node` as its producer. For a view, the base gets a `CopySlices`
    over `node`, and the view's own producer is a part of that. All other views of the base build
    theirs again when somebody asks, see Note [A view's producer goes stale].
    """
    impl = tensor._impl
    meta = impl.autograd_meta
    if type(meta) is not DifferentiableViewMeta:
        set_own_history(tensor, node)
        return
    node.input_metadata = metadata_of(impl)
    base = meta.base
    replay = meta.view_fn
    slices = CopySlices.of_write(
        base._impl,
        gradient_edge(base),
        impl,
        None if replay is None else replay.moved(_start_of(base._impl)),
        node,
    )
    base_meta = own_meta(base)
    base_meta.stop_being_leaf(LeafState.MOVED)
    base_meta.set_gradient_edge(slices, 0)
    if meta.retains_grad or meta.view_fn is not None or meta.requires_grad_:
        # The view itself was written: no earlier producer of it counts any more.
        meta.base_fn = node
        meta.grad_fn(tensor)
    else:
        # The number after that of `slices` is the view's producer's, whenever it is built.
        this_thread.numbering.next_nr += 1
        meta.was_written(slices, impl.version)


def _start_of(impl: TensorImpl) -> int:
    """Where the lowest element is in the storage, in bytes; not the first with negative strides."""
    array = impl.array
    return impl.byte_offset + reach(array.shape, array.strides)[0]

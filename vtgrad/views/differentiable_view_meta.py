# Compiled by mypyc.
"""Gradient state of a view.

Note [A view's producer goes stale]

After `v = b[0]; b.mul_(2)` the view `v` shows new values, so its producer must be a select of
`b`'s new producer. The write itself does nothing for the views of `b`, because `b` has no list of
them. Instead a view records in `attr_version` the version for which its `grad_fn_` was made, and
all code reads the producer through `grad_fn()`: if the version has moved, the node is rebuilt from
the base's present producer and the view's geometry. Any write moves the version, recorded or not,
so the rebuilt node may equal the old one; it is rebuilt even then, because only the version is
cheap to compare.
"""

from __future__ import annotations

import weakref
from typing import ClassVar, Final, NoReturn

from vtgrad.errors import ViewInvalidError
from vtgrad.graph.anomaly import anomaly, made_at
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import GradCell, LeafState, NodeHooks, graph_lock
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.operators import operators
from vtgrad.graph.retain_grad_of_views import RetainedPart, retained
from vtgrad.graph.thread_levels import thread
from vtgrad.storage.geometry import every_byte, has_self_overlap, meets, reach
from vtgrad.storage.layout import PECULIAR
from vtgrad.storage.recent_writes import recent_writes
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import Site, VersionCounter, WrittenPart
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.creation_meta import CreationMeta, refuse_if_restricted
from vtgrad.views.forward_view_meta import ForwardViewMeta
from vtgrad.views.view_fn import Replay

__all__ = ["DifferentiableViewMeta", "producer_of", "refuse_other_memory", "view_meta_of"]

_DEFAULT: Final = CreationMeta.DEFAULT


class DifferentiableViewMeta(ForwardViewMeta):
    """Gradient state of a view of a base; see Note [A view's producer goes stale].

    Attributes
    ----------
    creation_meta : CreationMeta
        How the view was made.
    attr_version : int
        The version for which `grad_fn_` was made.
    written_by : CopySlices or None
        The base's producer after a write to the view, until the view's own producer is built.
    made_at : Site or None
        Only for views that may not be written, otherwise not set: the line that made the view, or
        the view of which it is a view.
    base_fn : Node or None
        Only with a retained gradient: the base's producer for which `grad_fn_` was made. For any
        view, right after a write to it: the node of the operator that wrote.
    kept_on : tuple
        Only with a retained gradient: the hooks of earlier producers of the view's present value.
    maker : tuple or None
        Once the producer was replaced: the class of the first one, and the line that made it, as in
        the record of a write.
    """

    __slots__ = (
        "attr_version",
        "base_fn",
        "creation_meta",
        "kept_on",
        "made_at",
        "maker",
        "written_by",
    )

    is_view: ClassVar[bool] = True

    creation_meta: CreationMeta
    attr_version: int
    written_by: CopySlices | None
    made_at: Site | None
    base_fn: Node | None
    kept_on: tuple[tuple[weakref.ref[NodeHooks], int], ...]
    maker: tuple[type[object] | None, object] | None

    def __init__(
        self,
        base: TensorBase,
        view_fn: Replay | None,
        creation_meta: CreationMeta,
        attr_version: int,
        grad_fn: Node | None,
        output_nr: int,
    ) -> None:
        # The fields of the base classes too: calling their `__init__` would double the cost.
        self.requires_grad_ = False
        self.grad_fn_ = grad_fn
        self.output_nr = output_nr
        self.grad_accumulator: Edge | None = None
        self.cell: GradCell | None = None
        self.retains_grad = False
        self.retained_at: tuple[weakref.ref[NodeHooks], int] | None = None
        self.base = base
        self.view_fn = view_fn
        self.creation_meta = creation_meta
        self.attr_version = attr_version
        self.written_by = None
        self.base_fn = None
        self.kept_on = ()
        self.maker = None

    def needs_gradient(self) -> bool:
        """Whether the view or its base requires grad."""
        if self.requires_grad_ or self.grad_fn_ is not None:
            return True
        base_meta = self.base._impl.autograd_meta
        return base_meta is not None and base_meta.needs_gradient()

    def grad_fn(self, owner: TensorBase) -> Node | None:
        """The producer of the view's present value, rebuilt if it is stale.

        Raises
        ------
        ViewInvalidError
            If it is stale and cannot be rebuilt; see Note [Creation of views].
        """
        # `TensorImpl.version` inline: no view of an inference tensor has this metadata.
        counter = owner._impl.version_counter
        version = 0 if counter is None else counter.value
        if self.attr_version == version:
            if self.written_by is not None:
                self._build_written()
            return self.grad_fn_
        base = self.base
        base_meta = base._impl.autograd_meta
        if self.grad_fn_ is None and (base_meta is None or not base_meta.needs_gradient()):
            return None
        if self.creation_meta is not _DEFAULT:
            refuse_if_restricted(
                self.creation_meta,
                modified=True,
                producer=self.describe(),
                made_at=self.restricted_at(),
                writes=recent_writes(owner._impl.version_counter, self.attr_version),
            )
        with graph_lock:
            # Several threads that read a stale producer get the same node.
            if self.attr_version != version:
                self._rebuild(owner, base)
                self.attr_version = version
        return self.grad_fn_

    def was_written(self, slices: CopySlices, version: int) -> None:
        """Record that the view's producer, built on first use, is a part of `slices`.

        Most written views die right after the write, as in ``x[i] = v``.
        """
        if self.maker is None:
            self.maker = _maker(self.grad_fn_)
        self.store_producer(slices, 0)
        self.attr_version = version
        self.written_by = slices

    def _build_written(self) -> None:
        with graph_lock:
            slices = self.written_by
            if slices is not None:
                self.store_producer(slices.written_edge().function, 0)
                self.written_by = None

    def _rebuild(self, owner: TensorBase, base: TensorBase) -> None:
        """Replace the stale producer."""
        if thread.transform is not None:
            # See Note [What a transform leaves behind].
            thread.transform.add(owner)
        if self.requires_grad_:
            # A view that was a leaf itself now has the values written to its base.
            self.stop_being_leaf(LeafState.MOVED)
        old, old_nr = self.grad_fn_, self.output_nr
        if self.maker is None:
            self.maker = _maker(old)
        if not (self.retains_grad or self.kept_on or retained.views) and self.base_fn is None:
            # The usual case: nothing is kept at the old producer.
            self.store_producer(self._rebuilt(owner, base), 0)
            self.written_by = None
            return
        parts: tuple[RetainedPart, ...] = ()
        written = None if self.base_fn is None else producer_of(base)
        if isinstance(written, CopySlices) and written.fn is self.base_fn:
            # The view itself was written; see Note [A saved result of a written view].
            rebuilt = self._rebuilt(owner, base)
            if rebuilt is not None:
                rebuilt = written.remember_view_node(rebuilt)
        else:
            if retained.views:
                parts = self._parts_above(owner)
            rebuilt = self._rebuilt(owner, base)
        keeps_value = self.retains_grad and self._keeps_value(owner, base)
        earlier, self.kept_on = self.kept_on, ()
        if not keeps_value:
            self.kept_on = earlier
        self.set_gradient_edge(rebuilt, 0)
        if keeps_value and old is not None and self.cell is not None:
            # No element of the view was written: the old node still produces its value, and results
            # computed through the old node add to the same gradient.
            hooks = old.own_hooks()
            hooks.retain_grad[old_nr] = self.cell
            self.kept_on = (*earlier, (weakref.ref(hooks), old_nr))
        self.base_fn = producer_of(base) if self.retains_grad else None
        if rebuilt is not None:
            if self.retains_grad:
                rebuilt.own_hooks().view = weakref.ref(owner)
            if parts:
                rebuilt.own_hooks().parts = parts

    def retain(self, owner: TensorBase) -> None:
        """Keep ``.grad`` of the view, also through writes to other parts of the base."""
        retained.views = True
        super().retain(owner)
        self.base_fn = producer_of(self.base)
        if self.grad_fn_ is not None and self.output_nr == 0:
            self.grad_fn_.own_hooks().view = weakref.ref(owner)

    def _parts_above(self, owner: TensorBase) -> tuple[RetainedPart, ...]:
        """The retained gradients of which a stale view's gradient is a part.

        See Note [Retained gradients and views of views]. The producers of the views that retain
        their gradients are not built here: in backward, nodes run in the order in which they were
        made, which user hooks can observe.
        """
        impl = owner._impl
        return tuple(
            [
                RetainedPart(
                    hooks,
                    operators().strided_node(
                        None, view._impl.geometry, impl.geometry, impl.dtype, impl.device
                    ),
                    meta,
                )
                for view, hooks, meta in self._views_above(owner)
                if _retains_at(view, hooks)
            ]
        )

    def _views_above(self, owner: TensorBase) -> list[tuple[TensorBase, NodeHooks, InputMetadata]]:
        """The views from which this one was made, nearest first, that retain their gradients.

        Returns
        -------
        list of tuple
            The view, the hooks of its producer at that time, and its shape and dtype.
        """
        found: dict[int, tuple[TensorBase, NodeHooks, InputMetadata]] = {}
        node = self.grad_fn_
        while node is not None:
            own = node.hooks
            if own is not None:
                marked = [(own, node.input_metadata[0])]
                for hooks, meta in [*marked, *[(part.hooks, part.meta) for part in own.parts]]:
                    view = None if hooks.view is None else hooks.view()
                    if view is not None and view is not owner and self._is_part_of(owner, view):
                        found.setdefault(id(view), (view, hooks, meta))
            # The node of a view leads to the node of the viewed value.
            edge = node.next_edges[0] if node.is_view_node else None
            node = None if edge is None else edge.function
        return list(found.values())

    def _is_part_of(self, owner: TensorBase, view: TensorBase) -> bool:
        """Whether a view that retains its gradient still contains the elements of this one."""
        meta, own, other = view._impl.autograd_meta, owner._impl, view._impl
        if (
            not isinstance(meta, DifferentiableViewMeta)
            or meta.base is not self.base
            or not meta.retains_grad
            or own._storage is not other._storage
            or type(own.array) is not type(other.array)
            or own.array.dtype != other.array.dtype
            or has_self_overlap(other.array.shape, other.array.strides)
        ):
            return False
        if not own.array.size:
            return True
        low, high = reach(own.array.shape, own.array.strides, own.byte_offset)
        lowest, highest = reach(other.array.shape, other.array.strides, other.byte_offset)
        return lowest <= low and high <= highest

    def stop_retaining(self) -> None:
        """Undo `retain`, for earlier producers too."""
        self._leave_earlier_producers()
        super().stop_retaining()

    def set_gradient_edge(self, node: Node | None, output_nr: int) -> None:
        """Give the view a new producer; a retained gradient is removed from all earlier ones."""
        self.written_by = None
        self._leave_earlier_producers()
        super().set_gradient_edge(node, output_nr)

    def _leave_earlier_producers(self) -> None:
        for reference, nr in self.kept_on:
            hooks = reference()
            if hooks is not None:
                hooks.retain_grad.pop(nr, None)
        self.kept_on = ()

    def _keeps_value(self, owner: TensorBase, base: TensorBase) -> bool:
        """Whether no recorded write since `base_fn` touched the view's memory."""
        impl, base_impl = owner._impl, base._impl
        # In bytes, as in the nodes.
        item = impl.array.itemsize
        own = every_byte(
            impl.sizes, impl.array.strides, impl.byte_offset - base_impl.byte_offset, item
        )
        base_item = base_impl.array.itemsize
        node = producer_of(base)
        while isinstance(node, CopySlices) and node is not self.base_fn:
            # Elements of another dtype than the base's are at most twice as large.
            item = base_item if node.view_fn is None else 2 * base_item
            written = every_byte(node.view_sizes, node.view_strides, node.offset, item)
            if meets(own, written):
                return False
            edge = node.next_edges[0]
            node = None if edge is None else edge.function
        return node is self.base_fn

    def _rebuilt(self, owner: TensorBase, base: TensorBase) -> Node | None:
        if owner._impl._storage is not base._impl._storage and owner._impl.array.size:
            refuse_other_memory()
        view_fn = self.view_fn
        if view_fn is None:
            return operators().as_strided_node(base, owner._impl)
        return operators().replayed_node(base, view_fn)

    def describe(self) -> str:
        """The view's producer, for messages."""
        node = self.grad_fn_
        return (
            "without a recorded producer"
            if node is None
            else f"result {self.output_nr} of {node.name()}"
        )

    def restricted_at(self) -> Site | None:
        """The line that made the view, or its parent, if the view may not be written."""
        return getattr(self, "made_at", None)

    def written_part(self, impl: TensorImpl) -> WrittenPart:
        """The part of a write's record that describes the view; see Note [Who wrote]."""
        layout, maker = impl.layout, self.maker
        if maker is None:
            maker = _maker(self.grad_fn_)
            if self.grad_fn_ is not None:
                # A recorded write would ask again.
                self.maker = maker
        producer, place = maker
        return (
            (impl.array.shape, impl.array.itemsize)
            if layout is None or layout is PECULIAR
            else layout,
            impl.byte_offset,
            producer,
            place,
        )

    def saved_guard(self, owner: TensorBase) -> _Guard | None:
        """The restriction, for a saved view that is dead when it is unpacked."""
        if self.creation_meta is CreationMeta.DEFAULT or not self.needs_gradient():
            return None
        return _Guard(self.creation_meta, self.attr_version, self.describe(), self.restricted_at())


class _Guard:
    """Replaces a saved view that is dead; see `SavedVariable.check`."""

    __slots__ = ("creation", "made_at", "producer", "version")

    creation: CreationMeta
    made_at: Site | None
    producer: str
    version: int

    def __init__(
        self, creation: CreationMeta, version: int, producer: str, made_at: Site | None
    ) -> None:
        self.creation = creation
        self.version = version
        self.producer = producer
        self.made_at = made_at

    def check(self, counter: VersionCounter) -> None:
        """Raise the error that reading the view's producer would raise.

        Raises
        ------
        ViewInvalidError
            If the version has moved.
        """
        if counter.value != self.version:
            refuse_if_restricted(
                self.creation,
                modified=True,
                producer=self.producer,
                made_at=self.made_at,
                writes=recent_writes(counter, self.version),
            )


def _maker(node: Node | None) -> tuple[type[object] | None, object]:
    """The class of a view's first producer, and in anomaly mode the line that made it."""
    if node is None:
        return None, None
    return type(node), made_at(node) if anomaly.enabled else None


def _retains_at(view: TensorBase, hooks: NodeHooks) -> bool:
    """Whether a view retains its gradient at its producer, and at an earlier one with `hooks`.

    The first is false after the view was transposed in place, the second after its value was
    written.
    """
    meta = view_meta_of(view)
    node = None if meta is None else meta.grad_fn_
    own = None if node is None else node.hooks
    if own is None or meta is None or meta.cell is None or meta.output_nr:
        return False
    if not (own.retain_grad.get(0) is meta.cell is hooks.retain_grad.get(0)):
        return False
    if meta.attr_version != view._impl.version:
        if not meta._keeps_value(view, meta.base):
            # The retained gradient is moved when the view's producer is read.
            hooks.view = None
            return False
        # The writes up to here are not compared again.
        meta.base_fn = producer_of(meta.base)
    return True


def refuse_other_memory() -> NoReturn:
    """Raise for a view whose memory is no longer its base's.

    Raises
    ------
    ViewInvalidError
        Always.
    """
    raise ViewInvalidError(
        "this view and its base look at different memory since set_ or an assignment to .data: "
        "what is written to one does not reach the other, so gradients cannot either. Make the "
        "view again"
    )


def producer_of(tensor: TensorBase) -> Node | None:
    """The node that produced a tensor's present value."""
    meta = tensor._impl.autograd_meta
    if isinstance(meta, AutogradMeta):
        return meta.grad_fn(tensor)
    return meta.function if isinstance(meta, Edge) else None


def view_meta_of(tensor: TensorBase) -> DifferentiableViewMeta | None:
    """The tensor's view metadata; None if it is not a view."""
    meta = tensor._impl.autograd_meta
    return meta if isinstance(meta, DifferentiableViewMeta) else None

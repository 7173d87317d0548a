# Compiled by mypyc.
"""The node of a base after one of its views was written."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from vtgrad.errors import GraphFreedError
from vtgrad.graph.edge import Edge
from vtgrad.graph.hooks import USERS_CODE, graph_lock
from vtgrad.graph.input_metadata import metadata_of
from vtgrad.graph.large import large
from vtgrad.graph.next_edges import FIXED_EDGES
from vtgrad.graph.node import FRESH, Node
from vtgrad.graph.observer import begin_node, observer_of_thread, observers
from vtgrad.graph.operators import operators
from vtgrad.graph.region import Gradient, Region
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.thread_local_state import this_thread
from vtgrad.storage import making
from vtgrad.storage.arrays import PLAIN, Array, NumpyDType, Shape
from vtgrad.storage.geometry import Geometry, has_self_overlap, reach
from vtgrad.storage.storage import bytes_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.view_info import ViewFunction
from vtgrad.views.written_view_node import WrittenView, written_view

__all__ = ["CopySlices"]


class CopySlices(Node):
    """Splits the gradient of a base into the written part and the rest.

    The rest goes to the base's former producer unchanged. The part goes through the node of the
    operator that wrote, and that node's gradient for its first input replaces the part.

    Note [A write costs what it touches]

    If the incoming gradient is owned, the part is replaced inside that same array, which then goes
    to the base's former producer. Only the part is copied, for the inner node, which may keep it.
    So the backward of a buffer filled in k writes takes the time of its k parts, not of k buffers:

        b = x.clone(); b[1:3].mul_(w)          w = 5

        gradient of the new b    [ 1 | 2  3 | 4 ]    owned
                                       | copy of the part
                                       v
                                  MulBackward0  -->  gradient of w
                                       | 5 * (2, 3) replaces the part
                                       v
        gradient of the old b    [ 1 |10 15 | 4 ]    the same array, to CloneBackward0

    A large part is not even copied if the inner node's gradient for it is the only one needed, as
    after `x[:n].mul_(2)`: the inner node then may overwrite the part itself.

    Attributes
    ----------
    fn : Node or None
        The node of the operator that wrote; None after it was freed. See
        Note [Unfinished writes] for what it is before.
    base_sizes, base_strides : tuple of int
        Strides of the base in bytes; gradients are copied into these strides.
    view_sizes, view_strides : tuple of int
        The written view, strides in bytes.
    offset : int
        Distance from the base's first element to the view's, in bytes.
    view_fn : callable or None
        Makes the view from the base, if its geometry does not suffice.
    view_node : weak reference to WrittenView or None
        The view's producer, if it was built and the operator saved its result; see
        Note [A saved result of a written view].
    """

    __slots__ = (
        "base_sizes",
        "base_strides",
        "fn",
        "offset",
        "view_fn",
        "view_node",
        "view_sizes",
        "view_strides",
    )

    takes_ownership: ClassVar[bool] = True
    edge_rule: ClassVar[int] = FIXED_EDGES

    fn: Node | None
    base_sizes: Shape
    base_strides: Shape
    view_sizes: Shape
    view_strides: Shape
    offset: int
    view_fn: ViewFunction | None
    view_node: weakref.ref[WrittenView] | None

    @staticmethod
    def of_write(
        base: TensorImpl,
        base_edge: Edge | None,
        part: Array,
        offset: int,
        view_fn: ViewFunction | None,
        function: Node,
    ) -> CopySlices:
        """The new producer of `base`, after the operator of `function` wrote to a part.

        Parameters
        ----------
        base_edge : Edge or None
            The edge to the former producer.
        part : ndarray
            The written view.
        offset : int
            Offset of its first element in the storage, in bytes.
        view_fn : callable, optional
            Makes the view from the base, if its geometry does not suffice.
        """
        # Only this node sends gradients: the former producer of the view is not needed any more.
        if function.many_edges is None and function.arity == 2:
            node = CopySlices(None, base_edge, function.edge1)
            # `lead_like` inline.
            function.edge0 = base_edge
            function.topological_nr = node.topological_nr
        else:
            node = CopySlices((base_edge, *function.next_edges[1:]))
            function.lead_like(node)
        node.fn = function
        if function.hooks is not None:
            # Before any hook is registered, only nodes that run user code have hooks.
            node.hooks = USERS_CODE
        array = base.array
        node.base_sizes, node.base_strides = array.shape, array.strides
        node.view_sizes, node.view_strides = part.shape, part.strides
        node.offset = offset - base.byte_offset
        node.view_fn = view_fn
        node.view_node = None
        # `write_back` asks; to read an unset field is dear.
        node._has_parent = False
        node.input_metadata = metadata_of(base)
        return node

    def name(self) -> str:
        """PyTorch's name of the same node."""
        return "torch::autograd::CopySlices"

    def check_saved(self) -> None:
        """Raise if the operator's node was freed or cannot run.

        Raises
        ------
        VtgradError
            As `Node.check_saved` does.
        """
        inner = self._inner()
        inner.check_saved()
        if inner.hooks is not None and inner.hooks.unpacks:
            self.own_hooks().unpacks = True

    def saved_values(self) -> Sequence[tuple[str, SavedVariable]]:
        """The saved values of the operator's node."""
        return () if self.fn is None else self.fn.saved_values()

    def runs_users_code(self) -> bool:
        """Whether the operator's node calls a user's function."""
        return self.fn is not None and self.fn.runs_users_code()

    def release_variables(self) -> None:
        """Free the operator's node with all that it saved."""
        if self.fn is not None:
            self.fn.release_variables()
            self.fn = None

    def _base_edge(self) -> Edge | None:
        many = self.many_edges
        return self.edge0 if many is None else many[0]

    def _inner(self) -> Node:
        if self.fn is None:
            raise GraphFreedError(
                f"{self.name()} has already been run backward and what it needs was freed; pass "
                "retain_graph=True to the first backward to be able to run a second",
                node=self.name(),
            )
        return self.fn

    def apply_owned(
        self, grad: Array, owned: bool, may_share: bool, needs: int
    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:
        """Gradients of the base and of the operator's other inputs, and their ownership.

        Parameters
        ----------
        grad : ndarray
            Gradient of the base; overwritten if `owned`.
        may_share : bool
            Of no meaning here: what the operator's node is given is always owned.
        """
        whole, part = self._take_part(grad, owned)
        inner = self._inner()
        ownership: Sequence[int] = inner.ownership
        # What has the part's values, if the inner node passes it on: `apply_array` never writes.
        passed = part
        found: Sequence[Gradient | None]
        observer = observer_of_thread() if observers else None
        event = None if observer is None else begin_node(observer, inner, (part,))
        if (
            inner.overwrites
            and observer is None
            and type(part) in PLAIN
            and part.flags.c_contiguous
        ):
            # What was there before has no part in the result, and no answer shares memory with
            # the part: it is read where it is, and zeros are stored below.
            found = inner.apply_array(part, needs & ~1)
        elif part.size < large.elements:
            passed = part.copy()
            found = inner.apply_array(passed, needs)
        else:
            own_part = part if self._lends(part, inner, needs) else part.copy()
            if inner.takes_large:
                found, ownership = inner.apply_owned(own_part, True, False, needs)
            else:
                found = inner.apply_array(own_part, needs)
        if observer is not None:
            observer.end(event, found)
        answers = list(found)
        first: Gradient | None = None
        if needs & 1 and self._base_edge() is not None:
            first = whole
            own = answers[0]
            if own is None:
                part[...] = 0
            elif own is not part and own is not passed:
                if isinstance(own, Region):
                    own = own.whole(self.view_sizes, part.dtype)
                if own.dtype is part.dtype and type(own) in PLAIN and type(part) in PLAIN:
                    part[...] = own
                else:
                    if own.dtype.kind == "c" and part.dtype.kind != "c":
                        own = own.real
                    np.copyto(part, own, casting="unsafe")
        answers[0] = first
        return answers, (FRESH, *ownership[1:])

    def _lends(self, part: Array, inner: Node, needs: int) -> bool:
        """Whether the inner node may overwrite the part itself.

        It must state the ownership of its gradients, which nodes of custom Functions do not, and no
        other input may get a gradient that shares memory with the part.
        """
        return (
            bool(inner.ownership)
            # A lazy conjugate or negative is read as a plain copy.
            and type(part) in PLAIN
            # Some functions round differently on strided memory.
            and part.flags.c_contiguous
            and not any(
                needs >> nr & 1 and edge is not None
                for nr, edge in enumerate(self.next_edges)
                if nr
            )
        )

    def apply_arrays(self, grads: Sequence[Array | None], needs: int) -> Sequence[Gradient | None]:
        """As `apply_owned`, with a gradient that is not owned."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self.next_edges)
        return self.apply_owned(grad, False, False, needs)[0]

    def saving_node(self) -> Node:
        """The operator's node."""
        return self._inner()

    def written_edge(self) -> Edge:
        """The edge of the written view, whose producer makes it as a part of the base."""
        with graph_lock:
            known = None if self.view_node is None else self.view_node()
            if known is not None:
                return known
            node = self._build_view_node()
            # As in PyTorch, it runs as if it had been made at the write.
            node.sequence_nr = self.sequence_nr + 1
            node.thread_id = self.thread_id
            return self.remember_view_node(node)

    def remember_view_node(self, node: Node) -> Node:
        """Keep the view's producer, so that `written_edge` finds it again; the node to use.

        It is a `WrittenView` only if the operator may have saved its result: otherwise
        `written_edge` is not called.
        """
        function = self.fn
        if function is None or not (function.saves_results or function.runs_users_code()):
            return node
        view = written_view(node)
        self.view_node = weakref.ref(view)
        return view

    def _build_view_node(self) -> Node:
        if self.view_fn is None:
            (sizes, strides, offset), base = self._view_geometry(), self._base_strides()
            meta = self.input_metadata[0]
            return operators().strided_node(
                self, (self.base_sizes, base, 0), (sizes, strides, offset), meta.dtype, meta.device
            )
        # The view is made from a tensor with the base's strides.
        impl = self._impl_of(self._empty(self.input_metadata[0].dtype))
        impl.autograd_meta = self
        node = operators().replayed_node(operators().wrap(impl), self.view_fn)
        assert node is not None
        return node

    def _base_strides(self) -> Shape:
        """The base's strides in elements."""
        item = self.input_metadata[0].dtype.itemsize
        return tuple([s // item for s in self.base_strides])

    def _view_geometry(self) -> Geometry:
        """The written view's sizes, strides and offset in the base, in elements of one dtype."""
        item = self.input_metadata[0].dtype.itemsize
        return (
            self.view_sizes,
            tuple([s // item for s in self.view_strides]),
            self.offset // item,
        )

    def _take_part(self, grad: Array, owned: bool) -> tuple[Array, Array]:
        """The gradient as an array that may be written, and the written part of it as a view."""
        if owned and grad.strides == self.base_strides:
            whole = grad
            flat = grad.reshape(-1) if grad.flags.c_contiguous else bytes_of(grad)
        else:
            whole, flat = self._empty(grad.dtype)
            np.copyto(whole, grad)
        if 0 in self.view_sizes:
            return whole, making.empty(self.view_sizes, grad.dtype)
        if self.view_fn is not None:
            tensor = operators().wrap(self._impl_of((whole, flat)))
            return whole, self.view_fn(tensor)._impl.array
        byte_offset = self.offset if whole.flags.c_contiguous else self.offset + self._start()
        part: Array = making.ndarray(
            self.view_sizes, grad.dtype, flat, byte_offset, self.view_strides
        )
        return whole, part

    def _empty(self, dtype: NumpyDType) -> tuple[Array, Array]:
        """An array with the base's strides, and its bytes."""
        if 0 in self.base_sizes:
            return making.empty(self.base_sizes, dtype), making.empty(0, np.uint8)
        low, high = reach(self.base_sizes, self.base_strides, 0)
        flat: Array = making.empty(high - low + dtype.itemsize, np.uint8)
        return making.ndarray(self.base_sizes, dtype, flat, -low, self.base_strides), flat

    def _impl_of(self, made: tuple[Array, Array]) -> TensorImpl:
        """The impl of an array with the base's strides, on its bytes."""
        whole, flat = made
        return TensorImpl(flat).alias(whole, self._start())

    def _start(self) -> int:
        """Bytes before the base's first element, which negative strides reach."""
        return -reach(self.base_sizes, self.base_strides, 0)[0]

    def apply_tensors(
        self, grads: Sequence[TensorBase | None], needs: int
    ) -> Sequence[TensorBase | None]:
        """As `apply_arrays`, recorded."""
        grad = grads[0]
        if grad is None:
            return (None,) * len(self.next_edges)
        ops = operators()
        whole = ops.clone_strided(grad, self.base_sizes, self._base_strides())
        if self.view_fn is None:
            sizes, strides, offset = self._view_geometry()
            part = ops.as_strided(whole, sizes, strides, offset + whole._impl.storage_offset)
        else:
            part = self.view_fn(whole)
        inner = self._inner()
        writes = this_thread.writes
        outer = writes.get(inner)
        writes[inner] = self
        try:
            copy = ops.clone(part)
            observer = observer_of_thread() if observers else None
            event = None if observer is None else begin_node(observer, inner, (copy,))
            answers = list(inner.apply_tensors((copy,), needs))
            if observer is not None:
                observer.end(event, answers)
        finally:
            if outer is None:
                del writes[inner]
            else:
                writes[inner] = outer
        first: TensorBase | None = None
        if needs & 1 and self._base_edge() is not None:
            own = answers[0]
            # Only writes of one constant are recorded through a view that overlaps itself.
            if own is None or has_self_overlap(self.view_sizes, self.view_strides):
                ops.zero_(part)
            else:
                ops.copy_(part, own)
            first = whole
        answers[0] = first
        return answers

# Compiled by mypyc.
"""The gradient state of a tensor."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from vtgrad.graph.edge import Edge, edge_to
from vtgrad.graph.forward_grad import ForwardGrad, is_placed_as
from vtgrad.graph.hooks import GradCell, LeafState, NodeHooks
from vtgrad.graph.operators import operators
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import AutogradMetaInterface

if TYPE_CHECKING:
    from vtgrad.graph.node import Node
    from vtgrad.graph.saved_variable import ViewGuard

__all__ = ["AutogradMeta"]


class AutogradMeta(AutogradMetaInterface):
    """Leaf state or producer of a tensor, and its ``.grad``.

    Plain results do without, see Note [The metadata of a result is its edge].

    Either `requires_grad_` is set (a leaf) or there is a `grad_fn_` (a result), never both.

    Parameters
    ----------
    grad_fn : Node, optional
        The producer of a result.
        output_nr : int
            The number of the result.

    Attributes
    ----------
    requires_grad_ : bool
        Whether this is a leaf that requires grad.
    grad_fn_ : Node or None
        The node that produced the tensor. Read it through `grad_fn`: that of a view goes stale.
    output_nr : int
        The number of the result of `grad_fn_` that the tensor is.
    grad_accumulator : Edge or None
        The edge to the leaf's `AccumulateGrad`; the metadata owns it.
    cell : GradCell or None
        The cell that holds ``.grad``.
    fw_grad_ : ForwardGrad
        The tangents of the tensor alone; not set before there is one. Read it through `fw_grad`.
    retains_grad : bool
        Whether ``retain_grad`` was called on a result.
    retained_at : tuple of reference to NodeHooks and int, or None
        The value whose gradient is retained, as the hooks of its producer and the number of the
        result: the present value, or the one before the tensor was detached in place or got another
        geometry without a new producer. The reference is weak, so that it keeps no graph alive.
    """

    __slots__ = (
        "cell",
        "fw_grad_",
        "grad_accumulator",
        "grad_fn_",
        "output_nr",
        "requires_grad_",
        "retained_at",
        "retains_grad",
    )

    requires_grad_: bool
    grad_fn_: Node | None
    output_nr: int
    grad_accumulator: Edge | None
    cell: GradCell | None
    # Not set before there is one: metadata is made for every recorded result.
    fw_grad_: ForwardGrad
    retains_grad: bool
    retained_at: tuple[weakref.ref[NodeHooks], int] | None

    def __init__(self, grad_fn: Node | None = None, output_nr: int = 0) -> None:
        self.requires_grad_ = False
        self.grad_fn_ = grad_fn
        self.output_nr = output_nr
        self.grad_accumulator = None
        self.cell = None
        self.retains_grad = False
        self.retained_at = None

    @staticmethod
    def of_edge(edge: Edge) -> AutogradMetaInterface:
        """Metadata of a tensor whose gradient edge is `edge`."""
        return AutogradMeta.of_leaf(edge) if edge.function.is_leaf_node else edge

    @staticmethod
    def of_leaf(edge: Edge) -> AutogradMeta:
        """Metadata of another tensor for the leaf of a node."""
        meta = AutogradMeta()
        meta.requires_grad_ = True
        meta.grad_accumulator = edge
        meta.cell = edge.function.leaf_cell()
        return meta

    def needs_gradient(self) -> bool:
        """Whether gradients are to be computed for the tensor."""
        return self.requires_grad_ or self.grad_fn_ is not None

    def fw_level(self, limit: int) -> int:
        """The highest open level below a limit at which there is a tangent; 0 for none."""
        own: ForwardGrad | None = getattr(self, "fw_grad_", None)
        return 0 if own is None else own.level(limit)

    def fw_grad(self, level: int, owner: TensorBase) -> TensorBase | None:
        """The tangent at a level, None if there is none.

        Parameters
        ----------
        level : int
            The number of an open level.
        owner : TensorBase
            The tensor whose metadata this is.

        Raises
        ------
        ForwardModeError
            If a write to the tensor was interrupted before it wrote the tangent, or the tensor was
            given other memory, of another shape.
        """
        own: ForwardGrad | None = getattr(self, "fw_grad_", None)
        if own is None:
            return None
        tangent = own.read(level)
        if tangent is not None and not is_placed_as(tangent._impl.array, owner._impl.array):
            # The tensor got another geometry in place while forward mode was off.
            tangent = own.placed_as(owner, level, tangent)
        return tangent

    def set_fw_grad(
        self, new_grad: TensorBase, owner: TensorBase, level: int, is_inplace_op: bool
    ) -> None:
        """Give the tensor a tangent, or another value for the one that it has.

        Parameters
        ----------
        new_grad : TensorBase
            Shape, dtype and strides are those of the tensor.
        owner : TensorBase
            The tensor whose metadata this is.
        level : int
            The number of an open level.
        is_inplace_op : bool
            Whether the tensor was written: then a tangent that it has is written too, so that all
            views of it see that, and a view gives its base a tangent.
        """
        own = self.own_fw_grad()
        if is_inplace_op:
            present = own.read(level)
            if present is not None:
                # Onto itself too: it counts as written, like the value.
                operators().copy_(present, new_grad)
                return
        own.set(level, new_grad)

    def own_fw_grad(self) -> ForwardGrad:
        """The tangents of the tensor alone, made on first use; see Note [Made once]."""
        own: ForwardGrad | None = getattr(self, "fw_grad_", None)
        if own is None:
            fresh = ForwardGrad()
            own = getattr(self, "fw_grad_", None)
            if own is None:
                own = self.fw_grad_ = fresh
        return own

    def drop_fw_grads(self) -> None:
        """Drop the tangents of the tensor alone; what saved the tensor keeps those that it had."""
        if getattr(self, "fw_grad_", None) is not None:
            self.fw_grad_ = ForwardGrad()

    def was_produced(self) -> bool:
        """Whether a producer was ever recorded, stale or not; never raises."""
        return self.grad_fn_ is not None

    def grad_fn(self, owner: TensorBase) -> Node | None:
        """The node that produced the tensor's present value.

        Parameters
        ----------
        owner : TensorBase
            The tensor whose metadata this is; a view needs its geometry.
        """
        return self.grad_fn_

    def saved_guard(self, owner: TensorBase) -> ViewGuard | None:
        """The check that a saved variable runs once the tensor is dead; None for plain tensors."""
        return None

    def set_gradient_edge(self, node: Node | None, output_nr: int) -> None:
        """Give the tensor a new producer.

        A retained gradient follows the tensor; see Note [Where hooks live].
        """
        if self.retains_grad:
            self.retain_at(None if node is None else edge_to(node, output_nr))
        self.store_producer(node, output_nr)

    def store_producer(self, node: Node | None, output_nr: int) -> None:
        """Give the tensor a new producer; a retained gradient stays where it is."""
        self.grad_fn_ = node
        self.output_nr = output_nr

    def retain(self, owner: TensorBase) -> None:
        """Keep ``.grad`` of a result that does not retain it yet; does nothing for leaves."""
        node = None if self.grad_fn_ is None else self.grad_fn(owner)
        if node is not None:
            self.retains_grad = True
            self.retain_at(edge_to(node, self.output_nr))

    def stop_retaining(self) -> None:
        """Undo `retain`."""
        self.retain_at(None)
        self.retains_grad = False

    def retain_at(self, edge: Edge | None) -> None:
        """Let the producer at `edge` fill ``.grad`` instead of the former one."""
        before = self.retained_at
        self.retained_at = None
        if before is not None:
            former = before[0]()
            if former is not None:
                former.retain_grad.pop(before[1], None)
        if edge is not None:
            hooks = edge.function.own_hooks()
            # First, so that after an interrupt a later call still finds and removes the entry.
            self.retained_at = (weakref.ref(hooks), edge.input_nr)
            hooks.retain_grad[edge.input_nr] = self.own_cell()

    def stop_being_leaf(self, state: LeafState) -> None:
        """Set what the leaf's node, if there is one, does with gradients from now on."""
        self.requires_grad_ = False
        if self.grad_accumulator is not None:
            self.own_cell().leaf_state = state

    def own_cell(self) -> GradCell:
        """The cell that holds ``.grad``, made on first use; see Note [Made once]."""
        cell = self.cell
        if cell is None:
            fresh = GradCell()
            cell = self.cell
            if cell is None:
                cell = self.cell = fresh
        return cell

"""Faults that a change could really bring, each planted through a seam of the library.

Each says how many steps the shrunk program may have that shows it; all must be found within the
programs of the profile ``hunt``. A fault that needs more is a hole in the suite.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from vtgrad.engine import engine
from vtgrad.engine.graph_task import GraphTask
from vtgrad.errors import MultiOutputViewError, StaleSavedError
from vtgrad.graph import accumulate_grad
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.edge import Edge
from vtgrad.graph.node import FRESH, Node
from vtgrad.graph.region import Gradient
from vtgrad.graph.saved_variable import SavedVariable
from vtgrad.graph.set_history import own_meta
from vtgrad.ops.generated import arithmetic_nodes
from vtgrad.ops.generated.views_nodes import AsStridedBackward0
from vtgrad.ops.install import InstalledOperators
from vtgrad.storage.arrays import Array, Shape
from vtgrad.storage.geometry import contiguous_strides
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.storage.version_counter import Site, VersionCounter
from vtgrad.views.check_inplace import check_inplace
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.creation_meta import CreationMeta, made_unrecorded, refuse_if_restricted
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.views.rebase_history import end_rebase, set_own_history, slices_of
from vtgrad.views.view_info import ViewFunction

__all__ = ["FAULTS_OF_WRITES", "Fault"]


@dataclass(frozen=True)
class Fault:
    """One planted fault.

    Attributes
    ----------
    plant : callable
        Puts the fault into the library until the patch is undone.
    shows : str
        Part of what the failure says: the fault was found for what it is.
    steps : int
        The shrunk program has at most so many.
    """

    name: str
    plant: Callable[[pytest.MonkeyPatch], None]
    shows: str
    steps: int


def no_version_bump_in_one_write(patch: pytest.MonkeyPatch) -> None:
    """A recorded `mul_` leaves the version where it was."""

    def planted(
        tensor: TensorBase,
        node: Node,
        slices: CopySlices | None,
        version: int,
        holder: AutogradMeta,
    ) -> None:
        end_rebase(tensor, node, slices, version, holder)
        if node.name() == "MulBackward0":
            tensor._impl.counter.value -= 1

    patch.setattr("vtgrad.views.write.end_rebase", planted)


def view_has_its_own_counter(patch: pytest.MonkeyPatch) -> None:
    """A view starts a count of its own."""
    alias = TensorImpl.alias

    def planted(
        self: TensorImpl, array: Array, byte_offset: int, strides: Shape | None = None
    ) -> TensorImpl:
        made = alias(self, array, byte_offset, strides)
        made.version_counter = VersionCounter(self.version)
        return made

    patch.setattr(TensorImpl, "alias", planted)


def base_is_not_rebased(patch: pytest.MonkeyPatch) -> None:
    """A write to a view is recorded on the view alone."""
    patch.setattr("vtgrad.views.write.slices_of", lambda tensor, node: None)
    patch.setattr(
        "vtgrad.views.write.end_rebase",
        lambda tensor, node, slices, version, holder: set_own_history(tensor, node),
    )


def stale_producer_is_kept(patch: pytest.MonkeyPatch) -> None:
    """A view answers with the node that it was made with, whatever was written since."""
    grad_fn = DifferentiableViewMeta.grad_fn

    def planted(self: DifferentiableViewMeta, owner: TensorBase) -> Node | None:
        return grad_fn(self, owner) if self.grad_fn_ is None else self.grad_fn_

    patch.setattr(DifferentiableViewMeta, "grad_fn", planted)


def producer_is_rebuilt_once_too_seldom(patch: pytest.MonkeyPatch) -> None:
    """The version is not remembered at the rebuild, but one ahead of it."""
    grad_fn = DifferentiableViewMeta.grad_fn

    def planted(self: DifferentiableViewMeta, owner: TensorBase) -> Node | None:
        if self.grad_fn_ is not None and self.attr_version == owner._impl.version - 1:
            return self.grad_fn_
        return grad_fn(self, owner)

    patch.setattr(DifferentiableViewMeta, "grad_fn", planted)


Answers = tuple[Sequence[Gradient | None], Sequence[int]]


def overwritten_region_keeps_its_gradient(patch: pytest.MonkeyPatch) -> None:
    """The part of the base that a constant was written to still passes gradients on."""
    apply_owned = CopySlices.apply_owned

    def planted(self: CopySlices, grad: Array, owned: bool, may_share: bool, needs: int) -> Answers:
        whole = grad.copy()
        answers, ownership = apply_owned(self, grad, owned, may_share, needs)
        if self.fn is not None and self.fn.name().startswith(("Fill", "Zero")):
            answers = [whole, *answers[1:]]
        return answers, ownership

    patch.setattr(CopySlices, "apply_owned", planted)


def old_value_is_saved_without_a_copy(patch: pytest.MonkeyPatch) -> None:
    """An in-place product keeps a view of the value that it overwrites."""

    def planted(tensor: TensorBase, edge: Edge | None) -> SavedVariable:
        saved = SavedVariable(tensor, edge)
        saved._counter = VersionCounter(saved.version)
        return saved

    patch.setattr(SavedVariable, "of_copy", planted)


def gradient_is_owned_twice(patch: pytest.MonkeyPatch) -> None:
    """A sum claims that each operand has the incoming gradient for itself."""
    patch.setattr(arithmetic_nodes.AddBackward0, "ownership", (FRESH, FRESH))


def requires_grad_does_not_spread(patch: pytest.MonkeyPatch) -> None:
    """A view that was made before its base required grad never learns of it."""
    patch.setattr(DifferentiableViewMeta, "needs_gradient", AutogradMeta.needs_gradient)


def leaf_keeps_the_users_gradient(patch: pytest.MonkeyPatch) -> None:
    """``.grad`` is the very array that was passed to ``backward``."""

    def planted(grad: Array, owned: bool, byte_strides: Shape) -> Array:
        return grad

    patch.setattr(accumulate_grad, "_laid_out", planted)


def pieces_may_be_written(patch: pytest.MonkeyPatch) -> None:
    """Whether a written view is one of several is not checked."""

    def planted(
        creation: CreationMeta, *, modified: bool, producer: str, made_at: Site | None = None
    ) -> None:
        try:
            refuse_if_restricted(creation, modified=modified, producer=producer, made_at=made_at)
        except MultiOutputViewError:
            return

    patch.setattr("vtgrad.views.check_inplace.refuse_if_restricted", planted)


def creation_is_forgotten_along_a_chain(patch: pytest.MonkeyPatch) -> None:
    """A view of a view that was made under no_grad counts as an ordinary one."""

    def planted(parent: CreationMeta, own: CreationMeta) -> CreationMeta:
        return own

    patch.setattr("vtgrad.views.make_view.propagate", planted)


def saved_version_is_not_compared(patch: pytest.MonkeyPatch) -> None:
    """Backward uses whatever the saved tensor holds by now."""
    check = SavedVariable.check

    def planted(self: SavedVariable, node: Node) -> None:
        try:
            check(self, node)
        except StaleSavedError:
            self.version = self._counter.value

    patch.setattr(SavedVariable, "check", planted)


def stale_value_is_found_too_late(patch: pytest.MonkeyPatch) -> None:
    """Saved values are compared when they are used, after other nodes have run."""

    def planted(task: GraphTask) -> None:
        return

    patch.setattr(engine, "check_before_run", planted)


def region_loses_its_offset(patch: pytest.MonkeyPatch) -> None:
    """A write to a view is attributed to the first elements of the base."""
    of_write = CopySlices.of_write

    def planted(
        base: TensorImpl,
        base_edge: Edge | None,
        part: Array,
        offset: int,
        view_fn: ViewFunction | None,
        function: Node,
    ) -> CopySlices:
        node = of_write(base, base_edge, part, offset, view_fn, function)
        node.offset = 0
        return node

    patch.setattr(CopySlices, "of_write", planted)


def region_loses_its_strides(patch: pytest.MonkeyPatch) -> None:
    """A write to a transposed view is attributed to the elements in row-major order."""
    of_write = CopySlices.of_write

    def planted(
        base: TensorImpl,
        base_edge: Edge | None,
        part: Array,
        offset: int,
        view_fn: ViewFunction | None,
        function: Node,
    ) -> CopySlices:
        node = of_write(base, base_edge, part, offset, view_fn, function)
        if node.view_strides == node.base_strides[::-1] and node.offset == 0:
            item = base.array.itemsize
            node.view_strides = tuple([s * item for s in contiguous_strides(node.view_sizes)])
        return node

    patch.setattr(CopySlices, "of_write", planted)


def part_that_is_assigned_to_itself_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    """The last step of ``x[i] += y`` leaves the version where it was."""
    patch.setattr(
        "vtgrad.ops.composites.indexing.getitem.write_back",
        lambda tensor, index, value: value._impl.autograd_meta is not None,
    )


def rebuilt_view_starts_at_the_base(patch: pytest.MonkeyPatch) -> None:
    """The producer of a stale view is rebuilt without the view's offset."""
    as_strided_node = InstalledOperators.as_strided_node

    def planted(self: InstalledOperators, base: TensorBase, view: TensorImpl) -> Node:
        node = as_strided_node(self, base, view)
        assert isinstance(node, AsStridedBackward0)
        node.storage_offset = 0
        return node

    patch.setattr(InstalledOperators, "as_strided_node", planted)


def saved_values_are_never_freed(patch: pytest.MonkeyPatch) -> None:
    """A second backward through the same graph succeeds."""

    make = GraphTask.__init__

    def planted(
        self: GraphTask, roots: Sequence[Edge], keep_graph: bool, create_graph: bool
    ) -> None:
        make(self, roots, True, create_graph)

    patch.setattr(GraphTask, "__init__", planted)


def retained_gradient_stays_with_the_old_value(patch: pytest.MonkeyPatch) -> None:
    """``retain_grad`` does not follow the tensor when it is written."""

    def planted(self: AutogradMeta, node: Node | None, output_nr: int) -> None:
        self.grad_fn_ = node
        self.output_nr = output_nr

    patch.setattr(AutogradMeta, "set_gradient_edge", planted)


def hooks_move_to_the_new_value(patch: pytest.MonkeyPatch) -> None:
    """A hook follows the tensor when it is written, instead of the value that it was put on."""
    set_gradient_edge = AutogradMeta.set_gradient_edge

    def planted(self: AutogradMeta, node: Node | None, output_nr: int) -> None:
        old = self.grad_fn_
        if old is not None and old.hooks is not None and node is not None:
            moved = old.hooks.tensor_pre.pop(self.output_nr, None)
            if moved is not None:
                node.own_hooks().tensor_pre[output_nr] = moved
        set_gradient_edge(self, node, output_nr)

    patch.setattr(AutogradMeta, "set_gradient_edge", planted)


def _nothing(kept: object, grads: object) -> None:
    return


def a_write_keeps_its_tensor_alive(patch: pytest.MonkeyPatch) -> None:
    """The node of a write refers to the tensor that it made: a cycle."""

    def planted(
        tensor: TensorBase,
        node: Node,
        slices: CopySlices | None,
        version: int,
        holder: AutogradMeta,
    ) -> None:
        end_rebase(tensor, node, slices, version, holder)
        node.register_prehook(partial(_nothing, tensor))

    patch.setattr("vtgrad.views.write.end_rebase", planted)


def refused_write_has_moved_the_version(patch: pytest.MonkeyPatch) -> None:
    """A write that is refused has counted already."""

    def planted(tensor: TensorBase) -> None:
        tensor._impl.counter.value += 1
        check_inplace(tensor)
        tensor._impl.counter.value -= 1

    patch.setattr("vtgrad.views.write.check_inplace", planted)


def recorded_write_forgets_other_gradient(patch: pytest.MonkeyPatch) -> None:
    """Inside a region, the second operand of a product gets no gradient."""
    apply_owned = CopySlices.apply_owned

    def planted(self: CopySlices, grad: Array, owned: bool, may_share: bool, needs: int) -> Answers:
        answers, ownership = apply_owned(self, grad, owned, may_share, needs)
        cut = [a if i == 0 or a is None else _zeros(a) for i, a in enumerate(answers)]
        return cut, ownership

    patch.setattr(CopySlices, "apply_owned", planted)


def _zeros(gradient: Gradient) -> Gradient:
    return np.zeros_like(gradient) if isinstance(gradient, np.ndarray) else gradient


def base_keeps_its_own_leaf_flag(patch: pytest.MonkeyPatch) -> None:
    """A write to a view of a plain tensor does not make that tensor require grad."""

    def planted_slices(tensor: TensorBase, node: Node) -> CopySlices | None:
        meta = own_meta(tensor)
        if isinstance(meta, DifferentiableViewMeta):
            base = meta.base._impl.autograd_meta
            if base is None or not base.needs_gradient():
                return None
        return slices_of(tensor, node)

    def planted_end(
        tensor: TensorBase,
        node: Node,
        slices: CopySlices | None,
        version: int,
        holder: AutogradMeta,
    ) -> None:
        if slices is None:
            set_own_history(tensor, node)
        else:
            end_rebase(tensor, node, slices, version, holder)

    patch.setattr("vtgrad.views.write.slices_of", planted_slices)
    patch.setattr("vtgrad.views.write.end_rebase", planted_end)


def inference_tensor_is_saved(patch: pytest.MonkeyPatch) -> None:
    """A node keeps a value whose writes are not counted."""
    patch.setattr("vtgrad.graph.saved_variable.INFERENCE", None)


def inference_tensor_is_written_outside(patch: pytest.MonkeyPatch) -> None:
    """Whether an inference tensor is written in inference mode is not checked."""

    def planted() -> None:
        return

    patch.setattr("vtgrad.views.write.refuse_outside_inference_mode", planted)


def view_made_in_inference_mode_is_ordinary(patch: pytest.MonkeyPatch) -> None:
    """A view of a normal tensor that was made in inference mode is not marked."""

    def planted() -> CreationMeta:
        made = made_unrecorded()
        return CreationMeta.DEFAULT if made is CreationMeta.INFERENCE_MODE else made

    patch.setattr("vtgrad.views.make_view.made_unrecorded", planted)


def inference_mark_gives_way(patch: pytest.MonkeyPatch) -> None:
    """A view of a view that was made in inference mode has the reason of its own mode."""

    def planted(parent: CreationMeta, own: CreationMeta) -> CreationMeta:
        return parent if own is CreationMeta.DEFAULT else own

    patch.setattr("vtgrad.views.make_view.propagate", planted)


def inference_mode_makes_normal_tensors(patch: pytest.MonkeyPatch) -> None:
    """What is made in inference mode counts its writes."""

    def planted() -> VersionCounter | None:
        return None

    patch.setattr("vtgrad.storage.tensor_impl.counter_of_new", planted)


FAULTS_OF_WRITES = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (no_version_bump_in_one_write, "._version", 5),
        (view_has_its_own_counter, "._version", 4),
        (base_is_not_rebased, "grad", 5),
        (stale_producer_is_kept, "grad", 5),
        (producer_is_rebuilt_once_too_seldom, "grad", 5),
        (overwritten_region_keeps_its_gradient, "expected [", 6),
        (old_value_is_saved_without_a_copy, "expected [", 6),
        (gradient_is_owned_twice, "expected ", 6),
        (requires_grad_does_not_spread, "requires_grad", 4),
        (leaf_keeps_the_users_gradient, ".grad: expected [", 4),
        (pieces_may_be_written, "expected multi-output-view", 5),
        (creation_is_forgotten_along_a_chain, "-view", 6),
        (saved_version_is_not_compared, "expected stale-saved", 6),
        (stale_value_is_found_too_late, "expected", 8),
        (region_loses_its_offset, "expected [", 7),
        (region_loses_its_strides, "expected [", 7),
        (part_that_is_assigned_to_itself_is_not_counted, "._version", 3),
        (rebuilt_view_starts_at_the_base, "expected [", 7),
        (saved_values_are_never_freed, "expected graph-freed", 6),
        (retained_gradient_stays_with_the_old_value, ".grad: expected", 6),
        (hooks_move_to_the_new_value, "what hooks have seen", 7),
        (a_write_keeps_its_tensor_alive, "alive after the program's end", 4),
        (refused_write_has_moved_the_version, "._version", 3),
        (recorded_write_forgets_other_gradient, "expected [", 7),
        (base_keeps_its_own_leaf_flag, "expected", 9),
        (inference_tensor_is_written_outside, "expected inference-write", 3),
        (view_made_in_inference_mode_is_ordinary, "expected inference-view", 5),
        (inference_mode_makes_normal_tensors, "is_inference()", 3),
    )
]

#: Found by random programs, but late; `test_smallest_programs` has the program.
RARE_FAULTS_OF_WRITES = [
    Fault(inference_mark_gives_way.__name__, inference_mark_gives_way, "inference-view", 4),
    Fault(
        inference_tensor_is_saved.__name__, inference_tensor_is_saved, "expected inference-saved", 3
    ),
]

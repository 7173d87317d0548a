"""More faults that a change could really bring: in passes, in what they sum, and in short cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.stateful.faults import Fault
from vtgrad.engine.graph_task import GraphTask
from vtgrad.engine.input_buffer import Content, InputBuffer
from vtgrad.graph.accumulate_grad import AccumulateGrad
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.edge import Edge
from vtgrad.graph.grad_stores import GradStores
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.region import Region
from vtgrad.graph.saved_variable import SavedResult
from vtgrad.ops.generated.views_nodes import SelectBackward0
from vtgrad.storage.arrays import Array
from vtgrad.storage.mark_written import PartIndex
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views import make_view as make_view_module
from vtgrad.views.copy_slices import CopySlices
from vtgrad.views.creation_meta import CreationMeta
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta
from vtgrad.views.rebase_history import end_rebase, set_own_history, slices_of
from vtgrad.views.view_fn import Replay
from vtgrad.views.write import write_part

__all__ = ["FAULTS_OF_PASSES", "RARE_FAULTS_OF_PASSES"]


# -- views ------------------------------------------------------------------------------------


def rebuild_is_not_remembered(patch: pytest.MonkeyPatch) -> None:
    """A view keeps the version of its first producer: each look makes another one."""
    grad_fn = DifferentiableViewMeta.grad_fn

    def planted(self: DifferentiableViewMeta, owner: TensorBase) -> Node | None:
        before = self.attr_version
        node = grad_fn(self, owner)
        self.attr_version = before
        return node

    patch.setattr(DifferentiableViewMeta, "grad_fn", planted)


def view_made_under_no_grad_counts_as_any_other(patch: pytest.MonkeyPatch) -> None:
    """The grad mode in which a view was made is not looked at."""
    patch.setattr(make_view_module, "made_unrecorded", lambda: CreationMeta.DEFAULT)


def pieces_all_say_that_they_are_the_first(patch: pytest.MonkeyPatch) -> None:
    """Results of one node do not know their number."""
    make = DifferentiableViewMeta.__init__

    def planted(
        self: DifferentiableViewMeta,
        base: TensorBase,
        view_fn: Replay | None,
        creation_meta: CreationMeta,
        attr_version: int,
        grad_fn: Node | None,
        output_nr: int,
    ) -> None:
        make(self, base, view_fn, creation_meta, attr_version, grad_fn, 0)

    patch.setattr(DifferentiableViewMeta, "__init__", planted)


def written_view_loses_its_write(patch: pytest.MonkeyPatch) -> None:
    """The view that was written goes on with the producer that it had before."""

    def planted(self: DifferentiableViewMeta, slices: CopySlices, version: int) -> None:
        self.attr_version = version

    patch.setattr(DifferentiableViewMeta, "was_written", planted)


# -- short cuts ---------------------------------------------------------------------------------


def quick_assignment_does_not_count(patch: pytest.MonkeyPatch) -> None:
    """``x[i] = 1`` of a tensor without gradients leaves the version where it was."""

    def planted(impl: TensorImpl, index: PartIndex, value: object) -> bool:
        done = write_part(impl, index, value)
        if done:
            impl.counter.value -= 1
        return done

    patch.setattr("vtgrad.ops.composites.indexing.getitem.write_part", planted)


def overlapping_input_is_not_seen(patch: pytest.MonkeyPatch) -> None:
    """A write may read what it overwrites elsewhere."""

    def planted(target: TensorImpl, source: TensorImpl, *, distinct: bool) -> None:
        return

    patch.setattr("vtgrad.views.write.check_input_overlap", planted)


# -- saved values ---------------------------------------------------------------------------------


def result_of_a_write_is_saved_before_it_counts(patch: pytest.MonkeyPatch) -> None:
    """A saved result has the version from before the write that made it."""
    make = SavedResult.__init__

    def planted(self: SavedResult, tensor: TensorBase, output_nr: int) -> None:
        make(self, tensor, output_nr)
        self.version = max(0, self.version - 1)

    patch.setattr(SavedResult, "__init__", planted)


# -- sums and owners -------------------------------------------------------------------------


def region_is_added_twice(patch: pytest.MonkeyPatch) -> None:
    """The gradient of a part counts double where the whole has a gradient already."""
    add_region = InputBuffer._add_region

    def planted(self: InputBuffer, present: Content, grad: Region, meta: InputMetadata) -> None:
        add_region(self, present, grad, meta)
        if isinstance(present, np.ndarray):
            add_region(self, self.grad, grad, meta)

    patch.setattr(InputBuffer, "_add_region", planted)


def gradient_that_a_hook_keeps_is_overwritten(patch: pytest.MonkeyPatch) -> None:
    """What a hook was given is still owned by the pass."""
    given_away = InputBuffer.given_away

    def planted(self: InputBuffer, nr: int) -> TensorBase | None:
        slot = self.at(nr)
        owned = slot.owned
        given = given_away(self, nr)
        slot.owned = owned
        return given

    patch.setattr(InputBuffer, "given_away", planted)


def second_pass_replaces_the_gradient(patch: pytest.MonkeyPatch) -> None:
    """``.grad`` is set where it should be added to."""
    prepare = AccumulateGrad.prepare

    def planted(self: AccumulateGrad, stores: GradStores, grad: Array, owned: bool) -> None:
        self.cell.grad = None
        prepare(self, stores, grad, owned)

    patch.setattr(AccumulateGrad, "prepare", planted)


def chosen_inputs_are_ignored(patch: pytest.MonkeyPatch) -> None:
    """``backward(inputs=...)`` fills every leaf."""
    restrict_to, count = GraphTask.restrict_to, GraphTask.compute_dependencies

    def planted_count(self: GraphTask, inputs: Sequence[Edge | None] | None = None) -> None:
        count(self)

    def planted(self: GraphTask, inputs: Sequence[Edge | None], *, accumulate: bool) -> None:
        if not accumulate:
            restrict_to(self, inputs, accumulate=accumulate)

    patch.setattr(GraphTask, "compute_dependencies", planted_count)
    patch.setattr(GraphTask, "restrict_to", planted)


def selected_part_is_the_first(patch: pytest.MonkeyPatch) -> None:
    """The gradient of a row that was selected goes to the first row."""

    def planted(self: SelectBackward0, array: Array) -> Array:
        first: Array = np.moveaxis(array, self.dim, 0)[0, ...]
        return first

    patch.setattr(SelectBackward0, "view_array", planted)


def product_is_written_without_a_rebase(patch: pytest.MonkeyPatch) -> None:
    """`mul_` of a view is recorded on the view alone, all other writes as they must be."""

    def no_slices(tensor: TensorBase, node: Node) -> CopySlices | None:
        return None if node.name() == "MulBackward0" else slices_of(tensor, node)

    def planted(
        tensor: TensorBase,
        node: Node,
        slices: CopySlices | None,
        version: int,
        holder: AutogradMeta,
    ) -> None:
        if node.name() == "MulBackward0":
            set_own_history(tensor, node)
        else:
            end_rebase(tensor, node, slices, version, holder)

    patch.setattr("vtgrad.views.write.slices_of", no_slices)
    patch.setattr("vtgrad.views.write.end_rebase", planted)


FAULTS_OF_PASSES = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (rebuild_is_not_remembered, "another object when read again", 5),
        (view_made_under_no_grad_counts_as_any_other, "-view, ", 6),
        (pieces_all_say_that_they_are_the_first, "expected", 7),
        (written_view_loses_its_write, ".grad_fn", 7),
        (quick_assignment_does_not_count, "._version", 4),
        (overlapping_input_is_not_seen, "expected input-overlap", 4),
        (result_of_a_write_is_saved_before_it_counts, "got stale-saved", 6),
        (region_is_added_twice, "expected [", 7),
        (second_pass_replaces_the_gradient, ".grad: expected [", 6),
        (chosen_inputs_are_ignored, ".grad: expected", 6),
        (selected_part_is_the_first, "expected [", 6),
        (product_is_written_without_a_rebase, "grad", 5),
    )
]

#: Found by random programs, but late; `test_smallest_programs` has the program.
RARE_FAULTS_OF_PASSES = [
    Fault(
        gradient_that_a_hook_keeps_is_overwritten.__name__,
        gradient_that_a_hook_keeps_is_overwritten,
        "what hooks have seen",
        6,
    )
]

"""Faults in who owns a gradient, what waits for the rest of it, and how memory is laid out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.stateful.faults import Fault
from vtgrad.engine import evaluate_function
from vtgrad.engine.array_run import Answer, ArrayRun
from vtgrad.engine.input_buffer import Content, InputBuffer
from vtgrad.engine.observers import capture
from vtgrad.graph.autograd_meta import AutogradMeta
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.large import large
from vtgrad.graph.node import FRESH, Node
from vtgrad.graph.region import Gradient, Region
from vtgrad.ops.generated.reductions_nodes import SumBackward0, SumBackward1
from vtgrad.storage.arrays import Array
from vtgrad.storage.layout import PECULIAR, Layout, layout_of
from vtgrad.storage.tensor_base import TensorBase
from vtgrad.storage.tensor_impl import TensorImpl
from vtgrad.views.differentiable_view_meta import DifferentiableViewMeta

__all__ = ["FAULTS_OF_MEMORY", "RARE_FAULTS_OF_MEMORY"]


# -- layouts -----------------------------------------------------------------------------------


def any_strides_have_a_layout(patch: pytest.MonkeyPatch) -> None:
    """Whether an array has gaps, or is transposed, is not asked."""

    def planted(array: Array) -> Layout:
        return layout_of(np.empty(array.shape, array.dtype))

    patch.setattr("vtgrad.storage.tensor_impl.layout_of", planted)


def operators_take_peculiar_layouts_for_one(patch: pytest.MonkeyPatch) -> None:
    """Two operands are alike if nothing is known of either."""
    patch.setattr("vtgrad.ops.calling.quick.PECULIAR", None)


def writes_take_peculiar_layouts_for_one(patch: pytest.MonkeyPatch) -> None:
    """What is written at once may be expanded."""
    patch.setattr("vtgrad.views.write.PECULIAR", None)


def shapes_are_changed_without_looking_at_strides(patch: pytest.MonkeyPatch) -> None:
    """A view of another shape is taken of anything."""
    patch.setattr("vtgrad.ops.view_impls.views.PECULIAR", None)


def layout_outlives_the_geometry(patch: pytest.MonkeyPatch) -> None:
    """A tensor that is transposed in place has the layout that it had before."""
    set_geometry_of = TensorImpl.set_geometry_of

    def planted(self: TensorImpl, other: TensorImpl) -> None:
        before = self.layout
        set_geometry_of(self, other)
        self.layout = PECULIAR if before is None else before

    patch.setattr(TensorImpl, "set_geometry_of", planted)


# -- owners ------------------------------------------------------------------------------------


def expanded_gradient_is_owned(patch: pytest.MonkeyPatch) -> None:
    """The gradient of a sum, one number everywhere, may be added to in place."""
    patch.setattr(SumBackward0, "ownership", (FRESH,))
    patch.setattr(SumBackward1, "ownership", (FRESH,))


def expanded_answer_is_owned(patch: pytest.MonkeyPatch) -> None:
    """What a formula for large gradients makes of one value, expanded, is taken for its own."""

    def planted(
        self: ArrayRun, node: Node, grad: Array, owned: bool, needs: int
    ) -> tuple[Sequence[Answer], Sequence[int]]:
        may_share = not owned and not any(grad.strides) and not self.task.may_write_saved()
        return node.apply_owned(grad, owned, may_share, needs)

    patch.setattr(ArrayRun, "apply_large", planted)
    patch.setattr(large, "elements", 0)


def gradient_that_grad_returns_is_overwritten(patch: pytest.MonkeyPatch) -> None:
    """What the caller of ``grad`` gets is still owned by the pass, which goes on."""

    def planted(
        buffer: InputBuffer, captured: dict[int, list[int]], answer: list[TensorBase | None]
    ) -> None:
        owned = {nr: buffer.at(nr).owned for nr in captured}
        capture(buffer, captured, answer)
        for nr, before in owned.items():
            buffer.at(nr).owned = before

    patch.setattr(evaluate_function, "capture", planted)


# -- regions that wait -------------------------------------------------------------------------


def waiting_regions_give_way_to_a_whole_gradient(patch: pytest.MonkeyPatch) -> None:
    """A gradient for all elements replaces those for parts that have arrived before."""
    add = InputBuffer.add

    def planted(self: InputBuffer, grad: Gradient, owned: bool, meta: InputMetadata) -> None:
        if isinstance(self.grad, list) and not isinstance(grad, Region):
            self.grad = None
        add(self, grad, owned, meta)

    patch.setattr(InputBuffer, "add", planted)


def one_region_waits_at_a_time(patch: pytest.MonkeyPatch) -> None:
    """A gradient for a part replaces the one for another part."""
    add_region = InputBuffer._add_region

    def planted(self: InputBuffer, present: Content, grad: Region, meta: InputMetadata) -> None:
        add_region(self, None if isinstance(present, list) else present, grad, meta)

    patch.setattr(InputBuffer, "_add_region", planted)


def only_the_first_region_is_written_out(patch: pytest.MonkeyPatch) -> None:
    """Of several gradients for parts, one is in the sum."""
    write_out = InputBuffer._write_out

    def planted(self: InputBuffer, regions: list[Region], meta: InputMetadata) -> None:
        write_out(self, regions[:1], meta)

    patch.setattr(InputBuffer, "_write_out", planted)


def only_the_first_region_passes_through_a_view(patch: pytest.MonkeyPatch) -> None:
    """Of several gradients for parts of a view, its base gets one."""
    hand_on = ArrayRun.hand_on

    def planted(
        self: ArrayRun,
        node: Node,
        answers: Sequence[Answer],
        ownership: Sequence[int],
        was_owned: bool,
    ) -> None:
        first = [
            Region(answer.content[:1], answer.node, answer.size)
            if isinstance(answer, Region) and isinstance(answer.content, list)
            else answer
            for answer in answers
        ]
        hand_on(self, node, first, ownership, was_owned)

    patch.setattr(ArrayRun, "hand_on", planted)


# -- retained gradients -------------------------------------------------------------------------


def retained_gradient_survives_a_write_to_its_base(patch: pytest.MonkeyPatch) -> None:
    """Whatever was written, the former producer of a view goes on filling its ``.grad``."""

    def planted(self: DifferentiableViewMeta, owner: TensorBase, base: TensorBase) -> bool:
        return True

    patch.setattr(DifferentiableViewMeta, "_keeps_value", planted)


def retained_gradient_is_left_with_earlier_producers(patch: pytest.MonkeyPatch) -> None:
    """Producers from before writes to other parts are not told when the view is written."""

    def planted(self: DifferentiableViewMeta, node: Node | None, output_nr: int) -> None:
        self.written_by = None
        AutogradMeta.set_gradient_edge(self, node, output_nr)

    patch.setattr(DifferentiableViewMeta, "set_gradient_edge", planted)


FAULTS_OF_MEMORY = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in ((any_strides_have_a_layout, "expected", 5),)
]

#: What random programs show too seldom, or too late to wait for it;
#: `test_smallest_programs` has a program for each, of at most so many steps.
RARE_FAULTS_OF_MEMORY = [
    Fault(plant.__name__, plant, shows, steps)
    for plant, shows, steps in (
        (operators_take_peculiar_layouts_for_one, "expected", 3),
        (writes_take_peculiar_layouts_for_one, "expected self-overlap", 3),
        (shapes_are_changed_without_looking_at_strides, "expected shape", 3),
        (layout_outlives_the_geometry, "expected shape", 4),
        (expanded_gradient_is_owned, "is read-only", 6),
        (expanded_answer_is_owned, "is read-only", 7),
        (gradient_that_grad_returns_is_overwritten, "]: expected [", 5),
        (waiting_regions_give_way_to_a_whole_gradient, "]: expected [", 6),
        (one_region_waits_at_a_time, "]: expected [", 5),
        (only_the_first_region_is_written_out, "]: expected [", 5),
        (only_the_first_region_passes_through_a_view, "]: expected [", 6),
        (retained_gradient_survives_a_write_to_its_base, ".grad: expected None", 8),
        (retained_gradient_is_left_with_earlier_producers, ".grad: expected None", 10),
    )
]

"""The smallest program that shows a planted fault, run with the fault and without it.

Random programs meet some of these faults rarely or late: here nothing depends on luck.
"""

import pytest

import vtgrad
from tests.stateful.faults import RARE_FAULTS_OF_WRITES, Fault
from tests.stateful.faults_of_marks import FAULTS_OF_MARKS, RARE_FAULTS_OF_MARKS
from tests.stateful.faults_of_memory import FAULTS_OF_MEMORY, RARE_FAULTS_OF_MEMORY
from tests.stateful.faults_of_passes import RARE_FAULTS_OF_PASSES
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.session import DivergenceError, replay
from vtgrad.testing.steps import (
    Apply,
    Backward,
    Fill,
    Gradient,
    Hook,
    Inference,
    Inspect,
    Leaf,
    Literal,
    Rearrange,
    Retain,
    SetItem,
    Step,
    View,
    Write,
)
from vtgrad.testing.views import ViewCall

FAULTS = [
    *FAULTS_OF_MEMORY,
    *RARE_FAULTS_OF_MEMORY,
    *RARE_FAULTS_OF_WRITES,
    *FAULTS_OF_MARKS,
    *RARE_FAULTS_OF_MARKS,
    *RARE_FAULTS_OF_PASSES,
]

ONE = Literal((1,), (1,))
TWO = Literal((2,), (1, 1))
LEAF = Leaf(0, Literal((2,), (2, 1)), requires_grad=True)
COPY = Apply(1, "clone", (0,))
TABLE = Leaf(0, Literal((2, 3), (1, 2, 3, -1, -2, -3)), requires_grad=False)


def _item(out: int, of: int, number: int) -> View:
    """One element, as a vector."""
    return View((out,), of, ViewCall("[]", (slice(number, number + 1),)))


EXPANDED: list[Step] = [
    Leaf(0, Literal((2,), (2, 1)), requires_grad=False),
    View((1,), 0, ViewCall("expand", (2, 2))),
    Write(1, "add_number", extra=(2,)),
]

#: A table of four numbers, of which the first two are kept.
FOUR = Leaf(0, Literal((4,), (2, 1, 3, -1)), requires_grad=True)
KEPT: list[Step] = [
    FOUR,
    COPY,
    View((2,), 1, ViewCall("[]", (slice(0, 2),))),
    Apply(3, "square", (2,)),
]


def _pass_after(*writes: Step) -> list[Step]:
    """A gradient that needs what is kept, after some writes."""
    return [*KEPT, *writes, Gradient(3, TWO, (0,))]


PROGRAMS: dict[str, list[Step]] = {
    "index_write_marks_nothing": _pass_after(SetItem(1, 7, picks=(1,))),
    "index_write_marks_its_first_element": _pass_after(SetItem(1, 7, picks=(3, 1))),
    "strided_write_marks_adjacent_elements": [
        FOUR,
        COPY,
        _item(2, 1, 2),
        Apply(3, "square", (2,)),
        SetItem(1, 7, (slice(None, None, 2),)),
        Gradient(3, ONE, (0,)),
    ],
    "write_marks_all_that_lies_between": [
        FOUR,
        COPY,
        _item(2, 1, 1),
        Apply(3, "square", (2,)),
        SetItem(1, 7, (slice(None, None, 2),)),
        Gradient(3, ONE, (0,)),
    ],
    "every_write_counts_as_whole": _pass_after(SetItem(1, 7, (3,))),
    "whole_write_is_lost": _pass_after(Fill(1, 7)),
    "first_write_after_a_save_is_lost": _pass_after(SetItem(1, 7, (0,))),
    "vouching_keeps_the_tensor": [
        Leaf(0, Literal((2, 2), (2, 1, 3, -1)), requires_grad=True),
        COPY,
        Apply(2, "square", (1,)),
        Rearrange(1, ViewCall("t")),
        Gradient(2, Literal((2, 2), (1, 2, 3, 4)), (0,)),
    ],
    "save_counts_as_made_before_the_last_write": [
        FOUR,
        COPY,
        Apply(2, "square", (1,)),
        SetItem(1, 7, (0,)),
        Apply(3, "square", (1,)),
        Gradient(3, Literal((4,), (1, 2, 3, 4)), (0,)),
    ],
    "save_counts_as_made_after_the_next_write": _pass_after(SetItem(1, 7, (0,))),
    "fold_marks_newer_versions_first": [
        *KEPT[:3],
        Apply(4, "square", (1,)),
        SetItem(1, 7, (0,)),
        Apply(3, "square", (2,)),
        SetItem(1, 5, (0,)),
        Gradient(3, TWO, (0,)),
    ],
    "fold_drops_the_last_entry": _pass_after(SetItem(1, 7, (0,))),
    "any_strides_have_a_layout": EXPANDED,
    "operators_take_peculiar_layouts_for_one": [
        Leaf(0, Literal((), (3,)), requires_grad=False),
        Apply(1, "mul", (0, 0)),
        Fill(1, 0),
    ],
    "writes_take_peculiar_layouts_for_one": EXPANDED,
    "shapes_are_changed_without_looking_at_strides": [
        TABLE,
        View((1,), 0, ViewCall("t")),
        View((2,), 1, ViewCall("view", (6,))),
    ],
    "layout_outlives_the_geometry": [
        TABLE,
        View((1,), 0, ViewCall("view", (6,))),
        Rearrange(0, ViewCall("t")),
        View((2,), 0, ViewCall("view", (6,))),
    ],
    "inference_mark_gives_way": [
        LEAF,
        Inference(_item(1, 0, 0)),
        View((2,), 1, ViewCall("[]", (slice(0, 1),)), grad=False),
        Write(2, "add_number", extra=(1,)),
    ],
    "inference_tensor_is_saved": [
        LEAF,
        Inference(COPY),
        Apply(2, "mul", (0, 1)),
    ],
    "expanded_gradient_is_owned": [
        LEAF,
        Apply(1, "sum", (0,)),
        Apply(2, "add", (0, 1)),
        Gradient(2, TWO, (0,)),
    ],
    "expanded_answer_is_owned": [
        LEAF,
        COPY,
        Apply(2, "neg", (1,)),
        Apply(3, "neg", (1,)),
        Apply(4, "sum", (3,)),
        Apply(5, "add", (2, 4)),
        Gradient(5, TWO, (0,)),
    ],
    "gradient_that_grad_returns_is_overwritten": [
        LEAF,
        COPY,
        SetItem(1, 0, (1,)),
        Apply(2, "neg", (1,)),
        Gradient(2, TWO, (1, 0)),
    ],
    "waiting_regions_give_way_to_a_whole_gradient": [
        LEAF,
        COPY,
        Apply(2, "neg", (1,)),
        _item(3, 1, 0),
        Apply(4, "add", (2, 3)),
        Gradient(4, TWO, (0,)),
    ],
    "one_region_waits_at_a_time": [
        LEAF,
        _item(1, 0, 0),
        _item(2, 0, 1),
        Apply(3, "add", (1, 2)),
        Gradient(3, ONE, (0,)),
    ],
    "only_the_first_region_is_written_out": [
        LEAF,
        _item(1, 0, 0),
        _item(2, 0, 1),
        Apply(3, "add", (1, 2)),
        Gradient(3, ONE, (0,)),
    ],
    "only_the_first_region_passes_through_a_view": [
        Leaf(0, Literal((4,), (1, 2, 3, 4)), requires_grad=True),
        View((1,), 0, ViewCall("[]", (slice(None, None, 2),))),
        _item(2, 1, 0),
        _item(3, 1, 1),
        Apply(4, "add", (2, 3)),
        Gradient(4, ONE, (0,)),
    ],
    "gradient_that_a_hook_keeps_is_overwritten": [
        LEAF,
        COPY,
        Hook(0, "h0", 1),
        Write(1, "copy", ("t0",), shape=(2,)),
        Backward(1, TWO, retain=True),
        Backward(1, TWO, retain=True),
    ],
    "retained_gradient_survives_a_write_to_its_base": [
        LEAF,
        COPY,
        _item(2, 1, 0),
        Retain(2),
        Apply(3, "neg", (2,)),
        Write(1, "neg"),
        Inspect(2),
        Backward(3, ONE),
    ],
    "retained_gradient_is_left_with_earlier_producers": [
        LEAF,
        COPY,
        _item(2, 1, 0),
        Retain(2),
        Apply(3, "neg", (2,)),
        SetItem(1, 0, (1,)),
        Inspect(2),
        Write(1, "neg"),
        Inspect(2),
        Backward(3, ONE),
    ],
}


def test_every_fault_of_memory_has_its_program() -> None:
    assert set(PROGRAMS) == {fault.name for fault in FAULTS}


@pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_smallest_program_shows_the_fault(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = vtgrad_library(vtgrad)
    program = PROGRAMS[fault.name]
    assert replay(program, library).steps == program
    fault.plant(monkeypatch)
    with pytest.raises(DivergenceError) as found:
        replay(program, library)
    assert fault.shows in found.value.what
    assert len(found.value.steps) <= fault.steps

"""Shrunk failures of the suite, kept as programs that are run again."""

import pytest

import vtgrad
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.session import replay
from vtgrad.testing.steps import (
    Apply,
    Backward,
    Delete,
    Detach,
    Detach_,
    Fill,
    Gradient,
    Hook,
    Inference,
    Inspect,
    Leaf,
    Literal,
    Rearrange,
    Retain,
    SecondOrder,
    SetItem,
    Step,
    View,
    Write,
)
from vtgrad.testing.views import ViewCall

ONE = Literal((2,), (1, 1))
LEAF = Leaf(0, Literal((2,), (2, 3)), requires_grad=True)

PROGRAMS: dict[str, list[Step]] = {
    # A view made under no_grad says requires_grad, but a pass that starts there leads nowhere.
    "a_root_without_an_edge_is_refused": [
        LEAF,
        View((1,), 0, ViewCall("[]", (slice(None),)), grad=False),
        Backward(1, ONE),
        Gradient(1, ONE, (0,)),
    ],
    # The offset of an empty view may lie behind the end of its base.
    "a_write_to_an_empty_view_passes_the_gradient_on": [
        Leaf(0, Literal((2, 3), (1, 2, 3, 4, 5, 6)), requires_grad=True),
        Apply(1, "abs", (0,)),
        SetItem(1, 2, (slice(2, None), 2)),
        Gradient(1, Literal((2, 3), (1, 2, 3, 4, 5, 6)), (0,)),
    ],
    # `stack` could answer for both operands although only one is asked for.
    "hooks_beside_the_path_to_the_inputs_do_not_run": [
        LEAF,
        Leaf(1, Literal((2,), (5, 7)), requires_grad=True),
        Apply(2, "neg", (0,)),
        Apply(3, "neg", (1,)),
        Hook(3, "beside"),
        Apply(4, "stack", (2, 3), (0,)),
        Gradient(4, Literal((2, 2), (1, 2, 3, 4)), (0,)),
    ],
    # Of two reasons to refuse, what may not be written and what may not be read, either is named.
    "an_inference_tensor_is_not_written_with_a_lost_view": [
        LEAF,
        Apply(1, "clone", (0,)),
        Inference(View((2,), 1, ViewCall("[]", (slice(None, 1),)))),
        Fill(1, 0),
        Inference(Apply(3, "abs", (1,))),
        SetItem(3, "t2", picks=(1,)),
    ],
    # That an input cannot be reached is known before anything has run.
    "an_unused_input_is_refused_before_hooks_have_run_and_values_are_freed": [
        LEAF,
        Leaf(1, Literal((2,), (5, 7)), requires_grad=True),
        Apply(2, "square", (0,)),
        Hook(2, "root"),
        Retain(2),
        Gradient(2, ONE, (1,), allow_unused=False),
        Gradient(2, ONE, (0,)),
    ],
    # Nor is a pass run to find that another piece of a split is reached, and this one is not.
    "an_unused_piece_of_a_split_is_refused_before_gradients_are_retained": [
        LEAF,
        View((1, 2), 0, ViewCall("split", (1, 0))),
        Retain(1),
        Gradient(1, Literal((1,), (2,)), (2,), allow_unused=False),
    ],
    # Nothing is read the second time, so that a piece may be lost by then.
    "retain_grad_may_be_repeated_on_a_lost_piece": [
        LEAF,
        Apply(1, "clone", (0,)),
        View((2, 3), 1, ViewCall("split", (1, 0))),
        Retain(2),
        Fill(1, 0),
        Retain(2),
    ],
    # The log is made by the assignment, after the version has moved without one.
    "a_value_saved_before_a_change_of_geometry_is_intact_after_a_write_beside_it": [
        Leaf(0, Literal((2, 2), (2, 3, 5, 7)), requires_grad=True),
        Apply(1, "clone", (0,)),
        View((2,), 1, ViewCall("[]", (1,))),
        Apply(3, "prod", (2,), shape=(2,)),
        Rearrange(2, ViewCall("squeeze")),
        SetItem(1, 1, picks=(0,)),
        Gradient(3, Literal((), (1,)), (0,)),
    ],
    # Its grad_fn could not be read any more, but its value is what it was.
    "a_saved_view_made_under_no_grad_is_intact_after_a_write_beside_it": [
        LEAF,
        Apply(1, "clone", (0,)),
        View((2,), 1, ViewCall("[]", (slice(0, 1),)), grad=False),
        Apply(3, "mul", (0, 2)),
        SetItem(1, 1, (1,)),
        Gradient(3, ONE, (0,)),
        SetItem(1, 1, (0,)),
        Gradient(3, ONE, (0,)),
    ],
    # A value that was cut off its graph stays refused, though it is intact.
    "a_saved_tensor_that_was_detached_is_refused_after_a_write_beside_it": [
        LEAF,
        Apply(1, "clone", (0,)),
        View((2,), 1, ViewCall("[]", (slice(0, 1),))),
        Apply(3, "square", (1,)),
        Delete(2),
        Detach_(1),
        Gradient(3, ONE, (0,)),
    ],
    # A check that finds the value intact must not forget that its tensor was detached.
    "a_saved_tensor_that_was_detached_is_refused_after_a_change_of_geometry": [
        LEAF,
        Apply(1, "clone", (0,)),
        Apply(2, "square", (1,)),
        Detach_(1),
        Rearrange(1, ViewCall("unsqueeze", (0,))),
        Gradient(2, ONE, (0,)),
        Backward(2, ONE),
    ],
    # The write gives the detached tensor a producer again; PyTorch calls its value overwritten.
    "a_saved_tensor_that_was_detached_and_then_written_is_refused": [
        LEAF,
        Apply(1, "clone", (0,)),
        Apply(2, "abs", (1,)),
        Detach_(1),
        Write(1, "sub", ("t2",)),
        Gradient(2, ONE, (0,)),
    ],
    # `x[i] = x[i]` changes nothing, so what was saved before is intact.
    "a_part_that_is_written_back_onto_itself_is_not_written": [
        Leaf(0, Literal((3,), (2, 3, 5)), requires_grad=True),
        Detach(1, 0),
        View((2,), 1, ViewCall("[]", (slice(1, None),))),
        Apply(3, "square", (0,)),
        SetItem(1, "t2", (slice(1, None),)),
        Gradient(3, Literal((3,), (1, 2, 3)), (0,)),
    ],
    # After the change of geometry its value is the saved array, in the old one.
    "a_saved_tensor_is_transposed_and_differentiated_twice": [
        Leaf(0, Literal((2, 2), (2, 3, 5, 7)), requires_grad=True),
        Apply(1, "clone", (0,)),
        Apply(2, "square", (1,)),
        Rearrange(1, ViewCall("t")),
        SecondOrder(2, Literal((2, 2), (1, 2, 3, 4)), (0,), (Literal((2, 2), (1, 0, 2, 1)),)),
    ],
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("inspects_always", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_once_diverged(name: str, inspects_always: bool, exact: bool) -> None:
    library = vtgrad_library(vtgrad, exact=exact)
    assert replay(PROGRAMS[name], library, inspects_always=inspects_always).steps == PROGRAMS[name]


@pytest.mark.parametrize("skips", [False, True])
def test_a_step_that_the_model_skips_has_read_no_view_that_retains_its_gradient(
    skips: bool,
) -> None:
    # The write overwrites one of the two elements of t2, so t2 retains the gradient of its new
    # value alone. A second derivative is skipped while gradients are retained, after t2 was read.
    row, square = ViewCall("[]", (0,)), Literal((2, 2), (1, 1, 1, 1))
    program: list[Step] = [
        Leaf(0, Literal((2, 2), (-1, 3, -3, -1)), requires_grad=True),
        Apply(1, "clone", (0,)),
        View((2,), 1, row),
        Retain(2),
        View((3,), 2, row),
        View((4,), 1, ViewCall("[]", (slice(None), -1))),
        Write(4, "sub", ("t3",), shape=(2,)),
        SecondOrder(2, ONE, (0,), (square,)),
        Inspect(2),
        Backward(3, Literal((), (1,))),
    ]
    skipped = program[7]
    if not skips:
        program.remove(skipped)
    session = replay(program, vtgrad_library(vtgrad))
    assert session.steps == [step for step in program if step is not skipped]


def test_the_model_does_not_say_whether_a_refused_write_has_read_grad_fn() -> None:
    # The read would drop the retained gradient of the value before.
    steps: list[Step] = [
        LEAF,
        Apply(1, "clone", (0,)),
        View((2,), 1, ViewCall("[]", (slice(None),))),
        Apply(3, "neg", (2,)),
        Retain(2),
        Write(1, "abs"),
        View((4, 5), 1, ViewCall("split", (1, -1))),
        Write(2, "sub", ("t5",)),
        Backward(3, ONE),
    ]
    session = replay(steps, vtgrad_library(vtgrad))
    assert session.steps == [*steps[:7], steps[8]]


@pytest.mark.parametrize("part", [slice(0, 1), slice(1, 1)], ids=["a row", "nothing"])
def test_the_model_does_not_say_whether_parts_of_an_overlapping_base_may_be_written(
    part: slice,
) -> None:
    # Libraries refuse the write, or the backward behind it.
    steps: list[Step] = [
        LEAF,
        Leaf(1, ONE, requires_grad=False),
        View((2,), 1, ViewCall("expand", (2, 2))),
        Detach(3, 2),
        SetItem(3, "t0", (part,)),
        Apply(4, "neg", (0,)),
    ]
    session = replay(steps, vtgrad_library(vtgrad))
    assert session.steps == [*steps[:4], steps[5]]

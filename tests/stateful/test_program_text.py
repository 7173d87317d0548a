"""A failing program is printed as a script, as its twin, and as data that can be run again."""

import pytest

import vtgrad as vt
from vtgrad.errors import StaleSavedError
from vtgrad.testing import steps as step_module
from vtgrad.testing.program import program_text, script
from vtgrad.testing.steps import (
    Apply,
    Backward,
    EnterLevel,
    Leaf,
    LeaveLevel,
    Literal,
    MakeDual,
    SetItem,
    Step,
    TakePrimal,
    TakeTangent,
    View,
    WithoutForward,
    Write,
)
from vtgrad.testing.views import ViewCall

PROGRAM: list[Step] = [
    Leaf(0, Literal((2, 2), (1, 2, 3, 4)), requires_grad=True),
    Apply(1, "mul_number", (0,), (2,)),
    View((2, 3), 1, ViewCall("unbind", (0,)), grad=False),
    Write(1, "add", ("t0",)),
    SetItem(1, 5, (0, slice(1, None))),
    Backward(1, Literal((2, 2), (1, 1, 1, 1)), retain=True),
]


def test_a_program_is_a_script_for_either_library() -> None:
    assert script(PROGRAM, "vtgrad").splitlines() == [
        "import vtgrad as vt",
        "",
        "seen = []",
        "t0 = vt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=vt.float64, requires_grad=True)",
        "t1 = t0.mul(2)",
        "with vt.no_grad(): t2, t3 = t1.unbind(0)",
        "t1.add_(t0)",
        "t1[0, 1:] = 5",
        "w = vt.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=vt.float64)",
        "t1.backward(w, retain_graph=True)",
        "w.zero_()",
    ]
    assert script(PROGRAM, "torch").startswith("import torch as vt\n")
    rule = 'vt.autograd.graph.set_overwrite_check("storage")'
    assert rule in script(PROGRAM, "vtgrad", exact=False).splitlines()
    assert rule not in script(PROGRAM, "torch", exact=False)


def test_a_block_stands_around_the_steps() -> None:
    block = "with vt.autograd.graph.allow_mutation_on_saved_tensors():"
    lines = script(PROGRAM, "vtgrad", block=block).splitlines()
    assert lines[2:5] == [
        "seen = []",
        block,
        "    t0 = vt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=vt.float64, requires_grad=True)",
    ]
    assert lines[-1] == "    w.zero_()"


def test_a_script_under_rewind_runs() -> None:
    # The write overwrites what `mul` saved; without the block the last step is refused.
    steps: list[Step] = [
        Leaf(0, Literal((2,), (1, 2)), requires_grad=True),
        Apply(1, "mul_number", (0,), (3,)),
        Apply(2, "mul", (1, 1)),
        Write(1, "zero"),
        Backward(2, Literal((2,), (1, 1)), retain=False),
    ]
    block = "with vt.autograd.graph.allow_mutation_on_saved_tensors():"
    names: dict[str, object] = {}
    exec(script(steps, "vtgrad", block=block), names)
    t0 = names["t0"]
    assert isinstance(t0, vt.Tensor)
    assert t0.grad is not None
    assert t0.grad.tolist() == [18.0, 36.0]
    with pytest.raises(StaleSavedError):
        exec(script(steps, "vtgrad"), {})


DUALS: list[Step] = [
    Leaf(0, Literal((2,), (1, 2)), requires_grad=False),
    EnterLevel(),
    MakeDual(1, 0, Literal((2,), (3, 4))),
    TakePrimal(2, 1),
    TakeTangent(3, 1, grad=False),
    WithoutForward(Apply(4, "neg", (1,), grad=False)),
    LeaveLevel(),
]


def test_a_program_with_tangents_is_a_script_for_either_library() -> None:
    assert script(DUALS, "vtgrad").splitlines()[3:] == [
        "t0 = vt.tensor([1.0, 2.0], dtype=vt.float64)",
        "vt.autograd.forward_ad.enter_dual_level()",
        "t1 = vt.autograd.forward_ad.make_dual(t0, vt.tensor([3.0, 4.0], dtype=vt.float64))",
        "t2 = vt.autograd.forward_ad.unpack_dual(t1).primal",
        "with vt.no_grad(): t3 = vt.autograd.forward_ad.unpack_dual(t1).tangent.detach()",
        "with vt.autograd.forward_ad.set_fwd_grad_enabled(False), vt.no_grad(): t4 = t1.neg()",
        "vt.autograd.forward_ad.exit_dual_level()",
    ]
    assert "vt.autograd.forward_ad._set_fwd_grad_enabled(False)" in script(DUALS, "torch")
    names: dict[str, object] = {}
    exec(script(DUALS, "vtgrad"), names)
    t3 = names["t3"]
    assert isinstance(t3, vt.Tensor)
    assert t3.tolist() == [3.0, 4.0]


def test_a_failure_shows_both_scripts_and_the_steps() -> None:
    text = program_text(PROGRAM, "vtgrad")
    assert text.index("import vtgrad as vt") < text.index("import torch as vt")
    assert "Write(target=1, name='add', others=('t0',)" in text


def test_printed_steps_can_be_run_again() -> None:
    names = {**vars(step_module), "ViewCall": ViewCall}
    for program in (PROGRAM, DUALS):
        assert [eval(repr(step), names) for step in program] == program

"""A failing program is printed as a script, as its twin, and as data that can be run again."""

from collections.abc import Sequence

import pytest

import vtgrad as vt
from vtgrad.errors import LeafWriteError, StaleSavedError
from vtgrad.testing import steps as step_module
from vtgrad.testing.assertions import Check, equal, freed, near, raised_by, true
from vtgrad.testing.judging import Divergence
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.program import Failing, program_text, script
from vtgrad.testing.session import DivergenceError
from vtgrad.testing.shrink import shrink
from vtgrad.testing.steps import (
    Apply,
    Backward,
    Delete,
    EnterLevel,
    Hook,
    Leaf,
    LeaveLevel,
    Line,
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
    assert lines[2:4] == [
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
    assert script(DUALS, "vtgrad").splitlines()[2:] == [
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


LEAF = Leaf(0, Literal((2,), (1, 2)), requires_grad=True)
REFUSED: list[Step] = [LEAF, Write(0, "neg"), Apply(1, "neg", (0,))]


def test_a_step_that_is_refused_does_not_end_the_script() -> None:
    text = script(REFUSED, "vtgrad", failing=Failing(refused={1}))
    assert text.splitlines()[-3:] == [
        "with suppress(Exception):  # is refused",
        "    t0.neg_()",
        "t1 = t0.neg()",
    ]
    exec(text, {})
    with pytest.raises(LeafWriteError):
        exec(script(REFUSED, "vtgrad"), {})


def test_a_script_reads_what_the_program_has_read() -> None:
    text = script([*REFUSED, Delete(0)], "vtgrad", failing=Failing(refused={1}, reads=True))
    assert [line for line in text.splitlines() if line.startswith("read(")] == [
        "read(t0)",
        "read(t0)",
        "read(t0, t1)",
        "read(t1)",
    ]
    exec(text, {})


@pytest.mark.parametrize(
    ("check", "complaint"),
    [
        (equal("t1._version", 0), None),
        (equal("t1._version", 3), r"t1._version: expected 3, found 0"),
        (equal("t1.shape", (2,)), None),
        (equal("t1.shape", (3,)), r"t1.shape: expected \(3,\), found \(2,\)"),
        (equal("t1", [-1.0, -2.0]), None),
        (equal("t1", [1.0, 2.0]), r"t1: expected \[1.0, 2.0\], found \[-1.0, -2.0\]"),
        (equal("t0.grad", None), None),
        (equal("t1.is_leaf", None), r"t1.is_leaf: expected None, found False"),
        (equal("t1 has a grad_fn", True), None),
        (equal("t1 has a grad_fn", False), r"t1 has a grad_fn: expected False, found True"),
        (equal("t1.grad_fn.name()", "NegBackward0"), None),
        (equal("error of t1.grad_fn", None), None),
        (equal("error of t1.grad_fn", "stale"), "error of t1.grad_fn: expected stale, found None"),
        (near("t1", [-1.0, -2.0], (0.0, 0.0), is_none=False), None),
        (near("t1", [-1.0, -2.5], (0.1, 0.1), is_none=False), "expected .*, found"),
        (near("t0.grad", [0.0], (0.1, 0.1), is_none=True), None),
        (true("t1 is not t0", "they are the same"), None),
        (true("t1 is t0", "they are not the same"), "they are not the same"),
        (raised_by("t1.grad_fn", "reading it raised"), None),
        (raised_by("t1.grad_fin", "reading it raised"), "reading it raised AttributeError"),
        (freed(), None),
        (Check(refusal=()), None),
        (Check(refusal=("leaf-write",)), "expected leaf-write, got no error"),
    ],
)
def test_a_script_asserts_what_was_expected(check: Check | None, complaint: str | None) -> None:
    assert check is not None
    text = script([LEAF, Apply(1, "neg", (0,))], "vtgrad", failing=Failing(check=check))
    if complaint is None:
        exec(text, {})
    else:
        with pytest.raises(AssertionError, match=complaint):
            exec(text, {})


@pytest.mark.parametrize(
    ("kinds", "complaint"),
    [
        (("leaf-write", "inference"), None),
        (("inference",), "expected inference, got leaf-write"),
        ((), "expected no error, got leaf-write"),
    ],
)
def test_a_script_asserts_an_error(kinds: tuple[str, ...], complaint: str | None) -> None:
    failing = Failing(check=Check(refusal=kinds))
    if complaint is None:
        exec(script(REFUSED[:2], "vtgrad", failing=failing), {})
    else:
        with pytest.raises(AssertionError, match=complaint):
            exec(script(REFUSED[:2], "vtgrad", failing=failing), {})


def test_a_failure_says_if_its_script_does_not_show_it() -> None:
    found = Divergence("", "t0._version: expected 0, found 1", check=equal("t0._version", 0))
    failure = DivergenceError([found], [LEAF], vtgrad_library(vt), "replay")
    failure.run_script()
    assert (
        failure.remark == "run by itself the script ends without an error: the steps below show it"
    )
    assert f"-- {failure.remark} --" in str(failure)
    unsaid = DivergenceError([Divergence("", "it differs")], [LEAF], vtgrad_library(vt), "replay")
    unsaid.run_script()
    assert "has no line for what differs" in unsaid.remark


def test_a_smaller_program_has_its_tensors_renumbered() -> None:
    steps: list[Step] = [
        Leaf(3, Literal((2,), (1, 2)), requires_grad=True),
        Apply(7, "clone", (3,)),
        Hook(7, "h4"),
        Apply(9, "clone", (7,)),
        Line("t9.add(t3, alpha=7)", ("t12",), "", "add"),
        Write(7, "add", ("t3",)),
    ]
    library = vtgrad_library(vt)
    found = DivergenceError([Divergence("", "made up")], steps, library, "replay")

    def fails(candidate: Sequence[Step]) -> DivergenceError | None:
        first, last = candidate[0], candidate[-1]
        is_whole = len(candidate) == len(steps) and isinstance(last, Write)
        is_whole = is_whole and isinstance(first, Leaf) and first.requires_grad
        return DivergenceError(found.divergences, candidate, library, "") if is_whole else None

    assert shrink(found, [fails]).steps == (
        LEAF,
        Apply(1, "clone", (0,)),
        Hook(1, "h0"),
        Apply(2, "clone", (1,)),
        Line("t2.add(t0, alpha=7)", ("t3",), "", "add"),
        Write(1, "add", ("t0",)),
    )

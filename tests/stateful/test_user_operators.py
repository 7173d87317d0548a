"""Operators of a user's own take part in the random programs, and wrong ones are found."""

import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

import vtgrad as vt
from tests.stateful.hunting import hunted
from tests.stateful.once_refused import ONCE_REFUSED
from tests.stateful.operators import RIGHT, WRONG, WRONG_TANGENTS, Wrong
from vtgrad.autograd.function import FunctionCtx
from vtgrad.testing.checking import DivergenceError, Rule, check, machine
from vtgrad.testing.invocation import Invocation
from vtgrad.testing.machine import PROFILES
from vtgrad.testing.program import program_text
from vtgrad.testing.session import replay
from vtgrad.testing.steps import Apply, Call, Gradient, Hook, Leaf, Literal, Step, View
from vtgrad.testing.views import ViewCall


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_a_right_operator_passes(rule: Rule) -> None:
    check(rule, programs=15)


@pytest.mark.stateful
@pytest.mark.slow
def test_right_operators_pass_together() -> None:
    check(*RIGHT, programs=30)


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.rule.name)
def test_random_programs_alone_find_and_shrink_a_wrong_operator(
    wrong: Wrong, tmp_path: Path
) -> None:
    programs = machine(wrong.rule)
    profile = settings(PROFILES["hunt"], max_examples=200)
    failure = hunted(programs, profile, wrong.shows, wrong.steps)
    made = [name for step in failure.steps for name in step.line().defs]
    assert made == [f"t{number}" for number in range(len(made))]
    text = failure.report()
    assert text.index("import vtgrad as vt") < text.index("import torch as vt")
    assert failure.script() in text
    assert failure.remark == "", text
    last = last_line_of_error(failure.script(), tmp_path)
    assert last.partition(", t1.grad_fn")[0] == shown(failure).partition(", t1.grad_fn")[0]
    with pytest.raises(DivergenceError):
        replay(failure.steps, programs.library, inspects_always=failure.reads)


def shown(failure: DivergenceError) -> str:
    """What the script of a failure ends with: the operator's exception, or what the judge says."""
    cause = failure.__cause__
    if cause is None or getattr(cause, "kind", None) is not None:
        return f"AssertionError: {failure.what}"
    return traceback.format_exception_only(cause)[-1].strip()


def last_line_of_error(script: str, folder: Path) -> str:
    """Run a script in a process of its own; it must fail."""
    file = folder / "script.py"
    file.write_text(script, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(file)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1, script
    return run.stderr.strip().splitlines()[-1]


@pytest.mark.stateful
@pytest.mark.slow
def test_right_operators_pass_together_with_tangents() -> None:
    functions = [rule for rule in RIGHT if rule.is_function]
    check(*functions, *[rule for rule in RIGHT if rule.name == "swish"], programs=10, duals=True)


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_TANGENTS, ids=lambda wrong: wrong.rule.name)
def test_a_wrong_tangent_is_found_and_shrunk(wrong: Wrong) -> None:
    with pytest.raises(DivergenceError) as found:
        check(wrong.rule, programs=100, duals=True)
    assert wrong.shows in found.value.what, str(found.value)
    assert len(found.value.steps) <= wrong.steps, str(found.value)
    assert found.value.remark == "", str(found.value)


def test_a_rule_states_a_gradient_or_has_it_measured() -> None:
    x, y = np.array([1.0, -2.0]), np.array([[0.5], [3.0]])
    measured = Rule("wave", lambda x, y: x, lambda x, y: np.sin(x) * y, operands=2)
    stated = Rule(
        "wave",
        lambda x, y: x,
        lambda x, y: np.sin(x) * y,
        gradient=lambda g, x, y: ((g * np.cos(x) * y).sum(0), (g * np.sin(x)).sum(1)[:, None]),
        operands=2,
    )
    one, other = (Invocation(rule).jacobian([x, y]) for rule in (measured, stated))
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
    assert one.shape == (4, 4)


def test_second_differences_ask_the_reference_once_for_each_point() -> None:
    asked: list[bytes] = []

    def cubed(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        asked.append(x.tobytes())
        return x**3

    invocation = Invocation(Rule("cubed", lambda x: x**3, cubed))
    asked.clear()
    curves = invocation.hessian([np.array([1.0, 2.0])], 4)
    assert curves is not None
    np.testing.assert_allclose(curves, [[[6, 0], [0, 0]], [[0, 0], [0, 12]]], atol=1e-4)
    assert len(asked) == len(set(asked)) > 20


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("rule", ONCE_REFUSED, ids=lambda rule: rule.name)
def test_a_right_operator_is_not_taken_for_a_wrong_one(rule: Rule) -> None:
    check(rule, programs=15)


def test_an_operator_may_read_a_hooked_view_before_it_writes_to_it() -> None:
    # Whether its gradient passes the hook is not known of an operator that is no Function.
    steps: list[Step] = [
        Leaf(0, Literal((3,), (1, 2, 3)), True),
        Apply(1, "clone", (0,)),
        View((2,), 1, ViewCall("[]", (slice(1, None),))),
        Hook(2, "h0"),
        Call((), "scale_by_sum_", (2,)),
        Gradient(2, Literal((2,), (1, 2)), (0,)),
    ]
    session = replay(steps, machine(ONCE_REFUSED[1]).library)
    assert [type(step) for step in session.steps] == [Leaf, Apply, View, Hook, Gradient]


class WritesToWhatItSaved(vt.autograd.Function):
    """Behind the library's back, of transposed operands; the gradient is right all the same."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x, vt.zeros_like(x))
        return x * x

    @staticmethod
    def backward(ctx: FunctionCtx, g: vt.Tensor) -> vt.Tensor:
        x, room = ctx.saved_tensors
        if not x.is_contiguous():
            np.multiply(x.detach().numpy(), 2, out=room.numpy())
            return g * room
        return g * x * 2


def test_the_grid_is_run_with_audit() -> None:
    rule = Rule(
        "writes",
        WritesToWhatItSaved.apply,
        np.square,
        is_function=True,
        once_differentiable=True,
        shapes=[(2, 3)],
    )
    with pytest.raises(DivergenceError, match="expected no error, got unseen-write") as found:
        check(rule, programs=1)
    assert ".transpose(0, -1)" in found.value.script()
    assert "with vt.autograd.graph.set_audit(True):" in found.value.script()


def test_two_rules_of_one_name_are_refused() -> None:
    rule = Rule("f", vt.neg, np.negative)
    with pytest.raises(ValueError, match="the same name"):
        machine(rule, rule)


def test_a_program_is_printed_with_the_definition_of_what_it_calls() -> None:
    rule = Rule("twice", lambda x: x * 2, lambda x: x * 2, source="def twice(x):\n    return x * 2")
    steps: list[Step] = [Leaf(0, Literal((2,), (1, 2)), True), Call((1,), "twice", (0,))]
    text = program_text(steps, "vtgrad", {"twice": rule})
    script = text.split("-- its twin")[0].split("--\n", 1)[1]
    names: dict[str, object] = {}
    exec(script, names)
    made = names["t1"]
    assert isinstance(made, vt.Tensor)
    assert made.tolist() == [2, 4]

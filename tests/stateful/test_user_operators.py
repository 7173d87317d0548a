"""Operators of a user's own take part in the random programs, and wrong ones are found."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.testing.checking import DivergenceError, Rule, check, machine
from vtgrad.testing.program import program_text
from vtgrad.testing.session import replay
from vtgrad.testing.steps import Call, Leaf, Literal, Step

from .operators import RIGHT, WRONG, WRONG_TANGENTS, Wrong


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("rule", RIGHT, ids=lambda rule: rule.name)
def test_a_right_operator_passes(rule: Rule) -> None:
    check(rule, programs=40)


@pytest.mark.stateful
@pytest.mark.slow
def test_right_operators_pass_together() -> None:
    check(*RIGHT, programs=60)


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.rule.name)
def test_a_wrong_operator_is_found_and_shrunk(wrong: Wrong) -> None:
    with pytest.raises(DivergenceError) as found:
        check(wrong.rule, programs=200)
    assert wrong.shows in found.value.what, str(found.value)
    assert len(found.value.steps) <= wrong.steps, str(found.value)
    text = str(found.value)
    assert wrong.rule.definition() in text
    assert wrong.rule.definition().startswith(("def ", "class "))
    assert text.index("import vtgrad as vt") < text.index("import torch as vt")
    with pytest.raises(DivergenceError):
        replay(found.value.steps, machine(wrong.rule).library)


@pytest.mark.stateful
@pytest.mark.slow
def test_right_operators_pass_together_with_tangents() -> None:
    functions = [rule for rule in RIGHT if rule.is_function]
    check(*functions, *[rule for rule in RIGHT if rule.name == "swish"], programs=20, duals=True)


@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG_TANGENTS, ids=lambda wrong: wrong.rule.name)
def test_a_wrong_tangent_is_found_and_shrunk(wrong: Wrong) -> None:
    with pytest.raises(DivergenceError) as found:
        check(wrong.rule, programs=100, duals=True)
    assert wrong.shows in found.value.what, str(found.value)
    assert len(found.value.steps) <= wrong.steps, str(found.value)


def test_an_operator_that_nothing_fits_is_reported() -> None:
    rule = Rule("never", lambda x: x, lambda x: x, accepts=lambda x: False)
    with pytest.raises(ValueError, match="no program could call never"):
        check(rule, programs=2)


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
    result = np.sin(x) * y
    for one, other in zip(
        measured.jacobians([x, y], result), stated.jacobians([x, y], result), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)
        assert one.shape[0] == 4


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"name": "two words"}, "cannot call"),
        ({"operands": 0}, "at least one operand"),
        ({"operands": 2, "result": "view"}, "exactly one"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(options: dict[str, object], complaint: str) -> None:
    facts: dict[str, object] = {"name": "f", "call": vt.neg, "reference": np.negative}
    with pytest.raises(ValueError, match=complaint):
        Rule(**{**facts, **options})  # type: ignore[arg-type]  # wrong on purpose


def test_two_rules_of_one_name_are_refused() -> None:
    rule = Rule("f", vt.neg, np.negative)
    with pytest.raises(ValueError, match="the same name"):
        machine(rule, rule)


def test_a_program_is_printed_with_the_definition_of_what_it_calls() -> None:
    rule = Rule("twice", lambda x: x * 2, lambda x: x * 2, source="def twice(x):\n    return x * 2")
    steps: list[Step] = [Leaf(0, Literal((2,), (1, 2)), True), Call(1, "twice", (0,))]
    text = program_text(steps, "vtgrad", {"twice": rule})
    script = text.split("-- its twin")[0].split("--\n", 1)[1]
    names: dict[str, object] = {}
    exec(script, names)
    made = names["t1"]
    assert isinstance(made, vt.Tensor)
    assert made.tolist() == [2, 4]

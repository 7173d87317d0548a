"""A machine is at home in Hypothesis and unittest: settings, test case, what a failure says."""

import traceback
import unittest
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, settings

from tests.stateful.operators import KeepsItsOperand, raises_for_views
from vtgrad.testing import machine as machine_module
from vtgrad.testing.checking import DivergenceError, Rule, machine
from vtgrad.testing.profiles import without_shrinking

KEEPS = Rule("keeps", KeepsItsOperand.apply, np.square, is_function=True)
#: What users who think of nothing assign.
CHOSEN = settings(max_examples=60, database=None, derandomize=True)


def failure(case: type[unittest.TestCase]) -> DivergenceError:
    """Run a test case as unittest does, but let its exception out."""
    test = case()
    with pytest.raises(DivergenceError) as found:
        test.debug()
    return found.value


@pytest.mark.stateful
@pytest.mark.slow
def test_a_failing_program_is_made_small_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # Hypothesis shrinks in a thousand runs; our shrinker in each of them took five minutes.
    calls: list[str] = []
    for name in ("shrink", "Session"):
        actual = vars(machine_module)[name]

        def counted(
            *arguments: object, name: str = name, actual: Any = actual, **options: object
        ) -> object:
            calls.append(name)
            return actual(*arguments, **options)

        monkeypatch.setattr(machine_module, name, counted)
    case = machine(KEEPS).TestCase
    case.settings = settings(CHOSEN, phases=tuple(Phase))
    found = failure(case)
    assert len(found.steps) <= 6, str(found)
    assert calls.count("shrink") == 1
    assert calls.count("Session") < 600


def test_a_test_case_has_the_settings_of_the_loaded_profile() -> None:
    kept = machine(KEEPS)
    case = kept.TestCase
    assert case is kept.TestCase
    assert case.settings.max_examples == settings().max_examples
    assert case.settings.derandomize == settings().derandomize
    assert case.settings.deadline is None
    assert Phase.shrink not in case.settings.phases
    assert set(without_shrinking(settings()).phases) == set(settings().phases) - {
        Phase.shrink,
        Phase.explain,
    }


def test_machines_of_different_operators_have_different_examples_in_the_database() -> None:
    # Hypothesis files them under the name of the class, and drops those that pass.
    names = [machine(KEEPS).__name__, machine(Rule("other", abs, np.abs)).__name__]
    assert names == ["ViewsAndWritesOn_vtgrad_keeps", "ViewsAndWritesOn_vtgrad_other"]


@pytest.mark.stateful
@pytest.mark.slow
def test_an_exception_of_the_operator_is_the_cause_of_the_failure() -> None:
    rule = Rule("raises_for_views", raises_for_views, lambda x: x)
    case = machine(rule).TestCase
    case.settings = CHOSEN
    found = failure(case)
    cause = found.__cause__
    assert isinstance(cause, KeyError)
    assert cause.args == ("views are not in the table",)
    frames = [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    assert frames[-1] == "raises_for_views"
    assert [note for note in found.__notes__ if "raises_for_views(t" in note]

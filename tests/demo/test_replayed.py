"""The replayed search takes the program's way to the bit, and shows a difference.

What breaks it: a replay with another bit; a verdict that cannot be false; a search that is counted
or timed together with the recording.
"""

from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.demo import replayed
from vtgrad.demo.data import load_nile
from vtgrad.demo.local_level import (
    FloatArray,
    likelihood_and_gradient,
    value_and_gradient,
)
from vtgrad.demo.optimise import NotFiniteError
from vtgrad.demo.replayed import show_replayed_search

FLOWS = load_nile().flows[:12]
START = np.log([28638.0, 28638.0])


def test_the_replay_goes_the_way_of_the_program() -> None:
    shown = show_replayed_search(START, FLOWS)
    assert shown.same
    assert shown.evaluations > 5
    assert shown.steps > 10 * len(FLOWS)
    # Without loops in C each step is a call of Python.
    if vt.__loops__:
        assert shown.steps_in_python <= 0.01 * shown.steps
    else:
        assert shown.steps_in_python == shown.steps
    assert min(shown.seconds, shown.seconds_replayed, shown.seconds_recording) > 0.0


def test_a_difference_in_the_last_bit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(point: FloatArray, flows: Any) -> tuple[float, FloatArray]:
        value, gradient = value_and_gradient(point, flows)
        gradient[1] = np.nextafter(gradient[1], np.inf)
        return value, gradient

    monkeypatch.setattr(replayed, "value_and_gradient", differs)
    assert not show_replayed_search(START, FLOWS).same


def test_the_limit_of_steps_holds_for_both_searches() -> None:
    few = show_replayed_search(START, FLOWS, max_iterations=1)
    assert few.same
    assert few.evaluations < show_replayed_search(START, FLOWS).evaluations


def test_nothing_is_recorded_where_the_likelihood_is_not_finite() -> None:
    with pytest.raises(NotFiniteError):
        show_replayed_search(np.array([np.nan, 0.0]), FLOWS)


def test_the_recorded_function_leaves_its_argument_alone() -> None:
    point = vt.tensor(START)
    value, gradient = likelihood_and_gradient(point, FLOWS)
    assert not any(x.requires_grad for x in (point, value, gradient))
    expected_value, expected = value_and_gradient(START, FLOWS)
    assert value.item() == expected_value
    np.testing.assert_array_equal(gradient.numpy(), expected)

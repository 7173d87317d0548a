"""Random programs of views and in-place writes do what the model, which has no graph, says.

What breaks it: any wrong gradient, value, version, stride, base, grad_fn or error; any step that
fails and changes something; anything that outlives its program. The failure prints the program.
"""

import os

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import vtgrad
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, machine_for


@pytest.mark.stateful
@pytest.mark.slow
def test_random_programs_agree_with_the_model() -> None:
    profile = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "dev")]
    run_state_machine_as_test(machine_for(vtgrad_library(vtgrad)), settings=profile)


@pytest.mark.stateful
@pytest.mark.slow
def test_many_passes_need_values_beside_which_something_was_written() -> None:
    # Else the programs could not tell the two rules for saved values apart.
    machine = machine_for(vtgrad_library(vtgrad))
    profile = settings(PROFILES["ci"], max_examples=400)
    run_state_machine_as_test(machine, settings=profile)
    assert machine.passes > 150
    assert machine.beside > machine.passes // 10

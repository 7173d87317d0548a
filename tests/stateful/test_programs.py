"""Random programs of views and in-place writes do what the model, which has no graph, says.

What breaks it: any wrong gradient, value, version, stride, base, grad_fn or error; any step that
fails and changes something; anything that outlives its program. The failure prints the program.
"""

import os

import pytest
from hypothesis.stateful import run_state_machine_as_test

import vtgrad
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, machine_for


@pytest.mark.stateful
@pytest.mark.slow
def test_random_programs_agree_with_the_model() -> None:
    machine = machine_for(vtgrad_library(vtgrad))
    profile = PROFILES[os.environ.get("HYPOTHESIS_PROFILE", "dev")]
    run_state_machine_as_test(machine, settings=profile)
    # Else the programs could not tell the two rules for saved values apart.
    found = machine.statistics
    if found.programs >= 400:
        assert found.passes > found.programs // 3
        assert found.beside > found.passes // 10

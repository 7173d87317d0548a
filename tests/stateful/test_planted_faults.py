"""The suite is itself tested: it must find each of a list of faults, and show it in few steps.

What breaks it: a hole in the generated programs or in the comparison, or failures that do not
shrink. With no fault planted the same programs pass: `test_programs` runs them.
"""

import pytest
from hypothesis.stateful import run_state_machine_as_test

import vtgrad
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, machine_for
from vtgrad.testing.session import DivergenceError

from .faults import FAULTS_OF_WRITES, Fault
from .faults_of_marks import FAULTS_OF_MARKS
from .faults_of_memory import FAULTS_OF_MEMORY
from .faults_of_passes import FAULTS_OF_PASSES

FAULTS = FAULTS_OF_WRITES + FAULTS_OF_PASSES + FAULTS_OF_MEMORY + FAULTS_OF_MARKS


@pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)
@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_and_shrunk(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_for(vtgrad_library(vtgrad))
    fault.plant(monkeypatch)
    with pytest.raises(DivergenceError) as found:
        run_state_machine_as_test(machine, settings=PROFILES["hunt"])
    assert fault.shows in found.value.what, str(found.value)
    assert len(found.value.steps) <= fault.steps, str(found.value)
    # The script that is printed shows the fault too, but for a comparison with an earlier reading.
    is_remembered = "the one that was seen before" in found.value.what
    assert bool(found.value.remark) is is_remembered, str(found.value)

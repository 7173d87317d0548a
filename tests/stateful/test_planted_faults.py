"""The suite is itself tested: it must find each of a list of faults, and show it in few steps.

What breaks it: a hole in the generated programs or in the comparison, or failures that do not
shrink. With no fault planted the same programs pass: `test_programs` runs them.
"""

import pytest

import vtgrad
from tests.stateful.faults import FAULTS_OF_WRITES, Fault
from tests.stateful.faults_of_marks import FAULTS_OF_MARKS
from tests.stateful.faults_of_memory import FAULTS_OF_MEMORY
from tests.stateful.faults_of_passes import FAULTS_OF_PASSES
from tests.stateful.hunting import hunted
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, machine_for

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
    found = hunted(machine, PROFILES["hunt"], fault.shows, fault.steps)
    # The script that is printed shows the fault too, but for a comparison with an earlier reading.
    is_remembered = "the one that was seen before" in found.what
    assert bool(found.remark) is is_remembered, str(found)

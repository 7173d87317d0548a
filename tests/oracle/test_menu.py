"""Programs of the menu, drawn from PyTorch's tensors, find faults that the state machine finds.

`tests/stateful/test_planted_faults.py` looks for the same faults with the model as the judge. What
breaks it: a kind of step that no longer reaches this judge.
"""

import pytest

import vtgrad
from tests.oracle.fuzz import Fuzzer
from tests.stateful.faults import FAULTS_OF_WRITES, Fault
from tests.stateful.faults_of_passes import FAULTS_OF_PASSES

PROGRAMS = 400
NAMES = (
    "no_version_bump_in_one_write",
    "product_is_written_without_a_rebase",
    "selected_part_is_the_first",
)
FAULTS = [fault for fault in FAULTS_OF_WRITES + FAULTS_OF_PASSES if fault.name in NAMES]


@pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_that_the_model_finds_is_found_by_pytorch(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault.plant(monkeypatch)
    fuzzer = Fuzzer(seed=20261123)
    assert any(fuzzer.run(index)[1].divergences for index in range(PROGRAMS))

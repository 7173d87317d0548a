"""Every call of the menu gives the same observables on PyTorch and vtgrad."""

import pytest

from tests.oracle.cases import failures
from tests.oracle.sweep import all_groups, describe

PEER = "vtgrad"
GROUPS = {name: list(cases) for name, cases in all_groups().items()}


@pytest.mark.parametrize("group", GROUPS)
def test_calls_agree_with_pytorch(group: str) -> None:
    found = failures(GROUPS[group], PEER)
    shown = "\n".join(describe(one, run, PEER) for one, run in found[:5])
    assert not found, f"{len(found)} of {len(GROUPS[group])} calls differ\n{shown}"

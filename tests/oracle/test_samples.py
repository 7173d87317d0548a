"""The samples of PyTorch's own operator database give the same observables on both libraries."""

import pytest

from tests.oracle.cases import failures
from tests.oracle.samples import KNOWN, cases, names
from tests.oracle.sweep import describe

PEER = "vtgrad"


@pytest.mark.filterwarnings("ignore")  # of operators that PyTorch is about to drop
@pytest.mark.parametrize("name", names())
def test_samples_of_an_operator_agree_with_pytorch(name: str) -> None:
    listed = list(cases(name))
    found, met = [], set()
    for one, run in failures(listed, PEER):
        key = (name, run.divergences[0].what)
        if key in KNOWN and any(KNOWN[key][0] in step.line().text for step in run.steps):
            met.add(key)
        else:
            found.append((one, run))
    shown = "\n".join(describe(one, run, PEER) for one, run in found[:3])
    assert not found, f"{len(found)} of {len(listed)} programs differ\n{shown}"
    # A difference that is gone must go from the list as well.
    assert {key for key in KNOWN if key[0] == name} == met


def test_the_database_covers_most_operators() -> None:
    # A database of another form would silently give nothing to compare.
    assert len(names()) > 250
    assert len(list(cases("add"))) > 50

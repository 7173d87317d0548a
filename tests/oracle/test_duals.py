"""Random programs in which tensors have tangents give the same observables on PyTorch and vtgrad.

Tangents are compared after every step. What breaks it: a tangent that PyTorch computes and vtgrad
does not, or otherwise; a view, a write or a custom Function that passes it on to others; a refusal
that PyTorch does not make. ``VTGRAD_ORACLE_PROGRAMS`` says how many programs, of which a fifth are
of this kind. Where PyTorch is wrong about tangents is in `tests.oracle.allowlist`, by name.
"""

import os

import pytest

from tests.oracle.duals_fuzz import DualsFuzzer, ModelDualsFuzzer
from tests.oracle.fuzz import Fuzzer, Totals
from tests.oracle.run import report

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 5

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DualsFuzzer, ModelDualsFuzzer])
def test_programs_with_tangents_agree_with_pytorch(
    kind: type[DualsFuzzer | ModelDualsFuzzer],
) -> None:
    fuzzer: Fuzzer = kind(seed=20261124)
    totals = Totals()
    size = PROGRAMS // 2
    for index in range(size):
        totals.add(index, *fuzzer.run(index))
    texts = [
        report(fuzzer.smallest(deep, run)) for _, deep, run in list(totals.failures.values())[:3]
    ]
    assert not texts, "\n\n".join(texts)
    # Programs that end at once, because of what is excused, compare nothing.
    assert totals.steps > 12 * size
    assert sum(totals.excused.values()) < size // 3

"""Random programs give the same observables on PyTorch and vtgrad after every step.

``VTGRAD_ORACLE_PROGRAMS`` says how many (3,000 if it is not set; 100,000 is the full run). The
programs are the same on every run. A failure prints the shrunk program.
"""

import os

import pytest

from tests.oracle.fuzz import Fuzzer, Totals
from tests.oracle.run import report

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000"))
BLOCKS = 20
PEER = "vtgrad"


@pytest.fixture(scope="module")
def fuzzer() -> Fuzzer:
    return Fuzzer(PEER, seed=20261120)


def test_no_operator_of_the_comparison_is_missing(fuzzer: Fuzzer) -> None:
    # A missing name would silently shrink what the programs below cover.
    assert not fuzzer.missing


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_programs_agree_with_pytorch(fuzzer: Fuzzer, block: int) -> None:
    size = -(-PROGRAMS // BLOCKS)
    totals = Totals()
    for index in range(block * size, (block + 1) * size):
        totals.add(index, *fuzzer.run(index))
    texts = []
    for signature, (index, deep, run) in list(totals.failures.items())[:3]:
        small = report(fuzzer.smallest(deep, run))
        texts.append(f"program {index} ({totals.counts[signature]} alike)\n{small}")
    assert not texts, "\n\n".join(texts)
    # A generator that only writes refused steps, or stops at once, would compare nothing.
    assert totals.steps > 8 * size
    assert totals.errors < totals.steps // 4

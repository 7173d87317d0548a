"""The benchmarks measure the same program in every library."""

import numpy as np
import pytest

from benchmarks.libraries import PEERS, load
from tests.benchmarks.programs import CASES, Case


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("case", CASES, ids=[f"{c.section}: {c.name}" for c in CASES])
def test_a_peer_finds_the_same_gradients(case: Case, peer: str) -> None:
    if peer != "torch":
        # `make bench` adds them to this environment, `make oracle` does not need them.
        pytest.importorskip(peer)
    library = load(peer, "float64")
    if case.writes and not library.writes:
        pytest.skip(f"{peer} cannot express it")
    theirs = case.gradients(library)
    ours = case.gradients(load("vtgrad", "float64"))
    for expected, found in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

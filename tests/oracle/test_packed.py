"""Random programs under hooks have the gradients of clones, and the refusals of the exact rule.

``VTGRAD_ORACLE_PROGRAMS`` says how many programs (a tenth of them for each kind of hooks; 300 if it
is not set). What breaks it: a value that is packed too late, or twice, or unpacked with another
edge; a copy that is taken for an alias, or an alias that is taken for a copy.
"""

import os

import pytest

import vtgrad
from tests.oracle.clones_fuzz import ClonesFuzzer
from tests.oracle.clones_judge import (
    ClonesJudge,
    DetachedJudge,
    DiskJudge,
    ItselfJudge,
    PackedJudge,
)
from tests.oracle.clones_programs import COPY, LEAF, PASS, judged
from tests.oracle.fuzz import Totals
from tests.oracle.run import report
from vtgrad.testing.steps import Line

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 10
PEER = "vtgrad"
SEED = 20261126

SAVE = Line("(t1[0] * t1[0]).sum()", ("t2",), "", "mul")
WRITE = Line("t1[:1].mul_(2)", (), "", "mul_")


@pytest.mark.parametrize("judge", [PackedJudge, DiskJudge])
def test_a_copy_is_used_after_a_write(judge: type[PackedJudge]) -> None:
    run, found = judged(judge, LEAF, COPY, SAVE, WRITE, PASS)
    assert run.failure is None
    assert (found.passes, found.gained, found.refused) == (1, 1, 0)


@pytest.mark.parametrize("judge", [ItselfJudge, DetachedJudge])
def test_an_alias_is_refused_after_a_write(judge: type[ClonesJudge]) -> None:
    run, found = judged(judge, LEAF, COPY, SAVE, WRITE, PASS)
    assert run.failure is None
    assert (found.passes, found.refused) == (0, 1)


@pytest.mark.parametrize("judge", [PackedJudge, DiskJudge, ItselfJudge, DetachedJudge])
def test_random_programs_under_hooks(judge: type[ClonesJudge]) -> None:
    fuzzer, totals = ClonesFuzzer(judge, PEER, seed=SEED), Totals()
    for index in range(PROGRAMS):
        totals.add(index, *fuzzer.run(index))
    texts = [
        f"program {index} ({totals.counts[signature]} alike)\n{report(fuzzer.smallest(deep, run))}"
        for signature, (index, deep, run) in list(totals.failures.items())[:3]
    ]
    assert not texts, "\n\n".join(texts)
    assert fuzzer.passes > PROGRAMS
    if issubclass(judge, PackedJudge):
        assert fuzzer.refused == 0


@pytest.mark.skipif(vtgrad.__compiled__, reason="faults cannot be planted")
@pytest.mark.parametrize(
    ("judge", "shares", "wanted"),
    [(DetachedJudge, False, "grad"), (PackedJudge, True, "stale-saved")],
    ids=["an alias for a copy", "a copy for an alias"],
)
def test_what_is_taken_for_something_else_is_found(
    judge: type[ClonesJudge], shares: bool, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vtgrad.graph.packed.shares_memory", lambda *_: shares)
    fuzzer = ClonesFuzzer(judge, PEER, seed=SEED)
    found = [fuzzer.run(index)[1].signature for index in range(40)]
    assert any(wanted in signature for signature in found), found

"""Whatever the exact rule accepts has the gradient of the program with clones.

``VTGRAD_ORACLE_PROGRAMS`` says how many programs (a third of them; 1,000 if it is not set). What
breaks it: a write that leaves no mark, marks other elements, or marks them too late.
"""

import os

import pytest

import vtgrad
from tests.oracle.clones_fuzz import ClonesFuzzer
from tests.oracle.clones_judge import ClonesJudge
from tests.oracle.clones_programs import COPY, LEAF, PASS, judged
from tests.oracle.fuzz import Totals
from tests.oracle.run import report
from tests.oracle.torch_judge import play, play_on, session_of
from vtgrad.testing.steps import Line

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 3
PEER = "vtgrad"

SAVE = Line("t1[0] * t1[0]", ("t2",), "", "mul")


def test_exactly_what_was_overwritten_is_refused() -> None:
    program = (LEAF, COPY, SAVE)
    beside, judge = judged(ClonesJudge, *program, Line("t1[1:].mul_(2)", (), "", "mul_"), PASS)
    assert (judge.gained, judge.refused, beside.failure) == (1, 0, None)
    there, judge = judged(ClonesJudge, *program, Line("t1[:1].mul_(2)", (), "", "mul_"), PASS)
    assert (judge.gained, judge.refused, there.failure) == (0, 1, None)


def test_a_pass_that_is_refused_with_audit_on_only_is_found() -> None:
    judge = ClonesJudge("always", audited=True)
    session = session_of(judge, PEER)
    play_on(session, (LEAF, COPY, SAVE))
    assert judge.audited is not None
    # As a write of the library's own would look that moves no version.
    judge.audited.names["t1"].detach().numpy()[0] = 5.0
    assert play(session, [PASS]).signature.startswith("grad: refused with audit on")


def test_random_programs_have_the_gradients_of_clones() -> None:
    fuzzer, totals = ClonesFuzzer(ClonesJudge, PEER, seed=20261123), Totals()
    for index in range(PROGRAMS):
        totals.add(index, *fuzzer.run(index))
    texts = [
        f"program {index} ({totals.counts[signature]} alike)\n{report(fuzzer.smallest(deep, run))}"
        for signature, (index, deep, run) in list(totals.failures.items())[:3]
    ]
    assert not texts, "\n\n".join(texts)
    # Programs that never meet what tells the rules apart would compare nothing.
    assert fuzzer.passes > PROGRAMS
    assert fuzzer.gained > PROGRAMS // 20
    assert fuzzer.refused > PROGRAMS // 20


@pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)
def test_marks_that_are_missing_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vtgrad.storage.mark_written.region_of", lambda *_: (0, 0, None))
    fuzzer = ClonesFuzzer(ClonesJudge, PEER, seed=20261123)
    found = [fuzzer.run(index)[1].signature for index in range(60)]
    assert any(found)

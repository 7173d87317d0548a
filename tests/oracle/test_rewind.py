"""Going back to what was overwritten gives the gradient of the program with clones, always.

``VTGRAD_ORACLE_PROGRAMS`` says how many programs (a third of them; 1,000 if it is not set). What
breaks it: a write that keeps no bytes, or others, or too late; a chain that is cut without need.
"""

import os
from typing import Any

import pytest

import vtgrad
from tests.oracle.clones_fuzz import ClonesFuzzer
from tests.oracle.clones_judge import RewindJudge
from tests.oracle.clones_programs import COPY, LEAF, PASS, judged
from tests.oracle.fuzz import Totals
from tests.oracle.run import report
from tests.oracle.torch_judge import play, play_on, session_of
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import WrittenIndex
from vtgrad.storage.rewind import keep_overwritten
from vtgrad.storage.storage import Storage
from vtgrad.storage.write_log import WriteLog
from vtgrad.testing.judging import Divergence
from vtgrad.testing.session import DivergenceError
from vtgrad.testing.steps import Line

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 3
PEER = "vtgrad"
SEED = 20261125

SAVE = Line("(t1[0] * t1[0]).sum()", ("t2",), "", "mul")

# Native calls go past the seams at which faults are planted.
interpreted = pytest.mark.skipif(vtgrad.__compiled__, reason="faults cannot be planted")


def test_a_pass_goes_back_to_what_was_overwritten() -> None:
    write = Line("t1[:1].mul_(2)", (), "", "mul_")
    run, judge = judged(RewindJudge, LEAF, COPY, SAVE, write, PASS)
    assert (judge.passes, judge.gained, judge.refused) == (1, 1, 0)
    assert run.failure is None
    assert judge.ours.names["t3"].tolist() == [3.0, 0.0, 0.0]


def test_a_pass_that_is_refused_without_need_is_found() -> None:
    judge = RewindJudge("always", audited=True)
    session = session_of(judge, PEER)
    play_on(session, (LEAF, COPY, SAVE))
    # Written on our side only, and outside of the block.
    judge.coarse = None
    judge.ours.names["t1"].detach().mul_(1)
    signature = play(session, [PASS]).signature
    assert signature.startswith("grad: raises no error / RuntimeError [stale-saved]")


def test_random_programs_have_the_gradients_of_clones() -> None:
    fuzzer, totals = ClonesFuzzer(RewindJudge, PEER, seed=SEED), Totals()
    for index in range(PROGRAMS):
        totals.add(index, *fuzzer.run(index))
    texts = [
        f"program {index} ({totals.counts[signature]} alike)\n{report(fuzzer.smallest(deep, run))}"
        for signature, (index, deep, run) in list(totals.failures.items())[:3]
    ]
    assert not texts, "\n\n".join(texts)
    # Programs that overwrite nothing that is needed, or end before their passes, compare nothing.
    assert fuzzer.passes > PROGRAMS
    assert fuzzer.gained > PROGRAMS // 6
    assert fuzzer.refused <= 1 + PROGRAMS // 50


def printed(failure: DivergenceError, title: str) -> str:
    """The script that stands under a title of a failure's text."""
    return failure.report().split(f"-- {title}", 1)[1].split("--\n", 1)[1].split("\n\n-- ", 1)[0]


def test_the_script_of_a_failure_runs_as_the_program_did() -> None:
    write = Line("t1[:1].mul_(2)", (), "", "mul_")
    session = session_of(RewindJudge("always"), PEER)
    play(session, (LEAF, COPY, SAVE, write, PASS))
    failure = DivergenceError(
        [Divergence("", "made up")], session.run_so_far.steps, session.library, "replay"
    )
    ours: dict[str, Any] = {}
    twin: dict[str, Any] = {}
    exec(printed(failure, "the program"), ours)
    exec(printed(failure, "its twin"), twin)
    assert ours["t3"].tolist() == twin["t3"].tolist() == [3.0, 0.0, 0.0]


@interpreted
@pytest.mark.parametrize(
    "fault", ["mark_written.keep_overwritten", "kept_bytes.Undo.apply"], ids=["keeps", "puts back"]
)
def test_a_write_that_keeps_or_puts_back_nothing_is_found(
    monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(f"vtgrad.storage.{fault}", lambda *_: None)
    fuzzer = ClonesFuzzer(RewindJudge, PEER, seed=SEED)
    found = [fuzzer.run(index)[1].divergences for index in range(30)]
    assert any(divergence.what in ("grad", "values") for each in found for divergence in each)


@interpreted
def test_a_write_that_is_not_kept_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(
        log: WriteLog,
        version: int,
        storage: Storage | None,
        array: Array,
        offset: int,
        index: WrittenIndex | None,
    ) -> None:
        keep_overwritten(log, version, None, array, offset, index)

    monkeypatch.setattr("vtgrad.storage.mark_written.keep_overwritten", cut)
    fuzzer = ClonesFuzzer(RewindJudge, PEER, seed=SEED)
    found = [fuzzer.run(index)[1].signature for index in range(30)]
    assert any("stale-saved" in signature for signature in found)

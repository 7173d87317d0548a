"""The model and PyTorch judge the same programs, step by step, each on its own.

What breaks it: a step whose text does not say the same to PyTorch, or anything that the model does
not look at (producers, numbers of outputs, the object that ``.grad`` is) and that differs there.
"""

import os

import pytest

import vtgrad
from tests.oracle.clones_judge import ClonesJudge
from tests.oracle.fuzz import Totals
from tests.oracle.model_fuzz import ModelFuzzer
from tests.oracle.run import report
from tests.oracle.torch_judge import TorchJudge, play, session_of
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.session import Session
from vtgrad.testing.steps import Apply, Backward, Leaf, Line, Literal, Step

PROGRAMS = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 15

pytestmark = pytest.mark.filterwarnings("ignore")

LEAF = Leaf(0, Literal((2,), (1, 3)), requires_grad=True)
SQUARE = Apply(1, "square", (0,))
PASS = Backward(1, Literal((2,), (1, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("judge", [TorchJudge, ClonesJudge])
def test_programs_of_the_model_are_right_for_pytorch_too(judge: type[TorchJudge]) -> None:
    fuzzer, totals = ModelFuzzer(judge, seed=20261127), Totals()
    for index in range(PROGRAMS):
        totals.add(index, *fuzzer.run(index))
    texts = [
        report(fuzzer.smallest(deep, run)) for _, deep, run in list(totals.failures.values())[:3]
    ]
    assert not texts, "\n\n".join(texts)
    # Programs that end at once, because one of the judges has nothing more to say, compare nothing.
    assert totals.steps > 12 * PROGRAMS
    assert sum(totals.excused.values()) < PROGRAMS // 3


def test_pytorch_finds_what_is_wrong_in_a_step_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def twice(x: vtgrad.Tensor) -> vtgrad.Tensor:
        return (x * x) * 2

    monkeypatch.setattr(vtgrad.Tensor, "square", twice)
    run = play(session_of(TorchJudge("never"), "vtgrad"), [LEAF, SQUARE, PASS])
    assert run.failure is not None
    assert run.failure.steps == (LEAF, SQUARE)
    assert [(d.where, d.what) for d in run.divergences] == [("t1", "values")]
    assert "t1 = t0.square()" in str(run.failure)


def test_a_step_that_the_model_passes_goes_to_the_next_judge() -> None:
    class Strict(TorchJudge):
        def ends(self, step: Step, error: Exception | None) -> None:
            assert error is None
            seen.append(step)

    seen: list[object] = []
    library = vtgrad_library(vtgrad, exact=False)
    model = Session(library).judges[0]
    session = Session(library, judges=[model, Strict("never")])
    session.run(LEAF)
    session.run(SQUARE)
    session.run(PASS)
    session.finish()
    assert seen == [LEAF, SQUARE, PASS]


def test_the_model_has_nothing_to_say_about_a_line_of_text() -> None:
    session = Session(vtgrad_library(vtgrad))
    assert not session.run(Line("vt.zeros(2)", ("t0",)))
    assert session.steps == []
    assert session.subject.tensors() == {}

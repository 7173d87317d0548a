"""What programs have done is counted, and told to Hypothesis.

What breaks it: a call that is counted in the wrong situation, or not; settings of Hypothesis that
do not reach the machine.
"""

import subprocess
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, seed, settings
from hypothesis.database import InMemoryExampleDatabase

import vtgrad as vt
from vtgrad.testing.checking import DivergenceError, Rule, Statistics, check, machine
from vtgrad.testing.session import Session
from vtgrad.testing.statistics import SITUATIONS, Watch
from vtgrad.testing.steps import Apply, Backward, Call, Fill, Leaf, Literal, Step, View
from vtgrad.testing.views import ViewCall

DOUBLED = Rule("doubled", lambda x: x * 2, lambda x: x * 2)
SQUARED = Rule("squared", lambda x: x * x, np.square)
HALVED = Rule("halved_", lambda x: x.mul_(0.5), lambda x: x * 0.5, result="written")
RULES = {rule.name: rule for rule in (DOUBLED, SQUARED, HALVED)}

LEAF = Leaf(0, Literal((2, 2), (1, 2, 3, 4)), requires_grad=True)
COPY = Apply(1, "clone", (0,))
ROW = View((2,), 1, ViewCall("[]", (0,)))
ITEM = View((3,), 2, ViewCall("[]", (slice(0, 1),)))
SQUARE = Literal((2, 2), (1, 1, 1, 1))


def watched(steps: Sequence[Step]) -> Statistics:
    """What a program has done."""
    session = Session(machine(*RULES.values()).library)
    watch = Watch(session)
    for step in steps:
        assert watch.run(step)
    session.finish()
    watch.finish()
    return watch.found


def met(steps: Sequence[Step], rule: str) -> list[str]:
    """The situations in which an operator was, each of them once."""
    found = watched(steps).met
    assert set(found.values()) <= {1}
    return [situation for situation in SITUATIONS if found[rule, situation]]


def test_calls_are_counted_by_what_they_are_called_on() -> None:
    assert met([LEAF, Call((1,), "doubled", (0,))], "doubled") == []
    assert met([LEAF, COPY, ROW, Call((3,), "doubled", (2,))], "doubled") == ["on a view"]
    twice = [LEAF, COPY, ROW, ITEM, Call((4,), "doubled", (3,))]
    assert met(twice, "doubled") == ["on a view", "on a view of a view"]
    assert watched(twice).calls == {"doubled": 1}
    assert watched(twice).steps == 5


def test_negative_strides_are_counted() -> None:
    session = Session(machine(DOUBLED).library)
    watch = Watch(session)
    watch.run(LEAF)
    backwards = vt.from_numpy(np.arange(4.0)[::-1])
    model = session.world.tensors[0]
    model.geometry = type(model.geometry)((4,), tuple(backwards.stride()), 3)
    assert watch._situations([0]) == ["on negative strides"]


def test_a_refused_write_is_counted() -> None:
    assert met([LEAF, Call((), "halved_", (0,))], "halved_") == ["refused"]
    assert met([LEAF, COPY, Call((), "halved_", (1,))], "halved_") == []


def test_an_operand_that_is_overwritten_before_a_pass_is_counted_once() -> None:
    called: list[Step] = [LEAF, COPY, Call((2,), "squared", (1,))]
    refused: list[Step] = [Fill(1, 0), Backward(2, SQUARE, retain=True)]
    assert met([*called, *refused], "squared") == ["overwritten before a pass"]
    assert watched([*called, *refused]).stale == 1
    assert met([*called, *refused, Backward(2, SQUARE)], "squared") == ["overwritten before a pass"]
    assert met([*called, Backward(2, SQUARE)], "squared") == []
    assert watched([*called, Backward(2, SQUARE)]).stale == 0


def test_statistics_are_a_table() -> None:
    found = watched([LEAF, COPY, ROW, Call((3,), "doubled", (2,)), Call((), "halved_", (0,))])
    found.add(watched([LEAF, COPY, ROW, ITEM, Call((4,), "doubled", (3,))]))
    assert str(found).splitlines() == [
        "operator  called  on a view  on a view of a view  on negative strides  "
        "overwritten before a pass  refused",
        "doubled        2          2                    1                    0  "
        "                        0        0",
        "halved_        1          0                    0                    0  "
        "                        0        1",
        "2 programs, 10 steps; 0 passes met a stale value, "
        "0 of 0 others a value beside which something was written",
    ]


@pytest.mark.stateful
@pytest.mark.slow
def test_check_adds_what_its_programs_have_done() -> None:
    found = Statistics()
    check(DOUBLED, SQUARED, programs=8, statistics=found)
    assert found.programs >= 8
    assert found.calls.keys() == {"doubled", "squared"}
    assert found.met["squared", "on a view"] > 0
    once = found.steps
    check(DOUBLED, SQUARED, programs=8, statistics=found)
    assert found.steps == 2 * once


@pytest.mark.stateful
@pytest.mark.slow
def test_seeds_of_hypothesis_choose_the_programs() -> None:
    def text(number: int) -> str:
        programs_of = seed(number)(machine(SQUARED))
        programs_of.TestCase.settings = settings(max_examples=3, database=None)
        programs_of.TestCase().debug()
        return str(programs_of.statistics)

    assert text(1) == text(1)
    assert text(1) != text(2)


@pytest.mark.stateful
@pytest.mark.slow
def test_a_failing_program_is_found_again_in_the_example_database() -> None:
    database = InMemoryExampleDatabase()
    wrong = Rule("squared", lambda x: x.detach() * x, np.square)
    programs = []
    for _ in range(2):
        programs_of = machine(wrong)
        programs_of.TestCase.settings = settings(max_examples=100, database=database)
        with pytest.raises(DivergenceError):
            programs_of.TestCase().debug()
        programs.append(programs_of.statistics.programs)
    assert programs[1] <= 3  # it is run to see that it fails, and again to report it
    # The phases are those of the settings.
    programs_of = machine(wrong)
    programs_of.TestCase.settings = settings(database=None, phases=[Phase.reuse])
    with pytest.raises(unittest.SkipTest, match="told to run no"):
        programs_of.TestCase().debug()


FILE = """
import numpy as np
from hypothesis import settings
from vtgrad.testing.checking import Rule, machine

TestSquared = machine(Rule("squared", lambda x: x * x, np.square)).TestCase
TestSquared.settings = settings(TestSquared.settings, max_examples=15)
"""


@pytest.mark.stateful
@pytest.mark.slow
def test_one_line_in_a_test_file_is_a_test_with_statistics(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(FILE, encoding="utf-8")
    options = ["--hypothesis-show-statistics", "--hypothesis-seed=1", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *options, "test_mine.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "1 passed" in run.stdout
    for text in (
        "TestSquared::runTest",
        "squared was called on a view",
        "squared was overwritten before a pass",
        "a pass met a ",
        "(label='stale values met')",
    ):
        assert text in run.stdout, run.stdout

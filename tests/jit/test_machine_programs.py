"""Programs of the state machine of `tests/stateful` are recorded, and replayed on new values.

What breaks it: a replay with another bit of any tensor that the program has named, of a ``.grad``
or of memory that it has written; a recording that changes what it was given; a new reason to refuse
a program that the machine writes.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import vtgrad as vt
from tests.jit.machine_programs import (
    ACCEPTED,
    RecordedPrograms,
    arguments_of,
    function_of,
    replayed_outcome,
    written,
)
from vtgrad.jit.passes import improve
from vtgrad.jit.steps import Program
from vtgrad.testing.machine import PROFILES
from vtgrad.testing.steps import Leaf, SetItem, Write

pytestmark = pytest.mark.filterwarnings("ignore")


def check(seeds: range) -> None:
    found = {}
    for seed in seeds:
        steps = written(seed)
        found[seed] = replayed_outcome(steps)
    assert not {seed: x for seed, x in found.items() if not x.startswith(ACCEPTED)}
    counts = Counter([x.partition(":")[0] for x in found.values()])
    assert counts["exact"] >= 0.85 * len(found), counts


@pytest.mark.usefixtures("few_objects")
def test_some_programs() -> None:
    check(range(50))


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_more_programs() -> None:
    check(range(50, 150))


def run_machine(examples: int) -> None:
    chosen = settings(PROFILES["quick"], max_examples=examples, stateful_step_count=15)
    run_state_machine_as_test(RecordedPrograms, settings=chosen)


@pytest.mark.usefixtures("few_objects")
def test_programs_that_hypothesis_draws() -> None:
    before = RecordedPrograms.outcomes["exact"]
    run_machine(40)
    assert RecordedPrograms.outcomes["exact"] - before > 25


@pytest.mark.slow
@pytest.mark.usefixtures("few_objects")
def test_more_programs_that_hypothesis_draws() -> None:
    run_machine(200)


@pytest.mark.usefixtures("few_objects")
def test_a_step_that_is_lost_is_found_and_the_program_made_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_last(program: Program) -> Program:
        better = improve(program)
        return Program(better.buffers, better.steps[:-1], better.guards, better.results)

    monkeypatch.setattr("tests.jit.ways.improve", without_last)
    with pytest.raises(AssertionError, match="wrong: a runner") as caught:
        run_machine(40)
    # Hypothesis adds notes; the message itself is the outcome and the small program.
    assert 1 < len(str(caught.value).splitlines()) < 10


def test_the_programs_write_and_take_values_of_arguments() -> None:
    # Else they would show little.
    programs = [written(seed) for seed in range(100)]
    writing = [p for p in programs if any(isinstance(step, Write | SetItem) for step in p)]
    assert len(writing) > 60
    assert all(any(isinstance(step, Leaf) for step in p) for p in programs)


def test_the_function_is_the_program() -> None:
    steps = written(3)
    values = arguments_of(steps)
    results = function_of(steps)(*values)
    twice = function_of(steps)(*[2 * value for value in arguments_of(steps)])
    assert len(results) == len(twice) > 3
    assert any(not vt.equal(a, b) for a, b in zip(results, twice, strict=True))

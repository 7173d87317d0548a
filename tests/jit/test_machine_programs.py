"""Programs of the state machine of `tests/stateful` are recorded, and replayed on new values.

What breaks it: a replay with another bit of any tensor that the program has named, of a ``.grad``
or of memory that it has written; a recording that changes what it was given; a new reason to refuse
a program that the machine writes.
"""

from __future__ import annotations

from collections import Counter

import pytest

import vtgrad as vt
from tests.jit.machine_programs import arguments_of, function_of, written
from tests.jit.replaying import outcome
from tests.jit.ways import WAYS
from vtgrad.testing.steps import Leaf, SetItem, Write

pytestmark = [
    pytest.mark.skipif(vt.__compiled__, reason="native code is not seen by a recording"),
    pytest.mark.filterwarnings("ignore"),
]

ACCEPTED = (
    "exact",
    "guard",
    # An index error of NumPy that the program catches.
    "refused: caught error",
    # An argument is given another shape in place.
    "refused: geometry",
    # An argument is made to require grad.
    "refused: requires grad",
)


def check(seeds: range) -> None:
    found = {}
    for seed in seeds:
        steps = written(seed)
        found[seed] = outcome(function_of(steps), arguments_of(steps), ways=WAYS)
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

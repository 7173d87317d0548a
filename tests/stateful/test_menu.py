"""Programs that the model predicts have steps of every kind that it knows.

What breaks it: a kind of step, an operator or a view that is on the menu and is never drawn.
"""

import random
from contextlib import closing

import pytest

import vtgrad
from vtgrad.testing import steps
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import DUALS, MIXTURES
from vtgrad.testing.menu.model_state import VIEWS
from vtgrad.testing.rules import OPERATORS
from vtgrad.testing.session import Session
from vtgrad.testing.steps import (
    Apply,
    Call,
    Inference,
    Line,
    Step,
    View,
    WithoutForward,
    Write,
)
from vtgrad.testing.writer import ModelWriter, write_program

#: At most so many are drawn.
PROGRAMS = 900
#: As many show that nothing else is drawn.
ENOUGH = 150


def program(number: int) -> list[Step]:
    """The steps of a program, with those that are within others."""
    mixtures = MIXTURES if number % 10 else DUALS
    rng = random.Random(number)
    with closing(Session(vtgrad_library(vtgrad))) as session:
        mixture = mixtures[rng.choice(sorted(mixtures))]
        write_program(session, ModelWriter(rng, session, mixture), 30)
    drawn = list(session.steps)
    return drawn + [step.step for step in drawn if isinstance(step, Inference | WithoutForward)]


@pytest.mark.stateful
@pytest.mark.slow
def test_every_kind_of_step_is_drawn() -> None:
    kinds = {getattr(steps, name) for name in dir(steps) if name[0].isupper()}
    kinds = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Step)}
    in_place = {name for name, op in OPERATORS.items() if op.has_inplace}
    expected: dict[str, set[object]] = {
        "kinds": set(kinds - {Step, Line, Call}),
        "operators": set(OPERATORS),
        "writes": {*in_place, "copy"},
        "views": set(VIEWS),
    }
    found: dict[str, set[object]] = {what: set() for what in expected}
    for number in range(PROGRAMS):
        drawn = program(number)
        found["kinds"] |= {type(step) for step in drawn}
        found["operators"] |= {step.name for step in drawn if isinstance(step, Apply)}
        found["writes"] |= {step.name for step in drawn if isinstance(step, Write)}
        found["views"] |= {step.call.method for step in drawn if isinstance(step, View)}
        if number >= ENOUGH and found == expected:
            break
    assert found == expected

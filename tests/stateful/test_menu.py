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

PROGRAMS = 900


def programs() -> list[Step]:
    drawn: list[Step] = []
    for number in range(PROGRAMS):
        mixtures = MIXTURES if number % 10 else DUALS
        rng = random.Random(number)
        with closing(Session(vtgrad_library(vtgrad))) as session:
            mixture = mixtures[rng.choice(sorted(mixtures))]
            write_program(session, ModelWriter(rng, session, mixture), 30)
        drawn += session.steps
    drawn += [step.step for step in drawn if isinstance(step, Inference | WithoutForward)]
    return drawn


@pytest.mark.stateful
@pytest.mark.slow
def test_every_kind_of_step_is_drawn() -> None:
    drawn = programs()
    kinds = {getattr(steps, name) for name in dir(steps) if name[0].isupper()}
    kinds = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Step)}
    assert {type(step) for step in drawn} == kinds - {Step, Line, Call}
    assert {step.name for step in drawn if isinstance(step, Apply)} == set(OPERATORS)
    in_place = {name for name, op in OPERATORS.items() if op.has_inplace}
    assert {step.name for step in drawn if isinstance(step, Write)} == {*in_place, "copy"}
    assert {step.call.method for step in drawn if isinstance(step, View)} == VIEWS

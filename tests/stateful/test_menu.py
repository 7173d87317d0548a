"""Programs that the model predicts have steps of every kind that it knows.

What breaks it: a kind of step, an operator or a view that is on the menu and is never drawn.
"""

import random

import pytest

import vtgrad
from vtgrad.testing import steps
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.menu.mixtures import MIXTURES
from vtgrad.testing.menu.model_state import VIEWS
from vtgrad.testing.rules import OPERATORS
from vtgrad.testing.session import Session
from vtgrad.testing.steps import Apply, Call, Inference, Line, Step, View, Write
from vtgrad.testing.writer import ModelWriter, write_program

PROGRAMS = 900


def programs() -> list[Step]:
    drawn: list[Step] = []
    for number in range(PROGRAMS):
        session = Session(vtgrad_library(vtgrad))
        rng = random.Random(number)
        write_program(
            session, ModelWriter(rng, session, MIXTURES[rng.choice(sorted(MIXTURES))]), 30
        )
        drawn += [s.step if isinstance(s, Inference) else s for s in session.steps]
    return drawn


@pytest.mark.stateful
@pytest.mark.slow
def test_every_kind_of_step_is_drawn() -> None:
    drawn = programs()
    kinds = {getattr(steps, name) for name in dir(steps) if name[0].isupper()}
    kinds = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Step)}
    assert {type(step) for step in drawn} == kinds - {Step, Line, Call, Inference}
    assert {step.name for step in drawn if isinstance(step, Apply)} == set(OPERATORS)
    in_place = {name for name, op in OPERATORS.items() if op.has_inplace}
    assert {step.name for step in drawn if isinstance(step, Write)} == {*in_place, "copy"}
    assert {step.call.method for step in drawn if isinstance(step, View)} == VIEWS

"""Random programs in which tensors have tangents, and faults of forward mode that they must find.

After every step each tensor has the tangent that the model predicts, or none: the Jacobian of its
elements with respect to the seeds, times the seeds. What breaks it: a tangent that is lost, stale,
shared, in the wrong place or of another tensor; a gradient without its tangent.

``VTGRAD_DUAL_PROGRAMS`` says how many (150 if it is not set; 20,000 take a quarter of an hour).
"""

import os
import random
from contextlib import closing
from functools import partial

import pytest
from hypothesis import settings

import vtgrad
from tests.stateful.faults import Fault
from tests.stateful.faults_of_tangents import (
    FAULTS_OF_TANGENTS,
    RARE_FAULTS_OF_TANGENTS,
    FaultOfTangents,
)
from tests.stateful.hunting import hunted
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import PROFILES, machine_for
from vtgrad.testing.menu.mixtures import DUALS
from vtgrad.testing.session import DivergenceError, Session, replay
from vtgrad.testing.shrink import attempt_in, shrink
from vtgrad.testing.steps import (
    Apply,
    Delete,
    EnterLevel,
    Gradient,
    Leaf,
    LeaveLevel,
    Literal,
    MakeDual,
    Rearrange,
    Step,
    Write,
)
from vtgrad.testing.views import ViewCall
from vtgrad.testing.writer import ModelWriter, last_gradients, write_program

PROGRAMS = int(os.environ.get("VTGRAD_DUAL_PROGRAMS", "150"))

plants_faults = pytest.mark.skipif(
    vtgrad.__compiled__, reason="native calls go past the seams at which faults are planted"
)


@pytest.mark.stateful
@pytest.mark.slow
def test_random_programs_with_tangents_agree_with_the_model() -> None:
    for number in range(PROGRAMS):
        rng = random.Random(f"duals:{number}")
        library = vtgrad_library(vtgrad, exact=rng.random() < 0.75)
        new_session = partial(Session, library, inspects_always=rng.random() < 0.5)
        with closing(new_session()) as session:
            writer = ModelWriter(rng, session, DUALS[rng.choice(sorted(DUALS))])
            try:
                write_program(session, writer, rng.randint(8, 35))
                for step in last_gradients(session.world):
                    session.run(step)
                session.finish()
            except DivergenceError as found:
                raise shrink(found, [attempt_in(new_session)]) from None


@plants_faults
@pytest.mark.stateful
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS_OF_TANGENTS, ids=lambda fault: fault.name)
def test_a_planted_fault_of_tangents_is_found_and_shrunk(
    fault: FaultOfTangents, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_for(vtgrad_library(vtgrad), duals=True)
    profile = settings(PROFILES["hunt"], max_examples=fault.programs)
    fault.plant(monkeypatch)
    hunted(machine, profile, fault.shows, fault.steps)


TWO = Literal((2,), (1, 2))
LEAF = Leaf(0, Literal((2,), (2, 3)), requires_grad=True)
DUAL = [EnterLevel(), MakeDual(1, 0, TWO)]
SMALLEST: dict[str, list[Step]] = {
    "tangents_outlive_their_level": [LEAF, *DUAL, LeaveLevel(), EnterLevel()],
    "geometry_in_place_leaves_the_tangent": [
        LEAF,
        *DUAL,
        Apply(2, "clone", (1,)),
        Rearrange(2, ViewCall("unsqueeze", (0,))),
    ],
    "saved_tensor_loses_its_tangent": [
        LEAF,
        *DUAL,
        Apply(2, "mul", (1, 0)),
        Delete(1),
        Gradient(2, TWO, (0,)),
    ],
    "saved_copy_loses_its_tangent": [
        LEAF,
        *DUAL,
        Apply(2, "clone", (1,)),
        Write(2, "square"),
        Gradient(2, TWO, (0,)),
    ],
}


@plants_faults
@pytest.mark.parametrize("fault", RARE_FAULTS_OF_TANGENTS, ids=lambda fault: fault.name)
def test_the_smallest_program_shows_the_fault(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, program = vtgrad_library(vtgrad), SMALLEST[fault.name]
    assert replay(program, library).steps == program
    fault.plant(monkeypatch)
    with pytest.raises(DivergenceError) as found:
        replay(program, library)
    assert fault.shows in found.value.what
    assert len(found.value.steps) <= fault.steps

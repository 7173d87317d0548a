"""Writes random programs: step after step, each from what the program has come to."""

import random
from collections.abc import Callable, Iterable
from typing import Protocol

from vtgrad.testing import steps
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.kinds import KINDS
from vtgrad.testing.menu.model_state import ModelState, model_abilities
from vtgrad.testing.menu.operators import beginning
from vtgrad.testing.menu.passes import delete
from vtgrad.testing.session import Session
from vtgrad.testing.steps import Literal, Step
from vtgrad.testing.world import World

__all__ = ["ModelWriter", "Writer", "last_gradients", "write_program"]

#: How often a writer is asked for each step of a program: it may find none, or one that is skipped.
_PATIENCE = 20


class Writer(Protocol):
    """Makes the steps of one program."""

    def beginning(self) -> Iterable[Step]:
        """Make the first steps."""
        ...

    def next_steps(self) -> Iterable[Step]:
        """Make the next steps, each after the one before it has run; there may be none."""
        ...


class ModelWriter:
    """Draws steps that the model can predict.

    Parameters
    ----------
    rng : random.Random
        Where choices come from.
    session : Session
        The program, which the model is among the judges of.
    mixture : tuple of str
        What the program is made of; see `menu.mixtures`.
    """

    def __init__(self, rng: random.Random, session: Session, mixture: tuple[str, ...]) -> None:
        state = ModelState(session.world)
        self.chooser: Chooser = Chooser(rng, state, model_abilities(session.library))
        self.mixture = mixture

    def beginning(self) -> Iterable[Step]:
        """See `Writer`: a leaf, and a copy of it, which may be written."""
        return beginning(self.chooser)

    def next_steps(self) -> Iterable[Step]:
        """See `Writer`: one step, of a kind that this program is rich in."""
        return drawn(self.chooser, lambda rng: rng.choice(self.mixture))


def drawn(c: Chooser, name_of: Callable[[random.Random], str]) -> Iterable[Step]:
    """Draw a step of a kind that is drawn too; a deletion where there are too many tensors."""
    c.begin()
    if len(c.all) >= c.abilities.most_tensors and c.chance(0.6):
        return delete(c) or ()
    return KINDS[name_of(c.rng)].maker(c) or ()


def last_gradients(world: World) -> list[Step]:
    """Differentiate every tensor of a finished program with respect to all its leaves."""
    leaves = tuple(i for i, t in sorted(world.tensors.items()) if t.leaf is not None)
    return [
        steps.Gradient(
            of,
            Literal(tensor.geometry.shape, tuple(range(1, tensor.geometry.numel + 1))),
            leaves,
            retain=True,
        )
        for of, tensor in sorted(world.tensors.items(), reverse=True)
        if leaves and tensor.node is not None
    ]


def write_program(session: Session, writer: Writer, length: int) -> None:
    """Write and run steps until the program is long enough or has ended.

    Raises
    ------
    DivergenceError
        If a judge and the library disagree.
    """
    for step in writer.beginning():
        session.run(step)
    for _ in range(_PATIENCE * length):
        if session.ended or len(session.steps) >= length:
            return
        for step in writer.next_steps():
            session.run(step, last=len(session.steps) >= length - 1)

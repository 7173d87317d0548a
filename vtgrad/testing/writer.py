"""Writes random programs: step after step, each from what the program has come to."""

from collections.abc import Iterable
from typing import Protocol

from . import strategies
from .draws import Draw
from .session import Session
from .steps import Step
from .world import World

__all__ = ["ModelWriter", "Writer", "write_program"]

#: How often a writer is asked for each step of a program: it may find none, or one that is skipped.
_PATIENCE = 20


class Writer(Protocol):
    """Makes the steps of one program."""

    def beginning(self) -> Iterable[Step]:
        """Make the first steps."""

    def next_steps(self) -> Iterable[Step]:
        """Make the next steps, each after the one before it has run; there may be none."""


class ModelWriter:
    """Draws steps that the model can predict.

    Parameters
    ----------
    draw : Draw
        Where choices come from.
    world : World
        The model of the program.
    mixture : tuple of str
        What the program is made of; see `strategies.MIXTURES`.
    """

    def __init__(self, draw: Draw, world: World, mixture: tuple[str, ...]) -> None:
        self.draw = draw
        self.world = world
        self.mixture = mixture

    def beginning(self) -> Iterable[Step]:
        """See `Writer`: a leaf, and a copy of it, which may be written."""
        return strategies.beginning(self.draw)

    def next_steps(self) -> Iterable[Step]:
        """See `Writer`: one step, of a kind that this program is rich in."""
        step = strategies.STEPS[self.draw.one(self.mixture)](self.draw, self.world)
        return () if step is None else (step,)


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

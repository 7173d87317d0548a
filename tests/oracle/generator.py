"""Writes programs that PyTorch judges: steps of all kinds, drawn from its live tensors."""

import random
from collections.abc import Iterator, Mapping

from tests.oracle.live_state import LiveState
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.operators import beginning
from vtgrad.testing.menu.state import Abilities
from vtgrad.testing.steps import Line
from vtgrad.testing.writer import drawn

__all__ = ["LineWriter"]


class LineWriter:
    """Writes steps as lines of text; see `vtgrad.testing.writer.Writer`.

    Parameters
    ----------
    rng : random.Random
        Where choices come from.
    side : Interpreter
        PyTorch, which has run the program so far.
    abilities : Abilities
        What the library under test has.
    weights : mapping of str to float
        How often each kind of step is taken.
    """

    def __init__(
        self,
        rng: random.Random,
        side: Interpreter,
        abilities: Abilities,
        weights: Mapping[str, float],
    ) -> None:
        self.state = LiveState(side)
        self.chooser = Chooser(rng, self.state, abilities)
        self.kinds = list(weights)
        # Swarm: each program leaves out some kinds of steps, so that the others meet more often.
        swarm = (0.0, 0.3, 1.0, 1.0, 3.0)
        self.weights = [weight * rng.choice(swarm) for weight in weights.values()]

    def beginning(self) -> Iterator[Line]:
        """Leaves that require grad, and copies that may be written."""
        return (step.line() for step in beginning(self.chooser))

    def next_steps(self) -> Iterator[Line]:
        """One or more steps whose operands exist."""
        for step in drawn(self.chooser, self._kind):
            line, names = step.line(), self.state.side.names
            if all(names.get(name) is not None for name in line.uses):
                yield line

    def _kind(self, rng: random.Random) -> str:
        return rng.choices(self.kinds, self.weights)[0]

"""Programs of the state machine of `tests/stateful`, as functions of the values of their leaves."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

import vtgrad as vt
from tests.jit.replaying import outcome
from tests.jit.ways import WAYS
from vtgrad.errors import RecordingError
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.libraries import vtgrad_library
from vtgrad.testing.machine import ViewsAndWrites
from vtgrad.testing.menu.mixtures import DUALS, MIXTURES, mixture_of
from vtgrad.testing.session import Session
from vtgrad.testing.statistics import Statistics
from vtgrad.testing.steps import Leaf, Step
from vtgrad.testing.writer import ModelWriter, last_gradients, write_program

__all__ = [
    "ACCEPTED",
    "RecordedPrograms",
    "arguments_of",
    "function_of",
    "replayed_outcome",
    "written",
]

#: How the outcomes begin that a program of the machine may have.
ACCEPTED: Final = (
    "exact",
    "guard",
    # An index error of NumPy that the program catches.
    "refused: caught error",
    # An argument is given another shape in place.
    "refused: geometry",
    # An argument is made to require grad.
    "refused: requires grad",
)

Arguments = tuple[vt.Tensor, ...]


def written(seed: int, length: int = 14) -> list[Step]:
    """The steps of a random program that the model of the machine has agreed to.

    It ends with the gradients of all that is left.
    """
    names = [*MIXTURES, *DUALS]
    session = Session(vtgrad_library(vt))
    try:
        mixture = mixture_of(names[seed % len(names)], custom=False)
        write_program(session, ModelWriter(random.Random(seed), session, mixture), length)
        for step in last_gradients(session.world):
            session.run(step)
        session.finish()
        return list(session.steps)
    finally:
        session.close()


def arguments_of(steps: Sequence[Step]) -> Arguments:
    """What the leaves of a program hold."""
    return tuple(
        [
            vt.from_numpy(step.value.values().reshape(step.value.shape))
            for step in steps
            if isinstance(step, Leaf)
        ]
    )


def function_of(steps: Sequence[Step]) -> Callable[..., list[vt.Tensor]]:
    """The program as a function of what its leaves hold.

    It returns all that it has named, and each ``.grad``. It writes to what leaves hold that require
    no grad. What is refused in it is passed over, as by the machine.
    """
    library = vtgrad_library(vt)

    def program(*values: vt.Tensor) -> list[vt.Tensor]:
        side = Interpreter(library)
        leaves, made = iter(values), list[vt.Tensor]()
        try:
            for step in steps:
                if isinstance(step, Leaf):
                    leaf = next(leaves)
                    if step.requires_grad:
                        leaf = leaf.detach().clone().requires_grad_()
                    made.append(leaf)
                    side.names[f"t{step.out}"] = leaf
                else:
                    _run(side, step)
            grads = [leaf.grad for leaf in made]
            found = [*side.tensors().values(), *[grad for grad in grads if grad is not None]]
            return [tensor.detach().clone() for tensor in found]
        finally:
            side.close()

    return program


def _run(side: Interpreter, step: Step) -> None:
    error = side.run(step)
    if isinstance(error, RecordingError):
        raise error


def replayed_outcome(steps: Sequence[Step]) -> str:
    """The outcome of a program that is recorded, and replayed in all ways on new values."""
    return outcome(function_of(steps), arguments_of(steps), ways=WAYS)


class RecordedPrograms(ViewsAndWrites):
    """The state machine, whose programs are recorded and replayed when they have ended."""

    library = vtgrad_library(vt)
    mixtures = (*MIXTURES, *DUALS)
    statistics = Statistics()
    outcomes: ClassVar[Counter[str]] = Counter()

    def teardown(self) -> None:
        """Record the program, and replay it on new values."""
        super().teardown()
        if self.failed:
            return
        steps = tuple(self.session.steps)
        found = replayed_outcome(steps)
        self.outcomes[found.partition(":")[0]] += 1
        if not found.startswith(ACCEPTED):
            text = "\n".join(
                [line for step in _smaller(steps, found) for line in step.source(careful=False)]
            )
            raise AssertionError(f"{found}\n{text}")


def _smaller(steps: tuple[Step, ...], found: str) -> tuple[Step, ...]:
    """The program without the steps that its outcome does not need."""
    for number in reversed(range(len(steps))):
        fewer = steps[:number] + steps[number + 1 :]
        try:
            same = replayed_outcome(fewer) == found
        except (LookupError, StopIteration):
            # A tensor that is not made is used.
            same = False
        if same:
            steps = fewer
    return steps

"""The state machine: Hypothesis writes programs, the session runs them against the model."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from .libraries import Library
from .menu.mixtures import DUALS, MIXTURES, mixture_of
from .session import DivergenceError, Session
from .shrink import attempt_in, shrink
from .steps import Call, Step
from .writer import ModelWriter, last_gradients

__all__ = ["PROFILES", "ViewsAndWrites", "machine_for"]

_COMMON = settings(
    deadline=None,
    database=None,
    print_blob=False,
    report_multiple_bugs=False,
    phases=(Phase.generate,),  # `shrink` makes programs small
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
    ],
)

#: By the names that ``HYPOTHESIS_PROFILE`` takes: ``ci`` and ``quick`` run the same programs each
#: time, ``dev`` new ones, ``thorough`` is for a night; ``hunt`` is what planted faults are looked
#: for with.
PROFILES: dict[str, settings] = {
    "quick": settings(_COMMON, max_examples=40, stateful_step_count=25, derandomize=True),
    "dev": settings(_COMMON, max_examples=100, stateful_step_count=30),
    "ci": settings(_COMMON, max_examples=800, stateful_step_count=30, derandomize=True),
    "thorough": settings(_COMMON, max_examples=20_000, stateful_step_count=50),
    "hunt": settings(_COMMON, max_examples=1500, stateful_step_count=25, derandomize=True),
}


#: What a step is drawn from, together with the seed of the program.
_SEEDS = st.integers(0, 2**24 - 1)


class ViewsAndWrites(RuleBasedStateMachine):
    """Programs of views and in-place writes on one library; :func:`machine_for` says which.

    Attributes
    ----------
    mixtures : tuple of str
        What programs are made of, by the names that `menu.mixtures` has.
    called : set of str
        Which operators of the user's have been called.
    passes, beside : int
        How many passes that needed a saved tensor were accepted under the exact rule, and how many
        of these the rule of the whole storage refuses.

    Every program ends with gradients of everything that is left with respect to all leaves, so
    that no wrong graph goes unseen.
    """

    seed: int
    writer: ModelWriter
    library: ClassVar[Library]
    mixtures: ClassVar[tuple[str, ...]] = (*MIXTURES, "tables", "tables")
    called: ClassVar[set[str]]
    passes: ClassVar[int] = 0
    beside: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.session: Session = Session(self.library)
        self.where: Library = self.library
        self.failed: bool = False

    @initialize(
        seed=_SEEDS,
        inspects_always=st.booleans(),
        mixture=st.runner().flatmap(lambda machine: st.sampled_from(machine.mixtures)),
        exact=st.sampled_from((True, True, True, False)),
    )
    def start(self, seed: int, inspects_always: bool, mixture: str, exact: bool) -> None:
        """Begin with a leaf and a copy of it, which may be written.

        A library that has two rules for saved values is run under the one in a program, under the
        other in another.
        """
        manners = self.library.manners
        if manners.exact and not exact:
            self.where = replace(self.library, manners=replace(manners, exact=False))
        self.session = self._session(inspects_always=inspects_always)
        kinds = mixture_of(mixture, custom=bool(self.library.rules))
        self.seed = seed
        self.writer = ModelWriter(random.Random(seed), self.session, kinds)
        for step in self.writer.beginning():
            self._run(step)

    def _session(self, *, inspects_always: bool) -> Session:
        """Begin a program."""
        return Session(self.where, inspects_always=inspects_always)

    @rule(seed=_SEEDS)
    def step(self, seed: int) -> None:
        """Draw a step, of a kind that this program is rich in, and run it on both sides."""
        if not self.session.ended:
            self.writer.chooser.rng = random.Random(f"{self.seed}:{seed}")
            for step in self.writer.next_steps():
                self._run(step)

    def _run(self, step: Step) -> None:
        self._check(lambda: self._note(step, self.session.run(step)))

    def _note(self, step: Step, ran: bool) -> None:
        if ran and isinstance(step, Call):
            self.called.add(step.name)

    def _check(self, act: Callable[[], object]) -> None:
        self.failed = True  # unless it comes back
        try:
            act()
        except DivergenceError as found:
            ways = (False, True) if self.session.inspects_always else (False,)
            attempts = [attempt_in(partial(self._session, inspects_always=w)) for w in ways]
            raise shrink(found, attempts) from None
        self.failed = False

    def teardown(self) -> None:
        """Differentiate what is left, and see that it can be dropped."""
        try:
            self._finish()
        finally:
            self.session.close()

    def _finish(self) -> None:
        if self.failed:
            return
        for step in last_gradients(self.session.world):
            self._run(step)
        self._check(self.session.finish)
        if self.where.manners.exact:
            type(self).passes += self.session.world.passes
            type(self).beside += self.session.world.beside


def machine_for(library: Library, *, duals: bool = False) -> type[ViewsAndWrites]:
    """Return the state machine whose programs run on `library`.

    Parameters
    ----------
    duals : bool
        Whether its programs are those in which tensors have tangents.
    """
    own = {"library": library, "called": set(), "passes": 0, "beside": 0}
    if duals:
        own["mixtures"] = tuple(DUALS)
    return type(f"ViewsAndWritesOn_{library.name}", (ViewsAndWrites,), own)

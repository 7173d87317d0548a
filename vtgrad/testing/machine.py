"""The state machine: Hypothesis writes programs, the session runs them against the model."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from hypothesis import event, note, target
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from vtgrad.tensor.tensor import Tensor
from vtgrad.testing.libraries import Library, with_audit, with_rewind
from vtgrad.testing.menu.mixtures import DUALS, MIXTURES, mixture_of
from vtgrad.testing.profiles import PROFILES as PROFILES
from vtgrad.testing.profiles import TestCaseOfMachine
from vtgrad.testing.session import DivergenceError, Session
from vtgrad.testing.shrink import attempt_in, shrink
from vtgrad.testing.statistics import Statistics, Watch
from vtgrad.testing.steps import Step
from vtgrad.testing.writer import ModelWriter, last_gradients

__all__ = ["PROFILES", "ViewsAndWrites", "machine_for"]

#: What a step is drawn from, together with the seed of the program.
_SEEDS = st.integers(0, 2**24 - 1)


#: See `World`: measuring more takes longer than all else in a program.
_MOST_CURVED = 4


class ViewsAndWrites(RuleBasedStateMachine):
    """Programs of views and in-place writes on one library; :func:`machine_for` says which.

    Attributes
    ----------
    mixtures : tuple of str
        What programs are made of, by the names that `menu.mixtures` has.
    statistics : Statistics
        What the programs of the machine have done so far.

    Every program ends with gradients of everything that is left with respect to all leaves, so
    that no wrong graph goes unseen.
    """

    seed: int
    writer: ModelWriter
    library: ClassVar[Library]
    mixtures: ClassVar[tuple[str, ...]] = (*MIXTURES, "tables", "tables")
    statistics: ClassVar[Statistics]

    TestCase: TestCaseOfMachine = TestCaseOfMachine()  # type: ignore[assignment]  # see there

    def __init__(self) -> None:
        super().__init__()
        self.session: Session = Session(self.library)
        self.watch: Watch = Watch(self.session)
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
        other in another; operators of the user's also with audit, and with overwritten bytes kept.
        """
        manners = self.library.manners
        if manners.exact and not exact:
            self.where = replace(self.library, manners=replace(manners, exact=False))
        elif manners.exact and self.library.rules:
            ways = [self.library, with_audit(self.library), with_rewind(self.library)]
            self.where = ways[seed % len(ways)]
        self.session = self._session(inspects_always=inspects_always)
        self.watch = Watch(self.session)
        kinds = mixture_of(mixture, custom=bool(self.library.rules))
        self.seed = seed
        self.writer = ModelWriter(random.Random(seed), self.session, kinds)
        for step in self.writer.beginning():
            self._run(step)

    def _session(self, *, inspects_always: bool) -> Session:
        """Begin a program."""
        session = Session(self.where, inspects_always=inspects_always)
        session.world.most_curved = _MOST_CURVED
        return session

    @rule(seed=_SEEDS)
    def step(self, seed: int) -> None:
        """Draw a step, of a kind that this program is rich in, and run it on both sides."""
        if not self.session.ended:
            self.writer.chooser.rng = random.Random(f"{self.seed}:{seed}")
            for step in self.writer.next_steps():
                self._run(step)

    def tensors(self) -> dict[str, Tensor]:
        """The live tensors of the program by name, oldest first, for rules of a subclass.

        They may be read; the model of the program does not know of other writes.
        """
        return self.session.subject.tensors()

    def _run(self, step: Step) -> None:
        self._check(lambda: self._ran(step))

    def _ran(self, step: Step) -> None:
        if self.watch.run(step):
            note("; ".join(step.source(careful=False)))

    def _check(self, act: Callable[[], object]) -> None:
        self.failed = True  # unless it comes back
        try:
            act()
        except DivergenceError as found:
            # See Note [Who makes a failing program small].
            if not current_build_context().is_final:
                raise
            ways = (False, True) if self.session.inspects_always else (False,)
            attempts = [attempt_in(partial(self._session, inspects_always=w)) for w in ways]
            smallest = shrink(found, attempts)
            smallest.run_script()
            raise smallest.with_traceback(None) from smallest.__cause__
        self.failed = False

    def teardown(self) -> None:
        """Differentiate what is left, and see that it can be dropped."""
        try:
            self._finish()
        finally:
            self.statistics.add(self.watch.found)
            self.session.close()

    def _finish(self) -> None:
        if self.failed:
            return
        for step in last_gradients(self.session.world):
            self._run(step)
        self._check(self.session.finish)
        self.watch.finish()
        for text in self.watch.events():
            event(text)
        target(float(self.watch.found.stale + self.watch.found.beside), label="stale values met")


def machine_for(library: Library, *, duals: bool = False) -> type[ViewsAndWrites]:
    """Return the state machine whose programs run on `library`.

    Parameters
    ----------
    duals : bool
        Whether its programs are those in which tensors have tangents.
    """
    own: dict[str, object] = {"library": library, "statistics": Statistics()}
    if duals:
        own["mixtures"] = tuple(DUALS)
    # Hypothesis files failing examples under the name.
    name = "_".join([f"ViewsAndWritesOn_{library.name}", *library.rules])
    return type(name, (ViewsAndWrites,), own)

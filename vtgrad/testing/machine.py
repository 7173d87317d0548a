"""The state machine: Hypothesis writes programs, the session runs them against the model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from . import strategies
from .draws import MOST_SEEDS
from .libraries import Library
from .session import DivergenceError, Session
from .shrink import attempt_in, shrink
from .steps import Call, Step
from .writer import ModelWriter

__all__ = ["PROFILES", "ViewsAndWrites", "machine_for"]

T = TypeVar("T")

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


class HypothesisDraw:
    """Choices of Hypothesis.

    Parameters
    ----------
    data : DataObject
        What a rule of the state machine draws from.
    """

    def __init__(self, data: st.DataObject) -> None:
        self._draw = data.draw

    def one(self, options: Sequence[T]) -> T:
        """See `Draw`."""
        return self._draw(st.sampled_from(options))

    def several(self, options: Sequence[T], most: int) -> Sequence[T]:
        """See `Draw`."""
        strategy = st.lists(st.sampled_from(options), min_size=1, max_size=most, unique=True)
        return self._draw(strategy)

    def integer(self, low: int, high: int) -> int:
        """See `Draw`."""
        return self._draw(st.integers(low, high))

    def boolean(self) -> bool:
        """See `Draw`."""
        return self._draw(st.booleans())

    def permutation(self, count: int) -> Sequence[int]:
        """See `Draw`."""
        return self._draw(st.permutations(range(count)))

    def indices(self, size: int, most: int, *, unique: bool = False) -> Sequence[int]:
        """See `Draw`."""
        indices = st.integers(0, size - 1)
        return self._draw(st.lists(indices, min_size=1, max_size=most, unique=unique))

    def seed(self) -> int:
        """See `Draw`."""
        return self._draw(st.integers(0, MOST_SEEDS - 1))


class ViewsAndWrites(RuleBasedStateMachine):
    """Programs of views and in-place writes on one library; :func:`machine_for` says which.

    Attributes
    ----------
    called : set of str
        Which operators of the user's have been called.
    passes, beside : int
        How many passes that needed a saved tensor were accepted under the exact rule, and how many
        of these the rule of the whole storage refuses.

    Every program ends with gradients of everything that is left with respect to all leaves, so
    that no wrong graph goes unseen.
    """

    library: ClassVar[Library]
    called: ClassVar[set[str]]
    passes: ClassVar[int] = 0
    beside: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.session: Session = Session(self.library)
        self.where: Library = self.library
        self.failed: bool = False
        self.mixture: tuple[str, ...] = ()

    @initialize(
        data=st.data(),
        inspects_always=st.booleans(),
        mixture=st.sampled_from((*strategies.MIXTURES, "tables", "tables")),
        exact=st.sampled_from((True, True, True, False)),
    )
    def start(self, data: st.DataObject, inspects_always: bool, mixture: str, exact: bool) -> None:
        """Begin with a leaf and a copy of it, which may be written.

        A library that has two rules for saved values is run under the one in a program, under the
        other in another.
        """
        manners = self.library.manners
        if manners.exact and not exact:
            self.where = replace(self.library, manners=replace(manners, exact=False))
        self.session = self._session(inspects_always=inspects_always)
        self.mixture = strategies.mixture_of(mixture, custom=bool(self.library.rules))
        for step in self._writer(data).beginning():
            self._run(step)

    def _session(self, *, inspects_always: bool) -> Session:
        """Begin a program."""
        return Session(self.where, inspects_always=inspects_always)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Draw a step, of a kind that this program is rich in, and run it on both sides."""
        if not self.session.ended:
            for step in self._writer(data).next_steps():
                self._run(step)

    def _writer(self, data: st.DataObject) -> ModelWriter:
        return ModelWriter(HypothesisDraw(data), self.session.world, self.mixture)

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
        if self.failed:
            return
        for step in strategies.last_gradients(self.session.world):
            self._run(step)
        self._check(self.session.finish)
        if self.where.manners.exact:
            type(self).passes += self.session.world.passes
            type(self).beside += self.session.world.beside


def machine_for(library: Library) -> type[ViewsAndWrites]:
    """Return the state machine whose programs run on `library`."""
    own = {"library": library, "called": set(), "passes": 0, "beside": 0}
    return type(f"ViewsAndWritesOn_{library.name}", (ViewsAndWrites,), own)

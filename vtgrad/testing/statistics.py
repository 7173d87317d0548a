"""Counts what random programs have done: with operators of a user's, and with saved values."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from vtgrad.testing.model import Counter as Versions
from vtgrad.testing.session import Session
from vtgrad.testing.steps import Call, Step

__all__ = ["SITUATIONS", "Statistics", "Watch"]

#: In what situations an operator of the user's is called, or finds itself later.
SITUATIONS = (
    "on a view",
    "on a view of a view",
    "on negative strides",
    "overwritten before a pass",
    "refused",
)


@dataclass
class Statistics:
    """What the programs of a machine have done so far. As text it is a table.

    Attributes
    ----------
    programs, steps : int
        How many have run.
    passes, beside : int
        How many passes that needed a saved tensor were accepted under the exact rule, and how many
        of these the rule of the whole storage refuses.
    stale : int
        How many passes were refused because a saved value was overwritten.
    calls : counter
        How often each operator of the user's was called.
    met : counter
        How often it was in each of `SITUATIONS`, by the name of the operator and the situation: an
        operand was a view, was a view of a view, had negative strides; an operand or the result
        was overwritten before a backward pass ran; the call was refused, as a write to a leaf is.

    Examples
    --------
    >>> from vtgrad.testing.checking import Rule, Statistics, check
    >>> found = Statistics()
    >>> covered = check(
    ...     Rule("doubled", lambda x: x * 2, lambda x: x * 2), programs=5, statistics=found
    ... )
    >>> found.calls["doubled"] > 0
    True
    """

    programs: int = 0
    steps: int = 0
    passes: int = 0
    beside: int = 0
    stale: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: "Statistics") -> None:
        """Add what other programs have done."""
        for name in ("programs", "steps", "passes", "beside", "stale"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.calls.update(other.calls)
        self.met.update(other.met)

    def __str__(self) -> str:
        width = max(map(len, ("operator", *self.calls)))
        columns = ("called", *SITUATIONS)
        lines = ["  ".join([f"{'operator':{width}}", *columns])]
        for name, calls in sorted(self.calls.items()):
            counts = (calls, *(self.met[name, situation] for situation in SITUATIONS))
            cells = (f"{n:{len(title)}}" for n, title in zip(counts, columns, strict=True))
            lines.append("  ".join([f"{name:{width}}", *cells]))
        lines.append(
            f"{self.programs} programs, {self.steps} steps; {self.stale} passes met a stale value, "
            f"{self.beside} of {self.passes} others a value beside which something was written"
        )
        return "\n".join(lines)


class Watch:
    """Watches one program.

    Parameters
    ----------
    session : Session
        The program, which the model is among the judges of.

    Attributes
    ----------
    found : Statistics
        What it has done.
    """

    def __init__(self, session: Session) -> None:
        self.found: Statistics = Statistics(programs=1)
        self._session = session
        # How many views were made of views, until a tensor was made.
        self._depths: dict[int, int] = {}
        self._calls: list[tuple[str, dict[Versions, int]]] = []

    def run(self, step: Step) -> bool:
        """Run a step in the session; see there."""
        world = self._session.world
        line = step.line()
        uses = [i for i in world.tensors if f"t{i}" in line.uses]
        situations = self._situations(uses) if isinstance(step, Call) else []
        counters = {world.tensors[i].counter for i in uses}
        ran = self._session.run(step)
        if not ran:
            return False
        self.found.steps += 1
        kind = self._session.run_so_far.refused.get(len(self._session.steps) - 1)
        self.found.stale += kind == "stale-saved"
        made = [i for i in world.tensors if f"t{i}" in line.defs]
        if isinstance(step, Call):
            self.found.calls[step.name] += 1
            situations += [] if kind is None else ["refused"]
            self.found.met.update((step.name, situation) for situation in situations)
            counters |= {world.tensors[i].counter for i in made}
            if kind is None:
                self._calls.append((step.name, {c: c.version for c in counters}))
        deepest = max((self._depths.get(i, 0) for i in uses), default=0)
        for i in made:
            self._depths[i] = deepest + 1 if world.tensors[i].base is not None else 0
        if step.is_pass:
            self._look_for_overwritten()
        return True

    def _situations(self, operands: Iterable[int]) -> list[str]:
        """In what situations an operator is called."""
        world = self._session.world
        depth = max((self._depths.get(i, 0) for i in operands), default=0)
        is_negative = any(s < 0 for i in operands for s in world.tensors[i].geometry.strides)
        return [
            situation
            for situation, holds in zip(
                SITUATIONS, (depth > 0, depth > 1, is_negative), strict=False
            )
            if holds
        ]

    def _look_for_overwritten(self) -> None:
        """Count the calls of which an operand or the result was overwritten, each once."""
        left = []
        for name, versions in self._calls:
            if any(counter.version != version for counter, version in versions.items()):
                self.found.met[name, "overwritten before a pass"] += 1
            else:
                left.append((name, versions))
        self._calls = left

    def finish(self) -> None:
        """Take over what the model has counted."""
        world = self._session.world
        if self._session.library.manners.exact:
            self.found.passes, self.found.beside = world.passes, world.beside

    def events(self) -> list[str]:
        """Describe the program, for the statistics of Hypothesis."""
        verbs: dict[str, str] = dict.fromkeys(SITUATIONS[:3], "called ")
        events = [
            f"{name} was {verbs.get(situation, '')}{situation}"
            for name, situation in sorted(self.found.met)
        ]
        if self.found.stale:
            events.append("a pass met a stale value")
        if self.found.beside:
            events.append("a pass met a value beside which something was written")
        return events

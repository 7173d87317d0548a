"""Runs a program step by step on a library, and lets judges compare after every step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .interpreter import Interpreter
from .judging import Divergence, Judge, Verdict
from .libraries import Library
from .model_judge import ModelJudge
from .program import program_text
from .steps import Step
from .world import World

__all__ = ["DivergenceError", "Run", "Session", "replay"]

#: So many differences after one step are printed.
_MOST_SHOWN = 6


class DivergenceError(AssertionError):
    """The library did something else than a judge says; the message is a program that shows it.

    Attributes
    ----------
    what : str
        What differs.
    steps : tuple of Step
        The program, whose last step diverged.
    divergences : tuple of Divergence
        All that differs after that step.

    Examples
    --------
    >>> from vtgrad.testing.checking import DivergenceError, Rule, check
    >>> wrong = Rule("doubled", lambda x: x * 2, lambda x: x * 3)
    >>> try:
    ...     check(wrong, programs=5)
    ... except DivergenceError as found:
    ...     print("doubled" in str(found))
    True
    """

    def __init__(
        self,
        divergences: Sequence[Divergence],
        steps: Sequence[Step],
        library: Library,
        replay: str,
    ) -> None:
        self.divergences: tuple[Divergence, ...] = tuple(divergences)
        self.steps: tuple[Step, ...] = tuple(steps)
        self.what: str = "\n".join(map(str, self.divergences[:_MOST_SHOWN]))
        text = program_text(
            steps,
            library.name,
            library.rules,
            exact=library.manners.exact,
            prelude=library.prelude,
            block=library.block,
            twin_block=library.twin_block,
            replay=replay,
        )
        super().__init__(f"{self.what}\n\n{text}")

    @property
    def signature(self) -> str:
        """Operator and observable: the same cause usually has the same signature."""
        return f"{self.steps[-1].line().op if self.steps else ''}: {self.divergences[0].signature}"


@dataclass
class Run:
    """What became of a program.

    Attributes
    ----------
    steps : list of Step
        The steps that ran, up to and with the one that diverged.
    failure : DivergenceError or None
        What a judge found.
    excused : str or None
        Why the program was ended early without a failure.
    errors : int
        How many steps were refused, as they had to be.
    ended : bool
        Set when a judge can say nothing more: after a failure, and where the state of its side is
        no longer known.
    """

    steps: list[Step] = field(default_factory=list)
    failure: DivergenceError | None = None
    excused: str | None = None
    errors: int = 0
    ended: bool = False

    @property
    def divergences(self) -> tuple[Divergence, ...]:
        """What differed after the last step; empty when nothing did."""
        return () if self.failure is None else self.failure.divergences

    @property
    def signature(self) -> str:
        """See `DivergenceError`; empty where nothing differed."""
        return "" if self.failure is None else self.failure.signature


class Session:
    """One program, run step by step.

    Parameters
    ----------
    library : Library
        Where the program is run.
    inspects_always : bool
        Read ``grad_fn`` of every tensor after every step. Reading rebuilds, so programs in which
        nothing is read behave differently inside: both are worth testing.
    judges : sequence of Judge, optional
        What compares after each step; a `ModelJudge` by default.

    Attributes
    ----------
    subject : Interpreter
        The side that is judged.
    run_so_far : Run
        The steps that ran, and what became of them.
    """

    def __init__(
        self,
        library: Library,
        *,
        inspects_always: bool = False,
        judges: Sequence[Judge] = (),
    ) -> None:
        self.library = library
        self.inspects_always = inspects_always
        self.subject: Interpreter = Interpreter(library)
        self.judges: tuple[Judge, ...] = tuple(judges) or (
            ModelJudge(library, inspects_always=inspects_always),
        )
        self.run_so_far: Run = Run()
        for judge in self.judges:
            judge.begin(self.subject)

    @property
    def steps(self) -> list[Step]:
        """The steps that ran."""
        return self.run_so_far.steps

    @property
    def ended(self) -> bool:
        """Whether no further step can be judged."""
        return self.run_so_far.ended

    @property
    def world(self) -> World:
        """The model of the program, where one of the judges has one."""
        return next(judge.world for judge in self.judges if isinstance(judge, ModelJudge))

    def run(self, step: Step, *, last: bool = False) -> bool:
        """Do one step and compare; return False if a judge can say nothing about it.

        Parameters
        ----------
        last : bool
            Whether the step is known to be the last one.

        Raises
        ------
        DivergenceError
            If a judge and the library disagree.
        """
        if self.ended or not all(judge.prepare(step) for judge in self.judges):
            return False
        self.steps.append(step)
        error = self.subject.run(step)
        for judge in self.judges:
            self._take(judge, judge.judge(step, error, last=last))
        self.run_so_far.errors += error is not None and self.run_so_far.excused is None
        return True

    def finish(self) -> None:
        """Let the judges compare a last time, and let go of what they hold; the first one last."""
        for judge in reversed(self.judges):
            self._take(judge, judge.finish())

    def close(self) -> None:
        """Close what the program has left open, on all sides; it cannot go on."""
        self.run_so_far.ended = True
        self.subject.close()
        for judge in self.judges:
            judge.close()

    def _take(self, judge: Judge, verdict: Verdict) -> None:
        run = self.run_so_far
        run.excused = run.excused or verdict.excused
        if verdict.divergences:
            run.ended = True
            run.failure = DivergenceError(
                verdict.divergences, self.steps, self.library, judge.replay
            )
            raise run.failure from verdict.cause
        run.ended = run.ended or verdict.ends


def replay(steps: Sequence[Step], library: Library, *, inspects_always: bool = False) -> Session:
    """Run a whole program: what a regression test made of a shrunk failure calls.

    Raises
    ------
    DivergenceError
        If model and library disagree somewhere.
    """
    session = Session(library, inspects_always=inspects_always)
    try:
        for step in steps:
            session.run(step)
        session.finish()
    finally:
        session.close()
    return session

"""Runs a program step by step on a library, and lets judges compare after every step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vtgrad.testing.failures import DivergenceError as DivergenceError
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.judging import Divergence, Judge, Verdict
from vtgrad.testing.libraries import Library
from vtgrad.testing.model_judge import ModelJudge
from vtgrad.testing.steps import Step
from vtgrad.testing.world import World

__all__ = ["DivergenceError", "Run", "Session", "replay"]


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
    refused : dict
        The kinds of errors that steps raised, by the position of the step.
    ended : bool
        Set when a judge can say nothing more: after a failure, and where the state of its side is
        no longer known.
    """

    steps: list[Step] = field(default_factory=list)
    failure: DivergenceError | None = None
    excused: str | None = None
    errors: int = 0
    refused: dict[int, str] = field(default_factory=dict)
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
        if error is not None:
            kind = self.library.kind(error) or type(error).__name__
            self.run_so_far.refused[len(self.steps) - 1] = kind
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
                verdict.divergences,
                self.steps,
                self.library,
                judge.replay,
                refused=run.refused,
                reads=self.inspects_always,
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

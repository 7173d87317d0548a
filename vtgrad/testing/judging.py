"""What a judge of a library is, its verdict on a step, and what can differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vtgrad.testing.assertions import Check
from vtgrad.testing.interpreter import Interpreter
from vtgrad.testing.steps import Step

__all__ = ["PASSED", "Divergence", "Judge", "Verdict"]

#: Observables whose two values say which of many faults it is.
_TOLD_IN_WORDS = ("raises", "observing", "class of error", "kind of error")


@dataclass(frozen=True)
class Divergence:
    """One observable that is not what a judge expects.

    Attributes
    ----------
    where : str
        The tensor, or empty for the step as a whole.
    what : str
        The observable.
    expected, found : object
        What the judge says, and what the library under test does. Both are None where `what` is
        a whole sentence.
    check : Check or None
        How a script shows it; None where the judge cannot say.
    """

    where: str
    what: str
    expected: object = None
    found: object = None
    check: Check | None = None

    @property
    def signature(self) -> str:
        """What differs, with the texts if they name the cause: one cause has one signature."""
        if self.what in _TOLD_IN_WORDS:
            return f"{self.what} {str(self.expected)[:80]} / {str(self.found)[:80]}"
        return self.what

    def __str__(self) -> str:
        subject = f"{self.where}.{self.what}" if self.where else self.what
        if self.expected is None and self.found is None:
            return subject
        return f"{subject}\n    expected: {self.expected}\n    found:    {self.found}"


@dataclass(frozen=True)
class Verdict:
    """What a judge says after a step.

    Attributes
    ----------
    divergences : sequence of Divergence
        What differs; empty if nothing does.
    ends : bool
        Whether the program ends here without a failure: the judge can say nothing more.
    excused : str or None
        The reason for that, where a difference is intended.
    cause : Exception or None
        The exception of the library that differs from what was expected.
    """

    divergences: Sequence[Divergence] = ()
    ends: bool = False
    excused: str | None = None
    cause: Exception | None = None


#: Nothing differs, and the program goes on.
PASSED = Verdict()


class Judge(Protocol):
    """Says after every step whether the library under test is right.

    Attributes
    ----------
    replay : str
        How a program that this judge refuses is run again, for its printed text.
    """

    replay: str

    def begin(self, subject: Interpreter) -> None:
        """Take note of the side that is judged, before the first step."""

    def prepare(self, step: Step) -> bool:
        """Do the step on the judge's own side; False if it can say nothing about the step.

        The step is then not run at all, so only the first of several judges may say so.
        """
        ...

    def judge(self, step: Step, error: Exception | None, *, last: bool) -> Verdict:
        """Compare, after the library under test has run the step.

        Parameters
        ----------
        error : Exception or None
            What the library raised.
        last : bool
            Whether the step is known to be the last one.
        """
        ...

    def finish(self) -> Verdict:
        """Compare once more, after the program, and let go of all tensors."""
        ...

    def close(self) -> None:
        """Close what the program has left open on the judge's own side."""

"""What is raised where a library and a judge disagree: a program that shows it."""

import re
import sys
from collections.abc import Collection, Sequence
from types import ModuleType

from vtgrad.graph.overwrite_rule import set_overwrite_check
from vtgrad.testing.judging import Divergence
from vtgrad.testing.libraries import Library
from vtgrad.testing.modes import modes_kept
from vtgrad.testing.program import Failing, program_text, script
from vtgrad.testing.steps import Step
from vtgrad.testing.summary import summary

__all__ = ["DivergenceError"]

#: So many differences after one step are printed.
_MOST_SHOWN = 6

#: A longer message does not define the operator.
_MOST_LINES = 40

#: The name of the module in which a script is run.
_SCRIPT = "_vtgrad_script"


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
    reads : bool
        Whether ``grad_fn`` of every tensor was read after every step.
    remark : str
        What the message says below the script, if it does not fail by itself.

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
        *,
        refused: Collection[int] = (),
        reads: bool = False,
    ) -> None:
        self.divergences: tuple[Divergence, ...] = tuple(divergences)
        self.steps: tuple[Step, ...] = tuple(steps)
        self.what: str = "\n".join(map(str, self.divergences[:_MOST_SHOWN]))
        self.remark: str = ""
        self._library = library
        self._replay = replay
        check = self.divergences[0].check if self.divergences else None
        self.reads: bool = reads
        self._failing: Failing = Failing(frozenset(refused), reads, check)
        super().__init__(self.what)

    def __str__(self) -> str:
        """Say which operator is wrong and what differs, and print the program.

        A message of more than 40 lines does not define the operator; `report` has the whole, and
        the twin for PyTorch too.
        """
        text = self._text(twin=False)
        if text.count("\n") < _MOST_LINES:
            return text
        return self._text(twin=False, defines=False)

    def report(self, *, twin: bool = True) -> str:
        """Return all: what differs, the program as a script, its twin for PyTorch, and its steps.

        Parameters
        ----------
        twin : bool, default True
            Whether to print the twin.

        Returns
        -------
        str
            The text. What `str` gives is a part of it.
        """
        return self._text(twin=twin)

    def _text(self, *, twin: bool, defines: bool = True) -> str:
        library = self._library
        head = summary(self.steps, self.divergences, library.rules)
        text = program_text(
            self.steps,
            library.name,
            library.rules,
            exact=library.manners.exact,
            prelude=library.prelude,
            block=library.block,
            twin_block=library.twin_block,
            replay=self._replay,
            failing=self._failing,
            remark=self.remark,
            twin=twin,
            defines=defines,
        )
        parts = [head, self.what] if head else [self.what]
        return "\n".join([*parts, "", text])

    def script(self) -> str:
        """Return the program as a script for the library, as it is printed."""
        library = self._library
        return script(
            self.steps,
            library.name,
            library.rules,
            exact=library.manners.exact,
            prelude=library.prelude,
            block=library.block,
            failing=self._failing,
        )

    def run_script(self) -> None:
        """Run the script, and let the message say so if it does not fail as the program did."""
        if self._failing.check is None:
            self.remark = "the script has no line for what differs: the steps below show it"
            return
        outcome = self._outcome()
        if not self._shows(outcome):
            how = "ends without an error" if outcome is None else f"raises {_brief(outcome)}"
            self.remark = f"run by itself the script {how}: the steps below show it"

    def _outcome(self) -> Exception | None:
        code = compile(self.script(), "<script>", "exec", dont_inherit=True)
        # Classes look for the module that they are of.
        module = sys.modules[_SCRIPT] = ModuleType(_SCRIPT)
        try:
            with modes_kept(self._library), set_overwrite_check("elements"):
                exec(code, vars(module))
        except Exception as error:  # noqa: BLE001 - any error of the user's is an outcome
            return error
        finally:
            del sys.modules[_SCRIPT]
            self._library.close_level()
        return None

    def _shows(self, outcome: Exception | None) -> bool:
        """Whether what a script raised is what the judge has found."""
        found, cause = self.divergences[0], self.__cause__
        if isinstance(outcome, AssertionError) and str(outcome):
            # What is found may have another text each time, such as an address.
            one, other = (re.split(", found|cycle:", str(text))[0] for text in (outcome, found))
            return one == other
        return (
            outcome is not None
            and cause is not None
            and (type(outcome).__qualname__, str(outcome)) == (type(cause).__qualname__, str(cause))
        )

    @property
    def signature(self) -> str:
        """Operator and observable: the same cause usually has the same signature."""
        return f"{self.steps[-1].line().op if self.steps else ''}: {self.divergences[0].signature}"


def _brief(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]

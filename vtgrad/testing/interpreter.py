"""Runs the text of steps on one library, and holds what the program has named."""

from contextlib import AbstractContextManager
from types import CodeType
from typing import Any

from vtgrad.graph.overwrite_rule import set_overwrite_check
from vtgrad.testing.libraries import Library
from vtgrad.testing.modes import changed, modes_of, restore
from vtgrad.testing.steps import Call, Step

__all__ = ["Interpreter"]

_CODE: dict[str, CodeType] = {}

#: Bounds the cache of compiled lines.
_MOST_LINES = 20_000


def _compiled(line: str) -> CodeType:
    """Compile a line once for all sides on which it runs."""
    code = _CODE.get(line)
    if code is None:
        if len(_CODE) > _MOST_LINES:
            _CODE.clear()
        code = _CODE[line] = compile(line, "<step>", "exec")
    return code


class Interpreter:
    """One side of a comparison: a library and the program's names.

    Parameters
    ----------
    library : Library
        Where steps are run.

    Attributes
    ----------
    names : dict
        All that the program has named, and what its text calls: the library as ``vt``, and the list
        ``seen`` in which hooks note what they see. The two libraries are driven
        through text and compared by the names of attributes, so these objects have no static type.
    line : str
        The line that was run last.
    left : dict
        The modes that the last step has left switched, each with its value before and after. They
        are set back. Only operators of the user's are suspected.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.names: dict[str, Any] = {"vt": library.module, "seen": [], **library.names()}
        self.names.update((name, rule.call) for name, rule in library.rules.items())
        self.line: str = ""
        self.left: dict[str, tuple[object, object]] = {}
        self.close()

    def close(self) -> None:
        """Close what a program may leave open: a level of forward mode."""
        self.library.close_level()

    def has_level(self) -> bool:
        """Whether a level of forward mode is open."""
        return self.library.has_level()

    def run(self, step: Step) -> Exception | None:
        """Run the text of a step; return the exception that it raised, or None."""
        if not self.library.rules:
            return self._run(step)
        # An operator that draws random numbers says so; then the step sets the generator.
        random = isinstance(step, Call) and step.seed is None
        before = modes_of(self.library, random=random)
        try:
            return self._run(step)
        finally:
            self.left = changed(before, modes_of(self.library, random=random))
            if self.left:
                restore(self.library, before)

    def _run(self, step: Step) -> Exception | None:
        try:
            with self._rule():
                for line in step.source(self.library.careful):
                    self.line = line
                    exec(_compiled(line), self.names)
        except Exception as error:  # noqa: BLE001 - any error of the library is an outcome
            if self.library.kind(error) is not None:
                # Frames would keep tensors alive.
                error.__traceback__ = None
                error.__context__ = None
            return error
        return None

    def _rule(self) -> AbstractContextManager[object] | set_overwrite_check:
        """What the library does about saved values that are overwritten, while a step runs."""
        if self.library.around is not None:
            return self.library.around()
        return set_overwrite_check("elements" if self.library.manners.exact else "storage")

    def variables(self) -> dict[str, Any]:
        """Everything that the program has bound to a tensor's name, oldest first."""
        return {
            name: value
            for name, value in self.names.items()
            if name[0] == "t" and name[1:].isdigit() and value is not None
        }

    def tensors(self) -> dict[str, Any]:
        """The program's live tensors by name, oldest first."""
        cls: type = self.library.module.Tensor
        return {name: value for name, value in self.variables().items() if isinstance(value, cls)}

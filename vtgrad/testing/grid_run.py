"""Runs the grid of an operator of the user's, and counts what it covers."""

from collections.abc import Sequence
from functools import partial

from vtgrad.testing.coverage import Coverage, watch
from vtgrad.testing.custom import Rule
from vtgrad.testing.grid import GridProgram, grid_of
from vtgrad.testing.libraries import Library, with_audit, with_rewind
from vtgrad.testing.session import DivergenceError, Session
from vtgrad.testing.shrink import attempt_in, shrink
from vtgrad.testing.steps import Step

__all__ = ["run_grid"]


def run_grid(rule: Rule, library: Library, coverage: Coverage, *, duals: bool) -> None:
    """Run the programs of the grid; see Note [The grid comes first].

    Parameters
    ----------
    duals : bool
        Whether the operator has to take tensors with tangents; else it may refuse them.

    Raises
    ------
    DivergenceError
        If a program behaves differently from the model.
    """
    __tracebackhide__ = True  # pytest leaves the frame out
    for program in grid_of(rule):
        if program.layout == "reversed" and library.careful:
            continue  # PyTorch has no negative strides
        try:
            for nr, where in enumerate(_libraries(program, library)):
                _run(program, program.usual if nr else program.steps, where)
        except DivergenceError as found:
            may_refuse = program.purpose == "forward" and not (duals or rule.has_jvp)
            if may_refuse and "got missing-method" in found.what:
                continue
            raise
        watch(coverage, library, program.usual)


def _libraries(program: GridProgram, library: Library) -> list[Library]:
    """The rules for saved values under which a program is run."""
    if not library.manners.exact:
        return [library]
    if program.purpose == "overwritten":
        return [library, with_rewind(library)]
    return [library, with_audit(library)]


def _run(program: GridProgram, steps: Sequence[Step], library: Library) -> None:
    __tracebackhide__ = True  # pytest leaves the frame out
    make = partial(Session, library, inspects_always=program.purpose == "forward")
    session = make()
    try:
        for step in steps:
            try:
                session.run(step)
            except KeyError:
                continue  # of what a step would have made that the model cannot predict
        session.finish()
    except DivergenceError as found:
        smallest = shrink(found, [attempt_in(make)])
        smallest.run_script()
        raise smallest.with_traceback(None) from smallest.__cause__
    finally:
        session.close()

"""Testing operators of one's own in random programs of views and in-place writes.

A `Rule` says what an operator is and what it ought to do, in NumPy. `check` runs random programs
in which it is called on leaves, views, views of views, under either grad mode, before and after
writes; the values, versions, views, errors and gradients of everything in the program are compared
with the model after each step. A program that diverges is made small and printed, as a script for
vtgrad, as its twin for PyTorch, and as steps to replay.
"""

from dataclasses import replace

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import vtgrad

from .custom import Rule as Rule
from .libraries import Library, vtgrad_library
from .machine import PROFILES, ViewsAndWrites, machine_for
from .session import DivergenceError as DivergenceError

__all__ = ["DivergenceError", "Rule", "check", "machine"]


def machine(
    *rules: Rule, library: Library | None = None, duals: bool = False
) -> type[ViewsAndWrites]:
    """Return a Hypothesis state machine whose programs call operators of the user's.

    Parameters
    ----------
    *rules : Rule
        The operators, of different names.
    library : Library, optional
        Where the programs run; vtgrad by default, see `vtgrad.testing.libraries`.
    duals : bool, default False
        Whether tensors have tangents in the programs, which are then compared too.

    Returns
    -------
    type
        For ``run_state_machine_as_test``, or for its attribute ``TestCase``.

    Raises
    ------
    ValueError
        If two rules have the same name.

    Examples
    --------
    >>> doubled = Rule("doubled", lambda x: x * 2, lambda x: x * 2)
    >>> TestDoubled = machine(doubled).TestCase  # found by pytest and unittest
    """
    where = vtgrad_library(vtgrad) if library is None else library
    named = {rule.name: rule for rule in rules}
    if len(named) < len(rules):
        raise ValueError("two rules have the same name")
    return machine_for(replace(where, rules=named), duals=duals)


def check(
    *rules: Rule, programs: int = 200, library: Library | None = None, duals: bool = False
) -> None:
    """Run random programs that call operators of the user's; the same ones each time.

    Parameters
    ----------
    *rules : Rule
        The operators, of different names.
    programs : int, default 200
        How many programs, of about 25 steps.
    library : Library, optional
        Where the programs run; vtgrad by default.
    duals : bool, default False
        Whether tensors have tangents in the programs, which are then compared too. A custom
        ``Function`` needs a ``jvp`` for that, and a rule that says so.

    Raises
    ------
    DivergenceError
        If a program behaves differently from the model; the message is a small program.
    ValueError
        If two rules have the same name, or an operator was never called, because `accepts` or
        its reference refused.

    Examples
    --------
    >>> check(Rule("doubled", lambda x: x * 2, lambda x: x * 2), programs=5)
    """
    profile = settings(PROFILES["hunt"], max_examples=programs)
    programs_of = machine(*rules, library=library, duals=duals)
    run_state_machine_as_test(programs_of, settings=profile)
    idle = sorted({rule.name for rule in rules} - programs_of.called)
    if idle:
        raise ValueError(f"no program could call {', '.join(idle)}: see what `accepts` refuses")

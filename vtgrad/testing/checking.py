"""Testing operators of one's own in random programs of views and in-place writes.

A `Rule` says what an operator is and what it ought to do, in NumPy. `check` runs random programs
in which it is called on leaves, views, views of views, under either grad mode, before and after
writes; the values, versions, views, errors and gradients of everything in the program are compared
with the model after each step. A program that diverges is made small and printed, as a script for
vtgrad, as its twin for PyTorch, and as steps to replay.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import vtgrad
from vtgrad.errors import ForwardModeError
from vtgrad.storage.thread_state import after_fork
from vtgrad.testing.coverage import Coverage as Coverage
from vtgrad.testing.coverage import CoverageError as CoverageError
from vtgrad.testing.custom import Rule as Rule
from vtgrad.testing.custom import RuleError as RuleError
from vtgrad.testing.grid_run import run_grid
from vtgrad.testing.libraries import Library, vtgrad_library
from vtgrad.testing.machine import PROFILES, ViewsAndWrites, machine_for
from vtgrad.testing.rule_checks import checked
from vtgrad.testing.rule_values import prepared
from vtgrad.testing.session import DivergenceError as DivergenceError
from vtgrad.testing.statistics import Statistics as Statistics

__all__ = [
    "Coverage",
    "CoverageError",
    "DivergenceError",
    "Rule",
    "RuleError",
    "Statistics",
    "check",
    "machine",
]

# Programs open the level of forward mode, of which a process has one.
_TURN = threading.RLock()


def _take_turns_anew() -> None:
    """Forget a check that ran in another thread, which the child of a fork does not have."""
    global _TURN
    _TURN = threading.RLock()


after_fork(_take_turns_anew)

_HINT = "give `shapes` that `accepts` and `reference` do not refuse"


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
        For ``run_state_machine_as_test``, or for its attribute ``TestCase``. A subclass may have
        rules and invariants of its own, which read what `tensors` gives.

    Raises
    ------
    RuleError
        If a rule cannot be right, whatever its operator does.
    ValueError
        If two rules have the same name.

    Examples
    --------
    >>> doubled = Rule("doubled", lambda x: x * 2, lambda x: x * 2)
    >>> TestDoubled = machine(doubled).TestCase  # found by pytest and unittest
    """
    return machine_for(_with_rules(rules, library), duals=duals)


def _with_rules(rules: Sequence[Rule], library: Library | None) -> Library:
    """Return the library whose programs call some operators, after a check of their rules."""
    where = vtgrad_library(vtgrad) if library is None else library
    given: object
    for given in rules:
        if not isinstance(given, Rule):
            raise TypeError(f"operators are described by a Rule, not by {type(given).__name__}")
    named = {rule.name: prepared(rule) for rule in rules}
    if len(named) < len(rules):
        raise ValueError("two rules have the same name")
    return replace(where, rules={name: checked(rule, where) for name, rule in named.items()})


def check(
    *rules: Rule,
    programs: int = 200,
    library: Library | None = None,
    duals: bool = False,
    floor: float = 0.5,
    statistics: Statistics | None = None,
) -> Coverage:
    """Run programs that call operators of the user's; the same ones each time.

    First come fixed programs for operands of every layout, then random ones. They run with
    gradients recorded, in whatever mode it is called. In several threads, one check runs after the
    other.

    Parameters
    ----------
    *rules : Rule
        The operators, of different names.
    programs : int, default 200
        How many random programs, of about 25 steps.
    library : Library, optional
        Where the programs run; vtgrad by default.
    duals : bool, default False
        Whether tensors have tangents in the programs, which are then compared too. A custom
        ``Function`` needs a ``jvp`` for that, and a rule that says so.
    floor : float, default 0.5
        The share of the layouts which operands of the rule's `shapes` can have, and in which each
        operator must have been tried.
    statistics : Statistics, optional
        Where what the random programs have done is added.

    Returns
    -------
    Coverage
        What was tried of each operator; printed, it is a table.

    Raises
    ------
    DivergenceError
        If a program behaves differently from the model; the message is a small program.
    RuleError
        If a rule cannot be right, whatever its operator does.
    CoverageError
        If too little of an operator was tried, because `accepts` or its reference refused.
    ForwardModeError
        If a level of forward mode is open.
    ValueError
        If two rules have the same name, or there is no rule or no program.

    Examples
    --------
    >>> print(check(Rule("doubled", lambda x: x * 2, lambda x: x * 2), programs=5))
    doubled: called ... times by random programs
                      called  g contiguous     g strided    g expanded         twice       forward
      contiguous ...
    """
    __tracebackhide__ = True  # pytest leaves the frame out
    where = vtgrad_library(vtgrad) if library is None else library
    module = where.module
    if not rules or programs < 1:
        raise ValueError("check needs at least one rule and one program")
    with _TURN, module.inference_mode(False), module.enable_grad():
        if where.has_level():
            raise ForwardModeError("the programs of `check` need the one level of forward mode")
        return _checked(_with_rules(rules, where), programs, duals, floor, statistics)


def _checked(
    where: Library, programs: int, duals: bool, floor: float, statistics: Statistics | None
) -> Coverage:
    """Run the grid, then random programs."""
    __tracebackhide__ = True  # pytest leaves the frame out
    coverage = Coverage(tuple(where.rules.values()))
    for rule in coverage.rules:
        run_grid(rule, where, coverage, duals=duals)
        _check_floor(rule, coverage, floor)
    profile = settings(PROFILES["hunt"], max_examples=programs)

    def run(library: Library) -> None:
        programs_of = machine_for(library, duals=duals)
        try:
            run_state_machine_as_test(programs_of, settings=profile)
        finally:
            if statistics is not None:
                statistics.add(programs_of.statistics)
        coverage.calls.update(programs_of.statistics.calls)

    run(where)
    idle = {rule.name: rule for rule in coverage.rules if not coverage.calls[rule.name]}
    if 0 < len(idle) < len(where.rules):
        run(replace(where, rules=idle))  # among others there may have been no room
    idle = {name: rule for name, rule in idle.items() if not coverage.calls[name]}
    if idle:
        raise CoverageError(f"no program could call {', '.join(idle)}: {_HINT}", coverage)
    return coverage


def _check_floor(rule: Rule, coverage: Coverage, floor: float) -> None:
    share = coverage.share(rule.name)
    if share < floor:
        found = f"{share:.0%} of the layouts of operands, of {floor:.0%}"
        raise CoverageError(f"{rule.name} was tried in {found}: {_HINT}", coverage)

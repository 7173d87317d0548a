"""Draws the values that a rule states as strategies, so that programs are made of plain data."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from vtgrad.testing.custom import Rule

__all__ = ["prepared"]

#: How many values are drawn of each strategy.
_DRAWN = 24


def prepared(rule: Rule) -> Rule:
    """Return the rule with values where it has strategies; the same ones each time.

    Raises
    ------
    RuleError
        If the values of `options` cannot be written in a program, or those of `shapes` are none.
    """
    options = {name: _values(rule, "options", rule.options[name]) for name in rule.options}
    for name, values in options.items():
        for value in values:
            if not _can_be_written(value):
                must = f"must have values that a program can be written with: not {name}={value!r}"
                raise rule.error("options", must)
    shapes = None if rule.shapes is None else _values(rule, "shapes", rule.shapes)
    made = replace(rule, options=options, shapes=shapes)
    if shapes is not None:
        assert made.shape_choices  # which refuses what is no shape
    return made


def _values(rule: Rule, argument: str, given: object) -> Sequence[object]:
    if isinstance(given, SearchStrategy):
        return _drawn(given)
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        return tuple(given)
    raise rule.error(argument, f"must be strategies or sequences of values, not {given!r}")


def _drawn(strategy: SearchStrategy[object]) -> Sequence[object]:
    found: list[object] = []

    @settings(
        max_examples=_DRAWN,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]  # the iteration of this enum has no type
    )
    @given(strategy)
    def collect(value: object) -> None:
        found.append(value)

    collect()
    return [value for at, value in enumerate(found) if value not in found[:at]]


def _can_be_written(value: object) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False

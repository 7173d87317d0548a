"""Makes the steps that call an operator of the user's."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vtgrad.testing.custom import FLOATING, Rule, RuleError, Shape
from vtgrad.testing.model import SkippedError
from vtgrad.testing.steps import Call, Literal
from vtgrad.testing.views import ViewCall
from vtgrad.testing.world import World

__all__ = ["call_of", "constant", "drawn_options", "floating"]


def floating(typing: Sequence[str]) -> str:
    """Return the dtype of the operands that are no constants."""
    return next(dtype for dtype in typing if dtype in FLOATING)


def constant(rng: random.Random, shape: Shape, dtype: str) -> Literal:
    """Draw an operand of integers, which are often indices, or of bools."""
    numbers = (True, False) if dtype == "bool" else (0, 1, 2, 0, 1, -1, 3)
    return Literal(shape, tuple(rng.choice(numbers) for _ in range(int(np.prod(shape)))), dtype)


def drawn_options(rule: Rule, rng: random.Random) -> dict[str, object]:
    """Draw arguments by keyword, and the ``seed`` of an operator that draws random numbers."""
    options = {name: rng.choice(rule.choices(name)) for name in rule.options}
    return {**options, "seed": rng.randrange(100)} if rule.is_random else options


def call_of(
    rule: Rule,
    operands: Sequence[int | Literal],
    shapes: Sequence[Shape],
    fresh: Callable[[], int],
    options: Mapping[str, object],
    dtype: str,
    views: Mapping[int, ViewCall] | None = None,
) -> Call:
    """Make the call of an operator.

    Parameters
    ----------
    operands
        As the step takes them.
    shapes
        Those of the operands that are tensors of the program.
    fresh
        Makes the number of a new tensor.
    options
        As `drawn_options` draws them.
    views
        Of constants and casts, by position.
    """
    given = tuple((name, value) for name, value in options.items() if name in rule.options)
    seed = options["seed"] if rule.is_random else None
    assert seed is None or isinstance(seed, int)
    seen = tuple(views.items()) if views else ()
    bare = Call((), rule.name, tuple(operands), True, dtype, given, seed, views=seen)
    if rule.result == "written":
        return bare
    kinds, is_several = _outline(bare, rule, shapes)
    outs = tuple(fresh() for _ in kinds)
    shown = kinds if any(kind != "float64" for kind in kinds) or dtype == "float32" else ()
    return replace(bare, outs=outs, kinds=shown, is_several=is_several, is_cloned=rule.hides_bases)


def _outline(call: Call, rule: Rule, shapes: Sequence[Shape]) -> tuple[tuple[str, ...], bool]:
    """Return the dtypes of the results for operands of such shapes, and whether it is a tuple."""
    invocation = call.invocation(World(rules={rule.name: rule}))
    try:
        outcome = invocation.outline(shapes)
    except (RuleError, SkippedError):  # as is found out when the step is run
        return ("float64",), False
    return outcome.dtypes, outcome.is_several

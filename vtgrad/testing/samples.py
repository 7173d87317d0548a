"""Operands on which a rule is tried: shapes, values, and how they lie in memory."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vtgrad.testing.calls import constant, drawn_options, floating
from vtgrad.testing.custom import CONSTANT, FLOATING, Rule, Shape
from vtgrad.testing.invocation import Invocation
from vtgrad.testing.jets import FloatArray
from vtgrad.testing.layouts import can_have, seen_in
from vtgrad.testing.model import RefusedError, SkippedError
from vtgrad.testing.steps import Literal

__all__ = ["Sample", "VALUES", "places", "samples", "shapes_of", "values_of"]

#: Shapes of one operand: without dimensions, with elements to permute, empty, with sizes of one.
SHAPES: tuple[Shape, ...] = (
    (2, 3), (3,), (), (2, 2), (2, 2, 2), (0,), (0, 2), (2, 0), (1,), (1, 3), (2, 1), (3, 3),
)  # fmt: skip

#: Shapes of two operands that differ.
PAIRS: tuple[tuple[Shape, Shape], ...] = (
    ((2, 3), (3,)), ((2, 3), (3, 2)), ((2, 3), ()), ((), (3,)), ((2, 3), (2, 1)), ((3,), (2,)),
    ((1, 3), (2, 3)), ((2, 2), (2,)),
)  # fmt: skip

#: Numbers that operands are made of, in this order; the first that the rule accepts are taken.
VALUES: dict[str, tuple[float, ...]] = {
    "fractional": (0.75, -1.5, 2.25, -0.625, 1.375, -2.125, 0.375, -0.25, 1.125),
    "positive": (0.75, 1.5, 2.25, 0.625, 1.375, 2.125, 0.375, 0.25, 1.125),
    "below one": (0.75, 0.5, 0.25, 0.625, 0.375, 0.125, 0.875, 0.3125, 0.1875),
    "above one": (1.75, 2.5, 3.25, 1.625, 2.375, 3.125, 1.375, 2.25, 1.125),
    "whole": (1.0, -2.0, 3.0, 2.0, -1.0, -3.0, 4.0, 5.0, -4.0),
    "counted": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
}

#: How often constants are drawn anew for one combination of shapes.
_DRAWS = 4


@dataclass(frozen=True)
class Sample:
    """Operands of a call that a rule accepts.

    Attributes
    ----------
    shapes : tuple of Shape
        Those of the arrays: of the operands that are no constants, twice for complex ones.
    values : str
        Which numbers the arrays are made of.
    constants : dict
        Operands that are constants, by position.
    options : dict
        Arguments by keyword.
    layouts : tuple of str
        How each operand lies in memory.
    alone : int or None
        The operand that alone has gradients, if it can have them; all have without it.
    """

    rule: Rule
    typing: tuple[str, ...]
    shapes: tuple[Shape, ...]
    values: str
    constants: dict[int, Literal]
    options: dict[str, object]
    layouts: tuple[str, ...]
    alone: int | None

    @property
    def dtype(self) -> str:
        """That of the operands that are no constants."""
        return floating(self.typing)

    @property
    def invocation(self) -> Invocation:
        """The call as the model sees it."""
        constants = {
            at: np.array(literal.numbers, literal.dtype).reshape(literal.shape)
            for at, literal in self.constants.items()
        }
        return Invocation(self.rule, constants, self.options, self.dtype)

    def arrays(self) -> list[FloatArray]:
        """Return the arrays."""
        laid = [self.layouts[at] for at in places(self.typing)]
        return [
            seen_in(layout, np.array(values_of(shape, self.values, which)).reshape(shape))
            for which, (shape, layout) in enumerate(zip(self.shapes, laid, strict=True))
        ]


def places(typing: Sequence[str]) -> list[int]:
    """Return of which operand each array is a part: none of a constant, two of a complex one."""
    width = 2 if "complex128" in typing else 1
    return [at for at, dtype in enumerate(typing) if dtype in FLOATING for _ in range(width)]


def _laid(drawn: Literal, layout: str) -> Literal:
    """Return a constant that can lie in memory so."""
    array = np.array(drawn.numbers, drawn.dtype).reshape(drawn.shape)
    return replace(drawn, numbers=tuple(seen_in(layout, array).ravel().tolist()))


def values_of(shape: Shape, values: str, which: int) -> tuple[float, ...]:
    """Return the numbers of an operand; those of each operand begin elsewhere."""
    numbers = itertools.cycle(VALUES[values])
    return tuple(itertools.islice(numbers, which, which + math.prod(shape)))


def shapes_of(rule: Rule) -> Sequence[tuple[Shape, ...]]:
    """Return combinations of shapes, one for each operand: those stated, or many."""
    if rule.shapes is not None:
        return tuple(dict.fromkeys(rule.shape_choices))
    alike = [(shape,) * rule.operands for shape in SHAPES]
    if rule.operands == 1:
        return alike
    return [*alike, *((one, *(other,) * (rule.operands - 1)) for one, other in PAIRS)]


def samples(
    rule: Rule, layout: str | None = None, alone: int | None = None, *, refused: bool = False
) -> Iterator[Sample]:
    """Yield operands of every combination of shapes and dtypes that the rule accepts.

    Parameters
    ----------
    layout : str, optional
        How arrays lie in memory; without it, row-major.
    alone : int, optional
        The operand that has this layout; without it, all that can.
    refused : bool
        Yield operands for which the operator has to raise, not those for which it may not.

    Raises
    ------
    RuleError
        If the rule is wrong.
    """
    for typing in rule.typings:
        for shapes in shapes_of(rule):
            found = _sample(rule, typing, shapes, layout, alone, refused)
            if found is not None:
                yield found


def _sample(
    rule: Rule,
    typing: tuple[str, ...],
    shapes: tuple[Shape, ...],
    layout: str | None,
    alone: int | None,
    refused: bool,
) -> Sample | None:
    pairs = list(zip(shapes, typing, strict=True))
    real = tuple(shapes[at] for at in places(typing))
    asked = layout or "contiguous"
    if layout is not None and not any(
        alone in (None, at) and can_have(asked, shape) for at, shape in enumerate(shapes)
    ):
        return None
    has_draws = rule.options or set(typing) & set(CONSTANT)
    rng = random.Random(str(shapes))
    for values in VALUES:
        for _ in range(_DRAWS if has_draws else 1):
            constants = {
                at: constant(rng, shape if rule.shapes else rng.choice((shape, (), (2,))), dtype)
                for at, (shape, dtype) in enumerate(pairs)
                if dtype not in FLOATING
            }
            given = [
                constants[at].shape if at in constants else shapes[at] for at in range(len(pairs))
            ]
            layouts = tuple(
                asked if alone in (None, at) and can_have(asked, shape) else "contiguous"
                for at, shape in enumerate(given)
            )
            constants = {at: _laid(drawn, layouts[at]) for at, drawn in constants.items()}
            options = drawn_options(rule, rng)
            sample = Sample(rule, typing, real, values, constants, options, layouts, alone)
            try:
                sample.invocation.outcome(sample.arrays())
            except SkippedError:
                continue
            except RefusedError:
                if not refused:
                    continue
                return sample
            if not refused:
                return sample
    return None

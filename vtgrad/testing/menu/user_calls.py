"""Calls of operators of the user's."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from vtgrad.testing import steps
from vtgrad.testing.calls import call_of, constant, drawn_options, floating
from vtgrad.testing.custom import FLOATING, Rule, Shape
from vtgrad.testing.menu.chooser import Chooser
from vtgrad.testing.menu.kinds import kind
from vtgrad.testing.menu.state import TensorState
from vtgrad.testing.steps import Leaf, Literal, Step
from vtgrad.testing.views import ViewCall

__all__ = ["custom"]

#: Operands of given shapes are leaves, of so many elements more than other leaves.
_MORE_ROOM = 24


@kind(0, "custom")
def custom(c: Chooser) -> Sequence[Step] | None:
    """A call of an operator of the user's, if there is one that fits."""
    rule = c.one(c.abilities.rules)
    typing = c.one(rule.typings)
    dtype = floating(typing)
    found = _given(c, rule, typing) if rule.shapes is not None else _any(c, rule, typing)
    if found is None:
        return None
    made, operands, shapes = found
    call = call_of(rule, operands, shapes, c.fresh, drawn_options(rule, c.rng), dtype)
    return (*made, replace(call, grad=c.chance(0.75)))


#: Steps that make operands; the operands; the shapes of those that are tensors of the program.
Found = tuple[list[Step], list[int | Literal], list[Shape]]


def _any(c: Chooser, rule: Rule, typing: Sequence[str]) -> Found | None:
    """Tensors of the program, of shapes that may go together."""
    operands: list[int | Literal] = []
    shapes: list[Shape] = []
    for dtype in typing:
        if dtype not in FLOATING:
            known = [*shapes, (), (2,)]
            operands.append(constant(c.rng, c.one(known), dtype))
            continue
        for part in range(2 if dtype == "complex128" else 1):
            if not shapes:
                t = c.pick_target() if rule.result == "written" else c.pick()
            elif part or c.chance(0.5):
                t = c.pick(partial(_has_shape, shapes[-1] if part else shapes[0]))
            else:
                t = c.pick_fitting(shapes[0])
            if t is None:
                return None
            operands.append(t.index)
            shapes.append(t.shape)
    return [], operands, shapes


def _has_shape(shape: Shape, t: TensorState) -> bool:
    return t.shape == shape


def _given(c: Chooser, rule: Rule, typing: Sequence[str]) -> Found:
    """Tensors of the shapes that the rule states: of the program, or made for this call."""
    made: list[Step] = []
    operands: list[int | Literal] = []
    shapes: list[Shape] = []
    for shape, dtype in zip(c.one(rule.shape_choices), typing, strict=True):
        if dtype not in FLOATING:
            operands.append(constant(c.rng, shape, dtype))
            continue
        for _ in range(2 if dtype == "complex128" else 1):
            is_written = rule.result == "written" and not operands
            fit = [t for t in c.all if t.shape == shape and not (is_written and t.is_protected)]
            if fit and c.chance(0.7):
                operands.append(c.one(fit).index)
            else:
                made += _fresh(c, shape, is_written=is_written)
                operands.append(c.last)
            shapes.append(shape)
    return made, operands, shapes


def _fresh(c: Chooser, shape: Shape, *, is_written: bool) -> list[Step]:
    """A leaf, or a transposed view of one; a copy of it where it is written."""
    turned, below = False, shape
    if len(shape) > 1 and c.chance(0.3):
        turned, below = True, (shape[-1], *shape[1:-1], shape[0])
    grad = c.chance(0.7) and c.state.has_room(math.prod(shape) - _MORE_ROOM)
    made: list[Step] = [Leaf(c.fresh(), c.literal(below), grad)]
    if is_written:
        made.append(steps.Apply(c.fresh(), "clone", (c.last,)))
    if turned:
        of = c.last
        made.append(steps.View((c.fresh(),), of, ViewCall("transpose", (0, -1))))
    return made

"""Whether two recordings are of the same program."""

from __future__ import annotations

from collections.abc import Sequence

from vtgrad.jit.interpret import same_value
from vtgrad.jit.steps import Buffer, Fixed, Group, Operand, Program, Step
from vtgrad.jit.values import name_of

__all__ = ["first_difference", "same_buffer", "same_step"]


def first_difference(a: Program, b: Program) -> str | None:
    """Where two programs differ, as a sentence; None if they are the same."""
    for number, (x, y) in enumerate(zip(a.steps, b.steps, strict=False)):
        if not same_step(x, y):
            return f"step {number} is {_text(x)} or {_text(y)}"
    if len(a.steps) != len(b.steps):
        return f"there are {len(a.steps)} or {len(b.steps)} steps"
    for number, (p, q) in enumerate(zip(a.buffers, b.buffers, strict=False)):
        if not same_buffer(p, q):
            return f"buffer {number} is another one"
    if len(a.buffers) != len(b.buffers):
        return f"there are {len(a.buffers)} or {len(b.buffers)} buffers"
    if a.results != b.results:
        return "the results lie elsewhere"
    for number, (g, h) in enumerate(zip(a.guards, b.guards, strict=False)):
        if g.before != h.before or g.function != h.function or g.inputs != h.inputs:
            return f"guard {number} is another one"
        if not same_value(g.value, h.value):
            return f"the value of guard {number} is another one"
    if len(a.guards) != len(b.guards):
        return f"there are {len(a.guards)} or {len(b.guards)} guards"
    return None


def same_step(a: Step, b: Step) -> bool:
    """Whether two steps are the same call on the same places."""
    return a is b or (
        a.function == b.function
        and a.outputs == b.outputs
        and a.writes == b.writes
        and _same_operands(a.inputs, b.inputs)
        and [name for name, _ in a.keywords] == [name for name, _ in b.keywords]
        and _same_operands([x for _, x in a.keywords], [x for _, x in b.keywords])
    )


def same_buffer(a: Buffer, b: Buffer) -> bool:
    """Whether two buffers are of one kind and, if they are constants, have the same bytes."""
    if a is b:
        return True
    if a.kind is not b.kind or a.nbytes != b.nbytes or a.position != b.position:
        return False
    if a.content is None or b.content is None:
        return a.content is b.content
    return a.content.tobytes() == b.content.tobytes()


def _text(step: Step) -> str:
    return f"{name_of(step.function)}{step.inputs} at {step.line}"


def _same_operands(a: Sequence[Operand], b: Sequence[Operand]) -> bool:
    return len(a) == len(b) and all(map(_same_operand, a, b))


def _same_operand(a: Operand, b: Operand) -> bool:
    if isinstance(a, Fixed) and isinstance(b, Fixed):
        return same_value(a.value, b.value)
    if isinstance(a, Group) and isinstance(b, Group):
        return a.type is b.type and _same_operands(a.parts, b.parts)
    return type(a) is type(b) and a == b

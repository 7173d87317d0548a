"""Steps whose buffers lie elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from vtgrad.jit.steps import Group, Operand, Place, Step

__all__ = ["Moves", "moved", "moved_all", "moved_place", "moved_step"]

# Where the bytes of a buffer lie instead: another buffer, and how many bytes higher.
Moves: TypeAlias = dict[int, tuple[int, int]]


def moved_place(place: Place, moves: Moves) -> Place:
    """A place, where its bytes lie now."""
    found = moves.get(place.buffer)
    if found is None:
        return place
    return Place(found[0], place.dtype, place.shape, place.strides, place.offset + found[1])


def moved(operand: Operand, moves: Moves) -> Operand:
    """An operand with its places moved."""
    if type(operand) is Place:
        return moved_place(operand, moves)
    if isinstance(operand, Group):
        return Group(operand.type, moved_all(operand.parts, moves))
    return operand


def moved_all(operands: tuple[Operand, ...], moves: Moves) -> tuple[Operand, ...]:
    """Operands with their places moved."""
    return tuple([moved(x, moves) for x in operands])


def moved_step(step: Step, moves: Moves) -> Step:
    """A step with its places moved; the same object if none is."""
    inputs = moved_all(step.inputs, moves)
    outputs = tuple([moved_place(x, moves) for x in step.outputs])
    writes = tuple([moved_place(x, moves) for x in step.writes])
    keywords = tuple([(name, moved(x, moves)) for name, x in step.keywords])
    if (inputs, outputs, writes, keywords) == (
        step.inputs,
        step.outputs,
        step.writes,
        step.keywords,
    ):
        return step
    return replace(step, inputs=inputs, outputs=outputs, writes=writes, keywords=keywords)

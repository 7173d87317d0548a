"""Steps whose buffers lie elsewhere."""

from __future__ import annotations

from typing import TypeAlias

from vtgrad.jit.steps import Fixed, Group, Operand, Place, Step

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


def _is_moved(step: Step, moves: Moves) -> bool:
    """Whether a place of a step is moved, or may be."""
    for operand in step.inputs:
        if type(operand) is Place:
            if operand.buffer in moves:
                return True
        elif type(operand) is not Fixed:
            return True
    for place in step.outputs:
        if place.buffer in moves:
            return True
    for place in step.writes:
        if place.buffer in moves:
            return True
    return bool(step.keywords)


def moved_step(step: Step, moves: Moves) -> Step:
    """A step with its places moved; the same object if none is."""
    if not _is_moved(step, moves):
        return step
    return step.changed(
        inputs=moved_all(step.inputs, moves),
        keywords=tuple([(name, moved(x, moves)) for name, x in step.keywords]),
        outputs=tuple([moved_place(x, moves) for x in step.outputs]),
        writes=tuple([moved_place(x, moves) for x in step.writes]),
    )

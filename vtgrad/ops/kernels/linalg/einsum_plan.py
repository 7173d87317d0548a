"""Reading an einsum equation: which dimension of which operand carries which label.

Labels become numbers. Those of the result come first, in the result's order, so that operands
whose dimensions are sorted by label line up with each other and with the result, and what is
to be summed over stands at the end.

Note [Ellipsis in einsum]
An ellipsis stands for as many dimensions as its operand has left over. They get labels of
their own, aligned from the right as in broadcasting, so from there on they are labels like
all others. Without ``->`` the result has the ellipsis first and then, in the order of the
alphabet (capitals first), the letters that occur once. A result that names no ellipsis sums
its dimensions away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, NoReturn

from vtgrad.errors import ShapeError
from vtgrad.storage.arrays import Shape

__all__ = ["EinsumPlan", "plan_einsum"]


_DOTS: Final = "..."


class EinsumPlan(NamedTuple):
    """What an equation says about operands of known shapes.

    Attributes
    ----------
    operands : tuple of tuple of int
        For each operand, the label of each of its dimensions; a label that stands twice asks
        for a diagonal.
    outputs : int
        How many labels the result has: 0 to ``outputs - 1``, in this order.
    labels : int
        How many labels there are; those from ``outputs`` on are summed over.
    """

    operands: tuple[tuple[int, ...], ...]
    outputs: int
    labels: int


def _refuse(equation: str, why: str) -> NoReturn:
    raise ShapeError(f"einsum equation {equation!r}: {why}", equation=equation)


def _terms(equation: str, text: str, where: str) -> list[str]:
    """One operand's subscripts as letters and at most one ellipsis; blanks are skipped."""
    terms: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith(_DOTS, at):
            if _DOTS in terms:
                _refuse(equation, f"{where} has more than one ellipsis")
            terms.append(_DOTS)
            at += len(_DOTS)
            continue
        char = text[at]
        if char.isascii() and char.isalpha():
            terms.append(char)
        elif char != " ":
            _refuse(equation, f"{char!r} in {where} is neither a letter nor part of an ellipsis")
        at += 1
    return terms


def _spread(equation: str, position: int, terms: list[str], shape: Shape) -> int:
    """How many dimensions the ellipsis of this operand stands for."""
    rest = len(shape) - sum(term != _DOTS for term in terms)
    if rest < 0 or (rest > 0 and _DOTS not in terms):
        _refuse(
            equation,
            f"operand {position} has {len(shape)} dimensions, its subscripts {''.join(terms)!r}"
            " name another number",
        )
    return rest


def _expand(terms: list[str], rest: int, widest: int) -> list[str]:
    """Names of all dimensions, with those under the ellipsis numbered from the right."""
    names: list[str] = []
    for term in terms:
        if term == _DOTS:
            names.extend(f"{_DOTS}{k}" for k in range(widest - rest, widest))
        else:
            names.append(term)
    return names


def _result_terms(equation: str, arrow: str, result: str, operands: list[list[str]]) -> list[str]:
    given = [term for terms in operands for term in terms]
    letters = [term for term in given if term != _DOTS]
    if not arrow:
        once = sorted({term for term in letters if letters.count(term) == 1})
        return [_DOTS, *once] if _DOTS in given else once
    terms = _terms(equation, result, "the result")
    for term in terms:
        if term != _DOTS and terms.count(term) > 1:
            _refuse(equation, f"the result has {term!r} more than once")
        if term != _DOTS and term not in letters:
            _refuse(equation, f"no operand has {term!r}, which the result asks for")
    return terms


def _check_sizes(equation: str, names: list[list[str]], shapes: Sequence[Shape]) -> None:
    seen: dict[str, int] = {}
    for position, (own, shape) in enumerate(zip(names, shapes, strict=True)):
        here: dict[str, int] = {}
        for name, size in zip(own, shape, strict=True):
            if here.setdefault(name, size) != size:
                _refuse(
                    equation,
                    f"{name!r} has sizes {here[name]} and {size} within operand {position}",
                )
            agreed = seen.setdefault(name, size)
            if agreed == 1:
                seen[name] = size
            elif size not in (1, agreed):
                _refuse(
                    equation,
                    f"{name!r} has size {size} in operand {position} and {agreed} before",
                )


def plan_einsum(equation: str, shapes: Sequence[Shape]) -> EinsumPlan:
    """Read `equation` for operands of these shapes.

    Raises
    ------
    ShapeError
        If the equation cannot be read, or does not fit the operands.
    """
    left, arrow, result = equation.partition("->")
    operands = [
        _terms(equation, text, f"operand {position}")
        for position, text in enumerate(left.split(","))
    ]
    if len(operands) != len(shapes):
        _refuse(equation, f"it has {len(operands)} operands, {len(shapes)} tensors were given")
    rests = [
        _spread(equation, position, terms, shape)
        for position, (terms, shape) in enumerate(zip(operands, shapes, strict=True))
    ]
    widest = max(rests)
    names = [_expand(terms, rest, widest) for terms, rest in zip(operands, rests, strict=True)]
    _check_sizes(equation, names, shapes)
    outputs = _expand(_result_terms(equation, arrow, result, operands), widest, widest)
    summed = sorted({name for own in names for name in own} - set(outputs))
    number = {name: label for label, name in enumerate([*outputs, *summed])}
    return EinsumPlan(
        tuple(tuple([number[name] for name in own]) for own in names),
        len(outputs),
        len(number),
    )

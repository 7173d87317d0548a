"""Writing `apply_large`: the evaluation of a node's formulas that reuses memory."""

import ast
import dataclasses
from collections.abc import Sequence

from .overwriting import lent_operand, overwriting

__all__ = ["LargeEdge", "emit_large"]


@dataclasses.dataclass(frozen=True)
class LargeEdge:
    """What `apply_large` computes for one input.

    Attributes
    ----------
    text : str
        The formula over arrays, as `apply_arrays` has it.
    unpack : tuple of str
        Statements that get the saved values which it uses.
    ownership : str
        Who holds the result, as Python text.
    """

    text: str
    unpack: tuple[str, ...]
    ownership: str


def emit_large(edges: Sequence[LargeEdge], owning: frozenset[str]) -> list[str]:
    """The method as lines of Python text; nothing if no formula can reuse any memory."""
    if any("grads" in _names(edge.text) for edge in edges) or all(
        overwriting(edge.text, owning, "owned") is None for edge in edges
    ):
        return []
    lines = [
        "    def apply_large(",
        "        self, grad: Array, owned: bool, lend: bool, needs: int",
        "    ) -> tuple[Sequence[Gradient | None], Sequence[int]]:",
        '        """Gradients of the inputs, in arrays that nobody else holds where there are."""',
    ]
    lines += _square(edges)
    owners = []
    for i, edge in enumerate(edges):
        later = range(i + 1, len(edges))
        owned = f"owned{i}" if later else "owned"
        text = overwriting(edge.text, owning, owned) or edge.text
        lent = lent_operand(edge.text)
        lines.append(f"        grad{i}: Gradient | None = None")
        if lent is not None:
            lines.append(f"        owner{i} = {edge.ownership}")
            text = f"product(lend, {owned}, {_operands(edge.text)})"
        lines.append(f"        if {_wanted(i)}:")
        lines += [f"            {line}" for line in edge.unpack]
        if later and owned in _names(text):
            # Only the last one that is computed may overwrite the gradient.
            unwanted = " and ".join(f"not ({_wanted(j)})" for j in later)
            lines.append(f"            {owned} = owned and {unwanted}")
        lines.append(f"            grad{i} = {text}")
        if lent is not None:
            lines.append(f"            if grad{i} is {lent}:")
            lines.append(f"                owner{i} = SHARED")
        elif later and edge.ownership != "FRESH":
            # This answer may be the gradient itself.
            lines.append("            owned = False")
        owners.append(edge.ownership if lent is None else f"owner{i}")
    comma = "," if len(edges) == 1 else ""
    answers = ", ".join(f"grad{i}" for i in range(len(edges)))
    lines.append(f"        return ({answers}{comma}), ({', '.join(owners)}{comma})\n")
    return lines


def _square(edges: Sequence[LargeEdge]) -> list[str]:
    """The short way of a product whose factors are one tensor: one gradient, handed on twice.

    The first time it counts as shared, so that nobody writes to it before it has been added the
    second time, with the very sums that two arrays would have given.
    """
    values = [lent_operand(edge.text) for edge in edges]
    if len(values) != 2 or None in values:
        return []
    saved = ", ".join(f"self.saved_{str(value).rstrip('_')}" for value in values)
    return [
        f"        if needs & 3 == 3 and is_square(self.next_edges, {saved}):",
        *[f"            {line}" for line in edges[0].unpack],
        f"            square = product(lend, owned, {_operands(edges[0].text)})",
        f"            owner = SHARED if square is {values[0]} else {edges[0].ownership}",
        "            return (square, square), (SHARED, owner)",
    ]


def _wanted(nr: int) -> str:
    return f"needs & {1 << nr} and self.next_edges[{nr}] is not None"


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


def _operands(text: str) -> str:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return ", ".join(ast.unparse(operand) for operand in call.args)

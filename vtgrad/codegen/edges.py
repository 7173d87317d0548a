"""What the node of an operator computes for each of its inputs."""

import ast
import dataclasses
import re
from collections.abc import Sequence

from vtgrad.codegen.formula import ARRAYS, TENSORS, Evaluation, Formula, Names, emit
from vtgrad.codegen.language import Argument, Operator

__all__ = ["Computed", "Edge", "edges_of"]

# What may read a part of itself several times, or not at all.
_NOT_ALWAYS = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)


@dataclasses.dataclass(frozen=True)
class Computed:
    """A formula in one evaluation.

    Attributes
    ----------
    text : str
        The expression.
    unpack : tuple of str
        Statements that get the saved values which it uses.
    """

    text: str
    unpack: tuple[str, ...]

    def inlined(self, width: int) -> "Computed":
        """The formula with its saved value in place of the name, where that is simple.

        It is if there is one value, read once and in any case, and the text keeps to a width.
        """
        if len(self.unpack) != 1:
            return self
        name, _, value = self.unpack[0].partition(" = ")
        found = list(ast.walk(ast.parse(self.text, mode="eval")))
        read = [node for node in found if isinstance(node, ast.Name) and node.id == name]
        text = re.sub(rf"(?<![.\w]){name}\b", value, self.text)
        if len(read) != 1 or any(isinstance(node, _NOT_ALWAYS) for node in found):
            return self
        if len(text) > width or text.count(value) != 1:
            return self
        return Computed(text, ())


@dataclasses.dataclass(frozen=True)
class Edge:
    """The gradient of one input.

    Attributes
    ----------
    nr : int
        The number of the edge.
    arrays, tensors : Computed
        Its formula over arrays and over tensors.
    ownership : str
        Who holds the result over arrays, as Python text.
    uses : frozenset of str
        All names in the formula.
    is_list : bool
        Whether it stands for the edges of a list of tensors.
    place : str
        Where the node has the edge, as Python text.
    """

    nr: int
    arrays: Computed
    tensors: Computed
    ownership: str
    uses: frozenset[str]
    is_list: bool
    place: str

    @property
    def wanted(self) -> str:
        """The condition on which the gradient is computed."""
        return f"needs & {1 << self.nr} and {self.place} is not None"


def edges_of(
    operator: Operator,
    formulas: dict[str, Formula],
    saved: Sequence[Argument],
    results: Sequence[str],
    names: Names,
) -> list[Edge]:
    """The gradients of an operator's inputs, in the order of its edges."""
    return [
        Edge(
            nr,
            _computed(operator, a, formulas[a.name], saved, results, names, ARRAYS),
            _computed(operator, a, formulas[a.name], saved, results, names, TENSORS),
            _ownership(operator, a.name, formulas[a.name], names),
            frozenset(_names_in(formulas[a.name])),
            a.is_list,
            f"self.edge{nr}" if operator.arity else f"self.next_edges[{nr}]",
        )
        for nr, a in enumerate(operator.edged)
    ]


def _computed(
    operator: Operator,
    argument: Argument,
    formula: Formula,
    saved: Sequence[Argument],
    results: Sequence[str],
    names: Names,
    evaluation: Evaluation,
) -> Computed:
    text = emit(operator, formula, names, evaluation)
    if evaluation is ARRAYS and argument.name in operator.regions:
        region = "Region(grad, self, grad.size)"
        if operator.region_if is not None:
            region = f"{region} if self.passes_regions() else {text}"
        return Computed(region, ())
    lines: list[str] = []
    for a in saved:
        if a.name in formula.tensors:
            lines += _unpacked(a, evaluation)
    method = "unpack_array" if evaluation is ARRAYS else "unpack"
    lines += [f"{r} = self.saved_{r}.{method}(self)" for r in results if r in formula.results]
    return Computed(text, tuple(lines))


def _unpacked(argument: Argument, evaluation: Evaluation) -> list[str]:
    """Statements that get one saved argument."""
    arrays = evaluation is ARRAYS
    field = f"saved_{argument.name}"
    local = "self_" if argument.name == "self" else argument.name
    if argument.is_list:
        function = "array_list" if arrays else "tensor_list"
        return [f"{local} = {function}(self.{field}, self)"]
    unpack = "unpack_array(self)" if arrays else "unpack(self)"
    if argument.type == "Tensor":
        return [f"{local} = self.{field}.{unpack}"]
    # In a variable, whose type is known after the question.
    lines = [f"{field} = self.{field}"]
    if argument.type == "Tensor | None":
        lines.append(f"{local} = None if {field} is None else {field}.{unpack}")
    else:
        is_saved = f"isinstance({field}, SavedVariable)"
        lines.append(f"{local} = {field}.{unpack} if {is_saved} else {field}")
    return lines


def _ownership(operator: Operator, argument: str, formula: Formula, names: Names) -> str:
    text = emit(operator, formula, names, ARRAYS)
    if text == "grad":
        return "PASSED"
    if argument in operator.fresh:
        return "FRESH"
    head = text.split("(")[0]
    if head.startswith("k.") and head[2:] not in names.aliasing:
        return "FRESH"
    return "SHARED"


def _names_in(formula: Formula) -> set[str]:
    return {n.id for n in ast.walk(formula.tree) if isinstance(n, ast.Name)}

"""Writing `apply_owned`: the evaluation of a node's formulas that reuses memory."""

import ast
from collections.abc import Sequence

from vtgrad.codegen.edges import Computed, Edge
from vtgrad.codegen.emit_apply import WIDTH
from vtgrad.codegen.formula import Names
from vtgrad.codegen.memory_reuse import reusing, shared_operand
from vtgrad.codegen.template import fill, tuple_of

__all__ = ["emit_owned"]

_METHOD = """
def apply_owned(
    self, grad: Array, owned: bool, may_share: bool, needs: int
) -> tuple[Sequence[Gradient | None], Sequence[int]]:
    $square
    $edges
    return $answers, $owners
"""

# The short way of a product whose factors are one tensor: one gradient, handed on twice. The first
# time it counts as shared, so that it is not written before it has been added the second time,
# with the very sums that two arrays would have given.
_SQUARE = """
if needs & 3 == 3 and is_square(self.edge0, self.edge1, $saved):
    $unpack
    square = product(may_share, owned, $operands)
    return (square, square), (SHARED, SHARED if square is $factor else $ownership)
"""

_SHORT_EDGE = """
grad$nr = $formula if $wanted else None
"""

_EDGE = """
grad$nr: Gradient | None = None
$owner
if $wanted:
    $unpack
    $keep
    grad$nr = $formula
    $after
"""


def emit_owned(edges: Sequence[Edge], names: Names) -> str:
    """The method as Python text; empty if no formula can reuse any memory."""
    if any(edge.is_list or "grads" in _names(edge.arrays.text) for edge in edges) or all(
        reusing(edge.arrays.text, names.reuse, names.owning, "owned") is None for edge in edges
    ):
        return ""
    return fill(
        _METHOD,
        square=_square(edges, names),
        edges="".join(_edge(edges, edge, names) for edge in edges),
        answers=tuple_of([f"grad{edge.nr}" for edge in edges]),
        owners=tuple_of([_owner(edge, names) for edge in edges]),
    )


def _owner(edge: Edge, names: Names) -> str:
    lends = shared_operand(edge.arrays.text, names.reuse) is not None
    return f"owner{edge.nr}" if lends else edge.ownership


def _edge(edges: Sequence[Edge], edge: Edge, names: Names) -> str:
    """One gradient, and whether it may be stored in the incoming one."""
    formula = edge.arrays.text
    later = edges[edge.nr + 1 :]
    owned = f"owned{edge.nr}" if later else "owned"
    text = reusing(formula, names.reuse, names.owning, owned) or formula
    lent = shared_operand(formula, names.reuse)
    owner, after = "", ""
    if lent is not None:
        text = f"product(may_share, {owned}, {_operands(formula)})"
        owner = f"owner{edge.nr} = {edge.ownership}"
        after = f"if grad{edge.nr} is {lent}:\n    owner{edge.nr} = SHARED"
    elif later and edge.ownership != "FRESH":
        # This answer may be the gradient itself.
        after = "owned = False"
    keep = ""
    if later and owned in _names(text):
        # Only the last one that is computed may overwrite the gradient.
        unwanted = " and ".join(f"not ({other.wanted})" for other in later)
        keep = f"{owned} = owned and {unwanted}"
    unpack = edge.arrays.unpack
    # A value that cannot be had must be asked for before the gradient is overwritten.
    if lent is None and text.count("reuse(") <= 1:
        one = Computed(text, unpack).inlined(WIDTH - 20)
        text, unpack = one.text, one.unpack
    short = fill(_SHORT_EDGE, nr=str(edge.nr), formula=text, wanted=edge.wanted)
    if not (owner or unpack or keep or after or " if " in text) and len(short) <= WIDTH - 8:
        return short
    return fill(
        _EDGE,
        nr=str(edge.nr),
        owner=owner,
        wanted=edge.wanted,
        unpack="\n".join(unpack),
        keep=keep,
        formula=text,
        after=after,
    )


def _square(edges: Sequence[Edge], names: Names) -> str:
    values = [shared_operand(edge.arrays.text, names.reuse) for edge in edges]
    if len(values) != 2 or None in values:
        return ""
    return fill(
        _SQUARE,
        saved=", ".join(f"self.saved_{str(value).rstrip('_')}" for value in values),
        unpack="\n".join(edges[0].arrays.unpack),
        operands=_operands(edges[0].arrays.text),
        factor=str(values[0]),
        ownership=edges[0].ownership,
    )


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


def _operands(text: str) -> str:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return ", ".join(ast.unparse(operand) for operand in call.args)

"""Writing the evaluations of a node's formulas over arrays and over tensors."""

from collections.abc import Sequence

from vtgrad.codegen.edges import Edge
from vtgrad.codegen.formula import ARRAYS, TENSORS, Evaluation
from vtgrad.codegen.language import Operator
from vtgrad.codegen.template import fill, tuple_of

__all__ = ["WIDTH", "emit_apply"]

# Of formulas that use the gradient of the first result.
_OF_ONE = """
def apply_$kind(self, grad: $value, needs: int) -> Sequence[$answer | None]:
    $body
"""

# Of formulas that use the gradients of several results.
_OF_SEVERAL = """
def apply_$kind(self, grads: Sequence[$value | None], needs: int) -> Sequence[$answer | None]:
    if all(g is None for g in grads):
        return $nothing
    $first
    $body
"""

_FIRST = """
grad = grads[0]
if grad is None:
    return $nothing
"""

_LONG = """
grad$nr: $answer | None = None
if $wanted:
    $unpack
    grad$nr = $formula
"""

_SHORT = """
grad$nr = $formula if $wanted else None
"""

# The longest line that generated code is to have, where it can be avoided.
WIDTH = 120


def emit_apply(operator: Operator, edges: Sequence[Edge], owned: str) -> str:
    """The methods, as Python text; `owned`, the evaluation that reuses memory, between them."""
    arrays = _evaluation(operator, edges, ARRAYS)
    tensors = _evaluation(operator, edges, TENSORS)
    return "\n".join(text for text in (arrays, owned, tensors) if text)


def _evaluation(operator: Operator, edges: Sequence[Edge], evaluation: Evaluation) -> str:
    arrays = evaluation is ARRAYS
    answer = "Gradient" if arrays else "TensorBase"
    fields = {
        "kind": "array" if arrays else "tensor",
        "value": "Array" if arrays else "TensorBase",
        "answer": answer,
        "nothing": tuple_of(["None"] * len(edges)),
        "body": _body(edges, answer, arrays=arrays),
    }
    if edges[0].is_list:
        fields["nothing"] = "(None,) * len(self.next_edges)"
    uses = frozenset[str]().union(*(edge.uses for edge in edges))
    if "grads" not in uses:
        return fill(_OF_ONE, **fields)
    fields["kind"] += "s"
    fields["first"] = fill(_FIRST, **fields) if "grad" in uses else ""
    return fill(_OF_SEVERAL, **fields)


def _body(edges: Sequence[Edge], answer: str, *, arrays: bool) -> str:
    made = [edge.arrays if arrays else edge.tensors for edge in edges]
    if len(edges) == 1:
        only = made[0].inlined(WIDTH)
        returned = only.text if edges[0].is_list else f"({only.text},)"
        return "\n".join([*only.unpack, f"return {returned}"])
    text = ""
    for edge, long in zip(edges, made, strict=True):
        nr, wanted = str(edge.nr), edge.wanted
        one = long.inlined(WIDTH - 20)
        short = fill(_SHORT, nr=nr, formula=one.text, wanted=wanted)
        if one.unpack or len(short) > WIDTH - 8 or " if " in one.text:
            unpack = "\n".join(one.unpack)
            short = fill(
                _LONG, nr=nr, formula=one.text, wanted=wanted, answer=answer, unpack=unpack
            )
        text += short
    return text + f"return {', '.join(f'grad{edge.nr}' for edge in edges)}"

"""Writing the forward formulas: the tangents of results, from those of the arguments.

The functions get arguments, tangents and results by name, as `ForwardFormula` says; see `forward`
in ``ops/derivatives/README.md``.
"""

import ast
from collections.abc import Mapping
from typing import Final

from .formula import TENSORS, Names, check_names, translate
from .language import Operator, TableError
from .library import Library
from .template import fill, head

__all__ = ["emit_forward"]

_FORWARD = """
from collections.abc import Mapping
from typing import Any, Final

from vtgrad.ops.forward.derived import along, plus, reduced, transposed, with_zeros
from vtgrad.ops.forward.forward_rule import ForwardRule
from vtgrad.ops.generated import functional as F
from vtgrad.ops.generated import tensor_formulas

__all__ = ["FORWARD"]


$functions

# By the name of the function that hands the call over.
FORWARD: Final[dict[str, ForwardRule]] = {
    $rows
}
"""

_FUNCTION = """


def $name(a: Mapping[str, Any], t: Mapping[str, Any], result: Any) -> Any:
    $body
"""

_CONTRIBUTION = """
if "$argument" in t:
    tangent = plus(tangent, $text)
"""

# What a row may say instead of a formula.
_WORDS: Final = ("linear", "elementwise", "reduction", "transposed")


def emit_forward(library: Library) -> str:
    """The formulas and the list of rules, as Python text.

    Raises
    ------
    TableError
        If a differentiable operator has no forward formula, or a wrong one.
    """
    functions, rows = "", ""
    for operator in library.operators:
        kind = _kind(operator)
        name = f"_{operator.name}"
        body, uses = ("", "") if kind != "formula" else _body(operator, library.names)
        if body:
            functions += fill(_FUNCTION, name=name, body=body)
        parameters = " ".join(a.for_users().name for a in operator.arguments)
        differentiable = " ".join(
            a.for_users().name for a in operator.arguments if a.name in operator.formulas
        )
        writes = operator.returns in {"Self", "Geometry"}
        for function, spoken, in_place in (
            (operator.name, operator.base, writes),
            (operator.inplace, operator.spoken_inplace if operator.inplace else "", True),
        ):
            if function is None:
                continue
            row = f'"{function}": ForwardRule("{spoken}", "{kind}", "{parameters}"'
            if differentiable:
                row += f', "{differentiable}"'
            if body:
                row += f', uses="{uses}", formula={name}'
            rows += row + (", writes=True" if in_place else "") + "),\n"
    text = head("the derivative tables", "The tangents of the results of all operators.")
    return text + fill(_FORWARD, functions=functions, rows=rows)


def _kind(operator: Operator) -> str:
    given = operator.forward
    if operator.undifferentiable or given == "refused":
        return "refused"
    if operator.is_view or operator.returns == "Geometry":
        return "view"
    if not operator.formulas:
        if given is not None:
            raise TableError(f"{operator.where}: 'forward' without 'grad'")
        return "none"
    if given == "zero" or (
        given is None and all(f == "zeros_like(grad)" for f in operator.formulas.values())
    ):
        return "zero"
    return "formula"


def _stated(operator: Operator) -> str | Mapping[str, str]:
    if operator.copies_view:
        return "linear"
    if operator.forward is not None:
        return operator.forward
    if operator.names == "unify":
        return "elementwise"
    raise TableError(f"{operator.where}: a differentiable operator states 'forward'")


def _body(operator: Operator, names: Names) -> tuple[str, str]:
    """The statements of the function, and the names that it reads."""
    stated = _stated(operator)
    several = operator.returns == "tuple"
    if stated == "linear":
        # Zeros stand for the tangents of arguments without one.
        values = [
            f'with_zeros(a["{a.for_users().name}"], t.get("{a.for_users().name}"))'
            if a.name in operator.formulas
            else f'a["{a.for_users().name}"]'
            for a in operator.arguments
        ]
        call = _call(operator, values)
        return f"return {call}", ""
    uses: set[str] = set()
    if isinstance(stated, str) and stated not in _WORDS:
        return f"return {_translated(operator, stated, names, uses)}", _uses(uses)
    if isinstance(stated, Mapping) and set(stated) <= set(operator.results) and several:
        parts = [
            _translated(operator, stated[one], names, uses) if one in stated else "None"
            for one in operator.results
        ]
        return f"return {', '.join(parts)}", _uses(uses)
    by_argument = (
        stated if isinstance(stated, Mapping) else dict.fromkeys(operator.formulas, stated)
    )
    needed = {name for name, f in operator.formulas.items() if f != "zeros_like(grad)"}
    if not needed <= set(by_argument) <= set(operator.formulas):
        raise TableError(f"{operator.where}: 'forward' is for {sorted(needed)}")
    body = "tangent = None\n"
    for argument, how in by_argument.items():
        key = "input" if argument == "self" else argument
        text = _contribution(operator, argument, how, names, uses)
        body += fill(_CONTRIBUTION, argument=key, text=text)
    return body + "return tangent", _uses(uses)


def _contribution(operator: Operator, argument: str, how: str, names: Names, uses: set[str]) -> str:
    key = "input" if argument == "self" else argument
    if how == "linear":
        uses.update(a.for_users().name for a in operator.tensors if a.name != argument)
        return _call(
            operator,
            [
                f'{"t" if a.name == argument else "a"}["{a.for_users().name}"]'
                for a in operator.arguments
            ],
        )
    if how not in _WORDS:
        return _translated(operator, how, names, uses)
    backward = _translated(operator, operator.formulas[argument], names, uses)
    given = "grads" if "grads" in backward else "grad"
    if how == "elementwise":
        return f'along(t["{key}"], lambda grad: {backward}, result)'
    if how == "transposed":
        return f'transposed(t["{key}"], lambda {given}: {backward}, result)'
    of = {a.name for a in operator.arguments}
    dims = 'a["dim"]' if "dim" in of else "None"
    keep = 'a["keepdim"]' if "keepdim" in of else "False"
    return f'reduced(t["{key}"], lambda grad: {backward}, result, {dims}, {keep})'


def _call(operator: Operator, values: list[str]) -> str:
    given = [
        f"{a.for_users().name}={value}" if a.keyword_only else value
        for a, value in zip(operator.arguments, values, strict=True)
    ]
    return f"F.{operator.name}({', '.join(given)})"


def _translated(operator: Operator, text: str, names: Names, uses: set[str]) -> str:
    """A formula over tensors whose arguments, tangents and results are found by name."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise TableError(f"{operator.where}: bad formula {text!r}: {error.msg}") from None
    check_names(operator, tree, text, names)
    several = operator.returns == "tuple"
    values: dict[str, str] = {"grad": "grad", "grads": "grads"}
    plain: dict[str, str] = {}
    for argument in operator.arguments:
        key = argument.for_users().name
        if argument.is_tensor or argument.is_list:
            values[argument.name] = f'a["{key}"]'
            values[f"{argument.name}_t"] = f'with_zeros(a["{key}"], t.get("{key}"))'
            if isinstance(operator.forward, Mapping) and argument.name in operator.forward:
                values[f"{argument.name}_t"] = f't["{key}"]'
            if len(operator.formulas) == 1:
                values[f"{argument.name}_t"] = f't["{key}"]'
        else:
            plain[argument.name] = f'a["{key}"]'
    for nr, result in enumerate(operator.results):
        if result not in values and result not in plain:
            values[result] = f"result[{nr}]" if several else "result"
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    uses.update("result" for r in operator.results if r in used and r not in plain)
    uses.update(a.for_users().name for a in operator.tensors if a.name in used)
    return translate(operator, tree, names, TENSORS, values, plain)


def _uses(uses: set[str]) -> str:
    return " ".join(sorted(uses))

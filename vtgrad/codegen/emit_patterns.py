"""The local patterns: which elements of operands an element of a result depends on.

`pattern` in ``ops/table/README.md`` defines what a row may say.
"""

import ast
import re
from collections.abc import Mapping
from typing import Final

from vtgrad.codegen.formula import TENSORS, Names, check_names, translate
from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.library import Library
from vtgrad.codegen.template import fill, head

__all__ = ["emit_patterns", "pattern_of"]

_PATTERNS = """
from collections.abc import Mapping
from typing import Any

from vtgrad.ops.generated import functional as F


$functions
"""

_FUNCTION = """


def $name(a: Mapping[str, Any], result: Any) -> Any:
    return $text
"""

_WORDS: Final = (
    "across dim",
    "along dim",
    "cumulative",
    "dense",
    "elementwise",
    "moves",
    "reads",
    "reduction",
)
# Dimensions of operands and of the result, by a letter each: ``ik, kj -> ij``.
_LETTERS: Final = re.compile(r"[a-z]*(, [a-z]*)* ->( [a-z]+)?")
# Geometries of the operand and of the result in one memory: ``memory given -> shown``.
_MEMORY: Final = re.compile(r"memory \w+ -> \w+")


def emit_patterns(library: Library) -> str:
    """The functions that find where elements go, as Python text.

    Raises
    ------
    TableError
        If a row states no pattern and none follows, or it is a wrong one.
    """
    functions = ""
    for operator in library.operators:
        for argument, formula in _rule(operator)[1].items():
            name = f"{operator.name}_{argument}"
            text = _translated(operator, formula, library.names)
            functions += fill(_FUNCTION, name=name, text=text)
    text = head("the derivative tables", "Which elements of results those of operands go to.")
    return text + fill(_PATTERNS, functions=functions)


def pattern_of(operator: Operator) -> dict[str, object]:
    """What the record of an operator says of its pattern.

    Raises
    ------
    TableError
        As `emit_patterns`.
    """
    rule, formulas = _rule(operator)
    numbers = [a.name for a in operator.arguments if rule == "moves" and a.type == "Number"]
    found: dict[str, object] = {
        "pattern": rule,
        "targets": " ".join(formulas),
        "constants": " ".join(numbers),
    }
    zero = {name for name, formula in operator.formulas.items() if formula == "zeros_like(grad)"}
    if zero and zero != set(operator.formulas):
        found["derivatives"] = " ".join(
            a.for_users().name
            for a in operator.tensors
            if a.name in operator.formulas and a.name not in zero
        )
    return found


def _rule(operator: Operator) -> tuple[str, dict[str, str]]:
    """The word or the letters of a row, and the formulas of its arguments."""
    given = operator.pattern
    if operator.is_view or operator.returns in {"Geometry", "UnsafeSplit"}:
        if given is not None:
            raise TableError(f"{operator.where}: 'pattern' of what shares memory")
        return "view", {}
    if isinstance(given, Mapping):
        formulas: dict[str, str] = {}
        for argument, text in given.items():
            if argument not in operator.formulas:
                raise TableError(f"{operator.where}: 'pattern' of {argument!r}, without 'grad'")
            if text.startswith("to "):
                formulas[argument.replace("self", "input")] = text.removeprefix("to ")
            elif text != "elementwise":
                raise TableError(f"{operator.where}: {text!r} is no pattern of an argument")
        return "elementwise", formulas
    if given is not None:
        if given not in _WORDS and not _LETTERS.fullmatch(given) and not _MEMORY.fullmatch(given):
            raise TableError(f"{operator.where}: {given!r} is no pattern")
        return given, {}
    return _derived(operator), {}


def _derived(operator: Operator) -> str:
    """What the rest of a row says of the pattern."""
    if operator.copies_view:
        return "dense" if operator.replay else "moves"
    stated = operator.forward
    if operator.names == "unify" and (stated is None or stated != "transposed"):
        return "elementwise"
    if operator.names == "drop dim":
        return "reduction"
    if all(formula == "zeros_like(grad)" for formula in operator.formulas.values()):
        return "dense"
    raise TableError(f"{operator.where}: a differentiable operator states 'pattern'")


def _translated(operator: Operator, text: str, names: Names) -> str:
    """A formula over tensors, in which `result` has the number of each element of the result."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise TableError(f"{operator.where}: bad formula {text!r}: {error.msg}") from None
    check_names(operator, tree, text, names)
    values = {"result": "result"}
    plain: dict[str, str] = {}
    for argument in operator.arguments:
        key = argument.for_users().name
        of = values if argument.is_tensor or argument.is_list else plain
        of[argument.name] = f'a["{key}"]'
    return translate(operator, tree, names, TENSORS, values, plain)

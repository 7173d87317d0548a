"""Writing the records of operators, see Note [One record for each operator]."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from vtgrad.codegen.emit_forward import tangent_of
from vtgrad.codegen.emit_patterns import pattern_of
from vtgrad.codegen.language import Argument, Composite, Operator, TableError, record_name
from vtgrad.codegen.library import Library
from vtgrad.codegen.parameters import as_stated
from vtgrad.codegen.source_files import OPS, functions_in, keys_of, modules
from vtgrad.codegen.template import fill, head

__all__ = ["emit_operators", "takes_numbers"]

_OPERATORS = """
from typing import Final

from vtgrad.ops.operator import Operator

$records
"""

# Types of arguments that say dimensions or sizes: an operator with one is not elementwise.
_ABOUT_DIMENSIONS: Final = ("int", "Dim", "Dims", "Shape", "Sequence[int]", "Geometry3")
# Types of arguments that are one integer, which users may pass as a tensor.
_INTEGERS: Final = frozenset({"int", "Dim", "Integer", "None"})
# What a record has that does not say it; other fields are empty or False.
_DEFAULTS: Final = {
    "results": 1,
    "number_first": None,
    "batch": "elementwise",
    "names": "unify",
    "pattern": "elementwise",
}


def emit_operators(library: Library) -> str:
    """The records, as Python text.

    Raises
    ------
    TableError
        If a rule is missing or not known, or the tables state rules for a function that does not
        hand over its calls.
    """
    check = _Rules()
    text = ""
    for stem, table in library.tables.items():
        text += f"# {stem}\n"
        for operator in table:
            check.known(operator.where, _batch(operator), operator.names)
            text += "".join(_records(operator, library))
    text += "# composites\n"
    functions = _handing_over(library)
    for name, function in functions.items():
        stated = library.stated.get(name)
        if stated is not None:
            check.known(name, stated.batch, stated.names)
        text += _record_by_hand(function, stated)
    for one in library.stated.values():
        if (one.batch or one.names) is not None and one.name not in functions:
            raise TableError(f"{one.name}: no function of this name hands over its calls")
    text = fill(_OPERATORS, records=text)
    return head("the derivative tables", "The records of all operators.") + text


class _Rules:
    """The rules that there are."""

    def __init__(self) -> None:
        folder = modules("rules/batches/by_family").values()
        self.batches = {key for path in folder for key in keys_of(path, "RULES")}
        self.names = set(keys_of(OPS / "rules" / "names" / "rules.py", "RULES"))

    def known(self, where: str, batch: str | None, names: str | None) -> None:
        """Raise if rules are not among them.

        Raises
        ------
        TableError
            Then.
        """
        if batch is not None and batch.partition(" ")[0] not in self.batches:
            raise TableError(f"{where}: no rule for batches is called {batch}")
        if names is not None and names not in self.names:
            raise TableError(f"{where}: no rule for names is called {names}")


def _records(operator: Operator, library: Library) -> Iterator[str]:
    """The record of an operator, and that of its in-place variant."""
    by_position = [_parameter(operator, a) for a in operator.arguments if not a.keyword_only]
    by_keyword = [_parameter(operator, a) for a in operator.arguments if a.keyword_only]
    differentiable = [a.for_users().name for a in operator.arguments if a.name in operator.formulas]
    fields: dict[str, object] = {
        "spoken": operator.base if operator.base != operator.name else "",
        "results": len(operator.results),
        "number_first": operator.number_first,
        **tangent_of(operator, library.names),
        "batch": _batch(operator),
        "names": operator.names,
        **pattern_of(operator),
        "writes": operator.returns == "Self",
        "changes_geometry": operator.returns == "Geometry",
    }
    differing = {
        name: value
        for name, value in fields.items()
        if value != _DEFAULTS.get(name, "") and value is not False
    }
    texts = [operator.name, _parameters(by_position, by_keyword)]
    texts += [" ".join(differentiable)] if differentiable else []
    name = record_name(operator.name)
    yield _record(name, "Operator", texts, differing)
    if operator.inplace is not None:
        own = {"name": operator.inplace, "spoken": operator.spoken_inplace}
        derived = {"name": f"{operator.name}_", "spoken": f"{operator.base}_"}
        differing = {key: own[key] for key in own if own[key] != derived[key]}
        yield _record(record_name(operator.inplace), f"{name}.in_place", [], differing)


def _record_by_hand(function: ast.FunctionDef, stated: Composite | None) -> str:
    """The record of a function that is written by hand."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    integers = {
        a.arg
        for a in arguments
        if a.annotation is not None and set(ast.unparse(a.annotation).split(" | ")) <= _INTEGERS
    }
    by_position, by_keyword = (
        [a.arg + ":int" * (a.arg in integers) for a in some]
        for some in (function.args.args, function.args.kwonlyargs)
    )
    texts = [function.name, _parameters(by_position, by_keyword)]
    fields: dict[str, object] = {}
    if stated is not None:
        spoken = stated.called if stated.called != function.name else None
        fields = {"spoken": spoken, "batch": stated.batch, "names": stated.names}
    fields = {name: value for name, value in fields.items() if value is not None}
    return _record(record_name(function.name), "Operator.by_hand", texts, fields)


def _handing_over(library: Library) -> dict[str, ast.FunctionDef]:
    """The functions written by hand that hand over their calls."""
    return {
        name: function
        for name, function in functions_in(library.composites.values()).items()
        if any(isinstance(x, ast.Name) and x.id == "take_over" for x in ast.walk(function))
    }


def _record(name: str, made: str, texts: Sequence[str], fields: Mapping[str, object]) -> str:
    values = [*map(_text, texts), *[f"{key}={_text(value)}" for key, value in fields.items()]]
    return f"{name}: Final = {made}({', '.join(values)})\n"


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _parameters(by_position: list[str], by_keyword: list[str]) -> str:
    return " ".join([*by_position, *(["*", *by_keyword] if by_keyword else [])])


def _parameter(operator: Operator, argument: Argument) -> str:
    """The name of a parameter and its type, as records state them."""
    name = text = argument.for_users().name
    called = operator.called.get(argument.name, name)
    if called != name:
        text += f"={called}"
    return as_stated(text, argument.type)


def takes_numbers(operator: Operator) -> bool:
    """Whether a number may stand for any of its tensors but one, as its record says."""
    pattern = pattern_of(operator).get("pattern", "elementwise")
    return pattern == "elementwise" and _batch(operator) in ("elementwise", "lerp")


def _batch(operator: Operator) -> str:
    if operator.batch is not None:
        return operator.batch
    about = [a.name for a in operator.arguments if set(a.type.split(" | ")) & {*_ABOUT_DIMENSIONS}]
    if operator.names == "unify" and not about:
        return "elementwise"
    raise TableError(f"{operator.where}: an operator that is not elementwise states 'batch'")

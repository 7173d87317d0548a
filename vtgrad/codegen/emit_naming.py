"""Writing the list of rules by which names of dimensions follow."""

import ast
from collections.abc import Iterator

from .language import Operator, TableError
from .library import Library
from .source_files import OPS, functions_in, keys_of
from .template import fill, head

__all__ = ["emit_naming", "positional_parameters"]

_NAMING = """
from typing import Final

from vtgrad.ops.names.naming import Naming

__all__ = ["NAMING"]

# By the name of the function that hands the call over.
NAMING: Final[dict[str, Naming]] = {
    $rows
}
"""


def emit_naming(library: Library) -> str:
    """The list, as Python text.

    Raises
    ------
    TableError
        If a rule is not known, or a composite with a rule is not there.
    """
    known = keys_of(OPS / "names" / "rules.py", "RULES")
    rows: list[str] = []
    for operator in library.operators:
        if operator.names not in (None, *known):
            raise TableError(f"{operator.where}: no rule for names is called {operator.names}")
        if operator.names is not None or operator.variants != frozenset():
            rows += _rows(operator)
    functions = functions_in(library.composites.values())
    for one in library.stated.values():
        if one.names is None:
            continue
        if one.names not in known or one.name not in functions:
            raise TableError(f"{one.name}: no rule for names is called {one.names}")
        writes = one.name.endswith("_")
        rows.append(
            _row(
                one.name, one.called, one.names, positional_parameters(functions[one.name]), writes
            )
        )
    text = head("the derivative tables", "How names of dimensions follow.")
    return text + fill(_NAMING, rows="\n".join(rows))


def _rows(operator: Operator) -> Iterator[str]:
    """The operator itself, and its in-place variant."""
    parameters = [a.for_users().name for a in operator.arguments]
    writes = operator.returns == "Self"
    yield _row(operator.name, operator.base, operator.names, parameters, writes)
    if operator.inplace is not None:
        spoken = operator.spoken_inplace
        yield _row(operator.inplace, spoken, operator.names, parameters, True)


def _row(function: str, spoken: str, rule: str | None, parameters: list[str], writes: bool) -> str:
    mark = ", True" if writes else ""
    stated = "None" if rule is None else f'"{rule}"'
    return f'"{function}": Naming("{spoken}", {stated}, "{" ".join(parameters)}"{mark}),'


def positional_parameters(function: ast.FunctionDef) -> list[str]:
    """The positional parameters of a function that is written by hand."""
    return [argument.arg for argument in function.args.args]

"""Writing the list of rules by which operators are called for a batch."""

import ast
from typing import Final

from .emit_naming import positional_parameters
from .language import Argument, Operator, TableError
from .library import Library
from .source_files import functions_in, keys_of, modules
from .template import fill, head

__all__ = ["emit_batching"]

_BATCHING = """
from typing import Final

from vtgrad.ops.batching.batch_rule import BatchRule

__all__ = ["BATCHING"]

# By the name of the function that hands the call over.
BATCHING: Final[dict[str, BatchRule]] = {
    $rows
}
"""

# Types of arguments that say dimensions or sizes: an operator with one is not elementwise.
_ABOUT_DIMENSIONS: Final = ("int", "Dim", "Dims", "Shape", "Sequence[int]", "Geometry3")
# Types of arguments that are one integer, which users may pass as a tensor.
_INTEGERS: Final = frozenset({"int", "Dim", "Integer", "None"})


def emit_batching(library: Library) -> str:
    """The list, as Python text.

    Raises
    ------
    TableError
        If a rule is missing or not known, or a composite with a rule is not there.
    """
    folder = modules("batching/rules")
    known = {key for path in folder.values() for key in keys_of(path, "RULES")}
    rows: list[str] = []
    for operator in library.operators:
        rule = _rule(operator)
        _check(operator.where, rule, known)
        parameters = [_marked(a) for a in operator.arguments if not a.keyword_only]
        by_keyword = [_marked(a) for a in operator.arguments if a.keyword_only]
        parameters += ["*", *by_keyword] if by_keyword else []
        writes = operator.returns == "Self"
        rows.append(_row(operator.name, operator.base, rule, parameters, writes))
        if operator.inplace is not None:
            rows.append(
                _row(operator.inplace, operator.spoken_inplace, rule, parameters, writes=True)
            )
    functions = functions_in(library.composites.values())
    for one in library.stated.values():
        if one.batch is None:
            continue
        if one.name not in functions:
            raise TableError(f"{one.name}: there is no such function")
        _check(one.name, one.batch, known)
        parameters = _parameters(functions[one.name])
        writes = one.name.endswith("_")
        rows.append(_row(one.name, one.called, one.batch, parameters, writes))
    text = head("the derivative tables", "How operators are called for a batch.")
    return text + fill(_BATCHING, rows="\n".join(rows))


def _marked(argument: Argument) -> str:
    """The name of a parameter, as `BatchRule` reads it."""
    is_integer = set(argument.type.split(" | ")) <= _INTEGERS
    return argument.for_users().name + "#" * is_integer


def _rule(operator: Operator) -> str:
    if operator.batch is not None:
        return operator.batch
    about = [a.name for a in operator.arguments if set(a.type.split(" | ")) & {*_ABOUT_DIMENSIONS}]
    if operator.names == "unify" and not about:
        return "elementwise"
    raise TableError(f"{operator.where}: an operator that is not elementwise states 'batch'")


def _check(where: str, rule: str, known: set[str]) -> None:
    if rule.partition(" ")[0] not in known:
        raise TableError(f"{where}: no rule for batches is called {rule}")


def _row(function: str, spoken: str, rule: str, parameters: list[str], writes: bool) -> str:
    mark = ", True" if writes else ""
    return f'"{function}": BatchRule("{spoken}", "{rule}", "{" ".join(parameters)}"{mark}),'


def _parameters(function: ast.FunctionDef) -> list[str]:
    """The parameters of a function that is written by hand, those by keyword only too."""
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    integers = {
        a.arg
        for a in arguments
        if a.annotation is not None and set(ast.unparse(a.annotation).split(" | ")) <= _INTEGERS
    }
    by_keyword = [a.arg for a in function.args.kwonlyargs]
    names = [*positional_parameters(function), *(["*", *by_keyword] if by_keyword else [])]
    return [name + "#" * (name in integers) for name in names]

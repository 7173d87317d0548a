"""Functions and methods that are imported when a program first names them, read from their tables.

The source has them in the tables of `vtgrad.later` alone; to type checkers they are as any other.
"""

import ast
from typing import Final

from vtgrad.codegen.language import TableError
from vtgrad.codegen.stubs.modules import Definition, Modules

__all__ = ["functions_named_later", "methods_named_later"]

_TABLES: Final = "vtgrad.later"


def functions_named_later(modules: Modules) -> dict[str, Definition]:
    """The functions of the package, by name.

    Raises
    ------
    TableError
        If a module does not define a function that the table says it does.
    """
    found = {}
    for name, home in _table(modules, "FUNCTIONS").items():
        one = modules.find(modules.at(home), name)
        if not isinstance(one, Definition) or not isinstance(one.last, ast.FunctionDef):
            raise TableError(f"{_TABLES}: {home} defines no function {name}")
        found[name] = one
    return found


def methods_named_later(modules: Modules) -> dict[str, Definition]:
    """The methods of `Tensor`, by name: each as an assignment of a function to its own name."""
    found = {}
    for name, home in _table(modules, "METHODS").items():
        (statement,) = ast.parse(f"{name} = {name}").body
        found[name] = Definition(modules.at(home), name, (statement,))
    return found


def _table(modules: Modules, name: str) -> dict[str, str]:
    statement = modules.at(_TABLES).own[name][-1]
    assert isinstance(statement, ast.AnnAssign)
    assert statement.value is not None
    table: dict[str, str] = ast.literal_eval(statement.value)
    return table

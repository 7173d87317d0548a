"""What the files that are written by hand say: their functions, exports and aliases."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from vtgrad.codegen.language import TableError

__all__ = ["OPS", "aliases_in", "exported", "functions_in", "keys_of", "modules"]

OPS: Final = Path(__file__).resolve().parent.parent / "ops"


def modules(folder: str) -> dict[str, Path]:
    """The modules below a folder of ``ops``, by their dotted names in it."""
    root = OPS / folder
    paths = [p for p in root.rglob("*.py") if p.stem != "__init__"]
    return {".".join(p.relative_to(root).with_suffix("").parts): p for p in sorted(paths)}


def exported(path: Path) -> list[str]:
    """The names in a module's ``__all__``."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "__all__" for t in statement.targets
        ):
            value = ast.literal_eval(statement.value)
            return [str(name) for name in value]
    raise TableError(f"{path}: no __all__")


def aliases_in(path: Path) -> dict[str, str]:
    """What other names a module of composites gives to its functions: ``divide = div``."""
    functions = functions_in([path])
    return {
        target.id: statement.value.id
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Name)
        and statement.value.id in functions
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def functions_in(paths: Iterable[Path]) -> dict[str, ast.FunctionDef]:
    """The functions that some modules define, by name."""
    return {
        statement.name: statement
        for path in paths
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.FunctionDef)
    }


def keys_of(path: Path, name: str) -> list[str]:
    """The keys of a dict of texts that a module defines.

    Raises
    ------
    TableError
        If the module does not define it.
    """
    for statement in ast.parse(path.read_text("utf-8")).body:
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id == name
            and isinstance(statement.value, ast.Dict)
        ):
            return [str(ast.literal_eval(key)) for key in statement.value.keys if key is not None]
    raise TableError(f"{path}: no {name}")

"""What a public module shows, read from its statements."""

import ast
import dataclasses

from vtgrad.codegen.language import TableError
from vtgrad.codegen.stubs.classes import TENSOR_BASE
from vtgrad.codegen.stubs.modules import Definition, Module, Modules, Outside

__all__ = ["Line", "shown_by"]


@dataclasses.dataclass(frozen=True)
class Line:
    """A statement of the stub, and what it imports beside."""

    text: str
    imports: str = ""


def shown_by(modules: Modules, module: Module) -> dict[str, Definition | Line]:
    """What a module shows, by name, in the order of its statements."""
    found: dict[str, Definition | Line] = {}
    for statement in module.statements():
        if isinstance(statement, ast.ImportFrom):
            for name in statement.names:
                found |= _imported(modules, module, name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id != "__all__" and statement.value:
                found[target.id] = _assigned(modules, module, target.id, statement.value)
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            found[statement.name] = _public(modules, module, statement.name)
    return found


def _imported(modules: Modules, module: Module, name: ast.alias) -> dict[str, Definition | Line]:
    """What one import shows: a name that it says twice, or all of a module."""
    if name.name == "*":
        every = [n for star in module.starred for n in modules.at(star).exports or ()]
        return {one: _public(modules, module, one) for one in every}
    if name.asname is None or name.asname.startswith("_"):
        return {}
    outside = isinstance(modules.find(module, name.asname), Outside)
    if outside and name.asname not in (module.exports or [name.asname]):
        # A module that is loaded for what it does at import.
        return {}
    return {name.asname: _public(modules, module, name.asname)}


def _public(modules: Modules, module: Module, name: str) -> Definition | Line:
    found = modules.find(module, name)
    if isinstance(found, Outside) and found.name is None:
        package, _, last = found.module.rpartition(".")
        return Line(f"from {package} import {last} as {name}")
    if isinstance(found, Outside):
        return Line(f"from {found.module} import {found.name} as {name}")
    if found.path == TENSOR_BASE:
        return Line(f"from vtgrad import Tensor as {name}")
    if isinstance(found.last, (ast.FunctionDef, ast.ClassDef)) or _is_typed(found.last):
        return found
    return Line(f"from {found.module.name} import {found.name} as {name}")


def _is_typed(statement: ast.stmt) -> bool:
    """Whether it is a variable whose type is stated, rather than taken from its value."""
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.annotation, ast.Subscript)


def _assigned(modules: Modules, module: Module, name: str, value: ast.expr) -> Definition | Line:
    """What is assigned in the module itself: a thing of another module, or a constant."""
    final = "from typing import Final"
    parts = ast.unparse(value).split(".")
    if isinstance(value, ast.Attribute) and len(parts) <= 3:
        source = modules.find(module, parts[0])
        assert isinstance(source, Outside)
        if len(parts) == 2:
            return Line(f"from {source.module} import {parts[1]} as {name}")
        member = ".".join(parts[1:])
        return Line(f"{name}: Final = {member}", f"from {source.module} import {parts[1]}\n{final}")
    if isinstance(value, ast.Constant):
        return Line(f"{name}: Final = {ast.unparse(value)}", final)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return Line(f"{name}: Final[builtins.bool]", f"import builtins\n{final}")
    raise TableError(f"{module.name}: {name} = {ast.unparse(value)}")

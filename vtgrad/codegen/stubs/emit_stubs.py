"""Writing the stubs: what type checkers and editors read in place of the public modules.

NOTE [ Stubs ]

The public modules only import what they show, and a type checker that followed them would read the
whole library, and show users the types between its parts: bases of `Tensor`, unions with types
that nothing has, defaults that stand for an argument that is not given. So each of them has a stub
beside it. A stub holds the signatures of the module's functions in the words of `vtgrad.types`,
with NumPy's scalars where numbers are accepted, and with one signature for all overloads that
return the same. A class stands in one stub, its home, or is imported from its own module if that
does not lead to the operators.

A module with a stub is not checked itself, so only modules without code have one.
"""

import ast
import dataclasses
from collections.abc import Mapping
from typing import Final

from ..language import TableError
from ..template import head, list_of_exports
from .classes import TENSOR, ClassWriter, function_text, ways_of
from .modules import Definition, Module, Modules, Outside
from .signatures import read
from .spelling import Names, Speller

__all__ = ["STUBS", "emit_stubs"]

# The modules with a stub, those first that are the home of what several of them show.
STUBS: Final = (
    "vtgrad.return_types",
    "vtgrad",
    "vtgrad.random",
    "vtgrad.tensor.tensor",
    "vtgrad.autograd.function",
    "vtgrad.autograd.graph",
    "vtgrad.autograd.functional",
    "vtgrad.autograd.forward_ad",
    "vtgrad.profiler",
    "vtgrad.autograd.profiler",
    "vtgrad.autograd",
    "vtgrad.func",
    "vtgrad.utils.checkpoint",
    "vtgrad.utils",
)
# Where the classes stand that users know by their names in the public modules only.
_BEHIND: Final = ("vtgrad.generator", "vtgrad.tensor.")

# Types that differ from those in the source, where anything may arrive when a program runs.
_STATED: Final = {
    "Tensor.__init__._": "Never",
    "Tensor.__matmul__.other": "Tensor",
    "Tensor.__imatmul__.other": "Tensor",
    "Tensor.__rmatmul__.other": "Tensor",
    "Tensor.__reduce_ex__.protocol": "SupportsIndex",
    "Tensor.item.return": "int | float",
    "Tensor.new_tensor.data": "Data",
    "Tensor.tolist.return": "list[Any] | Any",
    "tensor.data": "Data",
    "as_tensor.data": "Data",
    "is_tensor.return": "TypeIs[Tensor]",
    "set_default_dtype.dtype": "DType",
}


def emit_stubs(generated: Mapping[str, str]) -> dict[str, str]:
    """The text of every stub by its path under the package.

    Parameters
    ----------
    generated : mapping of str to str
        The text of every generated file by its path under ``ops``.

    Raises
    ------
    TableError
        If a type or statement cannot be spelled in a stub.
    """
    modules = Modules(generated, STUBS)
    homes: dict[str, str] = {TENSOR: "vtgrad"}
    shown = {name: _shown(modules, modules.at(name)) for name in STUBS}
    for stub, found in shown.items():
        for one in found.values():
            if isinstance(one, Definition) and isinstance(one.last, ast.ClassDef):
                name = one.module.name
                if name.startswith(_BEHIND) or modules.leads_to_operators(name):
                    homes.setdefault(one.path, stub)
    functions: dict[str, str] = {}
    files: dict[str, str] = {}
    for stub, found in shown.items():
        names = Names(modules, homes, stub, set(found))
        module = modules.at(stub)
        files[module.stub_path] = _stub(module, names, found, functions)
    return files


@dataclasses.dataclass(frozen=True)
class _Line:
    """A statement of the stub, and what it imports beside."""

    text: str
    imports: str = ""


def _shown(modules: Modules, module: Module) -> dict[str, Definition | _Line]:
    """What a module shows, by name, in the order of its statements."""
    found: dict[str, Definition | _Line] = {}
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


def _imported(modules: Modules, module: Module, name: ast.alias) -> dict[str, Definition | _Line]:
    """What one import shows: a name that it says twice, or all of a module."""
    if name.name == "*":
        every = [n for star in module.starred for n in modules.at(star).exports or ()]
        return {one: _public(modules, module, one) for one in every}
    if name.asname is None or name.asname.startswith("_"):
        return {}
    found = _public(modules, module, name.asname)
    is_module = isinstance(modules.find(module, name.asname), Outside) and isinstance(found, _Line)
    if is_module and name.asname not in (module.exports or [name.asname]):
        # Loaded for what it does at import.
        return {}
    return {name.asname: found}


def _public(modules: Modules, module: Module, name: str) -> Definition | _Line:
    found = modules.find(module, name)
    if isinstance(found, Outside) and found.name is None:
        package, _, last = found.module.rpartition(".")
        return _Line(f"from {package} import {last} as {name}")
    if isinstance(found, Outside):
        return _Line(f"from {found.module} import {found.name} as {name}")
    if isinstance(found.last, (ast.FunctionDef, ast.ClassDef)) or _is_typed(found.last):
        return found
    return _Line(f"from {found.module.name} import {found.name} as {name}")


def _is_typed(statement: ast.stmt) -> bool:
    """Whether it is a variable whose type is stated, rather than taken from its value."""
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.annotation, ast.Subscript)


def _assigned(modules: Modules, module: Module, name: str, value: ast.expr) -> Definition | _Line:
    """What is assigned in the module itself: a thing of another module, or a constant."""
    final = "from typing import Final"
    parts = ast.unparse(value).split(".")
    if isinstance(value, ast.Attribute) and len(parts) <= 3:
        source = modules.find(module, parts[0])
        assert isinstance(source, Outside)
        if len(parts) == 2:
            return _Line(f"from {source.module} import {parts[1]} as {name}")
        member = ".".join(parts[1:])
        return _Line(
            f"{name}: Final = {member}", f"from {source.module} import {parts[1]}\n{final}"
        )
    if isinstance(value, ast.Constant):
        return _Line(f"{name}: Final = {ast.unparse(value)}", final)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return _Line(f"{name}: Final[builtins.bool]", f"import builtins\n{final}")
    raise TableError(f"{module.name}: {name} = {ast.unparse(value)}")


def _stub(
    module: Module,
    names: Names,
    found: Mapping[str, Definition | _Line],
    functions: dict[str, str],
) -> str:
    """One stub; `functions` is by path the stub that has written a function."""
    wide = module.name == "vtgrad"
    writer = ClassWriter(names, wide=wide, stated=_STATED)
    body = ""
    for name, one in found.items():
        if isinstance(one, _Line):
            names.lines |= set(one.imports.splitlines())
            if one.text.startswith("from "):
                names.lines.add(one.text)
            else:
                body += f"{one.text}\n"
        elif isinstance(one.last, ast.ClassDef):
            if names.home_of(one) == names.stub:
                body += writer.text(one)
            else:
                names.lines.add(f"from {names.home_of(one)} import {one.name} as {name}")
        elif functions.setdefault(one.path, names.stub) != names.stub:
            names.lines.add(f"from {functions[one.path]} import {one.name} as {name}")
        elif isinstance(one.last, ast.AnnAssign):
            kind = Speller(one.module, names).expression(one.last.annotation)
            body += f"{name}: {kind}\n"
        else:
            body += _function(name, one, names, wide)
    written = 0
    while written < len(names.pending):
        written += 1
        body = writer.text(names.pending[written - 1]) + body
    variables = "".join(f"{name} = {text}\n" for name, text in sorted(names.variables.items()))
    exports = "\n"
    if module.exports is not None:
        starred = [n for star in module.starred for n in names.modules.at(star).exports or ()]
        exports = list_of_exports({*module.exports, *starred})
    lines = "".join(f"{line}\n" for line in sorted(names.lines))
    purpose = ast.get_docstring(module.tree) or ""
    top = head("the source files", purpose.partition("\n")[0])
    return f"{top}{lines}{exports}{variables}\n{body}"


def _function(name: str, found: Definition, names: Names, wide: bool) -> str:
    every = [s for s in found.statements if isinstance(s, ast.FunctionDef)]
    signatures = [read(f, found.module, names, wide=wide) for f in ways_of(every)]
    return "".join(
        f"{line}\n" for line in function_text(name, signatures, names, wide, "", _STATED, name)
    )

"""Writing the stubs: what type checkers and editors read in place of the public modules.

Note [Stubs]

The public modules only import what they show, and a type checker that followed them would read the
whole library, and show users the types between its parts: bases of `Tensor`, unions with types
that nothing has, defaults that stand for an argument that is not given. So each of them has a stub
beside it. A stub holds the signatures of the module's functions in the words of `vtgrad.types`,
with NumPy's scalars where numbers are accepted, and with one signature for all overloads that
return the same. A class stands in one stub, its home, or is imported from its own module if that
does not lead to the operators.

A module with a stub is not checked itself, so only modules without code have one. Two of them are
in lower layers, and name a class that stands above: hooks of nodes take a `Tensor`, which
`storage/public_tensor.py` names for nodes, and functions of `vtgrad.numpy` an ``ndarray``, which
`numpy/public_ndarray.py` names for them.
"""

import ast
from collections.abc import Mapping
from typing import Final

from vtgrad.codegen.stubs.classes import TENSOR, ClassWriter
from vtgrad.codegen.stubs.functions import FunctionWriter
from vtgrad.codegen.stubs.modules import Definition, Module, Modules
from vtgrad.codegen.stubs.named_later import functions_named_later
from vtgrad.codegen.stubs.names import Names
from vtgrad.codegen.stubs.shown import Line, shown_by
from vtgrad.codegen.stubs.spelling import Speller
from vtgrad.codegen.stubs.users_arguments import UsersArguments
from vtgrad.codegen.template import head, list_of_exports

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
    "vtgrad.fft",
    "vtgrad.func",
    "vtgrad.signal",
    "vtgrad.interpolate",
    "vtgrad.linalg",
    "vtgrad.special",
    "vtgrad.nn",
    "vtgrad.nn.functional",
    "vtgrad.optim",
    "vtgrad.utils.checkpoint",
    "vtgrad.utils",
    "vtgrad.storage.public_tensor",
)
# A stub that shows a class by its module above: the path under the package, and the module.
_ARRAYS: Final = ("numpy/public_ndarray.pyi", "vtgrad.numpy.ndarray", "ndarray")
# Where the classes stand that users know by their names in the public modules only.
_BEHIND: Final = ("vtgrad.generator", "vtgrad.tensor.")


def emit_stubs(generated: Mapping[str, str], users: UsersArguments) -> dict[str, str]:
    """The text of every stub by its path under the package.

    Parameters
    ----------
    generated : mapping of str to str
        The text of every generated file by its path under ``ops``.
    users : UsersArguments
        What functions take that their source does not say.

    Raises
    ------
    TableError
        If a type or statement cannot be spelled in a stub.
    """
    modules = Modules(generated, STUBS)
    homes: dict[str, str] = {TENSOR: "vtgrad"}
    shown = {name: shown_by(modules, modules.at(name)) for name in STUBS}
    shown["vtgrad"] |= functions_named_later(modules)
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
        files[module.stub_path] = _stub(
            module, FunctionWriter(names, users, wide=stub == "vtgrad"), names, found, functions
        )
    path, above, name = _ARRAYS
    top = head("the source files", "The class of arrays in the types of functions.")
    files[path] = f"{top}from {above} import {name} as {name}\n{list_of_exports({name})}"
    return files


def _stub(
    module: Module,
    writer: FunctionWriter,
    names: Names,
    found: Mapping[str, Definition | Line],
    functions: dict[str, str],
) -> str:
    """One stub; `functions` is by path the stub that has written a function."""
    classes = ClassWriter(names, writer)
    body = ""
    for name, one in found.items():
        if isinstance(one, Line):
            names.lines |= set(one.imports.splitlines())
            if one.text.startswith("from "):
                names.lines.add(one.text)
            else:
                body += f"{one.text}\n"
        elif isinstance(one.last, ast.ClassDef):
            if names.home_of(one) == names.stub:
                body += classes.text(one)
            else:
                names.lines.add(f"from {names.home_of(one)} import {one.name} as {name}")
        elif functions.setdefault(one.path, names.stub) != names.stub:
            names.lines.add(f"from {functions[one.path]} import {one.name} as {name}")
        elif isinstance(one.last, ast.AnnAssign):
            kind = Speller(one.module, names).expression(one.last.annotation)
            body += f"{name}: {kind}\n"
        else:
            body += "".join(f"{line}\n" for line in writer.lines(name, one))
    written = 0
    while written < len(names.pending):
        written += 1
        body = classes.text(names.pending[written - 1]) + body
    variables = "".join(f"{name} = {text}\n" for name, text in sorted(names.variables.items()))
    exports = "\n"
    if module.exports is not None:
        starred = [n for star in module.starred for n in names.modules.at(star).exports or ()]
        later = functions_named_later(names.modules) if names.stub == "vtgrad" else {}
        exports = list_of_exports({*module.exports, *starred, *later})
    lines = "".join(f"{line}\n" for line in sorted(names.lines))
    purpose = ast.get_docstring(module.tree) or ""
    top = head("the source files", purpose.partition("\n")[0])
    allowed = f"# mypy: {names.allowed}\n\n" if names.allowed else ""
    return f"{top}{allowed}{lines}{exports}{variables}\n{body}"

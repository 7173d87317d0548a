"""Putting the generated files together."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from vtgrad.codegen.emit_choice import CHOICE_IMPORTS, emit_choice
from vtgrad.codegen.emit_dispatch import emit_dispatch
from vtgrad.codegen.emit_formulas import emit_large_formulas, emit_tensor_formulas
from vtgrad.codegen.emit_forward import emit_forward
from vtgrad.codegen.emit_functions import (
    FUNCTION_IMPORTS,
    emit_function,
    emit_function_writers,
    emit_result_classes,
    function_names,
    result_class,
)
from vtgrad.codegen.emit_nodes import NODE_IMPORTS, emit_node, saved_fields
from vtgrad.codegen.emit_operators import emit_operators
from vtgrad.codegen.emit_patterns import emit_patterns
from vtgrad.codegen.emit_python import PYTHON_HEAD, emit_python
from vtgrad.codegen.emit_saves import SAVES_HEAD, SavedField, emit_saves, saving_class
from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.layout import formatted
from vtgrad.codegen.library import Library
from vtgrad.codegen.stubs.emit_stubs import emit_stubs
from vtgrad.codegen.stubs.users_arguments import UsersArguments
from vtgrad.codegen.surface import Surface
from vtgrad.codegen.template import fill, head, list_of_exports, list_of_imports

__all__ = ["FOLDERS", "generate", "generate_stubs", "sources"]

# The folders under `ops` in which every file is generated.
FOLDERS: Final = ("choices", "generated")


_PURPOSES: Final = {
    "choices": "Functions that bring what users pass into the form that an overload takes.",
    "generated": "Nodes, functions and methods of all operators.",
}


def generate(library: Library) -> dict[str, str]:
    """The text of every generated file by its path under `ops`, as it stands there.

    Parameters
    ----------
    library : Library
        The tables, and the functions that they name.

    Raises
    ------
    TableError
        If a table or a formula is wrong.
    """
    return {name: formatted(f"ops/{name}", text) for name, text in sources(library).items()}


def generate_stubs(library: Library, files: Mapping[str, str]) -> dict[str, str]:
    """The text of every stub by its path under the package, as it stands there.

    Parameters
    ----------
    library : Library
        The tables, and the functions that they name.
    files : mapping of str to str
        The text of every generated file, from `generate`.

    Raises
    ------
    TableError
        If a signature cannot be shown.
    """
    found = emit_stubs(files, UsersArguments.of(library))
    return {name: formatted(name, text) for name, text in found.items()}


def sources(library: Library) -> dict[str, str]:
    """The text of every generated file by its path under `ops`, before it is laid out.

    Parameters
    ----------
    library : Library
        The tables, and the functions that they name.

    Raises
    ------
    TableError
        If a table or a formula is wrong.
    """
    files = {
        f"{folder}/__init__.py": head("the derivative tables", purpose).rstrip() + "\n"
        for folder, purpose in _PURPOSES.items()
    }
    saves: set[tuple[SavedField, ...]] = set()
    for stem, table in library.tables.items():
        nodes = [dataclasses.replace(op, node=node) for op in table for node in op.nodes]
        if nodes:
            kept = {saved_fields(op, library.names) for op in nodes if not op.copies_view} - {()}
            files[f"generated/{stem}_nodes.py"] = _nodes(library, stem, nodes, kept)
            saves |= kept
        files[f"generated/{stem}.py"] = _functions(library, stem, table, nodes)
        if library.choices[stem]:
            files[f"choices/{stem}.py"] = _choices(library, stem)
    files["generated/saves.py"] = _saves(saves)
    files["generated/reusing_formulas.py"] = emit_large_formulas(library)
    files["generated/tensor_formulas.py"] = emit_tensor_formulas(library)
    files["generated/functional.py"] = _functional(library)
    files["generated/result_classes.py"] = _result_classes(library)
    surface = library.surface
    files["generated/forward_formulas.py"] = emit_forward(library)
    files["generated/operators.py"] = emit_operators(library)
    files["generated/patterns.py"] = emit_patterns(library)
    files["generated/methods.py"] = _methods(surface)
    files["generated/public.py"] = _public(library)
    files["generated/python_operators.py"] = _python_operators(library)
    return files


def _nodes(
    library: Library, stem: str, nodes: list[Operator], kept: set[tuple[SavedField, ...]]
) -> str:
    """The nodes of a table."""
    classes = sorted(map(saving_class, kept))
    saving = list_of_imports("vtgrad.ops.generated.saves", classes)
    text = head(f"`ops/table/{stem}.yaml`", f"Nodes of the operators in `{stem}`.")
    text += fill(NODE_IMPORTS, types=library.types, saving=saving)
    return text + "".join(emit_node(op, library.names) for op in nodes)


def _tables(stem: str) -> str:
    """What the functions of a family are generated from."""
    return f"`ops/table/{stem}.yaml` and `ops/docs/{stem}.rst`"


def _functions(library: Library, stem: str, table: list[Operator], nodes: list[Operator]) -> str:
    """The functions of a table: one for each overload, and those that choose among overloads."""
    text = head(_tables(stem), f"The operators in `{stem}`.")
    text += fill(FUNCTION_IMPORTS, types=library.types)
    used = sorted({str(op.node) for op in nodes if not op.copies_view})
    text += list_of_imports(f"vtgrad.ops.generated.{stem}_nodes", used)
    groups = library.dispatchers[stem]
    exports = [name for op in table for name in function_names(op)]
    text += list_of_exports([*exports, *[group.name for group in groups]])
    text += emit_result_classes(table)
    text += "".join(emit_function_writers(op, library.storing, library.plain) for op in table)
    text += "\n\n" + "".join(map(emit_function, table))
    return text + "".join(emit_dispatch(group) for group in groups)


def _choices(library: Library, stem: str) -> str:
    """The functions of a table that take what no overload takes. They are not compiled."""
    groups = library.choices[stem]
    called = {group.function_of(op) for group in groups for op in group.overloads}
    called |= {result_class(op) for g in groups for op in g.overloads if op.returns == "tuple"}
    text = head(_tables(stem), f"How users call the overloads in `{stem}`.")
    text += fill(CHOICE_IMPORTS, types=library.types)
    text += list_of_imports(f"vtgrad.ops.generated.{stem}", sorted(called))
    text += list_of_exports([group.name for group in groups])
    return text + "".join(emit_choice(group) for group in groups)


def _saves(saves: set[tuple[SavedField, ...]]) -> str:
    """The base classes of nodes."""
    text = head("the derivative tables", "What nodes save: one class for each set of fields.")
    return text + SAVES_HEAD + "".join(emit_saves(f) for f in sorted(saves, key=saving_class))


_RESULT_CLASSES = """
from typing import Final

$imports

$exports
# By the name of the operator and its overload.
RESULT_CLASSES: Final[dict[str, type[tuple[object, ...]]]] = {$classes}
"""


def _result_classes(library: Library) -> str:
    """The classes of several results, for pickles."""
    imports: dict[str, str] = {}
    classes = ""
    for stem, table in library.tables.items():
        for op in table:
            if op.returns == "tuple":
                name = op.base if op.overload is None else f"{op.base}.{op.overload}"
                imports[result_class(op)] = stem
                classes += f'"{name}": {result_class(op)}, '
    text = head("the derivative tables", "The classes of several results.")
    return text + fill(
        _RESULT_CLASSES,
        exports=list_of_exports(imports),
        imports="".join(f"from vtgrad.ops.generated.{imports[n]} import {n}\n" for n in imports),
        classes=classes,
    )


def _functional(library: Library) -> str:
    """Every function under every name, for formulas and composites."""
    text = head("the derivative tables and `ops/composites`", "Every function of tensors.")
    names: list[str] = []
    for stem, table in library.tables.items():
        own = [name for op in table for name in function_names(op)]
        others = {
            alias: name
            for op in table
            if not op.is_overload
            for alias, name in op.other_names.items()
        }
        for group in library.dispatchers[stem]:
            own.append(group.name)
            others |= dict.fromkeys(group.aliases, group.name)
        names += [*own, *others]
        text += _all_of(f"vtgrad.ops.generated.{stem}", others)
        if library.choices[stem]:
            others = {name: g.name for g in library.choices[stem] for name in g.aliases}
            names += [*(group.name for group in library.choices[stem]), *others]
            text += _all_of(f"vtgrad.ops.choices.{stem}", others)
    for stem, exports in library.exports.items():
        names += exports
        aliases = library.aliases[stem]
        own = sorted(set(exports) - set(aliases)) if aliases else []
        text += _all_of(f"vtgrad.ops.composites.{stem}", aliases, own)
    duplicated = sorted({n for n in names if names.count(n) > 1})
    if duplicated:
        raise TableError(f"defined twice, in a table and a composite: {duplicated}")
    return text + "\n# Without `__all__`: all that is imported is exported.\n# ruff: noqa: F401\n"


def _all_of(module: str, aliases: dict[str, str], own: Sequence[str] = ()) -> str:
    """Imports of a module's functions, some of them under other names as well.

    An import leaves a function a function; what is assigned is a variable to type checkers. So an
    alias that a module assigns is not among its `own` names here. Without any, all are meant.
    """
    text = list_of_imports(module, own) if own else f"from {module} import *\n"
    for alias, name in sorted(aliases.items()):
        text += f"from {module} import {name} as {alias}\n"
    return text


_METHODS = '''
# Type checkers see a method in `add = _add`, but only a variable in `add = F.add`.
$imports
from vtgrad.storage.tensor_mixin import TensorMixin

__all__ = ["TensorMethods"]


class TensorMethods(TensorMixin):
    """The operators of a tensor, which is their first argument."""

    __slots__ = ()

    $methods
'''


def _methods(surface: Surface) -> str:
    text = head("the derivative tables and `ops/composites`", "The operators as methods.")
    methods = sorted(surface.methods.items())
    return text + fill(
        _METHODS,
        imports=list_of_imports(
            "vtgrad.ops.generated.functional",
            dict.fromkeys(f"{function} as _{function}" for _, function in methods),
        ),
        methods="\n".join(f"{name} = _{function}" for name, function in methods),
    )


def _public(library: Library) -> str:
    text = head("the derivative tables and `ops/composites`", "The operators as functions.")
    text += "from vtgrad.ops.generated.functional import *\n"
    for name, function in sorted(library.surface.functions.items()):
        if name != function:
            # Formulas may call another function by that name.
            known = name in library.functions
            ignored = "  # type: ignore[no-redef]  # for users in place of that of formulas" * known
            text += f"from vtgrad.ops.generated.functional import {function} as {name}{ignored}\n"
    return text + list_of_exports(library.surface.functions)


def _python_operators(library: Library) -> str:
    text = head("the derivative tables", "The operators of Python, as methods of tensors.")
    ufuncs = {
        str(op.inplace): op.ufunc
        for op in library.operators
        if op.ufunc is not None and op.inplace is not None and not op.ufunc_inexact
    }
    users = UsersArguments.of(library)
    methods = emit_python(library.surface.python, ufuncs, users.number_first)
    return text + fill(PYTHON_HEAD, methods=methods)

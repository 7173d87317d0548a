"""All that the generator reads: the tables, and the functions written by hand that they name."""

import ast
import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from vtgrad.codegen.docstrings import with_docstrings
from vtgrad.codegen.emit_functions import function_names
from vtgrad.codegen.formula import Names
from vtgrad.codegen.groups import Group, groups_of
from vtgrad.codegen.language import Composite, Operator, TableError
from vtgrad.codegen.memory_reuse import Reuse, reusing_helpers
from vtgrad.codegen.source_files import OPS, aliases_in, exported, functions_in, modules
from vtgrad.codegen.surface import Surface, surface_of
from vtgrad.codegen.tables import read_composites, read_table

__all__ = ["Library"]


@dataclasses.dataclass(frozen=True)
class Library:
    """What the files under ``ops`` say.

    Attributes
    ----------
    tables : mapping of str to list of Operator
        The operators by table; tables that speak of composites only are left out.
    stated : mapping of str to Composite
        What the tables say of composites.
    composites : mapping of str to Path
        The modules of composites that are operators: for users, or stated in a table.
    """

    tables: Mapping[str, list[Operator]]
    stated: Mapping[str, Composite]
    composites: Mapping[str, Path]

    @classmethod
    def read(cls) -> "Library":
        """Read all files.

        Raises
        ------
        TableError
            If a table or a docstring is wrong.
        """
        paths = sorted((OPS / "table").glob("*.yaml"))
        tables = with_docstrings({path.stem: read_table(path) for path in paths}, OPS / "docs")
        stated = {one.name: one for path in paths for one in read_composites(path)}
        composites = {
            name: path
            for name, path in modules("composites").items()
            if not name.startswith("support.") or stated.keys() & set(exported(path))
        }
        library = cls({stem: rows for stem, rows in tables.items() if rows}, stated, composites)
        library._check_unique()
        library.check_kernels()
        return library

    def _check_unique(self) -> None:
        seen: dict[str, str] = {}
        for op in self.operators:
            made = [*function_names(op), *op.other_names]
            for name in [*made, *[f"node {node}" for node in op.nodes]]:
                if name in seen:
                    raise TableError(f"{op.where}: {name} is already made by {seen[name]}")
                seen[name] = op.where

    def check_kernels(self) -> None:
        """Refuse a row whose kernel does not exist.

        The functions of such a row could not be imported, and neither could the generator, which
        is a module of the package.

        Raises
        ------
        TableError
            Then.
        """
        views = set(functions_in(modules("view_impls").values()))
        for op in self.operators:
            known = views if op.is_view or op.returns == "Geometry" else self.names.kernels
            for kernel in [op.kernel] if op.writer is None else [op.writer]:
                if kernel not in known:
                    raise TableError(f"{op.where}: no kernel is called {kernel}")

    @cached_property
    def operators(self) -> list[Operator]:
        """All entries of all tables."""
        return [op for table in self.tables.values() for op in table]

    @cached_property
    def exports(self) -> dict[str, list[str]]:
        """The functions of each module of composites."""
        return {name: exported(path) for name, path in self.composites.items()}

    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        """The functions that modules of composites give other names to."""
        return {name: aliases_in(path) for name, path in self.composites.items()}

    @cached_property
    def groups(self) -> dict[str, list[Group]]:
        """The groups of overloads in each table."""
        by_hand = {name for names in self.exports.values() for name in names}
        return {stem: groups_of(table, by_hand) for stem, table in self.tables.items()}

    @cached_property
    def choices(self) -> dict[str, list[Group]]:
        """Those that take what no overload takes."""
        return {
            stem: [group for group in groups if group.takes_what_no_overload_takes]
            for stem, groups in self.groups.items()
        }

    @cached_property
    def dispatchers(self) -> dict[str, list[Group]]:
        """Those that hand on what users pass as it is."""
        return {
            stem: [group for group in groups if not group.takes_what_no_overload_takes]
            for stem, groups in self.groups.items()
        }

    @cached_property
    def helper_files(self) -> list[Path]:
        """The modules of formula helpers."""
        return list(modules("formulas").values())

    @cached_property
    def functions(self) -> set[str]:
        """What can be called by name: operators, groups and composites, under all their names."""
        names = {name for op in self.operators for name in (*function_names(op), *op.other_names)}
        for group in self.all_groups:
            names |= {group.name, *group.aliases}
        return names | {name for exports in self.exports.values() for name in exports}

    @cached_property
    def all_groups(self) -> list[Group]:
        """The groups of all tables."""
        return [group for groups in self.groups.values() for group in groups]

    @cached_property
    def names(self) -> Names:
        """What formulas may call."""
        aliasing = {op.kernel for op in self.operators if op.is_view}
        aliasing |= {op.name for op in self.operators if op.may_alias}
        aliasing |= {one.name for one in self.stated.values() if one.may_alias}
        reuse = Reuse(
            frozenset(op.kernel for op in self.operators if op.reuses_memory),
            frozenset(one.name for one in self.stated.values() if one.returns_itself),
        )
        return Names(
            frozenset(name for path in modules("kernels").values() for name in exported(path)),
            frozenset(self.functions),
            frozenset(name for path in self.helper_files for name in exported(path)),
            frozenset(aliasing),
            reusing_helpers(functions_in(self.helper_files), reuse),
            reuse,
        )

    @cached_property
    def storing(self) -> set[str]:
        """The kernels that take ``out=``."""
        functions = functions_in(modules("kernels").values())
        return {name for name, f in functions.items() if _takes_out(f)}

    @cached_property
    def plain(self) -> set[str]:
        """The writers that compute nothing."""
        return set(exported(OPS / "kernels" / "copying" / "fill.py"))

    @cached_property
    def types(self) -> str:
        """The import of the names of types in tables."""
        names = exported(OPS / "calling" / "types.py")
        return f"from vtgrad.ops.calling.types import {', '.join(names)}\n"

    @cached_property
    def surface(self) -> Surface:
        """What users see."""
        found = {name: (path, self.aliases[name]) for name, path in self.composites.items()}
        return surface_of(self.operators, self.all_groups, self.stated, found)


def _takes_out(function: ast.FunctionDef) -> bool:
    return any(argument.arg == "out" for argument in function.args.kwonlyargs)

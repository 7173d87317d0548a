"""One list of families of operators: what belongs to an operator is found under one name.

The families are those of the derivative tables, and a few that have no table because all their
operators are composites. Kernels, makers of views, formula helpers, composites and samples stand
in a file or a folder of the family's name; what several families share is in ``support``.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.project.tree import PACKAGE, ROOT, parsed
from vtgrad.codegen.language import Operator
from vtgrad.codegen.tables import read_table

OPS: Final = PACKAGE / "ops"
#: By family, the operators of its table.
TABLES: Final = {
    path.stem: operators
    for path in sorted((OPS / "table").glob("*.yaml"))
    if (operators := read_table(path))
}
#: Families of which every operator is a composite; their tables, if any, have no rows for others.
WITHOUT_TABLE: Final = {"memory", "predicates", "python_functions"}
FAMILIES: Final = TABLES.keys() | WITHOUT_TABLE
#: Folders with a file or a folder for each family.
FOLDERS: Final = {
    "kernels": OPS / "kernels",
    "view_impls": OPS / "view_impls",
    "formulas": OPS / "formulas",
    "composites": OPS / "composites",
    "samples": ROOT / "tests" / "ops" / "samples",
}
SHARED: Final = "support"
#: What the results of views and of changes of geometry are made by.
MADE_BY_IMPLS: Final = {"View", "Views", "Copies", "UnsafeSplit", "Geometry"}


@cache
def rooms(folder: str) -> dict[str, list[Path]]:
    """The modules of a folder, by the name of the file or folder in which they are."""
    root = FOLDERS[folder]
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).with_suffix("").parts[0]
        if name != "__init__":
            found.setdefault(name, []).append(path)
    return found


@cache
def functions(folder: str) -> dict[str, dict[str, ast.FunctionDef]]:
    """The functions that are defined in a folder, by room and name."""
    return {
        room: {
            statement.name: statement
            for path in paths
            for statement in parsed(path).body
            if isinstance(statement, ast.FunctionDef)
        }
        for room, paths in rooms(folder).items()
    }


@pytest.fixture(scope="module", autouse=True)
def trees_are_dropped() -> Iterator[None]:
    """Later tests in this process collect garbage faster without them, see `parsed`."""
    yield
    functions.cache_clear()


def rooms_of(folder: str, name: str) -> list[str]:
    """The rooms that define a function of this name."""
    return [room for room, defined in functions(folder).items() if name in defined]


def rows() -> Iterator[tuple[str, Operator]]:
    """Every operator of the tables, with its family."""
    for family, table in TABLES.items():
        for operator in table:
            yield family, operator


def kernels_of(operator: Operator) -> Iterator[tuple[str, str]]:
    """The folder and the name of each function that the operator computes with."""
    if operator.returns in MADE_BY_IMPLS:
        yield "view_impls", operator.kernel
        return
    if operator.writer is not None:
        yield "kernels", operator.writer
    if operator.writer is None or operator.returns != "Self":
        yield "kernels", operator.kernel


def called(text: str) -> set[str]:
    """The names of the functions that an expression of a table calls."""
    return {
        node.func.id
        for node in ast.walk(ast.parse(text.strip(), mode="eval"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def attributes(function: ast.FunctionDef, module: str) -> set[str]:
    """The functions of an imported module, as ``k`` or ``F``, that a function uses."""
    return {
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == module
    }


def names(function: ast.FunctionDef) -> set[str]:
    """All names that a function mentions."""
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


@cache
def calls_of_formulas() -> Mapping[str, set[str]]:
    """By helper or kernel, the families whose formulas call it, directly or through helpers."""
    helpers = {name: f for room in functions("formulas").values() for name, f in room.items()}
    found: dict[str, set[str]] = {}
    for family, operator in rows():
        texts = [*operator.formulas.values(), operator.region_if or "None"]
        stated = operator.forward or {}
        texts += [stated] if isinstance(stated, str) else stated.values()
        waiting = set().union(*(called(text) for text in texts))
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            if name in helpers:
                used = names(helpers[name]) & helpers.keys() | attributes(helpers[name], "k")
                waiting |= used - seen
        for name in seen:
            found.setdefault(name, set()).add(family)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_and_folder_is_named_after_a_family(folder: str) -> None:
    assert rooms(folder).keys() - FAMILIES <= {SHARED}


def test_the_folders_of_tests_are_named_after_families() -> None:
    """A test of several families lies beside them."""
    folders = {p.parent.name for p in (ROOT / "tests" / "ops").glob("*/__init__.py")}
    assert folders - FAMILIES == {"samples"}


def test_every_family_of_a_table_has_kernels_and_samples() -> None:
    assert TABLES.keys() - (rooms("kernels").keys() & rooms("samples").keys()) == set()


def test_the_kernel_of_an_operator_is_in_its_family() -> None:
    wrong = {
        f"{family}.yaml: {operator.name} computes with {folder}.{name}": rooms_of(folder, name)
        for family, operator in rows()
        for folder, name in kernels_of(operator)
        if rooms_of(folder, name) != [family]
    }
    assert wrong == {}


def test_no_kernel_is_shared() -> None:
    """What ``support`` defines are parts of kernels: no table and no formula names them."""
    used = {name for _, op in rows() for _, name in kernels_of(op)} | calls_of_formulas().keys()
    assert used & functions("kernels")[SHARED].keys() == set()


def test_a_kernel_that_only_formulas_call_is_in_a_family_of_those_formulas() -> None:
    """Or in that of the operator of its name, as the kernel `zeros_like` is."""
    of_rows = {name for _, operator in rows() for _, name in kernels_of(operator)}
    wrong = {}
    for name, families in calls_of_formulas().items():
        if name in of_rows or name.startswith("_"):
            continue
        for room in rooms_of("kernels", name):
            if room not in families and name not in functions("composites").get(room, {}):
                wrong[f"kernels.{name} is in {room}"] = sorted(families)
    assert wrong == {}


def test_a_formula_helper_is_in_the_family_that_uses_it_or_in_support() -> None:
    users = calls_of_formulas()
    wrong = {
        f"formulas.{name} is in {room}": sorted(users.get(name, ()))
        for room, defined in functions("formulas").items()
        for name in defined
        if users.get(name) != {room} and not (room == SHARED and len(users.get(name, ())) > 1)
    }
    assert wrong == {}


def test_the_samples_of_an_operator_are_in_its_family() -> None:
    wrong = []
    for family, table in TABLES.items():
        module = import_module(f"tests.ops.samples.{family}")
        copies: Mapping[str, str] = getattr(module, "VIEW_COPIES", {})
        given = module.SAMPLES.keys() | copies.keys()
        wrong += [f"{family}: {name}" for name in {op.name for op in table} ^ given]
    assert wrong == []


def test_a_function_that_calls_overloads_of_its_name_is_in_their_family() -> None:
    """As `clamp`, which calls `clamp_default` or `clamp_Tensor` of the table."""
    family_of = {op.name: family for family, op in rows()}
    wrong = {}
    calling = set()
    for room, defined in functions("composites").items():
        for name, function in defined.items():
            plain = name.rstrip("_")
            overloads = {
                row
                for row in attributes(function, "F") & family_of.keys()
                if plain and row.startswith(f"{plain}_")
            }
            calling |= {name} if overloads else set()
            for row in overloads:
                if family_of[row] != room:
                    wrong[f"composites.{name} is in {room}"] = f"{row} of {family_of[row]}.yaml"
    assert wrong == {}
    assert {"any", "clamp", "max", "scatter", "view", "where"} <= calling


def test_no_public_composite_is_defined_in_two_families() -> None:
    seen: dict[str, str] = {}
    twice = []
    for room, defined in functions("composites").items():
        for name in defined:
            if not name.startswith("_") and seen.setdefault(name, room) != room:
                twice.append(f"{name}: {seen[name]} and {room}")
    assert twice == []

"""Imports go down the layers, are seen at the head of a file, and never reach for the links."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

from tests.project.tree import ROOT, dotted_name, parsed, parsed_files_with, python_files

# One process reads the files for all of them.
pytestmark = pytest.mark.xdist_group("imports")

# (importing module, imported name): why the import may stand inside a function.
INSIDE_FUNCTIONS: dict[tuple[str, str], str] = {}

# What ``import vtgrad`` does not load, because it takes long: parts of its own that not every
# program needs, and modules of others that NumPy does not load by itself.
NOT_LOADED = (
    "vtgrad.codegen",
    "vtgrad.demo",
    "vtgrad.testing",
    "vtgrad.viz",
    "argparse",
    "concurrent.futures",
    "dataclasses",
    "decimal",
    "fractions",
    "hashlib",
    "hypothesis",
    "json",
    "logging",
    "multiprocessing",
    "numpy.random",
    "numpy.testing",
    "random",
    "secrets",
    "subprocess",
    "tempfile",
    "unittest",
    "yaml",
)

# What users import beside `vtgrad` itself is written on top of it, as users would write it.
ABOVE_THE_PACKAGE = ("vtgrad.demo", "vtgrad.testing")


def imports_of(tree: ast.Module, package: str) -> Iterator[tuple[bool, str]]:
    """Every import: whether it is inside a function, and the absolute name of the module.

    ``package`` is the package that relative imports start from.
    """
    for node, inside in _statements(tree, inside=False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield inside, alias.name
        elif isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            yield inside, resolve_name(name, package)


# What has statements in it: no expression has, and most nodes of a tree are expressions.
_BLOCKS = (ast.mod, ast.stmt, ast.ExceptHandler, ast.match_case)


def _statements(block: ast.AST, inside: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement of a block, however deep, and whether it is inside a function."""
    inside = inside or isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(block, part, ()):
            yield node, inside
            if isinstance(node, _BLOCKS):
                yield from _statements(node, inside)


@cache
def _imports() -> list[tuple[str, bool, str]]:
    """Every import of the package, with the name of the module that it stands in."""
    return [
        (dotted_name(path), inside, name)
        for path in python_files()
        for inside, name in imports_of(parsed(path), dotted_name(path.parent / "__init__.py"))
    ]


# `make lint` runs the same check, and `make quick` runs that.
@pytest.mark.slow
def test_the_import_contracts_hold() -> None:
    lint = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr


@pytest.mark.slow
def test_no_import_hides_in_a_function() -> None:
    found = {(module, name) for module, inside, name in _imports() if inside}
    # Equality: a reason for an import that is gone must go as well.
    assert found == set(INSIDE_FUNCTIONS)


@pytest.mark.slow
def test_layers_do_not_import_the_package_that_is_made_of_them() -> None:
    # `from vtgrad import Tensor` goes from any layer to the top of all, by way of the package.
    upwards = [
        module
        for module, _, name in _imports()
        if name == "vtgrad" and module != "vtgrad" and not module.startswith(ABOVE_THE_PACKAGE)
    ]
    assert upwards == []


@pytest.mark.slow
def test_packages_show_no_name_that_is_meant_for_the_interpreter() -> None:
    # `from __future__ import annotations` in a package would give users a `vt.annotations`.
    packages = {dotted_name(path) for path in python_files() if path.name == "__init__.py"}
    assert [m for m, _, name in _imports() if m in packages and name == "__future__"] == []


@pytest.mark.slow
def test_imports_do_not_go_through_the_links() -> None:
    through = [
        module for module, _, name in _imports() if name.split(".", 1)[0] in {"storage", "views"}
    ]
    assert through == []


def test_the_documentation_lists_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = [c["layers"] for c in contracts["contracts"] if c.get("containers") == ["vtgrad"]]
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("| --- | --- |\n")[1].split("\n\n")[0]
    rows = [re.findall("`([a-z_]+)`", row.split("|")[1]) for row in table.splitlines()]
    assert rows == [layer.split(" : ") for layer in layers]


def loaded_beside_numpy(statement: str) -> set[str]:
    """The modules that a statement loads in an interpreter that has NumPy already."""
    program = (
        "import sys, numpy; before = set(sys.modules); "
        f"{statement}; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_beside_numpy("import vtgrad")
    assert "vtgrad.tensor.tensor" in loaded
    assert [name for name in NOT_LOADED if name in loaded] == []


@pytest.mark.slow
def test_what_draws_is_loaded_at_the_first_draw() -> None:
    # Seeding is no draw, and a generator that has not drawn knows its seed.
    assert "numpy.random" not in loaded_beside_numpy("import vtgrad; vtgrad.manual_seed(3)")
    assert "numpy.random" in loaded_beside_numpy("import vtgrad; vtgrad.rand(3)")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import storage.geometry", [(False, "storage.geometry")]),
        ("def f():\n    from vtgrad import views", [(True, "vtgrad")]),
        ("class C:\n    import os", [(False, "os")]),
        ("if TYPE_CHECKING:\n    from . import x", [(False, "vtgrad.graph")]),
        ("from ..storage import x", [(False, "vtgrad.storage")]),
    ],
)
def test_imports_are_found_wherever_they_stand(
    source: str, expected: list[tuple[bool, str]]
) -> None:
    assert list(imports_of(ast.parse(source), "vtgrad.graph")) == expected


def test_only_users_are_told_the_grad_mode() -> None:
    """All else asks `is_recording`: in inference mode nothing is recorded in either grad mode."""
    asking = {
        dotted_name(path)
        for path, tree in parsed_files_with("is_grad_enabled")
        for node, _ in _statements(tree, inside=False)
        if isinstance(node, ast.ImportFrom | ast.Import)
        and any(alias.name == "is_grad_enabled" for alias in node.names)
    }
    assert asking == {
        "vtgrad",
        "vtgrad.autograd",
        "vtgrad.graph.grad_mode",
        "vtgrad.tensor.conversion_methods",
    }


@pytest.mark.slow
def test_packages_are_loaded_when_they_are_named() -> None:
    program = (
        "import vtgrad as vt, sys\n"
        "assert not {'vtgrad.viz', 'vtgrad.testing', 'vtgrad.profiler'} & set(sys.modules)\n"
        "x = vt.ones(2, requires_grad=True)\n"
        "assert 'digraph' in vt.viz.make_dot(x * 2).source\n"
        "assert vt.testing.checking.Rule is sys.modules['vtgrad.testing.checking'].Rule\n"
        "try:\n    vt.testing.no_such_name\nexcept AttributeError:\n    print('refused')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("refused\n", "")


def test_the_state_of_threads_and_what_forks_call_have_one_place() -> None:
    """See Note [The state of a thread]: else a mode is not carried, or a lock is forgotten."""
    words = re.compile(
        r"\bthreading\.local\(|\(threading\.local\)|\blocal\(|os\.register_at_fork\("
    )
    found = {path.name for path in python_files() if words.search(path.read_text("utf-8"))}
    assert found == {"thread_state.py"}

"""Which files import each other in a circle, so that none can be read or changed alone."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.project.tree import dotted_name, parsed, python_files

# One process reads the files for all of them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("imports")]

# Operators are called by operators: derivatives by the tables, composites, rules for batches and
# the choice of a rule all call functions that the generator writes, and these call them. Modules
# refer to each other as modules here, and read a function when they call it.
OPERATORS: Final = (
    "vtgrad.ops.choices",
    "vtgrad.ops.composites",
    "vtgrad.ops.generated",
    "vtgrad.ops.rules.batches",
)

# All other circles are of imports for types only. Equality: one that is untied must go from here.
OF_TYPES: Final[dict[str, set[str]]] = {
    # A counter has a log, and the log reads the value of the counter.
    "vtgrad.storage": {"version_counter", "write_log"},
    # A node has edges, saved values and hooks, and each of them says which node it belongs to. The
    # errors, observers and states of a thread in between are called with nodes by nodes.
    "vtgrad.graph": {
        "accumulate_grad",
        "anomaly",
        "audit",
        "autograd_meta",
        "changed_leaf_shape",
        "edge",
        "forward_grad",
        "grad_stores",
        "hooks",
        "next_edges",
        "node",
        "observer",
        "operators",
        "packed",
        "region",
        "retain_grad_of_views",
        "saved_tangents",
        "saved_variable",
        "saved_variable_errors",
        "set_history",
        "thread_local_state",
    },
    # To users a context and its node are one object: see Note [A context and its node].
    "vtgrad.function": {"context", "function_ctx", "node"},
    # `vtgrad` shows `vtgrad.testing`, which is written on top of it as users would write it.
    "vtgrad": {
        "",
        "testing",
        "testing.checking",
        "testing.definitions",
        "testing.failures",
        "testing.grid_run",
        "testing.machine",
        "testing.program",
        "testing.session",
        "testing.shrink",
        "testing.statistics",
        "testing.writer",
    },
}


def modules_of(tree: ast.Module, *, types: bool) -> Iterator[str]:
    """What a file imports, as modules or as names in modules.

    Parameters
    ----------
    types : bool
        With what only type checkers import.
    """
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Import):
            yield from (name.name for name in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield str(statement.module)
            yield from (f"{statement.module}.{name.name}" for name in statement.names)
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            pending += [*(statement.body if types else ()), *statement.orelse]
        else:
            for part in ("body", "orelse", "finalbody", "handlers"):
                pending += getattr(statement, part, ())


def imports(*, types: bool) -> dict[str, set[str]]:
    """For each file of the package the others that it imports."""
    files = {dotted_name(path): path for path in python_files()}
    found: dict[str, set[str]] = {}
    for name, path in files.items():
        named = set(modules_of(parsed(path), types=types))
        # A name of a module in a package: the package is not meant.
        packages = {module.rpartition(".")[0] for module in named & set(files)}
        found[name] = {m for m in named if m in files and m != name} - (packages - {"vtgrad"})
    return found


def circles(found: Mapping[str, set[str]]) -> list[set[str]]:
    """The largest sets in which each reaches every other."""
    reached: dict[str, set[str]] = {}
    for name in found:
        seen: set[str] = set()
        pending = [name]
        while pending:
            new = found[pending.pop()] - seen
            seen |= new
            pending += new
        reached[name] = seen
    alike = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in found
        if name in reached[name]
    }
    return [set(each) for each in alike]


def test_imports_that_run_have_one_circle() -> None:
    (circle,) = circles(imports(types=False))
    assert {next((o for o in OPERATORS if name.startswith(f"{o}.")), name) for name in circle} == {
        *OPERATORS
    }


def test_the_circles_of_types_are_the_known_ones() -> None:
    known = [
        {f"{package}.{name}".rstrip(".") for name in names} for package, names in OF_TYPES.items()
    ]
    found = circles(imports(types=True))
    others = [each for each in found if not any(name.startswith(OPERATORS) for name in each)]
    assert sorted(map(sorted, others)) == sorted(map(sorted, known))
    assert len(found) == len(known) + 1


def test_a_circle_is_found() -> None:
    chain = {"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": {"e"}, "e": set[str](), "f": {"f"}}
    assert sorted(map(sorted, circles(chain))) == [["b", "c"], ["f"]]

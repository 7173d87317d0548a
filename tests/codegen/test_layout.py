"""How generated files are laid out: what a new operator changes in them."""

import ast
import difflib

import pytest

from tests.project.tree import PACKAGE
from vtgrad.codegen.generate import FOLDERS
from vtgrad.codegen.layout import formatted
from vtgrad.codegen.template import list_of_exports, list_of_imports

NAMES = [f"operator_{letter * 9}" for letter in "abdefgh"]


def laid_out(names: list[str]) -> list[str]:
    """A generated file that imports, uses and exports some functions."""
    text = list_of_imports("vtgrad.ops.generated.family", names) + list_of_exports(names)
    return formatted("ops/generated/example.py", text).splitlines()


@pytest.mark.parametrize("count", [1, 2, len(NAMES)])
def test_a_new_name_is_one_new_line_of_each_list(count: int) -> None:
    before, after = NAMES[:count], sorted([*NAMES[:count], "operator_ccc"])
    changed = [line for line in difflib.ndiff(laid_out(before), laid_out(after)) if line[0] in "+-"]
    assert sorted(changed) == ['+     "operator_ccc",', "+     operator_ccc,"]


def test_lists_of_names_have_one_name_on_each_line() -> None:
    seen = 0
    for path in (p for folder in FOLDERS for p in (PACKAGE / "ops" / folder).glob("*.py")):
        for statement in ast.parse(path.read_text("utf-8")).body:
            listed: list[int] = []
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List):
                listed = [one.lineno for one in statement.value.elts]
            elif isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*":
                family = (statement.module or "").rpartition(".")[2]
                if family.endswith("_nodes") or family in ("functional", "saves"):
                    listed = [one.lineno for one in statement.names]
            assert len({*listed}) == len(listed), f"{path.name}:{statement.lineno}"
            seen += len(listed)
    assert seen > 1000


def test_a_record_is_one_line() -> None:
    text = (PACKAGE / "ops" / "generated" / "operators.py").read_text("utf-8")
    records = [one for one in ast.parse(text).body if isinstance(one, ast.AnnAssign)]
    assert len(records) > 400
    assert all(one.lineno == one.end_lineno for one in records)

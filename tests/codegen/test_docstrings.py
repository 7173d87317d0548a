"""Docstrings stand beside the tables, and the generator joins both."""

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from vtgrad.codegen.docstrings import with_docstrings
from vtgrad.codegen.language import Operator, TableError
from vtgrad.codegen.library import Library
from vtgrad.codegen.source_files import OPS
from vtgrad.codegen.tables import read_table

ROWS = """
- op: "f.Tensor(self: Tensor, other: Tensor) -> Tensor"

- op: "f.Scalar(self: Tensor, other: Number) -> Tensor"

- op: "part(self: Tensor) -> View"
  copy: part_copy
  node: PartBackward0
  grad: { self: grad }
"""
WORDS = """\
A comment.

f.Tensor
========
What f does.

Parameters
----------
other : Tensor
    The second.

f.Scalar
========

The same with a number.


part
====
A part.

part_copy
=========
A copy of it.
"""


def joined(folder: Path, words: str | None, rows: str = ROWS) -> list[Operator]:
    """The operators of a table, with the docstrings of a file, if there is one."""
    (folder / "family.yaml").write_text(rows, encoding="utf-8")
    (folder / "docs").mkdir(exist_ok=True)
    if words is not None:
        (folder / "docs" / "family.rst").write_text(words, encoding="utf-8")
    tables = {"family": read_table(folder / "family.yaml")}
    return with_docstrings(tables, folder / "docs")["family"]


def test_each_operator_has_the_text_below_its_title(tmp_path: Path) -> None:
    assert [(op.title, op.doc) for op in joined(tmp_path, WORDS)] == [
        (
            "f.Tensor",
            "What f does.\n\nParameters\n----------\nother : Tensor\n    The second.",
        ),
        ("f.Scalar", "The same with a number."),
        ("part", "A part."),
        ("part_copy", "A copy of it."),
    ]


@pytest.mark.parametrize(
    ("given", "instead", "complaint"),
    [
        (
            "f.Scalar\n========\n",
            "",
            "family.yaml:4: f.Scalar: docs/family.rst has no title 'f.Scalar'",
        ),
        (
            "f.Scalar\n========\n",
            "f.Scalar\n--------\n",
            "family.yaml:4: f.Scalar: docs/family.rst has no title 'f.Scalar'",
        ),
        (
            "part_copy\n=========\n",
            "",
            "family.yaml:6: part: docs/family.rst has no title 'part_copy'",
        ),
        (
            "part_copy\n",
            "part copy\n=========\nWhat?\n\npart_copy\n",
            "docs/family.rst:22: family.yaml has no operator 'part copy'",
        ),
        (
            "part_copy\n",
            "f.Tensor\n========\nAgain.\n\npart_copy\n",
            "docs/family.rst:22: 'f.Tensor' is the title of line 3 too",
        ),
        ("A part.\n", "", "docs/family.rst:18: 'part' has no docstring below it"),
        ("A copy of it.\n", "", "docs/family.rst:22: 'part_copy' has no docstring below it"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path, given: str, instead: str, complaint: str
) -> None:
    assert WORDS.count(given) == 1
    with pytest.raises(TableError) as found:
        joined(tmp_path, WORDS.replace(given, instead))
    assert str(found.value) == complaint


def test_a_table_of_composites_needs_no_file(tmp_path: Path) -> None:
    assert joined(tmp_path, None, "- composite: g\n") == []
    with pytest.raises(
        TableError, match=r"family\.yaml:2: f\.Tensor: docs/family\.rst has no title"
    ):
        joined(tmp_path, None)


def test_a_file_without_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "familiy.rst").write_text(
        "f.Tensor\n========\nWhat f does.\n", encoding="utf-8"
    )
    with pytest.raises(TableError, match=r"^docs/familiy\.rst:1: there is no table familiy\.yaml$"):
        joined(tmp_path, WORDS)


@pytest.fixture(scope="module")
def library() -> Library:
    return Library.read()


def test_every_docstring_is_literal_in_a_function(library: Library) -> None:
    # So no words are written that are read nowhere.
    for family, operators in library.tables.items():
        literal = {
            ast.get_docstring(node)
            for folder in ("generated", "choices")
            if (path := OPS / folder / f"{family}.py").exists()
            for node in ast.parse(path.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }
        assert [op.title for op in operators if op.doc not in literal] == []


def test_titles_stand_in_the_order_of_the_rows(library: Library) -> None:
    for family, operators in library.tables.items():
        lines = (OPS / "docs" / f"{family}.rst").read_text("utf-8").splitlines()
        titles = [title for title, below in pairwise(lines) if below[:1] == "="]
        assert titles == [operator.title for operator in operators]

"""The docstrings of generated functions.

Those of a family stand in a file of ``vtgrad/ops/docs``, each under the title of its operator:
``vtgrad/ops/table/README.md`` shows one.
"""

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path

from vtgrad.codegen.language import Operator, TableError

__all__ = ["docstring", "inplace_docstring", "with_docstrings"]


def with_docstrings(
    tables: Mapping[str, list[Operator]], folder: Path
) -> dict[str, list[Operator]]:
    """The operators of all tables with their docstrings.

    Parameters
    ----------
    tables : mapping of str to list of Operator
        The operators by family.
    folder : Path
        Where each family has a file of docstrings.

    Raises
    ------
    TableError
        If an operator has no docstring, or a docstring no operator.
    """
    for path in sorted(folder.glob("*.rst")):
        if path.stem not in tables:
            raise TableError(f"{_place(path, 1)}: there is no table {path.stem}.yaml")
    return {stem: _joined(rows, folder / f"{stem}.rst") for stem, rows in tables.items()}


def _joined(operators: list[Operator], path: Path) -> list[Operator]:
    """The operators of one table with the docstrings of one file."""
    found = _docstrings(path) if path.exists() else {}
    for operator in operators:
        if operator.title not in found:
            file = f"{path.parent.name}/{path.name}"
            raise TableError(f"{operator.where}: {file} has no title {operator.title!r}")
    titles = {operator.title for operator in operators}
    for title, (line, _) in found.items():
        if title not in titles:
            raise TableError(f"{_place(path, line)}: {path.stem}.yaml has no operator {title!r}")
    return [dataclasses.replace(op, doc=found[op.title][1]) for op in operators]


def _docstrings(path: Path) -> dict[str, tuple[int, str]]:
    """The line of each title in a file, and the docstring below it."""
    lines = path.read_text("utf-8").splitlines()
    starts = [i for i, below in enumerate(lines[1:]) if lines[i] and re.fullmatch("=+", below)]
    found: dict[str, tuple[int, str]] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        title, text = lines[start], "\n".join(lines[start + 2 : end]).strip()
        where = f"{_place(path, start + 1)}: {title!r}"
        if title in found:
            raise TableError(f"{where} is the title of line {found[title][0]} too")
        if not text:
            raise TableError(f"{where} has no docstring below it")
        found[title] = start + 1, text
    return found


def _place(path: Path, line: int) -> str:
    return f"{path.parent.name}/{path.name}:{line}"


def docstring(text: str) -> str:
    """A docstring as Python text, of one line or of many."""
    if "\\" in text or '"""' in text:
        text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def inplace_docstring(name: str) -> str:
    """The docstring of what writes the result of an operator into its first argument.

    Parameters
    ----------
    name : str
        What users call the in-place function.
    """
    base = name.removesuffix("_")
    return docstring(f"Write the result of `{base}` into the tensor itself, which is returned.")

"""What is said about installing; `make install-check` does it, in bare environments."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.project.tree import PACKAGE, ROOT

PAGES = [ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]

# A compiled build has these: NumPy, and what comes with mypy.
WITH_A_BUILD = {"mypy_extensions", "numpy", "typing_extensions"}


@pytest.fixture(scope="module")
def listed() -> dict[str, list[str]]:
    """The lines that `make install-check` runs, and the pages that have them."""
    run = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "install_check.py"), "--list"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return {line: pages for line, *pages in rows}


def test_the_lines_of_the_readme_are_run(listed: dict[str, list[str]]) -> None:
    assert "README.md" in listed["pip install ."]
    assert "README.md" in listed["VTGRAD_COMPILE=1 pip install ."]
    assert listed['pip install ".[viz]"'] == ["docs/howto/drawing.md"]


def test_no_line_is_overlooked(listed: dict[str, list[str]]) -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        # Longer ones first: one may be a part of another.
        for line, pages in sorted(listed.items(), key=lambda entry: -len(entry[0])):
            if page.relative_to(ROOT).as_posix() in pages:
                assert line in text
                text = text.replace(line, "")
        assert "pip install" not in text, page


def test_each_extra_that_is_named_exists(listed: dict[str, list[str]]) -> None:
    # pip only warns of an extra that there is not.
    named = {extra for line in listed for extra in re.findall(r"\[(\w+)\]", line)}
    assert {"checkpoint", "sparse", "testing", "viz"} <= named <= set(EXTRAS)


def test_vtgrad_is_not_taken_from_the_index() -> None:
    texts = [*PAGES, *PACKAGE.rglob("*.py"), ROOT / "CONTRIBUTING.md"]
    wrong = re.compile(r"pip install [^`\n]*(?<![./\w])vtgrad\b")
    assert [path for path in texts if wrong.search(path.read_text("utf-8"))] == []


def _packages_of_others(path: Path) -> set[str]:
    """The packages that a file imports, those of Python itself left out."""
    tops = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            tops |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            tops.add(node.module.split(".")[0])
    return tops - sys.stdlib_module_names - {"vtgrad"}


@pytest.mark.slow
def test_type_checkers_get_along_without_extras() -> None:
    # Of what a type checker reads, a compiled build has NumPy only.
    files = [p for p in PACKAGE.rglob("*.py*") if p.suffix in (".py", ".pyi")]
    read = {
        p for p in files if not {"codegen", "testing", "demo"} & {*p.relative_to(PACKAGE).parts}
    }
    used = set().union(*map(_packages_of_others, read)) - WITH_A_BUILD
    assert used == {"scipy"}
    missing = [
        entry["module"]
        for entry in PROJECT["tool"]["mypy"]["overrides"]
        if entry.get("ignore_missing_imports")
    ]
    assert [top for top in used if [top, f"{top}.*"] not in missing] == []

"""Every program in the documentation runs."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT

_BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a program prints may follow it.
_PRINTED = re.compile(r"^```python\n([^`]*)^```$\n\n^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _blocks() -> list[tuple[str, str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{number}", language, body)
        for page in _PAGES
        if "_build" not in page.parts
        for number, (language, body) in enumerate(_BLOCK.findall(page.read_text("utf-8")), 1)
    ]


def test_the_readme_shows_programs() -> None:
    assert [name for name, _, _ in _blocks() if name.startswith("README.md")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "body"), [pytest.param(*block[1:], id=block[0]) for block in _blocks()]
)
def test_a_program_in_the_documentation_runs(language: str, body: str, tmp_path: Path) -> None:
    if language == "pycon":
        test = doctest.DocTestParser().get_doctest(body, {}, "block", None, 0)
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        return
    printed_by(body, tmp_path)


def printed_by(body: str, folder: Path) -> str:
    """What a program prints that has no warnings and no errors."""
    program = folder / "program.py"
    program.write_text(body, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_programs_print_what_the_documentation_says(tmp_path: Path) -> None:
    shown = [(page, _PRINTED.findall(page.read_text("utf-8"))) for page in _PAGES]
    assert {"README.md", "who-wrote.md"} <= {page.name for page, found in shown if found}
    for page, found in shown:
        for body, printed in found:
            # The reader's file is in a folder of the reader's.
            told = printed_by(body, tmp_path).replace(f"{tmp_path}{os.sep}", "")
            assert told == printed, page

"""Every program in the documentation runs."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT

_BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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


@pytest.mark.parametrize(
    ("language", "body"), [pytest.param(*block[1:], id=block[0]) for block in _blocks()]
)
def test_a_program_in_the_documentation_runs(language: str, body: str, tmp_path: Path) -> None:
    if language == "pycon":
        test = doctest.DocTestParser().get_doctest(body, {}, "block", None, 0)
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        return
    program = tmp_path / "program.py"
    program.write_text(body, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr

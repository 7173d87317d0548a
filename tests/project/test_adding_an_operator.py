"""The pages on adding an operator work as they stand, step by step, in a copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.project.tree import ROOT

PAGE: Final = ROOT / "docs" / "adding-an-operator.md"
#: It begins with the smallest operator.
LANGUAGE: Final = ROOT / "vtgrad" / "ops" / "table" / "README.md"
#: What a file gets: `:caption: its path, in the name of a list`.
_STEP: Final = re.compile(
    r"^```\{code-block\} \w+\n:caption: (\S+?)(?:, in (\w+))?\n\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
#: The same where Markdown has no captions: a line that ends in "In `path`, in `list`:".
_PLAIN_STEP: Final = re.compile(
    r"\bIn `([^`\n]+)`(?:, in `(\w+)`)?:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_PRINTED: Final = re.compile(r"^It prints:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def follow(page: str, copy: Path) -> None:
    """Add the page's blocks to the files that they name."""
    for name, place, body in _STEP.findall(page) + _PLAIN_STEP.findall(page):
        path = copy / name
        text = path.read_text("utf-8") if path.exists() else ""
        if place:
            head = re.search(rf"^{place}\b.*\n", text, re.MULTILINE)
            assert head is not None, place
            text = text[: head.end()] + body + text[head.end() :]
        else:
            text += ("\n" if name.endswith((".yaml", ".rst")) else "") + body
        path.write_text(text, encoding="utf-8")


def run(copy: Path, *arguments: str) -> str:
    """What a program prints that succeeds, with the copy for the current folder."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        # The copy is used, whatever is installed.
        env={k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_operators_of_the_pages_work(tmp_path: Path) -> None:
    # With what is compiled: copies have the times of the files.
    for folder in ("vtgrad", "tests/ops"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    for path in (ROOT / "tests").glob("*.py"):
        shutil.copy(path, tmp_path / "tests")
    page = PAGE.read_text("utf-8")
    follow(page, tmp_path)
    follow(LANGUAGE.read_text("utf-8"), tmp_path)
    made = run(tmp_path, "-m", "vtgrad.codegen")
    written = {"special.py", "special_nodes.py", "elementary.py", "public.py"}
    assert {f"ops/generated/{name}" for name in written} <= set(made.split())
    (printed,) = _PRINTED.findall(page)
    program = (tmp_path / "try_it.py").read_text("utf-8")
    assert run(tmp_path, "-c", program) == printed
    surface = ("tests/ops/test_every_operator.py", "-q", "-p", "no:cacheprovider", "-k")
    which = "xlog1py or cube or has_a_sample or of_an_operator"
    passed = run(tmp_path, "-m", "pytest", *surface, which)
    assert "failed" not in passed
    assert int(re.findall(r"(\d+) passed", passed)[0]) > 20
    functions = [f"vtgrad/ops/generated/{family}.py" for family in ("special", "elementary")]
    options = ("-q", "-p", "no:cacheprovider", "-k", "cube or xlog1py")
    assert "2 passed" in run(tmp_path, "-m", "pytest", *functions, *options)

"""Right lines, which every type checker accepts, and wrong ones, of which it refuses each.

The right lines run. Each wrong one raises if it runs, unless its mark says otherwise.
"""

import ast
import re
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.project.public_types import run_pyright
from tests.project.tree import ROOT
from tests.typing.mypy_cache import mypy_cache, one_process

LINES: Final = Path(__file__).parent / "lines"
RIGHT: Final = [LINES / "right.py", LINES / "numpy_right.py"]
WRONG: Final = [LINES / "wrong.py", LINES / "numpy_wrong.py"]
FILES: Final = [str(path.relative_to(ROOT)) for path in (*RIGHT, *WRONG)]

_MARK: Final = re.compile(r"  # E(, runs)?$")
_SAID: Final = re.compile(r"(\w+)\.py:(\d+)(?::\d+(?:-\d+)?)?(?: -|:) (?!note|information)")


def _run(*command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", *command, *FILES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


def mypy() -> str:
    return _run("mypy", "--strict", "--no-pretty", mypy_cache())


def pyright() -> str:
    """In strict mode, which a comment in the files asks for."""
    run = run_pyright(*FILES)
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


def pyrefly() -> str:
    # As it is without a configuration; it would read that of mypy.
    own = ("--preset", "default", "--output-format", "min-text")
    return _run("pyrefly", "check", "--python-interpreter-path", sys.executable, *own)


@cache
def said(checker: Callable[[], str]) -> dict[str, set[int]]:
    """The numbers of the lines that a checker refuses, by file."""
    found: dict[str, set[int]] = {path.stem: set() for path in (*RIGHT, *WRONG)}
    for line in _SAID.finditer(checker()):
        found[line[1]].add(int(line[2]))
    return found


def marked(wrong: Path) -> dict[int, bool]:
    """The wrong lines by their numbers, and whether they run."""
    lines = wrong.read_text("utf-8").splitlines()
    return {nr: bool(m[1]) for nr, line in enumerate(lines, 1) if (m := _MARK.search(line))}


def test_there_are_many_of_each() -> None:
    definitions = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    for right, wrong, least in zip(RIGHT, WRONG, (100, 60), strict=True):
        body = ast.parse(right.read_text("utf-8")).body
        assert len([part for part in body if not isinstance(part, definitions)]) >= least
        assert len(marked(wrong)) >= least


@pytest.mark.slow
@pytest.mark.parametrize("checker", [pytest.param(mypy, marks=one_process), pyright, pyrefly])
def test_the_checkers_tell_right_lines_from_wrong_ones(checker: Callable[[], str]) -> None:
    expected = {path.stem: set[int]() for path in RIGHT}
    expected |= {path.stem: set(marked(path)) for path in WRONG}
    assert said(checker) == expected


@pytest.mark.filterwarnings("ignore::vtgrad.errors.GradientLostWarning")
@pytest.mark.parametrize("right", RIGHT, ids=lambda path: path.stem)
def test_the_right_lines_run(right: Path) -> None:
    runpy.run_path(str(right))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda path: path.stem)
def test_the_wrong_lines_raise(wrong: Path) -> None:
    lines = wrong.read_text("utf-8").splitlines()
    begin = "\n".join(lines[: min(marked(wrong)) - 1])
    names: dict[str, object] = {"__name__": "wrong"}
    exec(compile(begin, str(wrong), "exec"), names)
    for nr, runs in marked(wrong).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(lines[nr - 1], dict(names))
            except Exception:
                assert not runs, lines[nr - 1]
            else:
                assert runs, lines[nr - 1]

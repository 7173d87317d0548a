"""What a type checker says to users: programs it accepts, refuses, and what it infers.

Every file in ``pass``, ``fail`` and ``reveal`` is checked by ``mypy --strict`` in one run. A
comment on a line says what is expected there: ``# E: code`` an error with that code, ``# R: type``
a revealed type. What is not announced must not appear.
"""

import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.project.public_types import run_pyright
from tests.project.tree import ROOT
from tests.typing.mypy_cache import mypy_cache, one_process

HERE = Path(__file__).parent
PROGRAMS = sorted(
    path for kind in ("pass", "fail", "reveal") for path in (HERE / kind).glob("*.py")
)

_EXPECTATION = re.compile(r"# ([ER]): (.+)$")
_ERROR = re.compile(r"^(?P<path>.+?):(?P<line>\d+): error: (?P<text>.*?)  \[(?P<code>[\w-]+)\]$")
_REVEALED = re.compile(r'^(?P<path>.+?):(?P<line>\d+): note: Revealed type is "(?P<type>.+)"$')

# (line, "E" or "R", code or type); the message of an error is not part of what is compared.
Remark = tuple[int, str, str]


def expected(program: Path) -> list[Remark]:
    """What the comments of a program announce."""
    lines = program.read_text(encoding="utf-8").splitlines()
    return [
        (number, found[1], found[2])
        for number, line in enumerate(lines, 1)
        if (found := _EXPECTATION.search(line))
    ]


def parse(output: str) -> dict[Path, list[Remark]]:
    """What mypy said, by file, in the order of lines."""
    remarks: dict[Path, list[Remark]] = defaultdict(list)
    for line in output.splitlines():
        if found := _ERROR.match(line):
            remarks[ROOT / found["path"]].append((int(found["line"]), "E", found["code"]))
        elif found := _REVEALED.match(line):
            remarks[ROOT / found["path"]].append((int(found["line"]), "R", found["type"]))
    return {path: sorted(found) for path, found in remarks.items()}


@cache
def said() -> tuple[dict[Path, list[Remark]], str]:
    """Run mypy once over all programs."""
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-pretty", "--no-error-summary"]
        + ["--hide-error-context", "--no-color-output", mypy_cache()]
        # Files named on the command line are checked in spite of `exclude`.
        + [str(path.relative_to(ROOT)) for path in PROGRAMS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return parse(run.stdout), run.stdout


def test_there_are_programs_of_each_kind() -> None:
    assert {path.parent.name for path in PROGRAMS} == {"pass", "fail", "reveal"}


@pytest.mark.slow
@one_process
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_the_type_checker_says_what_is_expected(program: Path) -> None:
    remarks, output = said()
    announced = expected(program)
    if program.parent.name == "pass":
        assert announced == []
    else:
        assert announced, "a program that announces nothing shows nothing"
    # What mypy has to say of the package itself is for `make types`.
    assert remarks.get(program, []) == announced, output


@pytest.mark.slow
def test_pyright_accepts_what_mypy_accepts() -> None:
    accepted = [str(path) for path in PROGRAMS if path.parent.name == "pass"]
    run = run_pyright(*accepted)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_output_of_mypy_is_read() -> None:
    output = (
        "a.py:3: error: Unsupported operand types  [operator]\n"
        'a.py:3: note: Left operand is of type "Tensor"\n'
        'a.py:1: note: Revealed type is "int"\n'
    )
    assert parse(output) == {ROOT / "a.py": [(1, "R", "int"), (3, "E", "operator")]}

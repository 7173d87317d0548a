"""Files are read alike on all systems, and what Windows lacks is asked for before it is used.

What breaks it: a text that is read in the encoding of the system; a test that needs a fork, a timer
or a signal, and is not left out by name where there is none.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from tests.without_posix import MODULES, OF_OS, OF_SIGNAL

FOLDERS = (".ci", "benchmarks", "docs", "examples", "tests", "vtgrad")
SOURCES = [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
_TEXT = ("read_text", "write_text", "open")


def _without_encoding(tree: ast.AST) -> list[int]:
    """The lines that read or write a text, and do not say its encoding."""
    found = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        name = call.func.id if isinstance(call.func, ast.Name) else name
        if name not in _TEXT or (name == "open" and not isinstance(call.func, ast.Name)):
            continue
        # Methods of a path take the encoding first, or after the text.
        given = len(call.args) > {"read_text": 0, "write_text": 1, "open": 3}[name]
        mode = call.args[1] if name == "open" and len(call.args) > 1 else None
        binary = isinstance(mode, ast.Constant) and "b" in str(mode.value)
        if not (given or binary or any(k.arg == "encoding" for k in call.keywords)):
            found.append(call.lineno)
    return found


def test_every_text_is_read_and_written_in_an_encoding_that_is_named() -> None:
    found = {}
    for path in SOURCES:
        text = path.read_text("utf-8")
        if any(f"{name}(" in text for name in _TEXT) and (
            lines := _without_encoding(ast.parse(text))
        ):
            found[path.relative_to(ROOT).as_posix()] = lines
    assert found == {}


def test_git_does_not_change_the_ends_of_lines() -> None:
    assert "* text=auto eol=lf\n" in (ROOT / ".gitattributes").read_text("utf-8")


def test_the_library_imports_nothing_that_windows_lacks() -> None:
    pattern = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(MODULES)})\b", re.MULTILINE)
    assert [path for path in SOURCES if pattern.search(path.read_text("utf-8"))] == []


def _needs_posix(path: Path) -> bool:
    names = re.findall(r"\b(?:os|signal)\.(\w+)", path.read_text("utf-8"))
    return not {*OF_OS, *OF_SIGNAL, "SIGALRM", "SIGUSR1", "SIGKILL"}.isdisjoint(names)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it is taken away from Linux")
@pytest.mark.skipif(vt.__compiled__, reason="pytest beside the sources imports these")
def test_tests_that_windows_cannot_run_are_left_out_by_name() -> None:
    files = [
        str(path)
        for path in SOURCES
        if path.name.startswith("test_") and path != Path(__file__) and _needs_posix(path)
    ]
    assert len(files) > 10
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "tests.without_posix",
        ]
        + ["-m", "not slow", "--ignore=tests/oracle", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr

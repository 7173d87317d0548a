"""Every program in the documentation runs."""

import ast
import doctest
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest

import vtgrad as vt
from tests.project.ready import Done, Ready
from tests.project.tree import PACKAGE, ROOT

# What a program prints may follow it.
_BLOCK = re.compile(
    r"^```(python|pycon)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
# Of a page with this line, each program continues the ones before it.
_ONE_PROGRAM = "\n<!-- One program: each block continues the ones before it. -->\n"
# Code within a text that begins as an attribute of the library, or of a tensor called x.
_NAMED = re.compile(r"`(vt|vtgrad|x)\.([A-Za-z_][\w.]*)[^`]*`")
_PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(PACKAGE.rglob("*.md")),
]


def _programs() -> list[tuple[str, str, str, str]]:
    """The name, the language and the text of each program, and what the page says it prints."""
    return [
        (f"{page.relative_to(ROOT)}:{number}", *block)
        for page in _PAGES
        if "_build" not in page.parts
        for number, block in enumerate(_programs_of(page), 1)
    ]


def _programs_of(page: Path) -> list[tuple[str, str, str]]:
    text = page.read_text("utf-8")
    found: list[tuple[str, str, str]] = _BLOCK.findall(text)
    if _ONE_PROGRAM not in text:
        return found
    # What the whole program prints is what all of its parts print.
    _, bodies, printed = zip(*found, strict=True)
    return [("python", "".join(bodies), "".join(printed))]


def _absent(body: str) -> list[str]:
    """The packages that a program imports and that are not installed."""
    tops = set()
    for node in ast.walk(ast.parse(body)):
        if isinstance(node, ast.Import):
            tops |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            tops.add(node.module.split(".")[0])
    return sorted(top for top in tops if find_spec(top) is None)


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


def test_pages_show_programs_and_what_they_print() -> None:
    printing = {name.split(":")[0] for name, _, _, printed in _programs() if printed}
    assert {"README.md", "docs/who-wrote.md", "docs/engine-of-2017.md"} <= printing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "body", "printed"),
    [pytest.param(*program[1:], id=program[0]) for program in _programs()],
)
def test_a_program_in_the_documentation_runs_and_prints_what_the_page_says(
    language: str, body: str, printed: str, ready: Ready, tmp_path: Path
) -> None:
    if language == "pycon":
        test = doctest.DocTestParser().get_doctest(body, {}, "block", None, 0)
        assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
        return
    absent = _absent(body)
    if absent:
        pytest.skip(f"uses {', '.join(absent)}, not installed here")
    run, folder = run_by(ready, body, tmp_path)
    assert run.code == 0, run.errors
    if printed:
        # The reader's file is in a folder of the reader's.
        told = run.printed.replace(f"{folder}{os.sep}", "")
        assert told == printed


def test_each_program_is_as_one_that_was_just_started(ready: Ready, tmp_path: Path) -> None:
    body = """
import __main__, gc, multiprocessing, os, pickle, sys, threading, warnings

class Own: pass

assert os.getcwd() == os.path.dirname(__file__)
assert sys.flags.safe_path or sys.path[0] == os.getcwd()
assert sys.argv == [__file__] and vars(__main__) is globals() and "Ready" not in globals()
assert not {"json", "subprocess", "unittest"} & loaded and "pytest" not in loaded
assert type(pickle.loads(pickle.dumps(Own()))) is Own
assert sys.stdin.read() == "" and threading.active_count() == 1 and not hasattr(sys, "mark")
sys.mark = True
print("out")
print("err", file=sys.stderr)
"""
    body = "import sys\nloaded = set(sys.modules)\n" + body
    for name in ("once", "again"):
        outputs = tmp_path / name
        outputs.mkdir()
        assert run_by(ready, body, outputs)[0] == Done(0, "out\n", "err\n")


@pytest.mark.parametrize(
    ("body", "code", "error"),
    [
        ("import warnings\nwarnings.warn('odd')", 1, "UserWarning: odd"),
        ("raise SystemExit(3)", 3, ""),
        ("import atexit\natexit.register(print, undefined)", 1, "NameError"),
        ("import os\nos._exit(4)", 4, ""),
    ],
)
def test_a_program_that_fails_is_seen(
    body: str, code: int, error: str, ready: Ready, tmp_path: Path
) -> None:
    done, _ = run_by(ready, body, tmp_path)
    assert done.code == code
    assert error in done.errors


def test_a_program_is_left_out_only_for_a_package_that_is_not_installed() -> None:
    assert _absent("import os.path\nimport no_such_package.part\nfrom numpy import sin") == [
        "no_such_package"
    ]
    assert [
        name
        for name, language, body, _ in _programs()
        if language == "python"
        and _absent(body)
        and not {"scipy", "pandas", "matplotlib"} & set(_absent(body))
    ] == []


def test_names_in_the_text_are_names_of_the_library() -> None:
    named = {
        (page.name, of, name.rstrip("."))
        for page in _PAGES
        if "_build" not in page.parts
        for of, name in _NAMED.findall(_vtgrad_side(page))
    }
    assert ("from-numpy.md", "x", "clamp") in named
    assert ("from-jax.md", "vt", "autograd.grad") in named
    assert sorted(entry for entry in named if not _exists(*entry[1:])) == []


def _vtgrad_side(page: Path) -> str:
    """A page's text; of tables that compare with another library, the columns on vtgrad."""
    text = _BLOCK.sub(r"\3", page.read_text("utf-8"))
    if not page.name.startswith("from-"):
        return text
    lines = text.split("\n")
    return "\n".join(line.split(" | ", 1)[-1] if line.startswith("|") else line for line in lines)


def _exists(of: str, name: str) -> bool:
    if of == "x":
        # What an attribute of a tensor gives is known at run time only.
        return hasattr(vt.Tensor, name.split(".")[0])
    try:
        resolve_name(f"vtgrad.{name}")
    except (AttributeError, ImportError):
        return False
    return True


def run_by(ready: Ready, body: str, outputs: Path) -> tuple[Done, Path]:
    """Run a program in a folder of its own, in which warnings are errors."""
    folder = outputs / "folder"
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(body, encoding="utf-8")
    return ready.run(program, outputs), folder

"""Installs vtgrad in bare environments, in each way that the documentation names.

    install_check.py            all of it
    install_check.py --list     prints the lines, and the pages that have them

A line is `pip install ...` in the README or in a page, in a block or within the text. Each runs in
a new environment and in a copy of what git tracks, as a reader would do it. Then the programs of
the pages that have the line run there, so that a page must name what its programs need. The source
distribution and the wheel are built, installed and tried likewise. vtgrad is also installed where
no compiler works, and mypy reads programs of users in an environment that has neither SciPy nor
types for it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# With variables before it, but not by the path of an environment: those lines are for developers.
LINE = re.compile(r"(?<![\w./-])((?:\w+=\S+ )*(?:python -m )?pip install [^`\n]+)")
# As in tests/project/test_docs.py.
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ONE_PROGRAM = "\n<!-- One program: each block continues the ones before it. -->\n"
START = ROOT / "docs" / "getting-started.md"
# The loops in C are then left out, which is no error.
NO_COMPILER = "CC=/bin/false"

# Run in every environment.
TRY = """
import importlib.util, pkgutil, sys
import vtgrad as vt

assert vt.__compiled__ is ("compiled" in sys.argv), vt.__file__
assert vt.__loops__ is ("loops" in sys.argv), vt.__file__
table = vt.zeros(3)
x = vt.tensor([2.0, 5.0], requires_grad=True)
table[1:] = x * x
table.sum().backward()
assert x.grad.tolist() == [4.0, 10.0]
assert "site-packages" in vt.__file__

# What needs an extra says so when it is called, not when it is imported.
without_hypothesis = importlib.util.find_spec("hypothesis") is None
for module in pkgutil.walk_packages(vt.__path__, "vtgrad."):
    if module.name.endswith(".__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert error.name == "hypothesis", module.name
        assert module.name.startswith("vtgrad.testing.") and without_hypothesis, module.name
"""

# Read by mypy where SciPy is not: what these functions return is then of no known type.
SPARSE = """
import vtgrad as vt
from vtgrad.func import sparse_jacobian, sparsity_pattern

def entries(x: vt.Tensor) -> int:
    found: int = sparse_jacobian(lambda u: u * u, x).nnz
    return found + sparsity_pattern(lambda u: u * u, x).nnz
"""


# SciPy's types are in a package with this odd name.
NOTHING_ELSE = """
from importlib.util import find_spec
assert not [name for name in ("scipy", "scipy-stubs", "hypothesis") if find_spec(name)]
"""


class InstallError(Exception):
    """A command has failed."""


def pages() -> list[Path]:
    """The README and the pages of the documentation."""
    docs = (ROOT / "docs").rglob("*.md")
    return [ROOT / "README.md", *sorted(p for p in docs if "_build" not in p.parts)]


def lines() -> dict[str, list[Path]]:
    """Each line that installs something, and the pages that have it."""
    found: dict[str, list[Path]] = {}
    for page in pages():
        for line in dict.fromkeys(LINE.findall(page.read_text("utf-8"))):
            found.setdefault(line, []).append(page)
    return found


def programs(page: Path) -> list[str]:
    """The programs of a page."""
    text = page.read_text("utf-8")
    blocks: list[str] = PROGRAM.findall(text)
    return ["".join(blocks)] if ONE_PROGRAM in text else blocks


class Environment:
    """A new environment with pip, and a folder beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        self._run([sys.executable, "-m", "venv", str(folder / "environment")], folder)

    def shell(self, line: str, folder: Path) -> None:
        """Run a line as a reader does, with the environment switched on."""
        said = self._run(["bash", "-c", line], folder)
        # pip goes on without an extra that there is not.
        if "does not provide the extra" in said:
            raise InstallError(f"{line}\n{said}")

    def python(self, *arguments: str) -> None:
        """Run Python in the folder."""
        self._run([str(self._bin / "python"), *arguments], self.folder)

    def program(self, text: str) -> None:
        """Run a program, which must have no warnings."""
        file = self.folder / "program.py"
        file.write_text(text, "utf-8")
        self.python("-W", "error", str(file))

    def _run(self, command: list[str], folder: Path) -> str:
        gone = {"VTGRAD_COMPILE", "VTGRAD_LOOPS", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        environment = {name: value for name, value in os.environ.items() if name not in gone}
        environment["PATH"] = f"{self._bin}{os.pathsep}{environment['PATH']}"
        environment["PYTHONNOUSERSITE"] = "1"
        # What is tried is that it builds, not how fast it is.
        environment.setdefault("VTGRAD_OPT_LEVEL", "0")
        run = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if run.returncode:
            raise InstallError(f"{' '.join(command)}\n{run.stdout}")
        return run.stdout


def clone(target: Path) -> Path:
    """A copy of the files that git tracks, as they are now: a build leaves files in it."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in listing.stdout.split("\0"):
        source, copy = ROOT / name, target / name
        if name and (source.is_file() or source.is_symlink()):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    return target


def is_compiled(line: str) -> bool:
    """Whether a line compiles the hot layers."""
    return "VTGRAD_COMPILE=1" in line


def has_loops(line: str) -> bool:
    """Whether a line builds the loops in C on this machine."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    without = "VTGRAD_LOOPS=0" in line or NO_COMPILER in line
    return not without and (os.name == "nt" or shutil.which(compiler) is not None)


def try_line(line: str, named_in: list[Path], folder: Path) -> None:
    """Install by a line, then run the programs of the pages that have it."""
    environment = Environment(folder)
    words = line.replace('"', "").split()
    if any(word.startswith("./.vtgrad") for word in words):
        # In a project of the reader's, with a clone of vtgrad in it.
        project = folder / "project"
        clone(project / ".vtgrad")
        settings = '[project]\nname = "project"\nversion = "0"\n[tool.setuptools]\npackages = []\n'
        (project / "pyproject.toml").write_text(settings, "utf-8")
        environment.shell(line, project)
    elif any(word == "." or word.startswith(".[") for word in words):
        environment.shell(line, clone(folder / "clone"))
    else:
        environment.shell("pip install .", clone(folder / "clone"))
        environment.shell(line, folder)
    try_installed(environment, line, named_in)


def try_installed(environment: Environment, line: str, named_in: list[Path]) -> None:
    """Look at what is installed, and run the programs of Getting started and of some pages."""
    expected = {"compiled": is_compiled(line), "loops": has_loops(line)}
    environment.python("-W", "error", "-c", TRY, *(name for name in expected if expected[name]))
    for page in dict.fromkeys([START, *named_in]):
        for program in programs(page):
            environment.program(program)


def try_distribution(suffix: str, folder: Path) -> None:
    """Build a source distribution and a wheel from that, and install the one with this suffix."""
    builder = folder / "builder"
    builder.mkdir()
    environment = Environment(builder)
    environment.shell("pip install build", builder)
    environment.python("-m", "build", "--outdir", "dist", str(clone(builder / "clone")))
    (made,) = (builder / "dist").glob(f"*{suffix}")
    environment = Environment(folder)
    environment.shell(f"pip install {made}", folder)
    try_installed(environment, "", [ROOT / "README.md"])


def try_types(folder: Path) -> None:
    """Let mypy read programs of users where neither SciPy nor its types are."""
    environment = Environment(folder)
    environment.shell("pip install .", clone(folder / "clone"))
    environment.shell("pip install mypy", folder)
    environment.program(NOTHING_ELSE)
    of_users = folder / "programs"
    of_users.mkdir()
    for program in (ROOT / "tests" / "typing" / "pass").glob("*.py"):
        if "from scipy" not in program.read_text("utf-8"):
            shutil.copy(program, of_users)
    (of_users / "without_scipy.py").write_text(SPARSE, "utf-8")
    environment.python("-m", "mypy", "--strict", "programs")


def outcome(name: str, job: Callable[[Path], None], folder: Path) -> tuple[bool, str]:
    """Whether a job has succeeded, and what to say of it."""
    folder.mkdir()
    began = time.monotonic()
    try:
        job(folder)
    except InstallError as error:
        return False, f"FAILED: {name}\n{error}"
    return True, f"{time.monotonic() - began:6.1f} s  {name}"


def main(arguments: list[str]) -> int:
    """Try everything, two at a time; return 1 if something has failed."""
    found = lines()
    if arguments == ["--list"]:
        for line, named_in in found.items():
            print(line, *(page.relative_to(ROOT).as_posix() for page in named_in), sep="\t")
        return 0
    jobs: dict[str, Callable[[Path], None]] = {
        line: partial(try_line, line, named_in)
        # The build that takes longest begins first.
        for line, named_in in sorted(found.items(), key=lambda entry: not is_compiled(entry[0]))
    }
    without = f"{NO_COMPILER} pip install ."
    jobs[without] = partial(try_line, without, [])
    jobs["the source distribution"] = partial(try_distribution, ".tar.gz")
    jobs["the wheel"] = partial(try_distribution, ".whl")
    jobs["the types, without SciPy"] = try_types
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
        told = executor.map(
            lambda nr, name: outcome(name, jobs[name], Path(folder) / str(nr)),
            range(len(jobs)),
            jobs,
        )
        failed = False
        for success, text in told:
            print(text, flush=True)
            failed |= not success
        return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Finds the Pythons that `make versions` runs the tests on.

    pythons.py            prints the minor versions, one per line
    pythons.py 3.12       prints the newest interpreter of this version
    pythons.py oldest     prints the interpreter of the oldest version
    pythons.py numpy      prints the requirement that asks for the oldest NumPy

An interpreter counts from the oldest version that `pyproject.toml` allows on, if it is on PATH or
under pyenv. Prereleases are left out, and free-threaded builds, which `make free-threaded` takes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

Version = tuple[int, int, int]

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

# Run by each interpreter that was found. An executable in an environment stands for the one
# that the environment was made with.
ASK = """
import sys, sysconfig
if sys.version_info[3] == "final" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(*sys.version_info[:3], getattr(sys, "_base_executable", sys.executable))
"""


def candidates() -> Iterator[Path]:
    """The interpreter that runs, and all files that are named like one."""
    yield Path(sys.executable)
    name = re.compile(r"python3(\.\d+)?")
    for folder in os.get_exec_path():
        try:
            files = sorted(Path(folder).iterdir())
        except OSError:
            continue
        yield from (file for file in files if name.fullmatch(file.name))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python3"))


def ask(python: Path) -> tuple[Version, str] | None:
    """Version and path of an interpreter; None if it does not run or is not to be used."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", ASK], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # A shim of pyenv fails where its version is not switched on.
    parts = answer.stdout.rstrip("\n").split(" ", 3)
    if answer.returncode or len(parts) < 4:
        return None
    return (int(parts[0]), int(parts[1]), int(parts[2])), parts[3]


def pythons(oldest: tuple[int, int]) -> dict[tuple[int, int], str]:
    """The newest interpreter of each minor version."""
    found = {answer for python in candidates() if (answer := ask(python)) is not None}
    return {version[:2]: path for version, path in sorted(found) if version[:2] >= oldest}


def lower_bound(requirement: str) -> str:
    """The version in a requirement such as `numpy>=2.1`."""
    match = re.search(r">=\s*([\d.]+)", requirement)
    if match is None:
        sys.exit(f"{PROJECT.name} has no lower bound in {requirement!r}")
    return match[1]


def main(question: str) -> None:
    """Print the answer to a question, see above."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    if question == "numpy":
        (numpy,) = [r for r in project["dependencies"] if r.startswith("numpy")]
        bound = lower_bound(numpy)
        print(f"numpy=={bound}.0" if bound.count(".") == 1 else f"numpy=={bound}")
        return
    major, minor = lower_bound(project["requires-python"]).split(".")[:2]
    found = {f"{a}.{b}": path for (a, b), path in pythons((int(major), int(minor))).items()}
    if not question:
        print(*found, sep="\n")
    elif question == "oldest":
        print(next(iter(found.values())))
    elif question in found:
        print(found[question])
    else:
        sys.exit(f"there is no Python {question}, only {', '.join(found)}")


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "")

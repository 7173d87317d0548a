"""`make versions` finds the Pythons that are here, and the oldest NumPy."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.project.tree import ROOT

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"

pytestmark = [
    pytest.mark.skipif(
        sys.version_info[3] != "final" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        reason="prereleases and free-threaded builds are left out",
    ),
    pytest.mark.skipif(os.name != "posix", reason="a shell script stands for a Python"),
]


def _ask(folder: Path, *question: str) -> list[str]:
    """What is found if this interpreter and those in a folder are all that there is."""
    run = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "pythons.py"), *question],
        env={"PATH": str(folder), "PYENV_ROOT": str(folder / "pyenv")},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


def _script(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def test_one_python_is_enough(tmp_path: Path) -> None:
    assert _ask(tmp_path) == [HERE]
    (path,) = _ask(tmp_path, HERE)
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[1].startswith(HERE)
    assert _ask(tmp_path, "oldest") == [path]


def test_the_newest_python_of_each_version_is_taken(tmp_path: Path) -> None:
    _script(tmp_path / "python3.98", "echo 3 98 2 /b/python3.98")
    _script(tmp_path / "pyenv" / "versions" / "3.98.10" / "bin" / "python3", "echo 3 98 10 /c")
    _script(tmp_path / "python3", "echo 3 10 1 /too/old")
    _script(tmp_path / "python3.97", "exit 1  # as a shim of pyenv does")
    _script(tmp_path / "python3.99", "# A prerelease gives no answer.")
    _script(tmp_path / "python3.98-config", "echo 3 98 99 /no/python")
    assert _ask(tmp_path) == [HERE, "3.98"]
    assert _ask(tmp_path, "3.98") == ["/c"]


def test_the_oldest_numpy_is_the_one_that_the_project_names(tmp_path: Path) -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    (requirement,) = _ask(tmp_path, "numpy")
    name, version = requirement.split("==")
    assert version.count(".") == 2
    assert f'dependencies = ["{name}>={version.removesuffix(".0")}"]' in text

"""The module in C is built where it can be, and left out elsewhere without an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.project.tree import copy_sources

COMPILER = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("wheels"),
    pytest.mark.skipif(os.name != "posix", reason="setuptools looks for the compiler itself"),
]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build needs."""
    folder = tmp_path_factory.mktemp("sources")
    copy_sources(folder)
    return folder


def build(sources: Path, out: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel, as pip does it."""
    gone = {"VTGRAD_COMPILE", "VTGRAD_LOOPS"}
    shutil.rmtree(sources / "build", ignore_errors=True)
    return subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)],
        cwd=sources,
        env={k: v for k, v in os.environ.items() if k not in gone} | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def only_wheel(out: Path) -> Path:
    (wheel,) = out.glob("*.whl")
    return wheel


def native_files(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if name.endswith((".so", ".c", ".h", ".pyd"))]


@pytest.mark.skipif(shutil.which(COMPILER) is None, reason="there is no compiler here")
def test_a_compiler_makes_a_wheel_for_this_platform(sources: Path, tmp_path: Path) -> None:
    told = build(sources, tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    assert native_files(only_wheel(tmp_path)) == [f"vtgrad/_loops{suffix}"]
    assert not only_wheel(tmp_path).name.endswith("-any.whl")
    with zipfile.ZipFile(only_wheel(tmp_path)) as archive:
        archive.extractall(tmp_path / "installed")
    program = "import vtgrad as vt; print(vt.__loops__, (vt.ones(3) + vt.ones(3)).tolist())"
    for setting, expected in (("1", True), ("0", False)):
        run = subprocess.run(
            [sys.executable, "-P", "-c", program],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "VTGRAD_LOOPS": setting},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == f"{expected} [2.0, 2.0, 2.0]\n"


@pytest.mark.parametrize(
    "settings",
    [{"VTGRAD_LOOPS": "0"}, {"CC": "/bin/false"}, {"CC": "no-such-compiler"}],
    ids=lambda settings: "-".join(settings.values()),
)
def test_the_wheel_is_pure_without_it(
    sources: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    told = build(sources, tmp_path, **settings)
    assert told.returncode == 0, told.stdout + told.stderr
    assert only_wheel(tmp_path).name.endswith("-py3-none-any.whl")
    assert native_files(only_wheel(tmp_path)) == []
    assert ("vtgrad._loops is left out" in told.stdout + told.stderr) is ("CC" in settings)


def test_a_build_that_must_have_it_fails_without_a_compiler(sources: Path, tmp_path: Path) -> None:
    told = build(sources, tmp_path, VTGRAD_LOOPS="1", CC="no-such-compiler")
    assert told.returncode != 0
    assert "no-such-compiler" in told.stdout + told.stderr
    assert list(tmp_path.glob("*.whl")) == []

"""The root is as its owner fixed it, and what is installed is `vtgrad` and nothing else."""

import inspect
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version as installed_version
from pathlib import Path

import pytest

import vtgrad
from tests.project.tree import ROOT, copy_sources, package_files, tracked_names

FIXED = {"pyproject.toml", "vtgrad", "storage", "views", "tests", "typings"}
BESIDE = {
    ".ci",
    ".editorconfig",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "benchmarks",
    "conftest.py",
    "docs",
    "examples",
    "setup.py",
}


@pytest.mark.parametrize("name", ["storage", "views"])
def test_the_links_at_the_root_lead_into_the_package(name: str) -> None:
    link = ROOT / name
    # Where there are no links, as on Windows, git writes their text into files.
    target = str(link.readlink()) if link.is_symlink() else link.read_text("utf-8")
    # Relative, so that the checkout can be moved.
    assert target == f"vtgrad/{name}"
    assert link.is_dir() or not link.is_symlink()


def test_the_root_holds_what_it_should() -> None:
    missing = sorted(name for name in FIXED if not (ROOT / name).exists())
    assert missing == []


tracked = pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="only git knows what is tracked",
)


@pytest.mark.slow
@tracked
def test_a_clone_without_links_is_tested_too(tmp_path: Path) -> None:
    clone = [
        "git",
        "-c",
        "core.symlinks=false",
        "clone",
        "--quiet",
        str(ROOT),
        str(tmp_path / "at"),
    ]
    subprocess.run(clone, check=True)
    assert (tmp_path / "at" / "views").is_file()
    # As they are now.
    for name in ("test_layout.py", "tree.py"):
        shutil.copy(ROOT / "tests" / "project" / name, tmp_path / "at" / "tests" / "project")
    env = os.environ | {"PYTHONPATH": str(tmp_path / "at")}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            "links_at or tracked",
        ]
        + ["tests/project/test_layout.py"],
        cwd=tmp_path / "at",
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed" in run.stdout, run.stdout + run.stderr
    target = tmp_path / "sources"
    target.mkdir()
    copying = (
        "import pathlib, sys\n"
        "from tests.project.tree import copy_sources\n"
        "copy_sources(pathlib.Path(sys.argv[1]))\n"
    )
    subprocess.run(
        [sys.executable, "-c", copying, str(target)], cwd=tmp_path / "at", env=env, check=True
    )
    assert (target / "views").read_text("utf-8") == "vtgrad/views"


@tracked
def test_nothing_stray_is_tracked_at_the_root() -> None:
    stray = tracked_names() - FIXED - BESIDE
    assert stray == set()


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "vtgrad" / "py.typed").read_bytes() == b""


def test_the_package_shows_public_names_only() -> None:
    assert dir(vtgrad) == sorted(set(vtgrad.__all__))
    missing = [name for name in vtgrad.__all__ if not hasattr(vtgrad, name)]
    modules = [n for n in dir(vtgrad) if inspect.ismodule(getattr(vtgrad, n))]
    shown = ["autograd", "distributed", "errors", "fft", "func", "interpolate", "jit", "linalg"]
    shown += ["nn", "optim", "overrides", "profiler", "random", "return_types", "signal", "special"]
    shown += ["testing", "types", "utils", "viz"]
    assert (missing, modules) == ([], shown)


def test_the_version_is_the_installed_one() -> None:
    assert vtgrad.__version__ == installed_version("vtgrad")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, and the wheel built from that, as an upload would be made."""
    source = tmp_path_factory.mktemp("source")
    out = tmp_path_factory.mktemp("dist")
    copy_sources(source)
    build = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)],
        env=os.environ | {"VTGRAD_LOOPS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    return out


def _writes_code(name: str) -> bool:
    """Whether a file of the package only serves the generator of code, or a compiler."""
    return name.startswith("vtgrad/codegen/") or name.endswith((".c", ".h", ".md", ".rst", ".yaml"))


def _wheel_names(built: Path) -> list[str]:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_wheel_holds_exactly_the_files_of_the_tree(built: Path) -> None:
    # Caught here: a data file of a kind that package-data does not name, a folder without
    # `__init__.py`, a package that the links hide from the build.
    packed = {name for name in _wheel_names(built) if ".dist-info/" not in name}
    tree = {path.relative_to(ROOT).as_posix() for path in package_files()}
    assert packed == {name for name in tree if not _writes_code(name)}


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_only_name_that_the_wheel_installs_is_vtgrad(built: Path) -> None:
    tops = {name.split("/", 1)[0] for name in _wheel_names(built)}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"vtgrad"}
    (wheel,) = built.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        (listed,) = [n for n in archive.namelist() if n.endswith("top_level.txt")]
        assert archive.read(listed).decode().split() == ["vtgrad"]


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_the_source_distribution_holds_the_package_once(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert not {n for n in names if n.split("/", 1)[0] in {"storage", "views"}}
    assert {path.relative_to(ROOT).as_posix() for path in package_files()} <= names


@pytest.mark.slow
@pytest.mark.xdist_group("wheel")
def test_modules_of_the_user_cannot_shadow_the_package(built: Path, tmp_path: Path) -> None:
    # A user's own `views.py` beside a program must not be imported in place of ours.
    (wheel,) = built.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    program = tmp_path / "program"
    program.mkdir()
    for name in ("storage", "views"):
        (program / f"{name}.py").write_text(
            "raise SystemExit('the wrong module')\n", encoding="utf-8"
        )
    (program / "main.py").write_text("import vtgrad\nprint(vtgrad.__file__)\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "main.py"],
        cwd=program,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip() == str(installed / "vtgrad" / "__init__.py")

"""Where the project's files are, and how they are listed."""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vtgrad"

_MADE_BY_TOOLS = ("__pycache__", "*.pyc", "*.pyo", "*.so")


def package_files() -> list[Path]:
    """Every file of the package, except what interpreters and compilers leave behind."""
    return sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.is_file() and not any(path.match(p) for p in ("*.pyc", "*.pyo", "*.so"))
    )


def python_files() -> list[Path]:
    """Every Python file of the package."""
    return [path for path in package_files() if path.suffix == ".py"]


def parsed(path: Path) -> ast.Module:
    """A Python file's syntax tree.

    It is not kept. The trees of all files are a million objects, which every later collection of
    garbage in the process would visit.
    """
    return ast.parse(path.read_text(encoding="utf-8"))


def parsed_files_with(*words: str) -> Iterator[tuple[Path, ast.Module]]:
    """The Python files of the package that have one of the words, with their syntax trees."""
    for path in python_files():
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path, parsed(path)


def dotted_name(path: Path) -> str:
    """The name by which a file of the package is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tracked_names() -> set[str]:
    """The names at the root that git knows of, staged ones included."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {line.split("/", 1)[0] for line in listing.stdout.splitlines()}


def copy_sources(target: Path) -> None:
    """Copy what a build reads, so that it neither sees nor leaves anything in the checkout."""
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    shutil.copytree(
        PACKAGE, target / "vtgrad", symlinks=True, ignore=shutil.ignore_patterns(*_MADE_BY_TOOLS)
    )
    for name in ("storage", "views"):
        # A link, or the file with its text that git makes where there are no links.
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)

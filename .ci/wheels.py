"""Builds what is published, and installs each wheel in a bare environment.

    wheels.py FOLDER      leaves the source distribution and the wheels there

The wheels are a pure one, which runs everywhere, and one with the native modules and the loops in C
for this interpreter and platform. `.github/workflows/wheels.yml` builds the second kind for the
others, with the settings of cibuildwheel in `pyproject.toml`. Here the compiler does not optimise,
unless ``VTGRAD_OPT_LEVEL`` says so: what is tried is that it builds and runs.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from install_check import ROOT, TRY, Environment, clone, outcome, programs

NATIVE = "VTGRAD_COMPILE=1 VTGRAD_LOOPS=1"
PURE = "VTGRAD_LOOPS=0"


def needed() -> str:
    """What a native build needs, as arguments of pip: it runs without isolation."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: str = settings["tool"]["cibuildwheel"]["before-build"]
    return found.removeprefix("pip install ")


def build_pure(target: Path, folder: Path) -> None:
    """The source distribution, and from that the pure wheel, which is then installed."""
    builder = Environment(made(folder / "builder"))
    builder.shell("pip install build twine", folder)
    builder.shell(f"{PURE} python -m build --outdir '{target}' '{clone(folder / 'clone')}'", folder)
    builder.shell(
        f"python -m twine check --strict '{target}'/*.tar.gz '{target}'/*-any.whl", folder
    )
    (wheel,) = target.glob("*-any.whl")
    try_wheel(wheel, [], folder)


def build_native(target: Path, folder: Path) -> None:
    """The wheel with native modules, which is then installed."""
    builder = Environment(made(folder / "builder"))
    builder.shell(f"pip install {needed()}", folder)
    source = clone(folder / "clone")
    options = f"--no-build-isolation --no-deps --wheel-dir '{target}'"
    builder.shell(f"{NATIVE} pip wheel {options} '{source}'", folder)
    wheel = next(path for path in target.glob("*.whl") if not path.name.endswith("-any.whl"))
    try_wheel(wheel, ["compiled", "loops"], folder)


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir()
    return folder


def try_wheel(wheel: Path, expected: list[str], folder: Path) -> None:
    """Install a wheel where nothing else is, and run the README's programs."""
    bare = Environment(made(folder / "bare"))
    bare.shell(f"pip install '{wheel}'", folder)
    bare.python("-W", "error", "-c", TRY, *expected)
    for program in programs(ROOT / "README.md"):
        bare.program(program)


def main(arguments: list[str]) -> int:
    """Build and try all of it; return 1 if something has failed."""
    target = Path(arguments[0]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob("*.whl"), *target.glob("*.tar.gz")):
        old.unlink()
    jobs: dict[str, Callable[[Path], None]] = {
        "the native wheel": partial(build_native, target),
        "the source distribution and the pure wheel": partial(build_pure, target),
    }
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
        told = [
            executor.submit(outcome, name, job, Path(folder) / str(nr))
            for nr, (name, job) in enumerate(jobs.items())
        ]
        answers = [future.result() for future in told]
    for _, text in answers:
        print(text)
    for file in sorted(target.iterdir()):
        print(f"{file.stat().st_size / 1000:8.0f} kB  {file.name}")
    return int(not all(success for success, _ in answers))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What is compiled: the C module `vtgrad._loops`, and with ``VTGRAD_COMPILE=1`` the hot layers.

``pip install .`` builds the C module if there is a compiler; if not, all is pure Python.
``VTGRAD_LOOPS=0`` leaves it out, and with ``VTGRAD_LOOPS=1`` a build without it fails. The reasons
are in docs/decisions/0006-compiled-build.md and docs/decisions/0023-loops-called-directly.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

MYPY = "mypy>=2.1,<3"
TARGET = "build"

# The first line of each file to compile. Files without it have code that mypyc cannot compile, see
# Note [One source, two builds], or no gain. Operators that read sizes and dimensions as users pass
# them are not compiled: native integers refuse NumPy's. Nor are functions that are `explained`, by
# their annotations, which native functions do not have.
MARK = "# Compiled by mypyc.\n"


def compiled_files(root: Path) -> list[str]:
    """The files to compile, relative to the folder of this one."""
    found: list[str] = []
    for path in sorted((root / "vtgrad").rglob("*.py")):
        with path.open(encoding="utf-8") as lines:
            if lines.readline() == MARK:
                found.append(str(path.relative_to(root)))
    return found


# Commands that need no modules; to translate them takes a minute.
WITHOUT_MODULES = {"dist_info", "egg_info", "sdist"}


def loops() -> list[Extension]:
    """The C module, or nothing if it is not wanted or cannot be built here."""
    wanted = os.environ.get("VTGRAD_LOOPS")
    if wanted == "0":
        return []
    try:
        numpy = import_module("numpy")
    except ImportError:
        if wanted == "1":
            raise
        return []
    module = Extension(
        "vtgrad._loops",
        ["vtgrad/_loops.c", "vtgrad/_along.c", "vtgrad/_steps.c"],
        depends=["vtgrad/_along.h", "vtgrad/_steps.h"],
        include_dirs=[numpy.get_include()],
        # A product and a sum that are one operation round once, where NumPy rounds twice.
        extra_compile_args=[] if sys.platform == "win32" else ["-ffp-contract=off"],
    )
    return [module] if wanted == "1" or builds(module) else []


def builds(module: Extension) -> bool:
    """Whether the compiler that is here, if there is one, builds a module."""
    with TemporaryDirectory() as folder:
        trial = build_ext(Distribution({"ext_modules": [module]}))
        trial.build_lib = trial.build_temp = folder
        trial.ensure_finalized()
        try:
            trial.run()
        except (BaseError, CCompilerError, OSError) as error:
            print(f"vtgrad._loops is left out, because it cannot be built: {error}")  # noqa: T201
            return False
    return True


class WithLoops(Distribution):
    """Has the C module if that can be built; if not, the wheel is one for every platform."""

    def has_ext_modules(self) -> bool:
        """Whether there is a module to build: asked before anything is built."""
        if self.ext_modules is None:
            self.ext_modules = [] if WITHOUT_MODULES.issuperset(self.commands) else loops()
        return bool(self.ext_modules)


class BuildNative(build_ext):
    """Translates to C when there is something to build, which is after mypy was installed."""

    def finalize_options(self) -> None:
        """Take the modules that mypyc makes, and build as many at once as there are processors."""
        nothing = WITHOUT_MODULES.issuperset(self.distribution.commands)
        self.distribution.ext_modules = [] if nothing else native_modules() + loops()
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()


def native_modules() -> list[Extension]:
    """What setuptools is to build.

    Raises
    ------
    SystemExit
        If mypy or the C compiler is missing.
    """
    try:
        mypycify = import_module("mypyc.build").mypycify
    except ImportError as error:
        sys.exit(
            f"VTGRAD_COMPILE=1 needs mypy to translate vtgrad to C ({error}): install '{MYPY}', or "
            "leave the variable out for the pure-Python build"
        )
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or ""
    if sys.platform != "win32" and shutil.which(compiler.split()[0] if compiler else "cc") is None:
        sys.exit(
            f"VTGRAD_COMPILE=1 needs a C compiler, and there is no {compiler or 'cc'!r} here: "
            "install one, or leave the variable out for the pure-Python build"
        )
    modules = mypycify(
        # Errors of other files do not stop the build: those that need an extra, as the types of
        # `vtgrad.testing` need Hypothesis, have some where it is not installed.
        ["--config-file=pyproject.toml", "--follow-imports=silent", *compiled_files(Path())],
        # In one file the C code would be several times as long, and only one processor would
        # compile it.
        multi_file=True,
        opt_level=os.environ.get("VTGRAD_OPT_LEVEL", "2"),
        debug_level="0",
        # The shared library is inside the package, because no other name may be installed.
        group_name="vtgrad._native",
        target_dir=TARGET,
    )
    for module in modules:
        # mypyc writes the header of a library with a dotted name here, but includes it from
        # elsewhere.
        module.include_dirs.append(f"{TARGET}/vtgrad")
    return modules


class NativeDistribution(Distribution):
    """Has native modules, although they are not known before mypy was installed."""

    def has_ext_modules(self) -> bool:
        """Yes: so that the wheel is one for this platform."""
        return True


# The build backend runs this file as the main program; a test only reads the list of compiled
# files.
if __name__ == "__main__":
    if os.environ.get("VTGRAD_COMPILE") == "1":
        setup(
            distclass=NativeDistribution,
            cmdclass={"build_ext": BuildNative},
            # NumPy, because mypyc reads its types.
            setup_requires=[MYPY, "numpy>=2.1"],
        )
    else:
        setup(distclass=WithLoops)

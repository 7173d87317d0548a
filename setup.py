"""The compiled build: ``VTGRAD_COMPILE=1 pip install .`` makes native modules of the hot layers.

Without the variable this file does nothing, and the build is pure Python. The reasons are in
docs/decisions/0006-compiled-build.md.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.build_ext import build_ext

MYPY = "mypy>=2.1,<3"
TARGET = "build"

# The compiled folders and files, and the exceptions: files with code that mypyc cannot compile, see
# Note [One source, two builds], and files without a gain. Operators that read sizes and dimensions
# as users pass them are not compiled: native integers refuse NumPy's. Nor are functions that are
# `explained`, by their annotations, which native functions do not have.
COMPILED = """
    storage graph views engine lanes tensor/operator_methods.py
    ops/generated ops/formulas
    ops/install.py ops/view_impls/views.py
    ops/calling/arguments.py ops/calling/quick.py ops/saving/operands.py ops/saving/read_first.py
    ops/composites/indexing/getitem.py
    ops/kernels/arithmetic/basic.py ops/kernels/complex_numbers/conjugates.py
    ops/kernels/copying/broadcasting.py ops/kernels/copying/casts.py ops/kernels/copying/fill.py
    ops/kernels/creation.py
    ops/kernels/elementary/transcendental.py ops/kernels/indexing/parse_index.py
    ops/kernels/linalg/products.py ops/kernels/reductions/exponential_sums.py
    ops/kernels/reductions/norms.py ops/kernels/reductions/reduce.py
    ops/kernels/reductions/statistics.py ops/kernels/support/axes.py
    ops/kernels/support/elementwise.py ops/kernels/support/result_strides.py
    ops/kernels/views/view_arrays.py
""".split()
INTERPRETED = """
    storage/arrays.py storage/device.py storage/dtypes.py storage/gc_freeze.py
    storage/geometry.py storage/growth.py storage/lazy_array.py storage/memory_format.py
    storage/memory_layout.py storage/names.py storage/native.py storage/no_fp_warnings.py
    storage/promotion.py
    storage/recent_writes.py storage/rewind.py storage/scope.py storage/shapes.py
    storage/storage_base.py storage/tensor_name.py storage/thread_mode.py storage/thread_state.py
    storage/argument_types.py storage/warn.py
    views/set_memory.py views/written_view_node.py
    graph/audit.py graph/forward_grad.py graph/grad_mode.py graph/gradient_edge.py graph/hooks.py
    graph/mode_decorator.py graph/next_edges.py graph/node_fields.py graph/overwrite_rule.py
    graph/packed.py graph/packing.py graph/sample_array.py graph/shared_memory.py
    graph/thread_levels.py graph/thread_local_state.py graph/tracer.py graph/unpacked_once.py
    graph/written_elements.py
    engine/current_graph_task.py engine/helper_thread.py engine/signals.py
    lanes/device_threads.py lanes/lane_handler.py lanes/owner_state.py
    ops/generated/forward_formulas.py ops/generated/functional.py ops/generated/methods.py
    ops/generated/operators.py ops/generated/patterns.py ops/generated/public.py
    ops/generated/random.py ops/generated/random_nodes.py ops/generated/result_classes.py
""".split()


def compiled_files(root: Path) -> list[str]:
    """The files to compile, relative to the folder of this one."""
    package = root / "vtgrad"
    left_out = {package / name for name in INTERPRETED}
    files: list[Path] = []
    for name in COMPILED:
        path = package / name
        files += [path] if path.suffix else sorted(path.glob("*.py"))
    return [
        str(f.relative_to(root)) for f in files if f not in left_out and f.name != "__init__.py"
    ]


# Commands that need no modules; to translate them takes a minute.
WITHOUT_MODULES = {"dist_info", "egg_info", "sdist"}


class BuildNative(build_ext):
    """Translates to C when there is something to build, which is after mypy was installed."""

    def finalize_options(self) -> None:
        """Take the modules that mypyc makes, and build as many at once as there are processors."""
        nothing = WITHOUT_MODULES.issuperset(self.distribution.commands)
        self.distribution.ext_modules = [] if nothing else native_modules()
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
        setup()

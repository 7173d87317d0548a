"""What library code asks of arrays: Note [Where arrays are made] and Note [Plain arrays]."""

import ast
import re
from collections.abc import Iterator

import numpy as np

from tests.project.tree import PACKAGE, parsed_files_with
from vtgrad.storage import making

# NumPy's functions of numbers, shapes or memory, whose result no class of an array sees.
MAKERS = set(making.NUMPYS) | {
    "asarray_chkfinite",
    "asfortranarray",
    "atleast_2d",
    "atleast_3d",
    "copy",
    "fromfunction",
    "indices",
    "mask_indices",
    "meshgrid",
    "require",
}

# No array in these files has a value of the program.
MARKS_AND_FILES = {
    "generator.py",
    "graph/audit.py",
    "pickles.py",
    "storage/making.py",
    "storage/overlap.py",
    "storage/write_log.py",
    "tensor/file_writer.py",
    "tensor/html.py",
    "utils/checkpoint/digest.py",
}
BESIDE = {"codegen", "demo", "jit", "profiler", "testing", "viz"}


def _calls_of_numpys(tree: ast.Module) -> Iterator[str]:
    """Uses of NumPy's own functions that make arrays, with their lines."""
    # Decorators compare the function, and other uses of the class are tests of types.
    named = {
        keyword.value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
    }
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            yield from (f"{node.lineno}: {x.name}" for x in node.names if x.name in MAKERS)
        elif isinstance(node, ast.Attribute) and node.attr in MAKERS and node not in named:
            name = ast.unparse(node)
            if re.fullmatch(r"np(\.\w+)+", name) and (name != "np.ndarray" or node in called):
                yield f"{node.lineno}: {name}"


def _bound(tree: ast.Module) -> Iterator[str]:
    """Functions of `making` that are bound when a module or a class is made."""
    for block in ast.walk(tree):
        if isinstance(block, (ast.Module, ast.ClassDef)):
            for node in block.body:
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                    called = {x.func for x in ast.walk(node.value) if isinstance(x, ast.Call)}
                    for x in ast.walk(node.value):
                        if isinstance(x, ast.Attribute) and x not in called:
                            if ast.unparse(x).startswith("making."):
                                yield f"{x.lineno}: {ast.unparse(x)}"
        if isinstance(block, ast.ImportFrom) and block.module == "vtgrad.storage.making":
            yield from (f"{block.lineno}: {x.name}" for x in block.names if x.name in MAKERS)


def test_all_files_make_arrays_through_one_module() -> None:
    found, exempt = [], set()
    for path, tree in parsed_files_with("import making", "numpy as np", "from numpy"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] in BESIDE:
            continue
        found += [f"{name}:{line}" for line in _bound(tree)]
        lines = list(_calls_of_numpys(tree))
        if name in MARKS_AND_FILES:
            exempt.update([name] if lines else [])
        else:
            found += [f"{name}:{line}" for line in lines]
    assert found == []
    # One that makes no array any more must go from the list.
    assert exempt == MARKS_AND_FILES


# Memory is given to a loop in C, or written to a file, see Note [Plain arrays]; or Python reads the
# numbers, of which a recording would then know nothing.
EXACTLY_NUMPYS = {
    "ops/kernels/indexing/advanced_index.py",
    "ops/kernels/indexing/gather_scatter.py",
    "ops/kernels/indexing/index_support.py",
    "ops/kernels/special/series.py",
    "storage/loops_in_python.py",
    "tensor/file_writer.py",
}


def test_quick_ways_are_open_to_all_plain_arrays() -> None:
    found = set()
    for path, tree in parsed_files_with(" np.ndarray"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] not in BESIDE:
            compared = [
                ast.unparse(node)
                for node in ast.walk(tree)
                if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))
            ]
            if any(x.startswith("type(") and x.endswith(" np.ndarray") for x in compared):
                found.add(name)
    assert found == EXACTLY_NUMPYS


def test_kernels_make_no_scalars_of_numpy() -> None:
    """A recording does not know where the value of a scalar is from, as it does of an array."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in parsed_files_with("dtype.type(")
        if path.is_relative_to(PACKAGE / "ops")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "type"
        and ast.unparse(node.func.value).endswith("dtype")
    ]
    assert found == []


def test_the_test_sees_calls_imports_and_bindings() -> None:
    tree = ast.parse(
        "from numpy import zeros\n"
        "from vtgrad.storage.making import empty\n"
        "made = np.ndarray(3)\n"
        "fill = making.full\n"
        "isinstance(made, np.ndarray)\n"
        "windows = np.lib.stride_tricks.as_strided(made, 2)\n"
        "@function(of=np.ones)\n"
        "def ones(): return map(np.asarray, [])\n"
    )
    assert sorted(_calls_of_numpys(tree)) == [
        "1: zeros",
        "3: np.ndarray",
        "6: np.lib.stride_tricks.as_strided",
        "8: np.asarray",
    ]
    assert sorted(_bound(tree)) == ["2: empty", "4: making.full"]


def test_the_functions_are_numpys_own() -> None:
    own = {name for name, made in making.NUMPYS.items() if not made.__module__.startswith("numpy")}
    assert own == {"call", "of_numbers", "plain_view"}
    assert making.empty is np.empty
    assert making.ndarray is np.ndarray
    assert making.as_strided is np.lib.stride_tricks.as_strided

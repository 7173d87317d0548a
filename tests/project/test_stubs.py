"""The stubs show what is there when the library runs."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.codegen.stubs.emit_stubs import STUBS

# What `mypy.stubtest` says of differences that are meant.
MEANT: Final = [
    # The first argument of a function that is a method has the name that the function gives it.
    r'stub parameter "self" differs from runtime parameter',
    # Defaults that say which overload is meant.
    r"runtime parameter \"\w+\" has a default value of type (None|Literal\[vtgrad\.ops)",
    # By position the first argument is `low` or `high`, which the function finds out.
    r"vtgrad\.randint is inconsistent, stub parameter \"\w+\" is not keyword-only",
    # Classes whose instances are those of `Tensor`, which no type can say.
    r"vtgrad\.(\w+Tensor|autograd\.Variable)(\.__init__)? is inconsistent, (meta|runtime does)",
    # Objects of classes that are written into a stub.
    r"(vtgrad\.default_generator|Variable\._execution_engine) variable differs",
    # Methods of custom Functions: any static method is one.
    r"Function\.(forward|backward|vjp|jvp|vmap|setup_context)(_extended)? is inconsistent",
    r"Function\.apply variable differs",
    # Of the class of nodes, users need what they may call.
    r"BackwardCFunction\.\w+ is not present in stub",
    r"(Result|Iterate)\.__class_getitem__ is inconsistent",
    # Only classes that define it have it, so that functions of PyTorch do not find it.
    r"vtgrad\.Tensor\.__torch_function__ is not a function",
]

# Stubs state the types of all that they show. Checking the bodies of functions, which is more than
# half of the work, is for `make types`, as are modules without a stub. Of these only the classes of
# a few defaults are read, with which stubtest compares types.
STUBTEST: Final = """
import sys
from mypy import stubtest

build = stubtest.build_stubs
read_too = ["generator", "autograd.variable", "ops.calling.reduction_arguments"]

def build_without_bodies(modules, options, find_submodules):
    options.semantic_analysis_only = True
    build([*modules, *(f"vtgrad.{name}" for name in read_too)], options)
    return modules

stubtest.build_stubs = build_without_bodies
sys.exit(stubtest.main())
"""


@pytest.mark.skipif(
    vt.__compiled__, reason="native functions do not name the parameters that stubs name"
)
@pytest.mark.slow
@pytest.mark.xdist_group("mypy")
def test_stubs_agree_with_the_library() -> None:
    run = subprocess.run(
        [sys.executable, "-c", STUBTEST, "--mypy-config-file", "pyproject.toml"]
        + ["--concise", "--ignore-disjoint-bases", *STUBS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "vtgrad.Tensor.abs" in run.stdout, run.stdout + run.stderr
    found = run.stdout.splitlines()
    assert [line for line in found if not any(re.search(m, line) for m in MEANT)] == []
    assert [m for m in MEANT if not any(re.search(m, line) for line in found)] == []


def shown_by(stub: Path) -> set[str]:
    """The names that a stub defines or hands on."""
    names: set[str] = set()
    for statement in ast.parse(stub.read_text("utf-8")).body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.ImportFrom):
            names |= {name.asname for name in statement.names if name.asname}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return {name for name in names if not re.match("_[^_]", name)} - {"__dir__"}


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_has_the_public_names_of_its_module(name: str) -> None:
    module, spec = import_module(name), find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    stub = Path(spec.origin).with_suffix(".pyi")
    public = getattr(module, "__all__", None)
    if public is None:
        public = [n for n in vars(module) if n[0] != "_" and n != "annotations"]
    assert shown_by(stub) == set(public)
    assert [n for n in public if not hasattr(module, n)] == []


# Results of which a checker knows nothing.
OPEN: Final = {
    # Numbers nested as deep as the tensor has dimensions.
    "vtgrad.Tensor.tolist",
    # A lambda fits several overloads: mypy then takes the type of the last one.
    *(f"vtgrad.func.{name}" for name in "grad grad_and_value hessian jacfwd jacrev".split()),
    # What users write.
    *(
        f"vtgrad.autograd.function.Function.{name}"
        for name in "forward backward vjp jvp vmap setup_context".split()
    ),
    *(
        f"vtgrad.autograd.function.NestedIOFunction.{name}"
        for name in "forward backward forward_extended backward_extended".split()
    ),
}


def test_the_type_of_a_result_is_known() -> None:
    found = set()
    for module in STUBS:
        parts = ROOT.joinpath(*module.split("."))
        stub = parts / "__init__.pyi" if parts.is_dir() else parts.with_suffix(".pyi")
        for place, function in _functions(ast.parse(stub.read_text("utf-8")), module):
            result = ast.unparse(function.returns) if function.returns else "Any"
            if re.search(r"\bAny\b", result.replace("NDArray[Any]", "")):
                found.add(place)
    assert found == OPEN


def _functions(tree: ast.AST, inside: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods in a tree, each with its name in full."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{inside}.{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{inside}.{node.name}")

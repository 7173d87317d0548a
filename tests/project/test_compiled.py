"""The two builds: the default one is pure Python, the other one has what it says it has.

Most of it is seen on whichever build the tests run on; `make compiled` runs them on the compiled
one, installed apart from the sources. The wheel of the pure build is looked at in `test_layout`.
"""

from __future__ import annotations

import importlib
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distribution
from pathlib import Path
from typing import cast

import pytest

import vtgrad
from tests.project.tree import PACKAGE, ROOT, copy_sources, python_files
from vtgrad.storage.tensor_base import TensorBase

MARK = "# Compiled by mypyc.\n"
EXPECTED = os.environ.get("VTGRAD_EXPECT_COMPILED") == "1"


def compiled_files() -> list[Path]:
    """What `setup.py` would compile."""
    # Run under another name than "__main__" it defines, and does nothing.
    names = runpy.run_path(str(ROOT / "setup.py"), run_name="setup_of_vtgrad")
    listed = cast("Callable[[Path], list[str]]", names["compiled_files"])
    return [ROOT / name for name in listed(ROOT)]


def module_of(path: Path) -> str:
    """The dotted name of a file's module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_the_hot_layers_are_native_if_and_only_if_the_package_says_so() -> None:
    native = [
        str(importlib.import_module(module_of(path)).__file__).endswith(tuple(EXTENSION_SUFFIXES))
        for path in compiled_files()
    ]
    assert len(native) > 50
    assert set(native) == {vtgrad.__compiled__}


@pytest.mark.skipif(not EXPECTED, reason="`make compiled` sets VTGRAD_EXPECT_COMPILED")
def test_what_is_tested_is_the_compiled_build_where_that_was_asked_for() -> None:
    assert vtgrad.__compiled__
    # Not the sources beside these tests.
    assert not Path(str(vtgrad.__file__)).is_relative_to(PACKAGE)
    wheel = distribution("vtgrad").read_text("WHEEL")
    assert wheel is not None
    assert "Root-Is-Purelib: false" in wheel


def test_a_tensor_is_known_as_one_behind_the_python_operators() -> None:
    # Breaks when a class of methods inherits from TensorBase: each test of a type walks past it.
    order = [cls.__name__ for cls in vtgrad.Tensor.__mro__]
    assert order[:4] == ["Tensor", "OperatorMethods", "PythonOperators", "TensorBase"]


def test_no_method_of_a_tensor_is_hidden_by_its_base() -> None:
    # See Note [The bases of Tensor]. Breaks without `shape` in the class itself.
    hidden = [
        f"{cls.__name__}.{name}"
        for cls in vtgrad.Tensor.__mro__[4:-1]
        for name, value in vars(cls).items()
        if name in vars(TensorBase)
        and (callable(value) or isinstance(value, property))
        and not name.startswith("__annot")
        and vars(vtgrad.Tensor).get(name) is not value
    ]
    assert hidden == []


def test_files_that_cannot_be_compiled_are_not() -> None:
    compiled = set(compiled_files())
    for path in python_files():
        text = path.read_text("utf-8")
        # Errors are `explained` by annotations, which native functions do not have.
        reasons = r"never compiled|= part_of_thread\(|ParamSpec\(|async def|^@explained$"
        if re.search(reasons, text, re.MULTILINE):
            assert path not in compiled, path


def test_the_mark_of_compiled_files_stands_in_their_first_line() -> None:
    # Anywhere else it would not count.
    marked = {path for path in python_files() if MARK in path.read_text("utf-8")}
    assert marked == set(compiled_files())
    # What runs at every operator and at every node.
    for name in ("storage/tensor_impl", "graph/node", "views/write", "engine/engine"):
        assert PACKAGE / f"{name}.py" in marked
    for stem in ("arithmetic", "arithmetic_nodes", "saves", "tensor_formulas"):
        assert PACKAGE / f"ops/generated/{stem}.py" in marked


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a build needs."""
    folder = tmp_path_factory.mktemp("sources")
    copy_sources(folder)
    return folder


def build_natively(sources: Path, **environment: str) -> str:
    """What a compiled build says when it fails."""
    run = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext"],
        cwd=sources,
        env=os.environ | {"VTGRAD_COMPILE": "1"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    return run.stderr


@pytest.mark.slow
@pytest.mark.xdist_group("failing-builds")
def test_a_compiled_build_without_mypy_says_what_is_missing(sources: Path, tmp_path: Path) -> None:
    absent = tmp_path / "mypyc"
    absent.mkdir()
    (absent / "__init__.py").write_text("raise ImportError('no mypyc here')\n", encoding="utf-8")
    told = build_natively(sources, PYTHONPATH=str(tmp_path))
    assert "VTGRAD_COMPILE=1 needs mypy" in told
    assert "pure-Python" in told


@pytest.mark.slow
@pytest.mark.xdist_group("failing-builds")
@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for the compiler itself")
def test_a_compiled_build_without_a_compiler_says_what_is_missing(sources: Path) -> None:
    told = build_natively(sources, CC="no-such-compiler")
    assert "VTGRAD_COMPILE=1 needs a C compiler" in told
    assert "no-such-compiler" in told


@pytest.mark.parametrize("name", ["sub", "floordiv", "pow", "matmul", "lshift"])
def test_operators_leave_strangers_their_turn(name: str) -> None:
    # Compiled code checks what a method returns: NotImplemented must pass.
    class Stranger:
        def answer(self, other: object) -> str:
            return "mine"

        __rsub__ = __rfloordiv__ = __rpow__ = __rmatmul__ = __rlshift__ = answer

    operate = cast("Callable[[object, object], object]", getattr(__import__("operator"), name))
    assert operate(vtgrad.ones(2), Stranger()) == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        operate(vtgrad.ones(2), None)


def test_a_recorded_operator_takes_one_number() -> None:
    # Compiled, a class that is called by way of a variable would be initialised twice.
    x = vtgrad.ones(4, requires_grad=True)
    numbers = []
    for y in (x * 2, x[1:], x.exp(), x.clone().mul_(x)):
        assert y.grad_fn is not None
        numbers.append(y.grad_fn.sequence_nr)
    # The last one comes after that of the clone.
    assert [n - numbers[0] for n in numbers] == [0, 1, 2, 4]

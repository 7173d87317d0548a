"""The stubs show what is there when the library runs."""

import re
import subprocess
import sys
from typing import Final

import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.codegen.stubs.emit_stubs import STUBS

pytestmark = pytest.mark.skipif(
    vt.__compiled__, reason="native functions do not name the parameters that stubs name"
)

# What `mypy.stubtest` says of differences that are meant.
MEANT: Final = [
    # The first argument of a function that is a method has the name that the function gives it.
    r'stub parameter "self" differs from runtime parameter',
    # Defaults that say which overload is meant.
    r"runtime parameter \"\w+\" has a default value of type (None|Literal\[vtgrad\.ops)",
    r"vtgrad\.randint is inconsistent, stub parameter \"\w+\" is not keyword-only",
    # Classes whose instances are those of `Tensor`, which no type can say.
    r"vtgrad\.(\w+Tensor|autograd\.Variable)(\.__init__)? is inconsistent, (meta|runtime does)",
    r"Variable\._execution_engine",
    # Methods of custom Functions: any static method is one.
    r"Function\.(forward|backward|vjp|jvp|vmap|setup_context)(_extended)? is inconsistent",
    r"Function\.apply variable differs",
    # Of the class of nodes, users need what they may call.
    r"BackwardCFunction\.\w+ is not present in stub",
    r"Result\.__class_getitem__ is inconsistent",
    # Literals and names of unions, in modules without a stub.
    r" is not a Union$",
]


@pytest.mark.slow
@pytest.mark.xdist_group("mypy")
def test_stubs_agree_with_the_library() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml"]
        + ["--concise", "--ignore-disjoint-bases", "vtgrad"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "vtgrad.Tensor.abs" in run.stdout, run.stdout + run.stderr
    # Only names in stubs, and members of their classes.
    modules = sorted(STUBS, key=len, reverse=True)
    of_stubs = re.compile(rf"(?:{'|'.join(map(re.escape, modules))})\.[A-Z]?\w*(?:\.\w+)? ")
    without = re.compile(r"vtgrad\.(?:\w+\.)*(?:arguments|pytree|variable)\.")
    said = [line for line in run.stdout.splitlines() if of_stubs.match(line)]
    found = [line for line in said if not without.match(line)]
    assert [line for line in found if not any(re.search(m, line) for m in MEANT)] == []

"""Every example runs in the way that is written here, and finds the right gradient.

What breaks it: an example that needs rewind where the exact rule is to be enough, or the other way
round; a gradient that differs from central differences, or from its formula; a file that is not
listed, here or in the documentation.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest

import vtgrad as vt
from tests.project.tree import ROOT
from vtgrad.autograd import graph
from vtgrad.errors import StaleSavedError

FOLDER = ROOT / "examples"

EXACT = (
    "ar2",
    "chebyshev",
    "cholesky",
    "deconvolution",
    "dtw",
    "fft",
    "first_steps",
    "forward_substitution",
    "gaussian_process",
    "heat",
    "iir_filter",
    "kalman",
    "lorenz",
    "recurrent_net",
    "running_product",
    "smoother",
    "yield_curve",
)
REWIND = ("gaussian_elimination", "ring_buffer", "sor")
# These compute sparse Jacobians, and need SciPy.
SPARSE = ("burgers",)
# These save nothing from the table that they write, so that PyTorch's rule lets them pass too.
BY_STORAGE = {
    "deconvolution",
    "fft",
    "gaussian_process",
    "heat",
    "iir_filter",
    "kalman",
    "smoother",
    "yield_curve",
}
# Their gradient has a formula, with which it is compared as well.
FORMULA = {
    "chebyshev",
    "cholesky",
    "fft",
    "first_steps",
    "forward_substitution",
    "gaussian_elimination",
    "gaussian_process",
    "running_product",
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes each block under rewind, and finds what the examples import beside them."""
    blocks: list[str] = []
    original = graph.allow_mutation_on_saved_tensors

    @contextmanager
    def noted() -> Iterator[None]:
        blocks.append("rewind")
        with original():
            yield

    monkeypatch.setattr(graph, "allow_mutation_on_saved_tensors", noted)
    monkeypatch.syspath_prepend(FOLDER)
    return blocks


def test_every_example_is_run() -> None:
    programs = {path.stem for path in FOLDER.glob("*.py")} - {"_check"}
    assert programs == {*EXACT, *REWIND, *SPARSE}


def test_a_sparse_jacobian_in_a_few_passes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / "burgers.py"), run_name="__main__")
    told = re.fullmatch(
        r"burgers: sparse, 1196 of 160000 entries in 3 passes, "
        r"differs from the formula by (\S+)\n",
        capsys.readouterr().out,
    )
    assert told is not None
    assert float(told[1]) <= 1e-12


@pytest.mark.parametrize("name", [*EXACT, *REWIND])
def test_an_example_runs_in_its_way(
    name: str,
    opened: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = FOLDER / f"{name}.py"
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    way = "exact" if name in EXACT else "rewind"
    assert opened == ([] if name in EXACT else ["rewind"])
    printed = capsys.readouterr().out
    told = re.fullmatch(
        rf"{name}: {way}, differs from central differences by (\S+)"
        r"(?:, from the formula by (\S+))?\n",
        printed,
    )
    assert told is not None, printed
    assert float(told[1]) <= 1e-6
    assert (told[2] is not None) == (name in FORMULA)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("name", EXACT)
def test_an_example_needs_the_exact_rule(name: str) -> None:
    # Else it shows nothing of what it is there to show.
    refused: AbstractContextManager[object] = nullcontext()
    if name not in BY_STORAGE:
        refused = pytest.raises(StaleSavedError)
    with graph.set_overwrite_check("storage"), refused:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize("name", [*EXACT, *REWIND, *SPARSE])
def test_an_example_copies_nothing_but_its_input(name: str) -> None:
    copies = [
        line.strip()
        for line in (FOLDER / f"{name}.py").read_text("utf-8").splitlines()
        if re.search(r"\.(clone|detach|copy)\(", line)
    ]
    assert all(line.endswith("# the input is the caller's") for line in copies)
    assert len(copies) <= 1


@pytest.mark.slow
def test_an_example_runs_alone(tmp_path: Path) -> None:
    # Where vtgrad is installed, the path is not needed.
    library = Path(vt.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "cholesky.py")],
        cwd=tmp_path,
        # The programs find each other, also where the tests must not find what lies beside them.
        env=os.environ | {"PYTHONPATH": str(library), "PYTHONSAFEPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("cholesky: exact, ")


class TestCheck:
    """What the examples compare with can fail."""

    @pytest.fixture
    def check(self, opened: list[str]) -> object:
        return runpy.run_path(str(FOLDER / "_check.py"))["check"]

    def test_a_wrong_formula_is_found(self, check: object) -> None:
        assert callable(check)
        with pytest.raises(AssertionError, match="from the formula"):
            check(lambda x: (x * x).sum(), [1.0, 2.0], way="exact", expected=[[2.0, 4.1]])

    def test_a_wrong_gradient_is_found(self, check: object) -> None:
        def program(x: vt.Tensor) -> vt.Tensor:
            return (x * x.detach()).sum()

        assert callable(check)
        with pytest.raises(AssertionError, match="differs from central differences by 5e-01"):
            check(program, [1.0, 2.0], way="exact")

    def test_rewind_without_need_is_found(self, check: object) -> None:
        assert callable(check)
        with pytest.raises(AssertionError, match="runs by default"):
            check(lambda x: (x * x).sum(), [1.0], way="rewind")

    def test_an_input_that_plays_no_part_is_found(self, check: object) -> None:
        assert callable(check)
        with pytest.raises(AssertionError, match="every input"):
            check(lambda x, y: x.sum(), np.ones(2), np.ones(2), way="exact")

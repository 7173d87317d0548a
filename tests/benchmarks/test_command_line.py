"""``python -m benchmarks``: a small run, kept, and its table written into a page."""

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.libraries import PEERS
from benchmarks.results import Run
from tests.project.tree import ROOT


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "run.json"
    options = ["--quick", "--only", "mlp", "--without", *PEERS, "--json", str(path)]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    # Its only bar is a ratio to PyTorch, which took no part.
    assert run.stdout.endswith("0 of 0 bars met\n")
    return path


@pytest.mark.slow
def test_a_run_is_kept_with_its_circumstances(kept: Path) -> None:
    run = Run.read(kept)
    assert run.quick
    assert set(run.versions) == {"Python", "numpy", "vtgrad"}
    assert set(run.machine) == {"processor", "system"}
    (result,) = run.results
    assert result.row == "32x64-64-10"
    assert len(result.rounds["vtgrad"]) == 3


@pytest.mark.slow
def test_a_kept_run_becomes_the_table_of_a_page(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENBLAS", "OMP", "MKL"):
        # So that what the import sets is taken back.
        monkeypatch.setenv(f"{name}_NUM_THREADS", "1")
    program = importlib.import_module("benchmarks.__main__")
    # The table begins with the interpreted build, whichever is being tested.
    interpreted = tmp_path / "interpreted.json"
    replace(Run.read(kept), compiled=False).save(interpreted)
    page = tmp_path / "README.md"
    page.write_text(
        (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8"), encoding="utf-8"
    )
    monkeypatch.setattr(program, "_README", page)
    # This run has none, so the page of operators stays as it is.
    monkeypatch.setattr(program, "_OPERATORS", tmp_path / "OPERATORS.md")
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--table", str(interpreted)])
    assert program.main() == 0
    assert "| 32x64-64-10 | " in page.read_text(encoding="utf-8")
    assert not (tmp_path / "OPERATORS.md").exists()
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--table", *[str(kept)] * 3])
    with pytest.raises(SystemExit):
        program.main()

"""What has become slower, by figures that are known. Nothing here is timed."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import compare, measure, small_groups
from benchmarks.compare import Compared, compared, shown
from benchmarks.libraries import load


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    then = [{"a": 1.0}, {"a": 2.0}, {"a": 10.0}]
    now = [{"a": 1.1}, {"a": 2.6}, {"a": 50.0}]
    # The machine of the third round was ten times slower, and disturbed once.
    (row,) = compared(then, now, then)
    assert row.ratio == pytest.approx(1.3)
    assert (row.seconds, row.spread) == (1.0, compare.LEAST_SPREAD)
    assert row.slower


def test_a_steady_drift_is_no_difference() -> None:
    # Each process takes twice as long as the one before.
    (row,) = compared([{"a": 1.0}], [{"a": 2.0}], [{"a": 4.0}])
    assert row.ratio == 1.0


def test_the_spread_is_the_largest_difference_of_two_runs_of_one_commit() -> None:
    then = [{"a": 1.0}, {"a": 1.25}, {"a": 1.0}]
    again = [{"a": 1.0}, {"a": 1.0}, {"a": 1.1}]
    (row,) = compared(then, [{"a": 1.2}] * 3, again)
    # Faster by a fifth is as much as slower by a quarter.
    assert row.spread == pytest.approx(0.25)
    assert not row.slower
    (row,) = compared(then, [{"a": 1.5}] * 3, again)
    assert row.slower
    (row,) = compared(then, [{"a": 0.8}] * 3, again)
    assert row.faster
    (row,) = compared(then, [{"a": 0.9}] * 3, again)
    assert not row.faster


def test_programs_that_one_commit_cannot_run_are_left_out() -> None:
    assert [row.name for row in compared([{"a": 1.0}], [{"a": 1.0, "b": 1.0}], [{"a": 1.0}])] == [
        "a"
    ]


def test_what_became_slower_is_listed() -> None:
    rows = [
        Compared("chains: forward", 1e-3, 1.21, 0.1),
        Compared("chains: backward", 2e-3, 1.0, 0.1),
        Compared("stencil: n = 64", 3e-3, 0.5, 0.1),
    ]
    lines = list(shown(rows))
    assert lines[0].endswith("1000.00 us   1.210 ±0.100  SLOWER")
    assert lines[1].endswith("2000.00 us   1.000 ±0.100")
    assert lines[2].endswith("faster")
    assert lines[4].split() == ["chains", "1.100"]
    assert lines[-1] == "slower beyond the spread: chains: forward"
    assert list(shown(rows[1:]))[-1] == "slower beyond the spread: nothing"


@pytest.fixture
def makes_links(tmp_path: Path) -> None:
    """Windows makes links for administrators only."""
    try:
        (tmp_path / "link").symlink_to(tmp_path)
    except OSError:
        pytest.skip("no links can be made here")


@pytest.mark.usefixtures("makes_links")
@pytest.mark.parametrize(("factor", "code"), [(1.0, 0), (1.5, 1)])
def test_the_exit_code_says_so(
    factor: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def figures(path: str, options: list[str]) -> dict[str, float]:
        # The library of this process is what a process with this path would load.
        assert (Path(path) / "vtgrad" / "__init__.py").exists()
        assert (Path(path) / "benchmarks" / "small_groups.py").exists()
        assert options == ["--only", "chains"]
        measured.append(Path(path).name)
        return {"chains: forward": factor if measured[-1] == "now" else 1.0}

    def git(*arguments: str) -> str:
        if arguments[:2] == ("worktree", "add"):
            (Path(arguments[-2]) / "vtgrad").mkdir(parents=True)
            (Path(arguments[-2]) / "vtgrad" / "__init__.py").touch()
        return "0123456789abcdef"

    monkeypatch.setattr(compare, "_measure", figures)
    monkeypatch.setattr(compare, "_git", git)
    monkeypatch.setattr(sys, "argv", ["", "main", "--rounds", "2", "--only", "chains"])
    assert compare.main() == code
    assert measured == ["then", "now", "then"] * 2
    assert "the files here beside 0123456789ab" in capsys.readouterr().out


def test_a_revision_that_there_is_not_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["", "no-such-revision"])
    with pytest.raises(subprocess.CalledProcessError):
        compare.main()


@pytest.mark.slow
def test_every_small_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "_TARGET_SECONDS", 0.0)
    programs = small_groups.groups(load("vtgrad"))
    found = small_groups.measured(None, 1)
    assert list(found) == [f"{group}: {name}" for group in programs for name in programs[group]]
    assert min(found.values()) > 0
    assert len(small_groups.measured(["chains"], 1)) == 2

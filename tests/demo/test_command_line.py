"""Exit codes, usage lines, and what is printed."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from vtgrad.demo import __main__ as program
from vtgrad.demo.exhibits import IllegalWrite, StaleGradFn, show_stale_grad_fn
from vtgrad.demo.gradient_check import GradientCheck, check_gradient
from vtgrad.demo.local_level import FloatArray
from vtgrad.demo.replayed import ReplayedSearch

ROOT = Path(__file__).parents[2]
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def test_demo_reaches_the_published_estimates_and_exits_with_0(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert program.main([]) == 0
    out = capsys.readouterr().out
    assert "observation variance      15098.5" in out
    assert "level variance             1469.1" in out
    assert "states.grad_fn is SelectBackward0, version 398" in out
    assert "states.grad_fn is AsStridedBackward0, version 399: rebuilt" in out
    assert "StaleSavedError" in out
    assert "every .grad is untouched: ok" in out
    assert "every point, value and gradient has the same bits: ok" in out
    assert out.rstrip().endswith("All checks passed.")
    assert "FAILED" not in out


@pytest.mark.slow
def test_demo_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "vtgrad.demo"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "All checks passed." in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_estimates_out_of_reach_exit_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--max-iterations", "1"]) == 1
    out = capsys.readouterr().out
    assert "within 0.5 % of the published values: FAILED" in out
    assert "the iteration limit was reached" in out
    assert "try another start or more iterations" in out


def _break_gradient_check(patch: pytest.MonkeyPatch) -> None:
    def strict(
        function: Callable[[FloatArray], float], gradient: FloatArray, point: FloatArray
    ) -> GradientCheck:
        return check_gradient(function, gradient, point, tolerance=0.0)

    patch.setattr("vtgrad.demo.__main__.check_gradient", strict)


def _break_stale_grad_fn(patch: pytest.MonkeyPatch) -> None:
    def misjudged(log_variances: FloatArray, flows: Sequence[float]) -> StaleGradFn:
        return replace(show_stale_grad_fn(log_variances, flows), scale=0.5)

    patch.setattr("vtgrad.demo.__main__.show_stale_grad_fn", misjudged)


def _break_illegal_write(patch: pytest.MonkeyPatch) -> None:
    def unnoticed(log_variances: FloatArray, flows: Sequence[float]) -> IllegalWrite:
        return IllegalWrite(None, True)

    patch.setattr("vtgrad.demo.__main__.show_illegal_write", unnoticed)


def _break_replayed_search(patch: pytest.MonkeyPatch) -> None:
    def differs(*arguments: object, **options: object) -> ReplayedSearch:
        return ReplayedSearch(11, 0.5, 0.01, 1.0, 3000, 0, same=False)

    patch.setattr("vtgrad.demo.__main__.show_replayed_search", differs)


@pytest.mark.slow
@pytest.mark.parametrize(
    "break_one",
    [_break_gradient_check, _break_stale_grad_fn, _break_illegal_write, _break_replayed_search],
)
def test_each_failed_check_exits_with_1(
    break_one: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    break_one(monkeypatch)
    assert program.main([]) == 1
    out = capsys.readouterr().out
    assert out.count("FAILED") == 2  # the check itself and the last line
    assert "within 0.5 % of the published values: ok" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["extra"], "unrecognized arguments: extra"),
        (["--level-variance"], "expected one argument"),
        (["--level-variance", "many"], "'many' is not a number"),
        (["--level-variance", "0"], "0 is not a variance"),
        (["--observation-variance", "-3"], "-3 is not a variance"),
        (["--observation-variance", "nan"], "nan is not a variance"),
        (["--observation-variance", "inf"], "inf is not a variance"),
        (["--max-iterations", "0"], "'0' is not a positive whole number"),
        (["--max-iterations", "2.5"], "'2.5' is not a positive whole number"),
        (["--max-iterations", "²"], "is not a positive whole number"),
        (["--plot", "nile.pdf"], "'nile.pdf' does not end in .png"),
        (["--plot", ""], "'' does not end in .png"),
    ],
)
def test_wrong_arguments_get_a_usage_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(arguments)
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("usage: python -m vtgrad.demo")
    assert complaint in printed.err
    assert printed.out == ""


def test_help_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main(["--help"])
    assert caught.value.code == 0
    assert "--plot PATH" in capsys.readouterr().out


def test_plot_of_a_folder_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "folder.png"
    folder.mkdir()
    with pytest.raises(SystemExit) as caught:
        program.main(["--plot", str(folder)])
    assert caught.value.code == 2
    assert "is a folder" in capsys.readouterr().err


@pytest.mark.slow
def test_plot_is_written_as_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib (group 'demo')")
    path = tmp_path / "new" / "nile.png"
    assert program.main(["--plot", str(path)]) == 0
    written = path.read_bytes()
    assert written.startswith(PNG_SIGNATURE)
    width, height = (int.from_bytes(written[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1080, 780)


@pytest.mark.slow
def test_without_matplotlib_there_is_a_note_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "nile.png"
    assert program.main(["--plot", str(path)]) == 0
    assert "note: no plot, matplotlib is not installed" in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.slow
def test_plot_that_cannot_be_written_exits_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib (group 'demo')")
    occupied = tmp_path / "file"
    occupied.write_text("not a folder", encoding="utf-8")
    assert program.main(["--plot", str(occupied / "nile.png")]) == 1
    assert "cannot write the plot" in capsys.readouterr().err

"""The bar shows the share of the way that is done, and is optional."""

import io
import math
import sys

import numpy as np
import pytest

from vtgrad.demo.optimise import Iterate
from vtgrad.demo.progress import FitProgress, fraction_done


def _iterate(norm: float, value: float = 633.4646) -> Iterate:
    return Iterate(np.zeros(2), value, np.array([0.0, -norm]))


@pytest.mark.parametrize(
    ("norm", "expected"),
    [(1e3, 0.0), (1e1, 0.25), (1e-1, 0.5), (1e-5, 1.0), (1e-9, 1.0), (0.0, 1.0), (1e4, 0.0)],
)
def test_fraction_counts_decades_of_the_gradient(norm: float, expected: float) -> None:
    assert fraction_done(1e3, norm, 1e-5) == pytest.approx(expected)


def test_start_at_the_solution_is_all_done() -> None:
    assert fraction_done(1e-7, 1e-7, 1e-5) == 1.0


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_what_is_no_terminal_gets_one_line() -> None:
    stream = io.StringIO()
    with FitProgress(stream) as progress:
        progress(_iterate(1e3))
        progress(_iterate(1e-1))
    assert stream.getvalue() == "fitting: step 1, log-likelihood -633.4646\n"


def test_bar_shows_share_step_and_likelihood() -> None:
    stream = Terminal()
    with FitProgress(stream) as progress:
        progress(_iterate(1e3))
        progress(_iterate(1e-1))
    last = stream.getvalue().strip().rsplit("\r", 1)[-1]
    assert " 50%|" in last
    assert "step 1, log-likelihood -633.4646" in last


def test_bar_does_not_run_back_when_the_gradient_grows() -> None:
    stream = Terminal()
    with FitProgress(stream) as progress:
        for norm in (1e3, 1e-1, 1e2):
            progress(_iterate(norm))
    assert " 50%|" in stream.getvalue().strip().rsplit("\r", 1)[-1]


def test_without_tqdm_there_is_one_line_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = Terminal()
    with FitProgress(stream) as progress:
        progress(_iterate(1.0))
        progress(_iterate(math.pi))
    assert stream.getvalue() == "note: no progress bar, tqdm is not installed\n"

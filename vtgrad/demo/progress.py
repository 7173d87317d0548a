"""A progress bar for the fit, if tqdm is installed; otherwise one line about the missing bar.

The number of steps of an optimiser is not known beforehand.  The required decrease of the gradient
is known, so the bar measures the decades by which it has decreased, as a share of all of them.  A
stream that is not a terminal, a file or the log of a CI job, gets one line at the end.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self, TextIO, cast

from vtgrad.demo.optimise import GRADIENT_TOLERANCE, Iterate

__all__ = ["FitProgress", "fraction_done"]


class _Bar(Protocol):
    """The part of tqdm that is used."""

    n: float

    def set_description_str(self, desc: str, refresh: bool) -> None: ...
    def refresh(self) -> object: ...
    def close(self) -> None: ...


def fraction_done(first_norm: float, norm: float, tolerance: float) -> float:
    """Return the share of the way from ``first_norm`` to ``tolerance`` that ``norm`` has covered.

    Examples
    --------
    >>> round(fraction_done(1e3, 1e-1, 1e-5), 6)
    0.5
    """
    if norm <= tolerance:
        return 1.0
    if norm >= first_norm:
        return 0.0
    return math.log(first_norm / norm) / math.log(first_norm / tolerance)


class FitProgress:
    """A context manager, called with each iterate of the fit.

    Parameters
    ----------
    stream : text file
        The stream for the bar, or for the note that there is none.
    """

    _bar: _Bar | None
    _first_norm: float | None
    _iterations: int
    _likelihood: float
    _stream: TextIO

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar = _open_bar(stream) if stream.isatty() else None
        self._first_norm = None
        self._iterations = -1
        self._likelihood = math.nan

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif not self._stream.isatty() and self._iterations >= 0:
            print(f"fitting: {self._described()}", file=self._stream)

    def _described(self) -> str:
        return f"step {self._iterations}, log-likelihood {self._likelihood:.7g}"

    def __call__(self, iterate: Iterate) -> None:
        """Update the bar for ``iterate``."""
        self._iterations += 1
        self._likelihood = -iterate.value
        if self._first_norm is None:
            self._first_norm = iterate.gradient_norm
        if self._bar is None:
            return
        done = fraction_done(self._first_norm, iterate.gradient_norm, GRADIENT_TOLERANCE)
        # The gradient may grow for a step or two; the bar does not move back.
        self._bar.n = max(self._bar.n, round(100.0 * done))
        self._bar.set_description_str(self._described(), refresh=False)
        self._bar.refresh()


def _open_bar(stream: TextIO) -> _Bar | None:
    try:
        # tqdm is in the demo's group of dependencies, not in the library's.
        module = importlib.import_module("tqdm")
    except ImportError:
        print("note: no progress bar, tqdm is not installed", file=stream)
        return None
    open_bar = cast("Callable[..., _Bar]", module.tqdm)
    return open_bar(
        total=100,
        file=stream,
        bar_format="fitting {percentage:3.0f}%|{bar:30}| {desc} [{elapsed}]",
    )

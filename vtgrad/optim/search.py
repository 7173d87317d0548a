"""The course of one search: what is evaluated, what is best, how it ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType, TracebackType
from typing import Generic, Literal, NamedTuple, Self, TypeVar, cast

import numpy as np

from vtgrad.errors import MissingPackageError
from vtgrad.optim.evaluation import Evaluation
from vtgrad.optim.fit import Fit
from vtgrad.optim.packing import FloatArray, Packing
from vtgrad.optim.progress import Bar, open_bar
from vtgrad.storage import making

__all__ = ["Iterate", "Search", "scipy_optimize"]

X = TypeVar("X")

Status = Literal["converged", "failed", "stopped", "interrupted"]


class Iterate(NamedTuple, Generic[X]):
    """What a callback of a search gets after each iteration.

    Attributes
    ----------
    x : object
        The parameters, new tensors.
    fun : float
        The function there.
    nit : int
        The number of the iteration, from 1 on.
    nfev : int
        How often the function was evaluated.
    """

    x: X
    fun: float
    nit: int
    nfev: int


class _StoppedError(Exception):
    """The callback wants no more."""


class _Point(NamedTuple):
    vector: FloatArray
    value: float


class Search(Generic[X]):
    """Keeps the best point and the history, and calls the callback and the bar.

    Parameters
    ----------
    packing : Packing
        The parameters.
    method : str
        The method.
    callback : callable or None
        Gets an `Iterate`; a true result ends the search.
    progress : bool
        Whether there is a bar.
    total : int or None
        The most iterations, for the bar.
    follows : bool
        Whether the best point is that of the last iteration, and not that of the smallest value,
        which may violate constraints.
    """

    history: list[float]
    nfev: int

    def __init__(
        self,
        packing: Packing,
        method: str,
        callback: Callable[[Iterate[X]], object] | None,
        progress: bool,
        total: int | None,
        follows: bool = False,
    ) -> None:
        self._packing = packing
        self._method = method
        self._callback = callback
        self._bar: Bar | None = open_bar(method, total) if progress else None
        self._follows = follows
        self._best: _Point | None = None
        # The values at the points since the last iteration, and at that of the last.
        self._recent: dict[bytes, float] = {}
        self.history = []
        self.nfev = 0

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

    def evaluated(self, vector: FloatArray, value: float) -> None:
        """Take note of a value."""
        self.nfev += 1
        self._recent[vector.tobytes()] = value
        if not self.history:
            self.history.append(value)
            self._best = _Point(vector.copy(), value)
        elif not self._follows and (self._best is None or not self._best.value <= value):
            if math.isfinite(value):
                self._best = _Point(vector.copy(), value)

    def iterated(self, at: FloatArray) -> None:
        """An iteration has come to its end."""
        vector = making.asarray(at)
        value = self._recent.get(vector.tobytes(), math.nan)
        if math.isnan(value) and self._best is not None and not self._follows:
            value = self._best.value
        self._recent = {vector.tobytes(): value}
        self.history.append(value)
        if self._follows:
            self._best = _Point(vector.copy(), value)
        if self._bar is not None:
            self._bar.update(1)
            self._bar.set_postfix_str(f"{value:.6g}", refresh=False)
        if self._callback is not None:
            x = cast("X", self._packing.filled(vector))
            iteration = len(self.history) - 1
            try:
                wants_end = bool(self._callback(Iterate(x, value, iteration, self.nfev)))
            except StopIteration:
                wants_end = True
            if wants_end:
                raise _StoppedError

    def run(
        self, solve: Callable[[], object], evaluations: Callable[[], Sequence[Evaluation[object]]]
    ) -> Fit[X]:
        """Run a method of SciPy to its end, or until it is broken off."""
        try:
            raw = solve()
        except _StoppedError:
            return self._broken_off("stopped", "the callback ended the search", evaluations)
        except KeyboardInterrupt:
            if self._best is None:
                raise
            return self._broken_off("interrupted", "Ctrl-C ended the search", evaluations)
        told = cast("Mapping[str, object]", raw)
        vector = making.array(told["x"], dtype=np.float64)
        value = self._value_of(told, vector)
        status: Status = "converged" if told["success"] else "failed"
        return self._fit(vector, value, status, str(told["message"]), evaluations, raw)

    def _value_of(self, told: Mapping[str, object], vector: FloatArray) -> float:
        if "cost" in told:
            return float(cast("float", told["cost"]))
        found = making.asarray(told["fun"], dtype=np.float64)
        return float(np.linalg.norm(found)) if found.ndim else float(found)

    def _broken_off(
        self, status: Status, message: str, evaluations: Callable[[], Sequence[Evaluation[object]]]
    ) -> Fit[X]:
        assert self._best is not None
        return self._fit(self._best.vector, self._best.value, status, message, evaluations, None)

    def _fit(
        self,
        vector: FloatArray,
        value: float,
        status: Status,
        message: str,
        evaluations: Callable[[], Sequence[Evaluation[object]]],
        raw: object,
    ) -> Fit[X]:
        reasons = [e.reason for e in evaluations() if e.calls and e.reason is not None]
        return Fit(
            cast("X", self._packing.filled(vector)),
            value,
            status,
            message,
            max(len(self.history) - 1, 0),
            self.nfev,
            tuple(self.history),
            self._method,
            not reasons,
            reasons[0] if reasons else None,
            raw,
        )


def scipy_optimize(name: str) -> ModuleType:
    """``scipy.optimize``.

    Raises
    ------
    MissingPackageError
        If SciPy is not installed.
    """
    try:
        return import_module("scipy.optimize")
    except ImportError:
        raise MissingPackageError(
            f"{name} needs SciPy, the extra 'scipy': pip install scipy", package="scipy"
        ) from None

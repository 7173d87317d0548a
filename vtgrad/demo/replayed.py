"""The search of the demo once more, with a likelihood that was recorded and is replayed.

`vtgrad.jit.trace` runs the likelihood and its gradient once, and keeps what NumPy was asked to do.
A replay asks NumPy for the same, without a tensor or a node in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import vtgrad as vt
from vtgrad.demo.local_level import FloatArray, likelihood_and_gradient, value_and_gradient
from vtgrad.demo.optimise import Iterate, minimise

__all__ = ["ReplayedSearch", "show_replayed_search"]

_Evaluate: TypeAlias = Callable[[FloatArray], tuple[float, FloatArray]]


@dataclass(frozen=True, slots=True)
class ReplayedSearch:
    """A search by the program itself, and the same search by its replay.

    Attributes
    ----------
    evaluations : int
        How often each search evaluated the likelihood and its gradient.
    seconds, seconds_replayed : float
        The time of each search, without that of the recording.
    seconds_recording : float
        The time of the recording and of its checks.
    steps, steps_in_python : int
        The recorded steps that a replay runs, and how many of them are calls of Python.
    same : bool
        Whether all points, values and gradients of both searches have the same bits.
    """

    evaluations: int
    seconds: float
    seconds_replayed: float
    seconds_recording: float
    steps: int
    steps_in_python: int
    same: bool


def show_replayed_search(
    start: FloatArray, flows: Sequence[float], *, max_iterations: int = 100
) -> ReplayedSearch:
    """Search for the maximum of the likelihood twice, the second time by a replay.

    Raises
    ------
    NotFiniteError
        If the likelihood is not finite at ``start``.
    """
    by_program, seconds = _search(
        lambda point: value_and_gradient(point, flows), start, max_iterations
    )

    before = time.perf_counter()
    fast = vt.jit.trace(lambda point: likelihood_and_gradient(point, flows), vt.tensor(start))
    seconds_recording = time.perf_counter() - before

    def replay(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = fast(vt.tensor(point))
        return value.item(), gradient.numpy()

    by_replay, seconds_replayed = _search(replay, start, max_iterations)
    told = fast.explain()
    return ReplayedSearch(
        len(by_program),
        seconds,
        seconds_replayed,
        seconds_recording,
        told.left,
        len(told.calls),
        by_program == by_replay,
    )


def _search(
    evaluate: _Evaluate, start: FloatArray, max_iterations: int
) -> tuple[list[tuple[bytes, float, bytes]], float]:
    """The bits of each evaluation, and the time of all."""
    found: list[Iterate] = []

    def negative(point: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = evaluate(point)
        found.append(Iterate(point, -value, -gradient))
        return -value, -gradient

    before = time.perf_counter()
    minimise(negative, start, max_iterations=max_iterations)
    seconds = time.perf_counter() - before
    return [(at.point.tobytes(), at.value, at.gradient.tobytes()) for at in found], seconds

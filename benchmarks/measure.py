"""Measuring programs against each other in interleaved rounds.

A figure is a ratio of CPU times (`time.process_time`) taken in one run, because seconds depend on
the machine. The libraries alternate within a round, so that a temporary load of the machine slows
all of them, and the figure shown is the median of the rounds.

The garbage collector stays on, as in a user's program: its work on a graph is part of the cost.
Only `ways` turns it off.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Figure",
    "Prepare",
    "cpu_time",
    "figure",
    "growth_exponent",
    "interleaved",
    "ratios",
    "steady",
]

Prepare: TypeAlias = Callable[[], Callable[[], object]]
"""Makes, outside the measured time, the function that is called once inside it."""

# The approximate length of a measurement, which makes errors of the clock and interrupts small.
_TARGET_SECONDS = 0.02
_MOST_REPEATS = 20_000


@dataclass(frozen=True)
class Figure:
    """A median, and half the distance between the quartiles."""

    value: float
    spread: float


def figure(rounds: Sequence[float]) -> Figure:
    """The figure of two or more rounds."""
    low, middle, high = statistics.quantiles(rounds, n=4, method="inclusive")
    return Figure(middle, (high - low) / 2)


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """The ratios round by round, because the load of the machine is the same within a round."""
    return [a / b for a, b in zip(ours, theirs, strict=True)]


def steady(call: Callable[[], object]) -> Prepare:
    """For a program that can be called again and again."""
    return lambda: call


def cpu_time(prepare: Prepare, repeats: int = 1) -> float:
    """CPU seconds per call."""
    calls = [prepare() for _ in range(repeats)]
    gc.collect()
    start = time.process_time()
    for call in calls:
        call()
    return (time.process_time() - start) / repeats


def _repeats(prepare: Prepare) -> int:
    """The number of calls, from first calls that also warm up."""
    once = cpu_time(prepare)
    if once < 10 * _TARGET_SECONDS:
        once = max(cpu_time(prepare, 3), 1e-7)
    return max(1, min(_MOST_REPEATS, math.ceil(_TARGET_SECONDS / once)))


def interleaved(programs: Mapping[str, Prepare], rounds: int) -> dict[str, list[float]]:
    """CPU seconds per call of each program, one figure for each round."""
    repeats = {name: _repeats(prepare) for name, prepare in programs.items()}
    found: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, prepare in programs.items():
            found[name].append(cpu_time(prepare, repeats[name]))
    return found


def growth_exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The slope of the straight line closest to the logarithms: 1 for linear, 2 for quadratic."""
    x = [math.log(size) for size in sizes]
    y = [math.log(cost) for cost in costs]
    return statistics.linear_regression(x, y).slope

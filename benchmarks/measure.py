"""Measuring two programs against each other in interleaved rounds.

A figure is the ratio of medians of CPU time (`time.process_time`), because a ratio taken in one
run means something on another machine. Rounds of the two programs alternate, so that a machine
that is busy for a while slows both.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Ratio", "cpu_time", "growth_exponent", "ratio"]


@dataclass(frozen=True)
class Ratio:
    """What came out of one comparison.

    Attributes
    ----------
    ours, theirs : float
        Median CPU seconds per call.
    value : float
        `ours` over `theirs`.
    spread : float
        Half the distance between the quartiles of the rounds' ratios.
    """

    ours: float
    theirs: float
    value: float
    spread: float


def cpu_time(program: Callable[[], object], repeats: int) -> float:
    """CPU seconds per call, over `repeats` calls with the garbage collector off."""
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        for _ in range(repeats):
            program()
        return (time.process_time() - start) / repeats
    finally:
        gc.enable()


def ratio(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    repeats: int,
    rounds: int = 7,
) -> Ratio:
    """Compare two programs that do the same."""
    ours()
    theirs()
    mine: list[float] = []
    other: list[float] = []
    for _ in range(rounds):
        mine.append(cpu_time(ours, repeats))
        other.append(cpu_time(theirs, repeats))
    ratios = [a / b for a, b in zip(mine, other, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Ratio(
        statistics.median(mine),
        statistics.median(other),
        statistics.median(ratios),
        (high - low) / 2,
    )


def growth_exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of a straight line through the logarithms: 1 for linear, 2 for quadratic."""
    x = [math.log(n) for n in sizes]
    y = [math.log(s) for s in seconds]
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)

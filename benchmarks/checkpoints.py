"""The heat equation over many steps, in the memory of 20 states, beside a plain loop."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

import vtgrad as vt
from benchmarks.bench import Bench
from benchmarks.measure import cpu_time, steady
from benchmarks.results import Result

SECTION = "heat equation in the memory of 20 states"
CELLS = 1000
STEPS = 10_000
QUICK_STEPS = 500
SNAPSHOTS: Final = 20

Loop = Callable[[], vt.Tensor]


def loops(steps: int) -> tuple[Loop, Loop]:
    """The same program with checkpoints and without; each returns the gradient."""
    rng = np.random.default_rng(0)
    start = vt.tensor(rng.uniform(0.0, 1.0, CELLS))
    conductivity = vt.tensor(rng.uniform(0.05, 0.2, CELLS - 2)).requires_grad_()

    def step(u: vt.Tensor) -> vt.Tensor:
        u[1:-1] += conductivity * (u[:-2] + u[2:] - 2.0 * u[1:-1])
        return u

    def gradient(u: vt.Tensor) -> vt.Tensor:
        (found,) = vt.autograd.grad((u * u).sum(), conductivity)
        assert found is not None
        return found

    def plain() -> vt.Tensor:
        u = start.clone()
        for _ in range(steps):
            u = step(u)
        return gradient(u)

    def with_checkpoints() -> vt.Tensor:
        return gradient(
            vt.utils.checkpoint.checkpoint_loop(step, start, steps, snapshots=SNAPSHOTS)
        )

    return with_checkpoints, plain


def peak(loop: Loop) -> float:
    """The largest number of bytes that a run adds to the memory in use, in states."""
    gc.collect()
    tracemalloc.start()
    try:
        loop()
        return tracemalloc.get_traced_memory()[1] / (8 * CELLS)
    finally:
        tracemalloc.stop()


def rows(bench: Bench) -> Iterator[Result]:
    """The time, beside that of a plain loop, and the memory of both."""
    # Loads the package of the schedules, which is not to be measured.
    loops(2)[0]()
    steps = QUICK_STEPS if bench.quick else STEPS
    ours, plain = loops(steps)
    times = [cpu_time(steady(ours)) / cpu_time(steady(plain)) for _ in range(bench.rounds)]
    yield Result(SECTION, f"{steps:,} steps, time / plain loop", "times", {"vtgrad": times})
    for name, loop in (("20 snapshots", ours), ("plain loop", plain)):
        yield Result(
            SECTION, f"{steps:,} steps, {name}, peak / state", "times", {"vtgrad": [peak(loop)] * 2}
        )

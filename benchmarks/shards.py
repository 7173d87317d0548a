"""A likelihood of 64 shards on two processes, in times of the same on one.

The shards and the processes stay from call to call, and each process has recorded the program
before the first measurement. What is measured is the time that passes, not that of the processor,
so nothing else should run meanwhile. Half of the time on one process would be an efficiency of 1.
"""

import time
from collections.abc import Iterator

import vtgrad as vt
from benchmarks.bench import Bench
from benchmarks.results import Bar, Result
from vtgrad import Tensor
from vtgrad.distributed import SumOverShards, value_and_grad

SECTION = "a sum over shards"
SHARDS, ROWS, COLUMNS, PARTS = 64, 10_000, 8, 4
# An efficiency of 0.8.
BAR = 0.625

Weights = dict[str, Tensor]


def likelihood(p: Weights, x: Tensor) -> Tensor:
    """The negative log-likelihood of a mixture of normal distributions with unit variance."""
    logs = vt.log_softmax(p["shares"], 0)
    densities = vt.empty(x.shape[0], PARTS, dtype=x.dtype)
    for part in range(PARTS):
        away = x - p["means"][part]
        densities[:, part] = logs[part] - 0.5 * (away * away).sum(1)
    return -vt.logsumexp(densities, 1).sum()


def data(rows: int) -> tuple[Weights, list[Tensor]]:
    """Where a fit begins, and the shards."""
    generator = vt.Generator().manual_seed(1)
    means = vt.randn(PARTS, COLUMNS, generator=generator, dtype=vt.float64)
    shards = [
        means[nr % PARTS] + vt.randn(rows, COLUMNS, generator=generator, dtype=vt.float64)
        for nr in range(SHARDS)
    ]
    return {"shares": vt.zeros(PARTS, dtype=vt.float64), "means": means + 0.1}, shards


def _seconds(total: SumOverShards[Weights, Tensor], p: Weights) -> float:
    start = time.perf_counter()
    total(p)
    return time.perf_counter() - start


def ratios(rows: int, rounds: int) -> list[float]:
    """The time on two processes in times of that on one, in alternating calls."""
    p, shards = data(rows)
    with (
        value_and_grad(likelihood, shards=shards, workers=1) as one,
        value_and_grad(likelihood, shards=shards, workers=2) as two,
    ):
        for total in (one, two):
            for _ in range(3):
                total(p)
        return [_seconds(two, p) / _seconds(one, p) for _ in range(rounds)]


def rows(bench: Bench) -> Iterator[Result]:
    """The ratio of alternating calls."""
    size = ROWS // 8 if bench.quick else ROWS
    row = f"{SHARDS} shards of {size}x{COLUMNS}, two processes"
    found = ratios(size, bench.rounds)
    yield Result(SECTION, row, "times", {"vtgrad": found}, Bar(BAR, BAR, against=""))


if __name__ == "__main__":
    found = sorted(ratios(ROWS, 11))
    print(f"two processes: {found[5]:.3f} of one ({found[0]:.3f} to {found[-1]:.3f})")
    print(f"efficiency: {0.5 / found[5]:.2f}")

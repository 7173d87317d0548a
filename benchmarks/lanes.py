"""Backward of an ensemble on two lanes, in times of the same on one.

Four networks of 512x512 matrices, two on each lane. Fresh interpreters with one thread for each
product of matrices (``OPENBLAS_NUM_THREADS=1``): with more, one product would take both cores of a
small machine by itself, and lanes would show nothing. What is measured is the time that passes, not
that of the processor, so nothing else should run meanwhile.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import vtgrad as vt
from benchmarks.bench import Bench
from benchmarks.results import Bar, Result

SECTION = "an ensemble on lanes, backward"
NETWORKS, LAYERS, SIZE = 4, 4, 512
LIBRARIES_OF_PRODUCTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def ensemble(lanes: int, size: int = SIZE, repeats: int = 5) -> float:
    """The shortest time of a backward through all networks, in seconds."""
    devices = [vt.device("lane", nr % lanes) for nr in range(NETWORKS)]
    generator = vt.Generator().manual_seed(1)
    networks = [
        [
            ((vt.rand(size, size, generator=generator) - 0.5) / 16).to(device).requires_grad_()
            for _ in range(LAYERS)
        ]
        for device in devices
    ]
    batch = vt.rand(size, size, generator=generator)
    inputs = [batch.to(device) for device in devices]
    times = []
    for _ in range(repeats):
        total = vt.zeros(())
        for x, weights in zip(inputs, networks, strict=True):
            for weight in weights:
                weight.grad = None
                x = (x @ weight).tanh()
            total = total + (x * x).sum().cpu()
        start = time.perf_counter()
        total.backward()
        times.append(time.perf_counter() - start)
    return min(times)


def _seconds(lanes: int, size: int) -> float:
    program = f"from benchmarks.lanes import ensemble; print(ensemble({lanes}, {size}))"
    environment = os.environ | dict.fromkeys(LIBRARIES_OF_PRODUCTS, "1")
    command = [sys.executable, "-c", program]
    return float(subprocess.check_output(command, text=True, env=environment))


def rows(bench: Bench) -> Iterator[Result]:
    """The ratio of alternating runs."""
    size = 64 if bench.quick else SIZE
    found = [_seconds(2, size) / _seconds(1, size) for _ in range(bench.rounds)]
    row = f"{NETWORKS} networks of {size}x{size}, two lanes"
    yield Result(SECTION, row, "times", {"vtgrad": found}, Bar(0.75, 0.75, against=""))


if __name__ == "__main__":
    print(*[f"{nr} lanes: {_seconds(nr, SIZE):.3f} s" for nr in (1, 2)], sep="\n")

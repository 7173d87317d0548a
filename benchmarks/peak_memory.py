"""Peak memory in units of the minimum: a net with 50 layers, and 50 writes of one array."""

import gc
import tracemalloc
from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Body, Library, Real, Toolkit
from benchmarks.results import Bar, Result
from benchmarks.ways import Way, both_passes

SECTION = "peak memory"
LAYERS = 50
ELEMENTS = 250_000
# PyTorch's memory is not allocated through Python, so it cannot be traced.
UNTRACED = ("torch",)
WAYS: dict[Way, Bar | None] = {"rewind": Bar(1.2, 1.2, against=""), "clone": None}


def net(lib: Toolkit, x: Array) -> Array:
    """Every layer needs its own result for its gradient, and nothing else."""
    y = x
    for _ in range(LAYERS):
        y = lib.ops.tanh(y * 1.1)
    return y.sum()


def minimum(array: Real) -> int:
    """The fewest bytes at the peak.

    When the backward pass begins, the results of all layers are still needed, and one gradient,
    which each layer can then overwrite. (The end of the forward pass needs the same: the results,
    and the product from which the last one is computed.) The input belongs to the caller and does
    not count.
    """
    return (LAYERS + 1) * array.nbytes


def swing(lib: Toolkit, start: Array, *, clone: bool = False) -> Array:
    """Every step needs the value that it overwrites for its gradient, and nothing else."""
    x = lib.clone(start)
    for _ in range(LAYERS):
        x += 0.1 * lib.ops.sin(lib.clone(x) if clone else x)
    return x.sum()


def overwritten(array: Real) -> int:
    """The bytes that the steps overwrite, plus the one storage that they write."""
    return (LAYERS + 1) * array.nbytes


def peak(library: Library, body: Body, array: Real, way: Way = "exact") -> int:
    """The largest number of bytes that both passes add to the memory in use before."""
    both = both_passes(library, body, [array], way)()
    both()
    gc.collect()
    tracemalloc.start()
    try:
        both()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rows(bench: Bench) -> Iterator[Result]:
    """The net beside the peers, then the steps in both possible ways."""
    array = np.linspace(-2.0, 2.0, ELEMENTS, dtype=np.float32)
    able = bench.able(writes=False, without=UNTRACED)
    found = {
        name: [peak(library, net, array) / minimum(array) for _ in range(2)]
        for name, library in able.items()
    }
    yield Result(SECTION, "50 layers, peak / minimum", "times", found, Bar(1.15, 1.15, against=""))
    ours = bench.libraries["vtgrad"]
    for way, bar in WAYS.items():
        found = {"vtgrad": [peak(ours, swing, array, way) / overwritten(array) for _ in range(2)]}
        yield Result(SECTION, f"50 steps, {way}, peak / overwritten", "times", found, bar)

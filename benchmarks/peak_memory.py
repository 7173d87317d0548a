"""Peak memory of an elementwise net with 50 layers, in units of the least that it needs."""

import gc
import tracemalloc
from collections.abc import Iterator

import numpy as np

from .bench import Bench
from .libraries import Array, Library, Real, Toolkit
from .results import Bar, Result

SECTION = "peak memory"
LAYERS = 50
ELEMENTS = 250_000
# PyTorch's memory is not allocated through Python, where it could be traced.
UNTRACED = ("torch",)


def net(lib: Toolkit, x: Array) -> Array:
    """Every layer needs its own result for its gradient, and nothing else."""
    y = x
    for _ in range(LAYERS):
        y = lib.ops.tanh(y * 1.1)
    return y.sum()


def minimum(array: Real) -> int:
    """The fewest bytes at the peak.

    When the backward pass begins, the results of all layers are still needed, and there has to be
    room for one gradient, which each layer can then write over. (When the forward pass ends it is
    the same: the results, and the product that the last one is computed from.) The input is the
    caller's and does not count.
    """
    return (LAYERS + 1) * array.nbytes


def peak(library: Library, array: Real) -> int:
    """Bytes that both passes add, at most, to what was there before."""
    both = library.differentiate(net, [array])
    both()
    gc.collect()
    tracemalloc.start()
    try:
        both()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def rows(bench: Bench) -> Iterator[Result]:
    """The one figure."""
    array = np.linspace(-2.0, 2.0, ELEMENTS, dtype=np.float32)
    able = bench.able(writes=False, without=UNTRACED)
    found = {
        name: [peak(library, array) / minimum(array) for _ in range(2)]
        for name, library in able.items()
    }
    yield Result(SECTION, "50 layers, peak / minimum", "times", found, Bar(1.15, 1.15, against=""))

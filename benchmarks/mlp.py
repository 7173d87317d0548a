"""One step of a network with two layers: forward and backward."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real, Toolkit
from benchmarks.results import Bar, Result

SECTION = "network with two layers, one step"
SMALL = (32, 64, 64, 10)
LARGE = (256, 1024, 1024, 10)


def step(lib: Toolkit, a: Array, b: Array, c: Array, d: Array, x: Array) -> Array:
    """The loss."""
    return lib.logsumexp(lib.ops.tanh(x @ a + b) @ c + d).mean()


def inputs(width: int, hidden: int, classes: int) -> list[Real]:
    """The weights."""
    rng = np.random.default_rng(0)
    return [
        rng.normal(size=(width, hidden)) / width**0.5,
        rng.normal(size=hidden),
        rng.normal(size=(hidden, classes)) / hidden**0.5,
        rng.normal(size=classes),
    ]


def samples(batch: int, width: int) -> list[Real]:
    """The samples and their targets."""
    return [np.random.default_rng(1).normal(size=(batch, width))]


def rows(bench: Bench) -> Iterator[Result]:
    """A network dominated by overhead, and one dominated by matrix products."""
    for name, sizes, bar in (
        ("32x64-64-10", SMALL, Bar(0.9, 0.6)),
        ("256x1024-1024-10", LARGE, None),
    ):
        if bar is None and bench.quick:
            continue
        yield bench.compare_body(
            SECTION,
            name,
            step,
            inputs(*sizes[1:]),
            "both",
            bar,
            constants=samples(*sizes[:2]),
        )

"""The heat equation on an n by n grid, whose inside is updated in place step by step."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real, Toolkit
from benchmarks.results import Result

SECTION = "heat stencil, 20 steps in place"
STEPS = 20


def heat(lib: Toolkit, start: Array, conductivity: Array) -> Array:
    """The weighted final temperatures."""
    del lib
    u = start * 1.0
    inside, north, south, west, east = (
        u[1:-1, 1:-1],
        u[:-2, 1:-1],
        u[2:, 1:-1],
        u[1:-1, :-2],
        u[1:-1, 2:],
    )
    for _ in range(STEPS):
        inside += conductivity * (north + south + west + east - 4.0 * inside)
    return (u * u).sum()


def inputs(n: int) -> list[Real]:
    """Temperatures, and a conductivity for every cell inside."""
    rng = np.random.default_rng(0)
    return [rng.uniform(0.0, 1.0, (n, n)), rng.uniform(0.05, 0.2, (n - 2, n - 2))]


def rows(bench: Bench) -> Iterator[Result]:
    """Both passes together."""
    for n in (64,) if bench.quick else (64, 512):
        yield bench.compare_body(SECTION, f"n = {n}", heat, inputs(n), "both", writes=True)

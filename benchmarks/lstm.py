"""A loop over the cells of an LSTM: many small operators, and slices of one product."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real, Toolkit
from benchmarks.results import Result

SECTION = "LSTM cells in a loop"


def loop(lib: Toolkit, weights: Array, recurrent: Array, bias: Array, x: Array) -> Array:
    """The mean of the last hidden state."""
    steps, batch, _ = x.shape
    width = recurrent.shape[0]
    h, c = lib.zeros(batch, width), lib.zeros(batch, width)
    for t in range(steps):
        gates = x[t] @ weights + h @ recurrent + bias
        entrance = lib.sigmoid(gates[:, :width])
        memory = lib.sigmoid(gates[:, width : 2 * width])
        exit_ = lib.sigmoid(gates[:, 2 * width : 3 * width])
        c = memory * c + entrance * lib.ops.tanh(gates[:, 3 * width :])
        h = exit_ * lib.ops.tanh(c)
    return h.mean()


def inputs(width: int) -> list[Real]:
    """The weights."""
    rng = np.random.default_rng(0)
    return [
        rng.normal(size=(width, 4 * width)) / width**0.5,
        rng.normal(size=(width, 4 * width)) / width**0.5,
        rng.normal(size=4 * width),
    ]


def sequence(steps: int, batch: int, width: int) -> list[Real]:
    """The input sequence."""
    return [np.random.default_rng(1).normal(size=(steps, batch, width))]


def rows(bench: Bench) -> Iterator[Result]:
    """Both passes together."""
    yield bench.compare_body(
        SECTION, "50 steps, 16x32", loop, inputs(32), "both", constants=sequence(50, 16, 32)
    )

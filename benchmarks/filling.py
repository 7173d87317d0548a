"""A preallocated buffer that is filled row by row: the growth of the cost with the rows."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.bench import Bench, Pass, prepared
from benchmarks.libraries import Array, Body, Library, Real, Toolkit
from benchmarks.measure import Prepare
from benchmarks.results import Bar, Result

SECTION = "rows written into a (T, 64) buffer"
GROWTH = 1.1
LENGTHS = (1000, 4000, 16_000)
# At 16,000 rows, MyGrad takes minutes for a round, and PyTorch a quarter of a minute if earlier
# rows are read.
TOO_SLOW = {"write": ("mygrad",), "write and read": ("mygrad", "torch")}


def fill(lib: Toolkit, row: Array, *, length: int) -> Array:
    """Every row is written once."""
    buffer = lib.zeros(length, 64)
    for t in range(length):
        buffer[t] = row
    return buffer.sum()


def march(lib: Toolkit, row: Array, *, length: int) -> Array:
    """Every row is computed from the one before and an earlier one."""
    buffer = lib.zeros(length, 64)
    buffer[0] = row
    for t in range(1, length):
        buffer[t] = 0.5 * buffer[t - 1] + 0.25 * buffer[t // 2] + row
    return buffer.sum()


PROGRAMS: dict[str, Body] = {"write": fill, "write and read": march}


def inputs() -> list[Real]:
    """The row."""
    return [np.linspace(0.5, 1.5, 64)]


def rows(bench: Bench) -> Iterator[Result]:
    """Growth of both passes, then the backward pass beside the peers."""
    lengths = LENGTHS[:2] if bench.quick else LENGTHS
    for name, body in PROGRAMS.items():
        for part in ("forward", "backward"):
            yield bench.growth(
                SECTION,
                f"{name}, {part}, T to {lengths[-1]:,}",
                lengths,
                partial(_sized, body, part),
                GROWTH,
                without=TOO_SLOW[name],
            )
    for length, bar, without in (
        (250, None, ()),
        (1000, None, ()),
        (4000, None, ("mygrad",)),
        (16_000, Bar(0.1, 0.03), ("mygrad",)),
    ):
        if length > (250 if bench.quick else lengths[-1]):
            continue
        for name, body in PROGRAMS.items():
            if length == LENGTHS[-1] and "torch" in TOO_SLOW[name]:
                continue
            yield bench.compare_body(
                SECTION,
                f"{name}, backward, T = {length:,}",
                partial(body, length=length),
                inputs(),
                "backward",
                bar,
                writes=True,
                without=without,
                rounds=3 if length > 1000 else None,
            )


def _sized(body: Body, part: Pass, library: Library, length: int) -> Prepare:
    return prepared(library, partial(body, length=length), inputs(), part)

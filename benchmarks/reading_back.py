"""Loops that read what they wrote, in a table whose elements are each written once."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Body, Real, Toolkit
from benchmarks.results import Result
from benchmarks.ways import Way, alone, beside_peers

SECTION = "loops that read what they wrote, both passes"
LENGTHS = (1000, 4000, 16_000)


def by_rows(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """Every row from the one before."""
    table = lib.zeros(length, 64)
    table[0] = row
    for t in range(1, length):
        before = table[t - 1]
        table[t] = a * (lib.clone(before) if clone else before) + row
    return table.sum()


def by_columns(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """Every column from the one before."""
    table = lib.zeros(64, length)
    table[:, 0] = row
    for t in range(1, length):
        before = table[:, t - 1]
        table[:, t] = a * (lib.clone(before) if clone else before) + row
    return table.sum()


def by_strides(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """Every second element of a row from those of the row before."""
    table = lib.zeros(length, 128)
    table[0, ::2] = row
    for t in range(1, length):
        before = table[t - 1, ::2]
        table[t, ::2] = a * (lib.clone(before) if clone else before) + row
    return table.sum()


PROGRAMS: dict[str, Body] = {"rows": by_rows, "columns": by_columns, "strides": by_strides}
# The largest times in units of the same loop with copies.
BARS: dict[str, dict[Way, float | None]] = {
    "rows": {"exact": 1.05, "rewind": 1.3},
    "columns": {"exact": 1.1, "rewind": 1.3},
    "strides": {"exact": None, "rewind": 1.3},
}


def inputs() -> list[Real]:
    """The factor of the previous row, and the row that is added."""
    return [np.linspace(0.1, 0.9, 64), np.linspace(0.5, 1.5, 64)]


def rows(bench: Bench) -> Iterator[Result]:
    """Each loop alone, then beside the peers."""
    lengths = LENGTHS[:2] if bench.quick else LENGTHS
    for name, body in PROGRAMS.items():
        yield from alone(bench, SECTION, name, body, inputs(), lengths, BARS[name])
        yield beside_peers(bench, SECTION, name, body, inputs(), "exact")
        yield beside_peers(bench, SECTION, name, body, inputs(), "rewind")

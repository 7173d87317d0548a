"""Programs that overwrite values that their own backward needs, run under rewind."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Body, Real, Toolkit
from benchmarks.results import Result
from benchmarks.ways import alone, beside_peers

SECTION = "programs that overwrite what is needed, both passes"
LENGTHS = (1000, 4000, 16_000)
RING = 16
WINDOW = 64


def refilled(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """A table is filled row by row and squared, and the same table once more."""
    table = lib.zeros(length, 64)
    total = 0.0
    for _ in range(2):
        table[0] = row
        for t in range(1, length):
            before = table[t - 1]
            table[t] = a * (lib.clone(before) if clone else before) + row
        whole = lib.clone(table) if clone else table
        total = total + (whole * whole).sum()
        row = row * 0.5
    return total


def added_to(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """A state to which a function of itself is added."""
    x = row * 1.0
    for _ in range(length):
        x += 0.1 * a * lib.ops.sin(lib.clone(x) if clone else x)
    return x.sum()


def ring(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """The last rows only, each written over the oldest."""
    buffer = lib.zeros(RING, 64)
    buffer[0] = row
    for t in range(1, length):
        before = buffer[(t - 1) % RING]
        buffer[t % RING] = a * (lib.clone(before) if clone else before) + row
    return buffer.sum()


def whole_table(lib: Toolkit, a: Array, row: Array, *, length: int, clone: bool = False) -> Array:
    """Each step needs all of a table and writes one of its rows."""
    table = lib.zeros(WINDOW, 64)
    table[0] = row
    for t in range(1, length):
        before = lib.clone(table) if clone else table
        table[t % WINDOW] = (a * before).sum(0) / WINDOW + row
    return table.sum()


PROGRAMS: dict[str, Body] = {
    "table refilled": refilled,
    "x += f(x)": added_to,
    "ring": ring,
    "whole table": whole_table,
}
# PyTorch's own way computes wrong gradients, without an error, if a write goes through another view
# than the saved one: see `tests/oracle/test_benchmarks.py`.
WRONG_IN_TORCH = ("table refilled", "ring", "whole table")


def inputs() -> list[Real]:
    """The factor of the previous row, and the row that is added."""
    return [np.linspace(0.1, 0.9, 64), np.linspace(0.5, 1.5, 64)]


def rows(bench: Bench) -> Iterator[Result]:
    """Each program alone, then beside the peers."""
    lengths = LENGTHS[:2] if bench.quick else LENGTHS
    for name, body in PROGRAMS.items():
        yield from alone(bench, SECTION, name, body, inputs(), lengths, {"rewind": 1.3})
        without = ("torch",) if name in WRONG_IN_TORCH else ()
        yield beside_peers(bench, SECTION, name, body, inputs(), "rewind", without)

"""k writes into one base: slices of a vector, columns of a matrix, and through views of views.

And k reads through a chain of k views, each a part of the one before.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.bench import Bench, Pass, prepared
from benchmarks.libraries import Array, Body, Library, Real, Toolkit
from benchmarks.measure import Prepare
from benchmarks.results import Result

SECTION = "k writes into one base"
GROWTH = 1.1
COUNTS = (256, 1024, 4096)
# The largest sizes would take minutes.
TOO_SLOW = ("mygrad",)


def slices(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """Disjoint slices of a vector are added to, each once."""
    base = lib.zeros(16 * count)
    for i in range(count):
        part = base[16 * i : 16 * (i + 1)]
        part += piece
    return base.sum()


def columns(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """Every column of a matrix is replaced."""
    base = lib.zeros(16, count)
    for j in range(count):
        base[:, j] = piece
    return base.sum()


def nested(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """Rows are replaced through a view of a view of a view that is made once."""
    base = lib.zeros(2, count + 2, 20)
    view = base[1][1:-1][:, 2:18]
    for i in range(count):
        view[i] = piece
    return base.sum()


def nested_anew(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """The same, through views that are made anew for every write."""
    base = lib.zeros(2, count + 2, 20)
    for i in range(count):
        base[1][1:-1][:, 2:18][i] = piece
    return base.sum()


def reads_between(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """Columns are replaced, each computed from the one before."""
    base = lib.zeros(16, count)
    base[:, 0] = piece
    for j in range(1, count):
        base[:, j] = 0.5 * base[:, j - 1] + piece
    return base.sum()


def rest(lib: Toolkit, piece: Array, *, count: int) -> Array:
    """The first row is added up, and the rest goes on."""
    rows = lib.zeros(count, 16) + piece
    total = rows[0]
    for _ in range(count - 1):
        rows = rows[1:]
        total = total + rows[0]
    return total.sum()


PROGRAMS: dict[str, Body] = {
    "slices": slices,
    "columns": columns,
    "columns, with reads": reads_between,
    "nested views": nested,
    "nested views, made anew": nested_anew,
}
READS: dict[str, Body] = {"the first row of the rest": rest}


def inputs() -> list[Real]:
    """The values to write."""
    return [np.linspace(0.5, 1.5, 16)]


def rows(bench: Bench) -> Iterator[Result]:
    """Growth of both passes, and both beside the peers at 256 writes."""
    counts = COUNTS[:2] if bench.quick else COUNTS
    for name, body in (PROGRAMS | READS).items():
        for part in ("forward", "backward"):
            yield bench.growth(
                SECTION,
                f"{name}, {part}, k to {counts[-1]:,}",
                counts,
                partial(_sized, body, part),
                GROWTH,
                without=TOO_SLOW,
            )
    for name, body in PROGRAMS.items():
        yield bench.compare_body(
            SECTION,
            f"{name}, both, k = {COUNTS[0]}",
            partial(body, count=COUNTS[0]),
            inputs(),
            "both",
            writes=True,
        )


def _sized(body: Body, part: Pass, library: Library, count: int) -> Prepare:
    return prepared(library, partial(body, count=count), inputs(), part)

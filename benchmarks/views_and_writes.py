"""Views, and writes through them, on 4x4 float32: recorded, and differentiated."""

from collections.abc import Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Body, Real, Toolkit
from benchmarks.results import Bar, Result

SECTION = "views and writes, 4x4"
BAR = Bar(0.8, 0.35)


def reshape(lib: Toolkit, x: Array, row: Array) -> Array:
    """A view of another shape."""
    del lib, row
    return x.reshape((2, 8))


def slices(lib: Toolkit, x: Array, row: Array) -> Array:
    """A view of some rows, and of some columns of them."""
    del lib, row
    return x[1:3][:, 1:]


def setitem(lib: Toolkit, x: Array, row: Array) -> Array:
    """A row is replaced."""
    del lib
    y = x * 1.0
    y[0] = row
    return y


def in_place_on_a_view(lib: Toolkit, x: Array, row: Array) -> Array:
    """A row is doubled."""
    del lib, row
    y = x * 1.0
    view = y[0]
    view *= 2.0
    return y


PROGRAMS: dict[str, tuple[Body, bool]] = {
    "reshape": (reshape, False),
    "two slices": (slices, False),
    "y = x*1; y[0] = row": (setitem, True),
    "y = x*1; y[0].mul_(2)": (in_place_on_a_view, True),
}


def summed(body: Body) -> Body:
    """The program, ending in a scalar that can be differentiated."""

    def program(lib: Toolkit, x: Array, row: Array) -> Array:
        return body(lib, x, row).sum()

    return program


def inputs() -> list[Real]:
    """The matrix and the row."""
    return [np.linspace(0.5, 1.5, 16).reshape(4, 4), np.linspace(-1.0, 1.0, 4)]


def rows(bench: Bench) -> Iterator[Result]:
    """Every program, forward alone and with its backward pass."""
    for name, (body, writes) in PROGRAMS.items():
        # A view alone costs less than reading and writing, but has the same bar.
        yield bench.compare_body(SECTION, name, body, inputs(), "forward", BAR, writes=writes)
        yield bench.compare_body(
            SECTION, f"{name}, backward", summed(body), inputs(), "both", BAR, writes=writes
        )

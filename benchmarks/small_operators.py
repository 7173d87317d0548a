"""Small operators on 4x4 float32, with and without grad: the cost of the library itself."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real
from benchmarks.measure import steady
from benchmarks.results import Bar, Result

SECTION = "small operators, 4x4"
BAR = Bar(1.0, 0.45)


def _add_(w: Array, x: Array) -> None:
    w += x


def _setitem(w: Array, row: Array) -> None:
    w[1] = row


def operations(x: Array) -> dict[str, Callable[[], Array]]:
    """The operators that only read `x`, by name."""
    return {
        "add": lambda: x + x,
        "mul": lambda: x * x,
        "select": lambda: x[1],
        "slice": lambda: x[1:3],
    }


def writes(w: Array, x: Array, row: Array) -> dict[str, Callable[[], Array]]:
    """The operators that write into `w`, by name."""
    return {"add_": lambda: _add_(w, x), "setitem": lambda: _setitem(w, row)}


def _square() -> Real:
    return np.linspace(0.5, 1.5, 16).reshape(4, 4)


def rows(bench: Bench) -> Iterator[Result]:
    """Every operator, alone and recorded."""
    libraries = bench.libraries.values()
    plain: dict[str, dict[str, Callable[[], Array]]] = {}
    recorded: dict[str, dict[str, Callable[[], Array]]] = {}
    for library in libraries:
        recorded[library.name] = operations(library.leaf(_square()))
        if library.wraps_constants:
            x, w = library.constant(_square()), library.constant(_square())
            row = library.constant(_square()[0])
            # Zero is added, so that repetitions do not overflow.
            plain[library.name] = operations(x) | writes(w, x * 0, row)
    for label, programs in (("", plain), (", recorded", recorded)):
        for name in programs["vtgrad"]:
            yield bench.compare(
                SECTION,
                name + label,
                {library: steady(of[name]) for library, of in programs.items()},
                BAR,
            )

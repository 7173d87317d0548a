"""Small operators on 4x4 float32, with and without grad: the cost of the library itself."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

import vtgrad as vt

from .measure import Ratio, ratio

BAR = 1.0


def programs(lib: Any) -> dict[str, Callable[[], object]]:
    """The programs of one library, by name."""
    x = lib.ones(4, 4)
    g = lib.ones(4, 4, requires_grad=True)
    w = lib.ones(4, 4)
    return {
        "add": lambda: x + x,
        "add, recorded": lambda: g + g,
        "mul": lambda: x * x,
        "mul, recorded": lambda: g * g,
        "select": lambda: x[1],
        "select, recorded": lambda: g[1],
        "slice": lambda: x[1:3],
        "slice, recorded": lambda: g[1:3],
        "add_": lambda: w.add_(x),
    }


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    theirs = programs(torch)
    for name, ours in programs(vt).items():
        yield name, ratio(ours, theirs[name], repeats=5000), BAR

"""A write through a view, forward alone and with backward."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

import vtgrad as vt

from .measure import Ratio, ratio

BAR = 0.8


def programs(lib: Any) -> dict[str, Callable[[], object]]:
    """The programs of one library, by name."""
    x = lib.ones(4, 4, requires_grad=True)

    def write() -> object:
        y = x * 1
        y[0].mul_(2)
        return y

    def write_and_differentiate() -> None:
        write().sum().backward()  # type: ignore[attr-defined]  # of either library

    return {"y[0].mul_(2)": write, "y[0].mul_(2), backward": write_and_differentiate}


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    theirs = programs(torch)
    for name, ours in programs(vt).items():
        yield name, ratio(ours, theirs[name], repeats=1000), BAR

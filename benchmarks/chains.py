"""Chains of 1,000 nodes: forward and backward per node."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

import vtgrad as vt

from .measure import Ratio, ratio

NODES = 1000


def forward(lib: Any) -> Callable[[], object]:
    """Builds the chain."""
    x = lib.ones(4, requires_grad=True)

    def program() -> object:
        y = x
        for _ in range(NODES):
            y = y * 1.5
        return y

    return program


def backward(lib: Any) -> Callable[[], object]:
    """Differentiates a chain that stays."""
    root = forward(lib)()
    ones = lib.ones(4)
    return lambda: root.backward(ones, retain_graph=True)  # type: ignore[attr-defined]  # of either library


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    yield "forward", ratio(forward(vt), forward(torch), repeats=5), 1.1
    yield "backward", ratio(backward(vt), backward(torch), repeats=5), 0.5

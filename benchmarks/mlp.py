"""One step of a small network, 32x64-64-10: forward and backward."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

import vtgrad as vt

from .measure import Ratio, ratio

BAR = 0.9


def step(lib: Any) -> Callable[[], object]:
    """The step of one library."""
    lib.manual_seed(0)
    x = lib.randn(32, 64)
    weights = [
        lib.randn(*shape, requires_grad=True) for shape in ((64, 64), (64,), (64, 10), (10,))
    ]

    def program() -> None:
        a, b, c, d = weights
        loss = ((x @ a + b).tanh() @ c + d).logsumexp(1).mean()
        for w in weights:
            w.grad = None
        loss.backward()

    return program


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    yield "step", ratio(step(vt), step(torch), repeats=200), BAR

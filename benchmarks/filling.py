"""A preallocated buffer that is filled in a loop: how backward grows with the number of writes."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

import vtgrad as vt

from .measure import Ratio, cpu_time, growth_exponent, ratio

BAR = 1.1
LENGTHS = [1000, 2000, 4000, 8000, 16000]


def filled(lib: Any, length: int) -> Callable[[], object]:
    """Backward through a (length, 64) buffer that was written row by row."""
    row = lib.ones(64, requires_grad=True)
    buffer = lib.zeros(length, 64)
    for i in range(length):
        buffer[i] = row
    ones = lib.ones(length, 64)
    return lambda: buffer.backward(ones, retain_graph=True)


def exponents() -> Iterator[tuple[str, float, float]]:
    """Name, growth exponent and bar."""
    seconds = [min(cpu_time(filled(vt, n), 1) for _ in range(3)) for n in LENGTHS]
    yield "rows, backward, T to 16,000", growth_exponent(LENGTHS, seconds), BAR


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    for length, rounds, bar in ((1000, 5, 1.0), (16000, 2, 0.1)):
        yield (
            f"rows, backward, T = {length:,}",
            ratio(filled(vt, length), filled(torch, length), repeats=1, rounds=rounds),
            bar,
        )

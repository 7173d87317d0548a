"""A million elements and more: forward and backward against the same written by hand in NumPy."""

from collections.abc import Iterator

import numpy as np

import vtgrad as vt

from .measure import Ratio, ratio

BAR = 1.15


def by_hand(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> object:
    """Sum of tanh(x) * x, and its gradient."""
    t = np.tanh(x)
    value = np.sum(t * x)
    gradient = (1 - t * t) * x
    gradient += t
    return value, gradient


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    for size, repeats in ((1_000_000, 3), (10_000_000, 1)):
        array = np.linspace(-2, 2, size)
        leaf = vt.from_numpy(array).requires_grad_()

        def ours(leaf: vt.Tensor = leaf) -> None:
            leaf.grad = None
            (leaf.tanh() * leaf).sum().backward()

        yield (
            f"{size:,} elements, forward and backward",
            ratio(ours, lambda a=array: by_hand(a), repeats=repeats, rounds=5),
            BAR,
        )

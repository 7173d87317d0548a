"""Calls of functions that are imported when a program first names them, as samples for tests.

Each is a function of tensors. Their values differ, so that no derivative is taken at a kink.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

import vtgrad as vt

__all__ = ["CALLS", "Call", "values"]

Call = tuple[Callable[..., object], Sequence[tuple[int, ...]]]


def values(shape: tuple[int, ...], nr: int = 0, *, complex: bool = False) -> vt.Tensor:
    """Values between -2 and 2, no two of which are near each other."""
    generator = np.random.default_rng(nr)
    size = int(np.prod(shape))
    found = generator.permutation(np.linspace(-2, 2, size) + 0.01 * nr).reshape(shape)
    if complex:
        found = found + 1j * generator.permutation(found.reshape(-1)).reshape(shape)
    return vt.tensor(found)


# By name: a call, and the shapes of the tensors that it takes.
CALLS: Final[Mapping[str, Call]] = {
    "corrcoef": (vt.corrcoef, [(3, 5)]),
    "cov": (vt.cov, [(3, 5)]),
    "cov of one variable": (lambda x: x.cov(correction=0), [(5,)]),
    "cov with weights": (
        lambda x, w: vt.cov(x, fweights=vt.tensor([1, 2, 1, 3]), aweights=w * w + 1),
        [(2, 4), (4,)],
    ),
}

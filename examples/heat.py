"""The heat equation on a grid that is updated in place, through slices.

Five views of one array are taken once: the inside and its four neighbourhoods. Each step adds to
the inside what flows in. The product saves the conductivity and that flow, which is a new array, so
that nothing saved is overwritten: it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

STEPS, N = 10, 7


def final_energy(start: vt.Tensor, conductivity: vt.Tensor) -> vt.Tensor:
    """The sum of the squares of the final temperatures."""
    u = start.clone()  # the input is the caller's
    inside = u[1:-1, 1:-1]
    north, south, west, east = u[:-2, 1:-1], u[2:, 1:-1], u[1:-1, :-2], u[1:-1, 2:]
    for _ in range(STEPS):
        inside += conductivity * (north + south + west + east - 4 * inside)
    return (u * u).sum()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    temperatures = rng.uniform(0.0, 1.0, (N, N))
    check(final_energy, temperatures, rng.uniform(0.05, 0.2, (N - 2, N - 2)), way="exact")

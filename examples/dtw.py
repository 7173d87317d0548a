"""Dynamic time warping: the least cost of matching two series, which may be stretched.

Cell (i, j) of the table is the distance of two values plus the smallest of three neighbours. A
minimum saves the two cells that it compares, which are not written again: it runs by default.
"""

from __future__ import annotations

import math

import numpy as np
from _check import check

import vtgrad as vt


def distance(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
    """The sum of squared differences along the best path."""
    n, m = len(x), len(y)
    table = vt.full((n + 1, m + 1), math.inf, dtype=vt.float64)
    table[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            best = vt.minimum(table[i, j], vt.minimum(table[i, j + 1], table[i + 1, j]))
            table[i + 1, j + 1] = (x[i] - y[j]) ** 2 + best
    return table[n, m]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    check(distance, rng.normal(size=8).cumsum(), rng.normal(size=6).cumsum(), way="exact")

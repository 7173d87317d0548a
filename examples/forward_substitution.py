"""Solve L x = b for a lower triangular matrix L, from the first row to the last.

Row i reads the part `x[:i]` that is solved already, and writes `x[i]` behind it. The product saves
a view that grows with i, of a vector that is still being filled: it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import FloatArray, check

import vtgrad as vt

N = 8


def weighted_solution(lower: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    """The sum of the solution's entries, weighted by 1, 2, 3, ..."""
    x = vt.zeros(N, dtype=vt.float64)
    for i in range(N):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return (x * vt.arange(1, N + 1)).sum()


def formula(lower: FloatArray, b: FloatArray) -> list[FloatArray]:
    """The gradients: v with L^T v = w for b, and -v x^T, below and on the diagonal, for L."""
    x = np.linalg.solve(lower, b)
    v = np.linalg.solve(lower.T, np.arange(1.0, N + 1))
    return [np.tril(-np.outer(v, x)), v]


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    matrix = np.tril(rng.uniform(-1.0, 1.0, (N, N))) + 2 * np.eye(N)
    right = rng.normal(size=N)
    check(weighted_solution, matrix, right, way="exact", expected=formula(matrix, right))

"""The logarithm of a determinant, by Gaussian elimination in the matrix itself.

Step k subtracts multiples of row k from all rows below, in place, which turns the column below the
pivot to zero. The multiples are quotients of that column, and need it as it was before: by default
the program is refused, and it runs under rewind.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

N = 7


def log_determinant(matrix: vt.Tensor) -> vt.Tensor:
    """The logarithm of the determinant, for a matrix whose pivots are positive."""
    a = matrix.clone()  # the input is the caller's
    for k in range(N - 1):
        a[k + 1 :, k:] -= a[k + 1 :, k, None] / a[k, k] * a[k, k:]
    return a.diagonal().log().sum()


if __name__ == "__main__":
    mixed = np.random.default_rng(0).uniform(-1.0, 1.0, (N, N)) + N * np.eye(N)
    # The derivative of log det A is the transpose of the inverse of A.
    check(log_determinant, mixed, way="rewind", expected=[np.linalg.inv(mixed).T])

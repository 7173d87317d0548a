"""The logarithm of a determinant, by a Cholesky factor that takes the place of the matrix.

Column j is reduced by the columns before it and then divided by the root of its first entry, both
in place. The products save columns that are not written again. The division needs the column as it
was before: of what an in-place division overwrites itself, the library keeps a copy. So it runs by
default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

N = 7


def log_determinant(matrix: vt.Tensor) -> vt.Tensor:
    """The logarithm of the determinant of a positive definite matrix, from its lower half."""
    a = matrix.clone()  # the input is the caller's
    for j in range(N):
        column = a[j:, j]
        column -= a[j:, :j] @ a[j, :j]
        column /= column[0].sqrt()
    return 2 * a.diagonal().log().sum()


if __name__ == "__main__":
    mixed = np.random.default_rng(0).uniform(-1.0, 1.0, (N, N))
    symmetric = mixed + mixed.T + 2 * N * np.eye(N)
    inverse = np.linalg.inv(symmetric)
    # The derivative of log det A is the inverse of A. An entry below the diagonal stands for its
    # mirror image too, which is not read.
    below = 2 * np.tril(inverse) - np.diag(np.diag(inverse))
    check(log_determinant, symmetric, way="exact", expected=[below])

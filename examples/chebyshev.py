"""Chebyshev polynomials of all degrees up to N, by their recurrence, into the rows of a table.

Row n is computed from the two rows before it: ``T[n] = 2 x T[n-1] - T[n-2]``. Rows that were read
are not written again: it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

N = 12


def last_row(x: vt.Tensor) -> vt.Tensor:
    """The sum of the polynomials of degree N at all points."""
    table = vt.empty(N + 1, len(x), dtype=vt.float64)
    table[0] = 1.0
    table[1] = x
    for n in range(2, N + 1):
        table[n] = 2 * x * table[n - 1] - table[n - 2]
    return table[N].sum()


if __name__ == "__main__":
    angles = np.array([0.3, 0.8, 1.2, 2.1])
    # The derivative of T_n is n U_{n-1}, and U_{n-1}(cos a) = sin(n a) / sin(a).
    formula = N * np.sin(N * angles) / np.sin(angles)
    check(last_row, np.cos(angles), way="exact", expected=[formula])

"""The first program of the README, with a trainable factor.

`level` is allocated once. Step t reads `level[t - 1]`, which the product with `a` saves for its
gradient, and writes `level[t]` beside it. No saved element is overwritten: it runs by default.
"""

from __future__ import annotations

from _check import check

import vtgrad as vt


def total(a: vt.Tensor, drive: vt.Tensor) -> vt.Tensor:
    """The sum of the levels."""
    level = vt.zeros(4, dtype=vt.float64)
    for t in range(1, 4):
        level[t] = a * level[t - 1] + drive
    return level.sum()


if __name__ == "__main__":
    # The levels are 0, d, (a + 1) d and (a^2 + a + 1) d. With a = 0.5 and d = 1, the derivative of
    # their sum by a is 1 + (2 a + 1) = 3, and by d it is 1 + 1.5 + 1.75.
    check(total, 0.5, 1.0, way="exact", expected=[3.0, 4.25])

"""An autoregression of order two: each value of a series follows from the two before it.

`x` is a table with one cell per time. Step t reads `x[t - 1]` and `x[t - 2]`, and writes `x[t]`.
Cells that were read are not written again: it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

SHOCKS = np.random.default_rng(0).normal(size=60)


def energy(phi: vt.Tensor) -> vt.Tensor:
    """The sum of squares of the series with coefficients `phi`."""
    x = vt.zeros(len(SHOCKS), dtype=vt.float64)
    for t in range(2, len(SHOCKS)):
        x[t] = phi[0] * x[t - 1] + phi[1] * x[t - 2] + SHOCKS[t].item()
    return (x * x).sum()


if __name__ == "__main__":
    check(energy, [0.6, -0.3], way="exact")

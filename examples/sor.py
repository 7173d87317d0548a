"""Successive over-relaxation: sweeps over one vector that solve Poisson's equation on a line.

Each step replaces an entry by a mixture of itself and of what its neighbours ask for. The factor of
the mixture is trainable, so its products need entries that the next step or sweep overwrites: by
default the program is refused, and it runs under rewind.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

SWEEPS, N = 6, 8


def error(omega: vt.Tensor, load: vt.Tensor) -> vt.Tensor:
    """How far from a solution the sweeps end: the squared residual."""
    u = vt.zeros(N + 2, dtype=vt.float64)  # zero at both ends
    for _ in range(SWEEPS):
        for i in range(1, N + 1):
            u[i] = (1 - omega) * u[i] + omega * (u[i - 1] + u[i + 1] + load[i - 1]) / 2
    residual = 2 * u[1:-1] - u[:-2] - u[2:] - load
    return (residual * residual).sum()


if __name__ == "__main__":
    check(error, 1.4, np.linspace(0.5, 2.0, N), way="rewind")

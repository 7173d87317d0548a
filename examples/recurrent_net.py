"""A recurrent net that keeps all its states in one table.

Step t reads row t of the table, multiplies it by the weights, and writes row t + 1. The product
saves row t, which is not written again: it runs by default.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

STEPS, HIDDEN, FEATURES = 12, 4, 3
rng = np.random.default_rng(0)
SERIES = rng.normal(size=(STEPS, FEATURES))
TARGET = rng.normal(size=(STEPS, HIDDEN))


def loss(recurrent: vt.Tensor, into: vt.Tensor, bias: vt.Tensor) -> vt.Tensor:
    """The mean squared distance of the states from a target."""
    series, target = vt.from_numpy(SERIES), vt.from_numpy(TARGET)
    states = vt.zeros(STEPS + 1, HIDDEN, dtype=vt.float64)
    for t in range(STEPS):
        states[t + 1] = (recurrent @ states[t] + into @ series[t] + bias).tanh()
    return ((states[1:] - target) ** 2).mean()


if __name__ == "__main__":
    check(
        loss,
        rng.normal(size=(HIDDEN, HIDDEN)) / 2,
        rng.normal(size=(HIDDEN, FEATURES)),
        rng.normal(size=HIDDEN),
        way="exact",
    )

"""A delayed oscillator that keeps its last K values only, in a ring.

Step t reads the newest and the oldest value, and writes the new one over the oldest. Products with
trainable factors need values that the ring has long overwritten: by default the program is refused,
and it runs under rewind.
"""

from __future__ import annotations

from _check import check

import vtgrad as vt

K, STEPS = 4, 30


def energy(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    """The sum of the squares of all values."""
    ring = vt.ones(K, dtype=vt.float64)
    total = vt.zeros((), dtype=vt.float64)
    for t in range(STEPS):
        newest, oldest = ring[(t - 1) % K], ring[t % K]
        ring[t % K] = a * newest - b * oldest.sin()
        total += ring[t % K] ** 2
    return total


if __name__ == "__main__":
    check(energy, 0.7, 0.8, way="rewind")

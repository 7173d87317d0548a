"""The Lorenz system, by the classical Runge-Kutta method, one row of a table for each time.

Step t reads row t of the trajectory, evaluates the right-hand side four times, and writes row
t + 1. The right-hand side writes its three components into an array of its own. Rows that were read
are not written again: it runs by default.
"""

from __future__ import annotations

from _check import check

import vtgrad as vt

STEPS, H = 40, 0.02


def slope(state: vt.Tensor, parameters: vt.Tensor) -> vt.Tensor:
    """The right-hand side."""
    x, y, z = state[0], state[1], state[2]
    sigma, rho, beta = parameters[0], parameters[1], parameters[2]
    out = vt.empty(3, dtype=vt.float64)
    out[0] = sigma * (y - x)
    out[1] = x * (rho - z) - y
    out[2] = x * y - beta * z
    return out


def mean_height(parameters: vt.Tensor, start: vt.Tensor) -> vt.Tensor:
    """The mean of the third component."""
    table = vt.empty(STEPS + 1, 3, dtype=vt.float64)
    table[0] = start
    for t in range(STEPS):
        now = table[t]
        k1 = slope(now, parameters)
        k2 = slope(now + H / 2 * k1, parameters)
        k3 = slope(now + H / 2 * k2, parameters)
        k4 = slope(now + H * k3, parameters)
        table[t + 1] = now + H / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return table[:, 2].mean()


if __name__ == "__main__":
    check(mean_height, [10.0, 28.0, 8.0 / 3.0], [1.0, 1.0, 1.0], way="exact")

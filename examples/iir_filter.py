"""A recursive filter fitted in place: the poles of an unknown one, from what it makes of noise.

The coefficients of two sections are written into a table, through its columns, and the filter is
one node of the graph. Its derivatives by the poles are columns of a Jacobian in forward mode, and
a few steps of the method of Gauss and Newton find the poles.
"""

from __future__ import annotations

import numpy as np
from _check import check

import vtgrad as vt

rng = np.random.default_rng(0)
NOISE = vt.tensor(rng.normal(size=400))
RADII, ANGLES = np.array([0.9, 0.7]), np.array([0.5, 1.8])


def made_by(radii: vt.Tensor, angles: vt.Tensor) -> vt.Tensor:
    """What the filter with these pairs of poles makes of the noise."""
    sections = vt.zeros(2, 6, dtype=vt.float64)
    sections[:, 0] = sections[:, 3] = 1.0
    sections[:, 4] = -2 * radii * vt.cos(angles)
    sections[:, 5] = radii**2
    sections[0, :3] *= (1 - radii).prod()  # of a similar size for all poles
    return vt.signal.sosfilt(sections, NOISE)


MEASURED = made_by(vt.tensor(RADII), vt.tensor(ANGLES)) + vt.tensor(0.001 * rng.normal(size=400))


def misfit(poles: vt.Tensor) -> vt.Tensor:
    """The sum of squared differences from what was measured."""
    return ((made_by(poles[0], poles[1]) - MEASURED) ** 2).sum()


def fitted(poles: vt.Tensor) -> vt.Tensor:
    """The poles after eight steps, each of which is written into the tensor."""
    jacobian = vt.func.jacfwd(lambda p: made_by(p[0], p[1]))
    for _ in range(8):
        slopes = jacobian(poles).flatten(1).numpy()
        missing = (MEASURED - made_by(poles[0], poles[1])).numpy()
        poles += vt.tensor(np.linalg.lstsq(slopes, missing)[0]).view(2, 2)
    return poles


if __name__ == "__main__":
    start = np.array([[0.85, 0.6], [0.6, 1.7]])
    found = fitted(vt.tensor(start)).numpy()
    assert np.abs(found - [RADII, ANGLES]).max() < 0.01, found
    check(misfit, start, way="exact")

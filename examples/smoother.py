"""A Kalman smoother in matrices: the level of the Nile's annual flow, given all years.

The filter writes means and covariances into the rows of two tables. The smoother goes back and
corrects each row in place by the one behind it (H. E. Rauch, F. Tung and C. T. Striebel, AIAA
Journal 3, 1965). Its means are those of a least squares problem.
"""

from __future__ import annotations

import numpy as np
from _check import FloatArray, check

import vtgrad as vt
from vtgrad.demo.data import load_nile

FLOWS = np.array(load_nile().flows, np.float64)
START = 1e7
STEP = vt.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=vt.float64)


def filtered(y: FloatArray, of_step: vt.Tensor, of_y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    """Means and covariances of a level and its last change, each given the years so far."""
    count = len(y)
    means = vt.zeros(count, 2, dtype=vt.float64)
    covariances = vt.zeros(count, 2, 2, dtype=vt.float64)
    for t in range(count):
        if t == 0:
            covariances[0] = START * vt.eye(2, dtype=vt.float64)
        else:
            means[t], covariances[t] = stepped(means[t - 1], covariances[t - 1], of_step)
        spread = covariances[t, :1, :1] + of_y
        gain = vt.linalg.solve(spread, covariances[t, :1]).mT
        means[t] += gain @ (y[t] - means[t, :1])
        covariances[t] -= gain @ spread @ gain.mT
    return means, covariances


def stepped(mean: vt.Tensor, spread: vt.Tensor, of_step: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    """Mean and covariance of the next state: the level changes as before, but for noise."""
    return STEP @ mean, STEP @ spread @ STEP.mT + of_step.diag()


def smoothed(y: FloatArray, logarithms: vt.Tensor) -> vt.Tensor:
    """The means of levels and changes, given all years."""
    of_y, of_step = logarithms[:1].exp(), logarithms[1:].exp()
    means, covariances = filtered(y, of_step, of_y)
    for t in reversed(range(len(y) - 1)):
        mean, covariance = stepped(means[t], covariances[t], of_step)
        gain = vt.linalg.solve(covariance, STEP @ covariances[t]).mT
        means[t] += gain @ (means[t + 1] - mean)
    return means


def by_least_squares(y: FloatArray, variances: FloatArray) -> FloatArray:
    """The same means, as the solution of all equations at once."""
    of_y, *of_step = variances
    count = len(y)
    rows = [np.eye(2 * count)[:2] / START**0.5, np.eye(2 * count)[::2] / of_y**0.5]
    for t in range(count - 1):
        row = np.zeros((2, 2 * count))
        row[:, 2 * t : 2 * t + 4] = np.hstack([-STEP.numpy(), np.eye(2)])
        rows.append(row / np.sqrt(of_step)[:, np.newaxis])
    right = np.concatenate([np.zeros(2), y / of_y**0.5, np.zeros(2 * (count - 1))])
    solution: FloatArray = np.linalg.lstsq(np.concatenate(rows), right)[0]
    return solution.reshape(count, 2)


def roughness(logarithms: vt.Tensor) -> vt.Tensor:
    """How much the smoothed level changes from year to year."""
    levels = smoothed(FLOWS, logarithms)[:, 0]
    return (levels[1:] - levels[:-1]).square().sum()


if __name__ == "__main__":
    at = np.log([15099.0, 1469.1, 10.0])
    found, expected = smoothed(FLOWS, vt.from_numpy(at)), by_least_squares(FLOWS, np.exp(at))
    assert np.allclose(found.numpy(), expected, rtol=1e-6, atol=1e-3)
    check(roughness, at, way="exact")

"""A Kalman filter in matrices, with missing values: the likelihood of the Nile's annual flow.

Means and covariances of the state are rows of two tables, which the loop writes step by step. At
the published estimates of the local level model the likelihood is the published one. Then the model
gets a slope, two stretches of 20 years are taken for missing, and the gradient by the logarithms of
variances is compared.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from _check import FloatArray, check

import vtgrad as vt
from vtgrad.demo.data import load_nile

# J. Durbin and S. J. Koopman, "Time Series Analysis by State Space Methods", 2012, section 2.10.
OBSERVED, LEVEL, PUBLISHED = 15099.0, 1469.1, -632.54
LOG_2_PI: Final = float(np.log(2 * np.pi))


def likelihood(
    y: FloatArray, step: vt.Tensor, seen: vt.Tensor, of_step: vt.Tensor, of_y: vt.Tensor
) -> vt.Tensor:
    """The log likelihood of the rows of `y` that are no nan, with a diffuse start.

    The state goes by ``step @ state`` with covariance `of_step`; ``seen @ state`` is observed with
    covariance `of_y`. The variance of the start is 1e7, and its share in the likelihood left out.
    """
    count, size = len(y), len(step)
    means = vt.zeros(count + 1, size, dtype=vt.float64)
    covariances = vt.zeros(count + 1, size, size, dtype=vt.float64)
    covariances[0] = 1e7 * vt.eye(size, dtype=vt.float64)
    total = vt.zeros((), dtype=vt.float64)
    for t in range(count):
        mean, covariance = means[t], covariances[t]
        if not np.isnan(y[t]).any():
            error = vt.from_numpy(y[t]) - seen @ mean
            spread = seen @ covariance @ seen.mT + of_y
            gain = vt.linalg.solve(spread, seen @ covariance).mT
            if t >= size:
                total -= LOG_2_PI * len(y[t]) + vt.logdet(spread)
                total -= error @ vt.linalg.solve(spread, error)
            mean = mean + gain @ error
            covariance = covariance - gain @ spread @ gain.mT
        means[t + 1] = step @ mean
        covariances[t + 1] = step @ covariance @ step.mT + of_step
    return total / 2


def nile(logarithms: vt.Tensor, slope: bool, missing: bool) -> vt.Tensor:
    """The log likelihood of a level, or a level with a slope, by the logarithms of variances."""
    y = np.array(load_nile().flows, np.float64)[:, np.newaxis]
    if missing:
        y[20:40] = y[60:80] = np.nan
    size = 1 + slope
    step = vt.ones(size, size, dtype=vt.float64).triu()
    seen = vt.eye(1, size, dtype=vt.float64)
    variances = logarithms.exp()
    return likelihood(y, step, seen, variances[1:].diag(), variances[:1].diag())


def main() -> None:
    """Compare the likelihood with the published one, and a gradient with differences."""
    found = nile(vt.tensor([OBSERVED, LEVEL], dtype=vt.float64).log(), False, False).item()
    if abs(found - PUBLISHED) > 0.005:
        raise AssertionError(f"kalman: the log likelihood is {found}, and {PUBLISHED} is published")
    check(lambda x: nile(x, True, True), np.log([OBSERVED, LEVEL, 10.0]), way="exact")


if __name__ == "__main__":
    main()

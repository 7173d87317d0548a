"""Maximum likelihood for the local level model, and the published values to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vtgrad.demo.local_level import FloatArray, hessian, value_and_gradient
from vtgrad.demo.optimise import Iterate, Minimum, minimise

__all__ = [
    "PUBLISHED_LEVEL_VARIANCE",
    "PUBLISHED_OBSERVATION_VARIANCE",
    "PUBLISHED_TOLERANCE",
    "Estimate",
    "fit",
]

PUBLISHED_OBSERVATION_VARIANCE: Final = 15099.0
PUBLISHED_LEVEL_VARIANCE: Final = 1469.1
"""Durbin and Koopman, *Time Series Analysis by State Space Methods*, section 2.10."""

PUBLISHED_TOLERANCE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Estimate:
    """A fitted local level model.

    Attributes
    ----------
    search : Minimum
        The search for the minimum of minus the log-likelihood; its point holds the log-variances.
    standard_errors : ndarray or None
        Standard errors of the two variances, in the unit of the variances; None if minus the
        log-likelihood is not convex where the search ended, which is then not a maximum of the
        likelihood.
    """

    search: Minimum
    standard_errors: FloatArray | None

    @property
    def log_variances(self) -> FloatArray:
        """Logarithms of the observation and the level variance."""
        return self.search.iterate.point

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood at the end of the search."""
        return -self.search.iterate.value

    @property
    def observation_variance(self) -> float:
        """Variance of the observation noise, in (10^8 cubic metres)^2."""
        return float(np.exp(self.log_variances[0]))

    @property
    def level_variance(self) -> float:
        """Variance of the level's yearly change, in (10^8 cubic metres)^2."""
        return float(np.exp(self.log_variances[1]))

    @property
    def deviations(self) -> tuple[float, float]:
        """Relative deviations of both variances from the published ones."""
        return (
            self.observation_variance / PUBLISHED_OBSERVATION_VARIANCE - 1.0,
            self.level_variance / PUBLISHED_LEVEL_VARIANCE - 1.0,
        )

    @property
    def agrees_with_published(self) -> bool:
        """Whether both variances are within 0.5 % of the published ones."""
        return all(abs(deviation) <= PUBLISHED_TOLERANCE for deviation in self.deviations)


def fit(
    flows: Sequence[float],
    start: FloatArray,
    *,
    max_iterations: int = 100,
    on_iterate: Callable[[Iterate], None] = lambda iterate: None,
) -> Estimate:
    """Maximise the likelihood of ``flows`` over the log-variances.

    Parameters
    ----------
    flows : sequence of float
        The observations.
    start : ndarray
        Log-variances to start from, shape ``(2,)``.
    max_iterations : int
        Steps of the optimiser, at most.
    on_iterate : callable
        Called with each point; its value is minus the log-likelihood.

    Raises
    ------
    NotFiniteError
        If the likelihood is not finite at ``start``.
    """

    def negative(log_variances: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = value_and_gradient(log_variances, flows)
        return -value, -gradient

    search = minimise(negative, start, max_iterations=max_iterations, on_iterate=on_iterate)
    information = -hessian(search.iterate.point, flows)
    return Estimate(search, _standard_errors(search.iterate.point, information))


def _standard_errors(log_variances: FloatArray, information: FloatArray) -> FloatArray | None:
    """Delta method: the error of a variance is the variance times the error of its log."""
    if not np.all(np.isfinite(information)):
        return None
    if not np.all(np.linalg.eigvalsh(0.5 * (information + information.T)) > 0.0):
        return None
    errors: FloatArray = np.exp(log_variances) * np.sqrt(np.diag(np.linalg.inv(information)))
    return errors

"""Maximum likelihood reaches the published numbers, from wherever it starts sensibly."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.demo import reference
from vtgrad.demo.data import load_nile
from vtgrad.demo.estimate import Estimate, fit
from vtgrad.demo.optimise import Iterate, Minimum, NotFiniteError, Outcome

FLOWS = load_nile().flows


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    """The fit from the demo's own start, made once."""
    return fit(FLOWS, np.log([28638.0, 28638.0]))


def _estimate(observation: float, level: float) -> Estimate:
    point = np.log([observation, level])
    search = Minimum(Iterate(point, 0.0, np.zeros(2)), 1, 1, Outcome.CONVERGED)
    return Estimate(search, None)


@pytest.mark.slow
@pytest.mark.parametrize("start", [(28638.0, 28638.0), (1e2, 1e4), (1e6, 1.0)])
def test_fit_reaches_the_published_estimates(start: tuple[float, float]) -> None:
    estimate = fit(FLOWS, np.log(start))
    assert estimate.search.outcome is Outcome.CONVERGED
    assert estimate.agrees_with_published
    # More digits than are published: those of statsmodels 0.15.0 (exact diffuse, BFGS).
    assert estimate.observation_variance == pytest.approx(15098.518, rel=1e-5)
    assert estimate.level_variance == pytest.approx(1469.176, rel=1e-5)
    assert estimate.log_likelihood == pytest.approx(-633.4645636, abs=1e-6)


@pytest.mark.slow
def test_no_neighbour_of_the_estimate_is_more_likely(estimate: Estimate) -> None:
    best = reference.log_likelihood(estimate.observation_variance, estimate.level_variance, FLOWS)
    for up, across in [(1.01, 1.0), (0.99, 1.0), (1.0, 1.01), (1.0, 0.99), (1.01, 0.99)]:
        neighbour = reference.log_likelihood(
            up * estimate.observation_variance, across * estimate.level_variance, FLOWS
        )
        assert neighbour < best


@pytest.mark.slow
def test_standard_errors_come_from_the_curvature_of_the_oracle(estimate: Estimate) -> None:
    def oracle(point: NDArray[np.float64]) -> float:
        observation, level = np.exp(point)
        return reference.log_likelihood(float(observation), float(level), FLOWS)

    step, center = 1e-3, estimate.log_variances
    first, second = np.array([step, 0.0]), np.array([0.0, step])
    curvature = np.empty((2, 2))
    for row, one in enumerate((first, second)):
        for column, other in enumerate((first, second)):
            mixed = (
                oracle(center + one + other)
                - oracle(center + one - other)
                - oracle(center - one + other)
                + oracle(center - one - other)
            )
            curvature[row, column] = mixed / (4.0 * step**2)
    expected = np.exp(center) * np.sqrt(np.diag(np.linalg.inv(-curvature)))
    assert estimate.standard_errors is not None
    np.testing.assert_allclose(estimate.standard_errors, expected, rtol=1e-4)
    np.testing.assert_allclose(estimate.standard_errors, [3145.5, 1280.4], rtol=1e-4)


def test_no_standard_errors_where_the_search_is_stopped_early() -> None:
    # One step from here the log-likelihood is not yet concave.
    estimate = fit(FLOWS, np.log([1e-3, 1.0]), max_iterations=1)
    assert estimate.search.outcome is Outcome.ITERATION_LIMIT
    assert estimate.standard_errors is None
    assert not estimate.agrees_with_published


@pytest.mark.parametrize(
    ("observation", "level", "agrees"),
    [
        (15099.0, 1469.1, True),
        (15099.0 * 1.0049, 1469.1 * 0.9951, True),
        (15099.0 * 1.0051, 1469.1, False),
        (15099.0, 1469.1 * 0.9949, False),
    ],
)
def test_agreement_means_half_a_percent_on_both(
    observation: float, level: float, agrees: bool
) -> None:
    assert _estimate(observation, level).agrees_with_published is agrees


def test_nan_estimate_does_not_agree() -> None:
    assert not _estimate(float("nan"), 1469.1).agrees_with_published


def test_start_without_a_likelihood_is_refused() -> None:
    with pytest.raises(NotFiniteError):
        fit(FLOWS, np.array([np.nan, 0.0]))

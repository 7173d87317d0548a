"""BFGS finds known minima, takes only downhill steps, and says why it stopped."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from vtgrad.demo.optimise import Iterate, NotFiniteError, Outcome, minimise

FloatArray = NDArray[np.float64]


def _bowl(point: FloatArray) -> tuple[float, FloatArray]:
    """Quadratic with axes 1, 10 and 100 times as steep; the minimum, 5, is at (1, -2, 3)."""
    offset = point - np.array([1.0, -2.0, 3.0])
    weights = np.array([1.0, 10.0, 100.0])
    return 5.0 + 0.5 * float(weights @ offset**2), weights * offset


def _rosenbrock(point: FloatArray) -> tuple[float, FloatArray]:
    x, y = point
    value = (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2
    gradient = [-2.0 * (1.0 - x) - 400.0 * x * (y - x * x), 200.0 * (y - x * x)]
    return float(value), np.array(gradient)


def test_quadratic_is_solved() -> None:
    result = minimise(_bowl, np.zeros(3))
    assert result.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(result.iterate.point, [1.0, -2.0, 3.0], atol=1e-5)
    assert result.iterate.value == pytest.approx(5.0, abs=1e-9)


@pytest.mark.parametrize("start", [(-1.2, 1.0), (0.0, 0.0), (3.0, -4.0), (-20.0, 50.0)])
def test_curved_valley_is_followed_to_its_end(start: tuple[float, float]) -> None:
    result = minimise(_rosenbrock, np.array(start), max_iterations=300)
    assert result.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(result.iterate.point, [1.0, 1.0], atol=1e-4)


def test_near_the_minimum_convergence_is_faster_than_linear() -> None:
    norms: list[float] = []
    minimise(
        _rosenbrock,
        np.array([-1.2, 1.0]),
        gradient_tolerance=1e-9,
        on_iterate=lambda iterate: norms.append(iterate.gradient_norm),
    )
    # Steepest descent, or a wrong update, gains a near constant factor of about one per step.
    assert norms[-1] < 1e-9
    assert norms[-1] < 1e-2 * norms[-2] < 1e-2 * 1e-1 * norms[-3]


def test_every_step_goes_down_and_meets_the_wolfe_conditions() -> None:
    seen: list[Iterate] = []
    minimise(_rosenbrock, np.array([-1.2, 1.0]), on_iterate=seen.append)
    assert len(seen) > 10
    for before, after in itertools.pairwise(seen):
        step = after.point - before.point
        slope = step @ before.gradient
        assert after.value <= before.value + 1e-4 * slope < before.value
        assert step @ after.gradient >= 0.9 * slope


def test_counts_are_those_of_the_calls_made() -> None:
    calls: list[FloatArray] = []
    seen: list[Iterate] = []

    def counted(point: FloatArray) -> tuple[float, FloatArray]:
        calls.append(point)
        return _bowl(point)

    result = minimise(counted, np.zeros(3), on_iterate=seen.append)
    assert result.evaluations == len(calls)
    assert result.iterations == len(seen) - 1
    assert seen[-1] is result.iterate


def test_start_at_the_minimum_needs_one_evaluation() -> None:
    result = minimise(_bowl, np.array([1.0, -2.0, 3.0]))
    assert (result.iterations, result.evaluations) == (0, 1)
    assert result.outcome is Outcome.CONVERGED


def test_iteration_limit_is_kept_and_reported() -> None:
    result = minimise(_rosenbrock, np.array([-1.2, 1.0]), max_iterations=3)
    assert (result.outcome, result.iterations) == (Outcome.ITERATION_LIMIT, 3)


def test_unbounded_function_ends_without_a_lower_point() -> None:
    # No step along a line meets the curvature condition: the slope never flattens.
    result = minimise(lambda x: (float(-x[0]), np.array([-1.0])), np.array([0.0]))
    assert result.outcome is Outcome.NO_LOWER_POINT
    assert result.iterations == 0


def test_gradient_of_the_wrong_sign_ends_without_a_lower_point() -> None:
    result = minimise(lambda x: (_bowl(x)[0], -_bowl(x)[1]), np.zeros(3))
    assert result.outcome is Outcome.NO_LOWER_POINT
    assert result.iterate.point.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("wall", [np.inf, np.nan])
def test_step_into_a_region_without_values_is_shortened(wall: float) -> None:
    # The first trial lands at x = 1, beyond the wall; the minimum 0.3 lies before it.
    def function(point: FloatArray) -> tuple[float, FloatArray]:
        if point[0] > 0.5:
            return wall, np.array([wall])
        return float(50.0 * (point[0] - 0.3) ** 2), 100.0 * (point - 0.3)

    result = minimise(function, np.array([0.0]))
    assert result.outcome is Outcome.CONVERGED
    assert result.iterate.point[0] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_start_without_a_finite_value_is_refused(bad: float) -> None:
    with pytest.raises(NotFiniteError, match="not finite at"):
        minimise(lambda x: (bad, np.zeros(1)), np.zeros(1))
    with pytest.raises(NotFiniteError):
        minimise(lambda x: (0.0, np.array([bad])), np.zeros(1))


def test_start_is_not_written() -> None:
    start = np.zeros(3)
    minimise(_bowl, start)
    assert start.tolist() == [0.0, 0.0, 0.0]

"""The filter, its likelihood and its derivatives, against independent computations."""

import functools
import math

import numpy as np
import pytest

import vtgrad as vt
from tests.demo import reference
from vtgrad.demo.data import load_nile
from vtgrad.demo.gradient_check import central_differences
from vtgrad.demo.local_level import (
    FilterBuffers,
    FloatArray,
    gradient_of,
    hessian,
    kalman_filter,
    log_likelihood,
    log_likelihood_value,
    value_and_gradient,
)

FLOWS = load_nile().flows
PUBLISHED = np.log([15099.0, 1469.1])
POINTS = [np.log(pair) for pair in ([15099.0, 1469.1], [28000.0, 28000.0], [500.0, 40000.0])]


def _leaf(values: list[float]) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64, requires_grad=True)


def test_three_observations_worked_by_hand() -> None:
    # Both variances one, flows 1, 3, 2.  Year 2: P = 1 + 1, F = 3, v = 2, gain 2/3.
    # Year 3: P = 2/3 + 1, F = 8/3, v = 2 - 7/3, gain 5/8.
    buffers = kalman_filter(_leaf([0.0, 0.0]), [1.0, 3.0, 2.0])
    assert buffers.states.tolist() == pytest.approx([1.0, 7 / 3, 7 / 3 - 5 / 24])
    assert buffers.variances.tolist() == pytest.approx([1.0, 2 / 3, 5 / 8])
    assert buffers.innovations[1:].tolist() == pytest.approx([2.0, -1 / 3])
    assert buffers.innovation_variances[1:].tolist() == pytest.approx([3.0, 8 / 3])
    terms = math.log(3) + 4 / 3 + math.log(8 / 3) + 1 / 24
    expected = -0.5 * terms - 1.5 * math.log(2 * math.pi)
    assert float(log_likelihood(buffers).detach()) == pytest.approx(expected, rel=1e-15)


def test_first_year_has_no_innovation() -> None:
    buffers = kalman_filter(_leaf([0.0, 0.0]), [1.0, 3.0])
    assert bool(buffers.innovations[0].isnan())
    assert bool(buffers.innovation_variances[0].isnan())


def test_buffers_are_writable_views_of_one_workspace() -> None:
    buffers = FilterBuffers.allocate(5)
    rows = (
        buffers.states,
        buffers.variances,
        buffers.innovations,
        buffers.innovation_variances,
    )
    assert all(row._base is buffers.workspace for row in rows)
    assert [row.storage_offset() for row in rows] == [0, 5, 10, 15]


def test_filter_writes_the_workspace_once_per_cell() -> None:
    # 2 writes in the first year and 4 in each of the 99 others: a write that bypassed the
    # version counter, or was made twice, would show.
    buffers = kalman_filter(_leaf([9.0, 7.0]), FLOWS)
    assert buffers.workspace._version == buffers.states._version == 2 + 4 * 99


def test_writes_through_the_views_reach_the_base_and_its_history() -> None:
    buffers = kalman_filter(_leaf([9.0, 7.0]), FLOWS)
    assert buffers.workspace.requires_grad
    assert buffers.innovations.requires_grad
    assert buffers.workspace[2, 1].item() == FLOWS[1] - FLOWS[0]


def test_likelihood_takes_its_values_and_gradient_from_the_buffers() -> None:
    # One cell replaced by a constant: if the likelihood were computed beside the buffers,
    # neither the value nor the gradient would notice.
    leaf = _leaf([9.0, 7.0])
    buffers = kalman_filter(leaf, FLOWS)
    original = log_likelihood(kalman_filter(leaf, FLOWS))
    buffers.innovations[1] = 0.0
    replaced = log_likelihood(buffers)
    first_variance = 2.0 * math.exp(9.0) + math.exp(7.0)
    difference = float((replaced - original).detach())
    assert difference == pytest.approx(0.5 * (FLOWS[1] - FLOWS[0]) ** 2 / first_variance)
    before = gradient_of(original, leaf)
    after = gradient_of(replaced, leaf)
    # The innovation itself is a constant; what is lost is -v**2/2 * d(1/F).
    slope = 0.5 * (FLOWS[1] - FLOWS[0]) ** 2 / first_variance**2
    lost = [-slope * 2.0 * math.exp(9.0), -slope * math.exp(7.0)]
    assert (after - before).tolist() == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("point", POINTS)
def test_likelihood_equals_the_independent_filter(point: FloatArray) -> None:
    observation, level = np.exp(point)
    expected = reference.log_likelihood(float(observation), float(level), FLOWS)
    assert log_likelihood_value(point, FLOWS) == pytest.approx(expected, rel=1e-13)


def test_likelihood_at_the_published_estimates_equals_statsmodels() -> None:
    # UnobservedComponents(flows, "llevel", use_exact_diffuse=True).loglike([15099, 1469.1])
    # in statsmodels 0.15.0.
    assert log_likelihood_value(PUBLISHED, FLOWS) == pytest.approx(-633.4645636488787, rel=1e-13)


@pytest.mark.parametrize(
    ("log_ratio", "published"),
    [(0.0, -495.68), (-3.32, -492.53), (-2.60, -492.10), (-2.33, -492.07)],
)
def test_oracle_reproduces_the_published_table(log_ratio: float, published: float) -> None:
    # Durbin and Koopman, table 2.1: the likelihood along their own search, to its digits.
    # The log-ratios are printed rounded, hence one unit of the last digit.
    value = reference.concentrated_log_likelihood(math.exp(log_ratio), FLOWS)
    assert value == pytest.approx(published, abs=0.01)


def test_full_likelihood_concentrates_to_the_oracle() -> None:
    # At a fixed ratio the best observation variance has a closed form, and there the two
    # likelihoods differ by the constants only.
    ratio = 0.0973
    grid = np.linspace(9.4, 9.8, 4001)
    values = [
        reference.log_likelihood(float(np.exp(x)), float(ratio * np.exp(x)), FLOWS) for x in grid
    ]
    best = float(grid[int(np.argmax(values))])
    point = np.array([best, best + math.log(ratio)])
    constants = 0.5 * 100 * math.log(2 * math.pi) + 0.5 * 99
    concentrated = reference.concentrated_log_likelihood(ratio, FLOWS)
    assert log_likelihood_value(point, FLOWS) + constants == pytest.approx(concentrated, abs=1e-6)


@pytest.mark.parametrize("point", POINTS)
def test_gradient_equals_differences_of_the_independent_filter(point: FloatArray) -> None:
    def oracle(log_variances: FloatArray) -> float:
        observation, level = np.exp(log_variances)
        return reference.log_likelihood(float(observation), float(level), FLOWS)

    value, gradient = value_and_gradient(point, FLOWS)
    assert value == pytest.approx(oracle(point), rel=1e-13)
    np.testing.assert_allclose(
        gradient, central_differences(oracle, point, 1e-4), rtol=1e-6, atol=1e-7
    )


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_hessian_is_symmetric_and_equals_differences_of_the_gradient(point: FloatArray) -> None:
    @functools.cache
    def gradient(*at: float) -> FloatArray:
        return value_and_gradient(np.array(at), FLOWS)[1]

    def slope(entry: int, at: FloatArray) -> float:
        return float(gradient(*at.tolist())[entry])

    computed = hessian(point, FLOWS)
    estimated = np.stack(
        [central_differences(functools.partial(slope, i), point, 1e-4) for i in range(2)]
    )
    np.testing.assert_allclose(computed, estimated, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(computed, computed.T, rtol=1e-9, atol=1e-9)


def test_value_without_graph_equals_value_with_graph() -> None:
    assert log_likelihood_value(PUBLISHED, FLOWS) == value_and_gradient(PUBLISHED, FLOWS)[0]


def test_one_observation_is_refused() -> None:
    with pytest.raises(ValueError, match="two observations, got 1"):
        kalman_filter(_leaf([0.0, 0.0]), [1.0])

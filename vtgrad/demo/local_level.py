"""The local level model: a Kalman filter that writes in place, and its likelihood.

The model (Durbin and Koopman, *Time Series Analysis by State Space Methods*, chapter 2) is a random
walk, observed with noise::

    y[t]       = level[t] + e[t],    e[t] ~ N(0, observation variance)
    level[t+1] = level[t] + n[t],    n[t] ~ N(0, level variance)

The filter is written as in NumPy: all four buffers are rows of one workspace, and year ``t`` is
computed from year ``t - 1`` of the table that it fills.  The rows share one storage, hence one
version counter, which each write moves.  Backward is still possible: no cell is written twice, and
a saved value is stale only if one of its own elements was written.  The likelihood reads the
buffers after the last write, and its gradient passes through all these writes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import vtgrad as vt

__all__ = [
    "FilterBuffers",
    "FloatArray",
    "gradient_of",
    "hessian",
    "kalman_filter",
    "likelihood_and_gradient",
    "log_likelihood",
    "log_likelihood_value",
    "value_and_gradient",
]

FloatArray: TypeAlias = NDArray[np.float64]

_LOG_2_PI = math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class FilterBuffers:
    """The buffers of the filter: one preallocated workspace and a view of each of its rows.

    Cells that the filter has not written are NaN.  The first year initialises the level and
    so has no innovation: its cells in the last two rows stay NaN.

    Attributes
    ----------
    workspace : Tensor
        Shape ``(4, n)``, float64; the base of the four views below.
    states : Tensor
        Filtered level, given the flows up to and including each year; shape ``(n,)``.
    variances : Tensor
        Variance of the filtered level.
    innovations : Tensor
        One-step prediction errors.
    innovation_variances : Tensor
        Their variances.
    """

    workspace: vt.Tensor
    states: vt.Tensor
    variances: vt.Tensor
    innovations: vt.Tensor
    innovation_variances: vt.Tensor

    @classmethod
    def allocate(cls, count: int) -> FilterBuffers:
        """Return buffers for ``count`` years, every cell NaN."""
        workspace = vt.full((4, count), math.nan, dtype=vt.float64)
        return cls(workspace, *workspace)


def kalman_filter(log_variances: vt.Tensor, flows: Sequence[float]) -> FilterBuffers:
    """Run the filter over ``flows`` with a diffuse initial level.

    Parameters
    ----------
    log_variances : Tensor
        Shape ``(2,)``: logarithms of the observation variance and of the level variance.
    flows : sequence of float
        At least two observations.

    Returns
    -------
    FilterBuffers
        Differentiable with respect to ``log_variances``.

    Raises
    ------
    ValueError
        If there are fewer than two observations.

    Notes
    -----
    The level before the first year is unknown (its variance is infinite), so after that year it is
    distributed as N(y[1], observation variance): Durbin and Koopman, section 2.9.  From the second
    year on it is the recursion of their section 2.2.
    """
    if len(flows) < 2:
        raise ValueError(f"a diffuse start needs two observations, got {len(flows)}")
    buffers = FilterBuffers.allocate(len(flows))
    variance_pair = log_variances.exp()
    observation_variance, level_variance = variance_pair[0], variance_pair[1]

    states, variances = buffers.states, buffers.variances
    states[0] = flows[0]
    variances[0] = observation_variance
    for year, flow in enumerate(flows[1:], start=1):
        predicted_variance = variances[year - 1] + level_variance
        innovation = flow - states[year - 1]
        innovation_variance = predicted_variance + observation_variance
        gain = predicted_variance / innovation_variance

        states[year] = states[year - 1] + gain * innovation
        variances[year] = gain * observation_variance
        buffers.innovations[year] = innovation
        buffers.innovation_variances[year] = innovation_variance
    return buffers


def log_likelihood(buffers: FilterBuffers) -> vt.Tensor:
    """Return the diffuse log-likelihood, computed from the filled buffers.

    Returns
    -------
    Tensor
        0-d.  Durbin and Koopman, section 2.10.1: the sum from the second year on, with the
        constant ``-n/2 log(2 pi)`` of all ``n`` years.
    """
    innovations = buffers.innovations[1:]
    variances = buffers.innovation_variances[1:]
    terms = variances.log() + innovations * innovations / variances
    return -0.5 * terms.sum() - 0.5 * buffers.workspace.shape[1] * _LOG_2_PI


def log_likelihood_value(log_variances: FloatArray, flows: Sequence[float]) -> float:
    """Return the log-likelihood as a number, without building a graph."""
    with vt.no_grad():
        return float(log_likelihood(kalman_filter(_leaf(log_variances), flows)))


def value_and_gradient(
    log_variances: FloatArray, flows: Sequence[float]
) -> tuple[float, FloatArray]:
    """Return the log-likelihood and its gradient with respect to the log-variances."""
    value, gradient = likelihood_and_gradient(_leaf(log_variances), flows)
    return float(value), _to_numpy(gradient)


def likelihood_and_gradient(
    log_variances: vt.Tensor, flows: Sequence[float]
) -> tuple[vt.Tensor, vt.Tensor]:
    """Return the same as tensors of shapes ``()`` and ``(2,)``, which are in no graph."""
    leaf = log_variances.detach().requires_grad_()
    value = log_likelihood(kalman_filter(leaf, flows))
    return value.detach(), gradient_of(value, leaf)


def hessian(log_variances: FloatArray, flows: Sequence[float]) -> FloatArray:
    """Return the matrix of second derivatives of the log-likelihood, shape ``(2, 2)``.

    Each row is a backward pass through the graph that ``create_graph`` recorded of the first
    one, in-place writes included.
    """
    leaf = _leaf(log_variances)
    value = log_likelihood(kalman_filter(leaf, flows))
    gradient = gradient_of(value, leaf, create_graph=True)
    rows = [gradient_of(gradient[i], leaf, retain_graph=True) for i in range(2)]
    return np.stack([_to_numpy(row) for row in rows])


def gradient_of(
    value: vt.Tensor,
    leaf: vt.Tensor,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> vt.Tensor:
    """Return the gradient of ``value`` with respect to ``leaf``, on which it must depend."""
    (gradient,) = vt.autograd.grad(
        value, (leaf,), retain_graph=retain_graph, create_graph=create_graph
    )
    # The type of `grad` includes None, for unused inputs, which are not allowed here.
    assert isinstance(gradient, vt.Tensor)
    return gradient


def _leaf(values: FloatArray) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64, requires_grad=True)


def _to_numpy(tensor: vt.Tensor) -> FloatArray:
    return np.array(tensor.detach().numpy(), dtype=np.float64)

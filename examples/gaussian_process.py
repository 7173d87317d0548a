"""Gaussian process regression: which length, size and noise fit the Nile's annual flow best.

The noise is added in place to the diagonal of the covariances. A few steps of Newton's method, by
the Hessian of the likelihood, find its maximum; the level in between is predicted there. The
gradient is compared with the formula of C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes
for Machine Learning", 2006, equation 5.9.
"""

from __future__ import annotations

import numpy as np
from _check import FloatArray, check

import vtgrad as vt
from vtgrad.demo.data import load_nile

FLOWS = np.array(load_nile().flows, np.float64)
Y = vt.from_numpy((FLOWS - FLOWS.mean()) / FLOWS.std())
YEARS = vt.arange(len(Y), dtype=vt.float64)
# The logarithms of the length in years, the size of the signal and that of the noise.
START = np.log([5.0, 0.5, 0.5])


def kernel(parameters: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
    """The covariances of the signal at some times and in all years."""
    length, size, _ = parameters.exp()
    return size * vt.exp(-0.5 * ((at.unsqueeze(1) - YEARS) / length) ** 2)


def factored(parameters: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    """The Cholesky factor of the covariances of all flows, and what weights each flow."""
    covariances = kernel(parameters, YEARS)
    covariances.diagonal().add_(parameters[2].exp())
    factor = vt.linalg.cholesky(covariances)
    return factor, vt.cholesky_solve(Y.unsqueeze(1), factor).squeeze(1)


def cost(parameters: vt.Tensor) -> vt.Tensor:
    """The negative logarithm of the likelihood, but for a constant."""
    factor, weights = factored(parameters)
    return 0.5 * Y @ weights + factor.diagonal().log().sum()


def fitted(parameters: vt.Tensor) -> vt.Tensor:
    """The parameters of the largest likelihood, near those given."""
    for _ in range(20):
        gradient, hessian = vt.func.grad(cost)(parameters), vt.func.hessian(cost)(parameters)
        step = vt.linalg.solve(hessian, gradient)
        parameters = parameters - step / max(1.0, step.norm().item())
    return parameters


def level(parameters: vt.Tensor, at: vt.Tensor) -> vt.Tensor:
    """The expected signal at some times."""
    return kernel(parameters, at) @ factored(parameters)[1]


def formula(start: FloatArray) -> FloatArray:
    """The gradient of the cost in plain NumPy."""
    length, size, noise = np.exp(start)
    years, y = YEARS.numpy(), Y.numpy()
    squares = ((years[:, np.newaxis] - years) / length) ** 2
    signal = size * np.exp(-0.5 * squares)
    inverse = np.linalg.inv(signal + noise * np.eye(len(y)))
    inner = inverse - np.outer(inverse @ y, inverse @ y)
    by_each = (signal * squares, signal, noise * np.eye(len(y)))
    return np.array([0.5 * (inner * derivative).sum() for derivative in by_each])


if __name__ == "__main__":
    best = fitted(vt.from_numpy(START))
    assert vt.func.grad(cost)(best).abs().max() < 1e-9
    assert vt.linalg.eigvalsh(vt.func.hessian(cost)(best)).min() > 0
    # What is left of each flow is the noise that its weight stands for.
    rest = Y - level(best, YEARS)
    assert vt.allclose(rest, best[2].exp() * factored(best)[1], rtol=0, atol=1e-10)
    check(cost, START, way="exact", expected=[formula(START)])

"""Derivatives that can be worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import vtgrad as vt
from tests.support import ramp

# Of any type, as their arguments and results are.
FUNCTIONAL: Any = vt.autograd.functional
hessian = FUNCTIONAL.hessian
hvp = FUNCTIONAL.hvp
jacobian = FUNCTIONAL.jacobian
jvp = FUNCTIONAL.jvp
vhp = FUNCTIONAL.vhp
vjp = FUNCTIONAL.vjp


def _rosenbrock(x: vt.Tensor) -> vt.Tensor:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _rosenbrock_hessian(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
    n = len(x)
    expected = np.zeros((n, n))
    for i in range(n - 1):
        expected[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        expected[i + 1, i + 1] += 200
        expected[i, i + 1] = expected[i + 1, i] = -400 * x[i]
    return expected


def test_the_hessian_of_rosenbrocks_function_and_products_with_it() -> None:
    x, v = ramp(5) / 3, ramp(5).flip(0)
    expected = np.asarray(_rosenbrock_hessian(np.arange(1.0, 6.0) / 3))
    np.testing.assert_allclose(hessian(_rosenbrock, x).tolist(), expected, rtol=1e-12)
    for product in (vhp, hvp):
        found = product(_rosenbrock, x, v)[1]
        np.testing.assert_allclose(found.tolist(), expected @ np.arange(5.0, 0.0, -1.0), rtol=1e-12)


def test_the_jacobian_of_an_inverse() -> None:
    a = vt.tensor([[2.0, 1.0], [0.0, 4.0]], dtype=vt.float64)
    inverse = np.linalg.inv(np.array([[2.0, 1.0], [0.0, 4.0]]))
    # d inv(A)[i, j] / d A[k, l] = -inv(A)[i, k] inv(A)[l, j]
    expected = -np.einsum("ik,lj->ijkl", inverse, inverse)

    def inverted(m: vt.Tensor) -> vt.Tensor:
        """Gauss and Jordan, in place."""
        left, right = m.clone(), vt.eye(2, dtype=vt.float64)
        for i in range(2):
            pivot = left[i, i].clone()
            left[i] /= pivot
            right[i] /= pivot
            for k in range(2):
                if k != i:
                    factor = left[k, i].clone()
                    left[k] -= factor * left[i].clone()
                    right[k] -= factor * right[i].clone()
        return right

    found = jacobian(inverted, a)
    np.testing.assert_allclose(found.tolist(), expected, atol=1e-14)
    v = np.array([[1.0, 2.0], [3.0, 4.0]])
    forth = jvp(inverted, a, vt.tensor(v.tolist(), dtype=vt.float64))[1]
    np.testing.assert_allclose(forth.tolist(), -inverse @ v @ inverse, atol=1e-14)
    back = vjp(inverted, a, vt.tensor(v.tolist(), dtype=vt.float64))[1]
    np.testing.assert_allclose(back.tolist(), -inverse.T @ v @ inverse.T, atol=1e-14)


def test_an_unsymmetric_matrix_of_second_derivatives_is_multiplied_from_the_right_side() -> None:
    class Rotated(vt.autograd.Function):
        """Half the square of x, with (x0 + x1, x1) for a gradient."""

        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            ctx.save_for_backward(x)
            return (x * x).sum() / 2

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
            (x,) = ctx.saved_tensors
            assert x is not None
            return vt.stack([x[0] + x[1], x[1]]) * grad

    x, v = ramp(2), vt.tensor([1.0, 10.0], dtype=vt.float64)
    assert hessian(Rotated.apply, x).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert hvp(Rotated.apply, x, v)[1].tolist() == [11.0, 10.0]
    assert vhp(Rotated.apply, x, v)[1].tolist() == [1.0, 11.0]

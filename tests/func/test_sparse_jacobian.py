"""Sparse Jacobians: closed forms, programs of writes, Hessians, and what is not recorded."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import vtgrad as vt
from tests.func.sparse import Counted, Function, check, dense, reaction, vector
from vtgrad.func import grad, jvp, sparse_jacobian, sparsity_pattern
from vtgrad.storage.arrays import Array


def tridiagonal(diagonal: Array, beside: Array) -> csr_array:
    """A symmetric matrix of three diagonals."""
    at = np.arange(diagonal.size)
    rows, columns = np.hstack([at, at[1:], at[:-1]]), np.hstack([at, at[:-1], at[1:]])
    return csr_array((np.hstack([diagonal, beside, beside]), (rows, columns)))


# -- stencils and time steppers -----------------------------------------------------------------


def test_tridiagonal_jacobian_of_10000_unknowns_takes_three_passes() -> None:
    count = 10_000
    u = vector(count)
    function = Counted(reaction)
    matrix = sparse_jacobian(function, u, mode="forward", chunk_size=1)
    # One run for the pattern, and three passes.
    assert function.calls == 4
    wanted = tridiagonal(3 * u.numpy() ** 2, -np.ones(count - 1))
    assert isinstance(matrix, csr_array)
    assert matrix.shape == (count, count)
    assert matrix.nnz == 3 * count - 2
    assert abs(matrix - wanted).max() < 1e-14


def test_reverse_mode_calls_the_function_once_more() -> None:
    function = Counted(reaction)
    matrix = sparse_jacobian(function, vector(50), mode="reverse")
    assert function.calls == 2
    np.testing.assert_allclose(matrix.toarray(), dense(reaction, vector(50), vt.func.jacrev))


def test_rows_of_a_time_stepper_written_in_place() -> None:
    def heat(u0: vt.Tensor) -> vt.Tensor:
        u = vt.zeros(4, 12, dtype=vt.float64)
        u[0] = u0
        for k in range(3):
            u[k + 1] = u[k]
            u[k + 1, 1:-1] += 0.1 * (u[k, 2:] - 2 * u[k, 1:-1] + u[k, :-2])
        return u[-1]

    pattern = check(heat, vector(12))
    # Three steps reach three cells to each side; the boundary keeps its value.
    rows = pattern.matrix().toarray()
    assert rows[5].nonzero()[0].tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert rows[0].nonzero()[0].tolist() == [0]
    assert pattern.passes("forward") == 7


def test_burgers_on_a_ring() -> None:
    def step(u: vt.Tensor) -> vt.Tensor:
        flux = 0.5 * u * u
        u[1:] -= 0.1 * (flux[1:] - flux[:-1])
        u[0] -= 0.1 * (flux[0] - flux[-1])
        return u

    x = vector(9)
    kept = x.clone()
    matrix = sparse_jacobian(step, x)
    assert vt.equal(x, kept), "the function writes to a copy"
    wanted = np.diag(1 - 0.1 * x.numpy()) + np.roll(np.diag(0.1 * x.numpy()), 1, 0)
    np.testing.assert_allclose(matrix.toarray(), wanted)


def test_elimination_in_place_fills_in() -> None:
    """LU of an arrow matrix whose first row and column are full: everything fills in."""
    size = 5

    def eliminate(entries: vt.Tensor) -> vt.Tensor:
        a = vt.zeros(size, size, dtype=vt.float64)
        a[0] = entries[:size]
        a[1:, 0] = entries[size : 2 * size - 1]
        a.diagonal()[1:] = entries[2 * size - 1 :]
        for k in range(size):
            for i in range(k + 1, size):
                factor = a[i, k] / a[k, k]
                a[i, k + 1 :] -= factor * a[k, k + 1 :]
                a[i, k] = factor
        return a

    entries = vector(3 * size - 2) + 3
    pattern = check(eliminate, entries, modes="forward")
    found = pattern.matrix().toarray().reshape(size, size, -1)
    # The first pivot row is the input itself.
    assert found[0, 2].nonzero()[0].tolist() == [2]
    # What step 0 fills in depends on its row, its column and the first pivot.
    assert found[1, 2].nonzero()[0].tolist() == [0, 2, size]
    # The last pivot depends on all.
    assert found[-1, -1].all()


# -- Hessians and transforms inside ---------------------------------------------------------------


def rosenbrock(x: vt.Tensor) -> vt.Tensor:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_hessian_is_the_jacobian_of_the_gradient() -> None:
    x = vector(200)
    gradient = grad(rosenbrock)
    hessian = sparse_jacobian(gradient, x)
    v = x.numpy()
    diagonal = np.zeros(200)
    diagonal[:-1] = 1200 * v[:-1] ** 2 - 400 * v[1:] + 2
    diagonal[1:] += 200
    beside = -400 * v[:-1]
    wanted = tridiagonal(diagonal, beside)
    assert abs(hessian - wanted).max() < 1e-9
    assert sparsity_pattern(gradient, x).passes("forward") == 3


def energy_in_place(x: vt.Tensor) -> vt.Tensor:
    b = x.clone()
    b[1:] *= x[:-1]
    b[0].sin_()
    c = b.exp()
    b.mul_(2)
    return (c * b).sum()


def energy_of_a_loop(x: vt.Tensor) -> vt.Tensor:
    b = vt.zeros(8, dtype=vt.float64)
    for i in range(1, 8):
        b[i] = x[i] * x[i - 1] ** 2
    return (b * b).sum()


@pytest.mark.parametrize("energy", [energy_in_place, energy_of_a_loop])
def test_hessian_of_a_program_that_writes(energy: Function) -> None:
    def gradient(x: vt.Tensor) -> vt.Tensor:
        found = grad(energy)(x)
        assert isinstance(found, vt.Tensor)
        return found

    pattern = check(gradient, vector(8))
    assert pattern.nnz == 3 * 8 - 2


def test_forward_mode_inside() -> None:
    direction = vt.ones(6, dtype=vt.float64)

    def along(x: vt.Tensor) -> vt.Tensor:
        product = jvp(lambda y: y[1:] * y[:-1] ** 2, (x,), (direction,))[1]
        assert isinstance(product, vt.Tensor)
        return product

    assert check(along, vector(6)).nnz == 10


def test_vmap_inside() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        def of_row(row: vt.Tensor, factor: vt.Tensor) -> vt.Tensor:
            row = row * factor
            row[1:] += row[:-1]
            return row

        found = vt.func.vmap(of_row, in_dims=(0, None))(x.reshape(3, 4), x[0])
        assert isinstance(found, vt.Tensor)
        return found

    pattern = check(function, vector(12))
    rows = pattern.matrix().toarray()
    assert rows[6].nonzero()[0].tolist() == [0, 5, 6]


def test_on_a_lane() -> None:
    x = vector(6).to("lane:0")
    matrix = sparse_jacobian(reaction, x, check=True)
    assert matrix.toarray().tolist() == sparse_jacobian(reaction, vector(6)).toarray().tolist()


def test_with_names() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        return (x * x).sum("row")

    x = vector(6).reshape(2, 3).refine_names("row", "column")
    assert sparse_jacobian(function, x).toarray()[1].nonzero()[0].tolist() == [1, 4]


def test_gradient_in_the_graph_inside() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        y = x * 1 if x.requires_grad else x.clone().requires_grad_()
        return vt.autograd.grad((y[1:] * y[:-1] ** 2).sum(), y, create_graph=True)[0]

    assert check(function, vector(6), modes="reverse").nnz == 15


class Doubled(vt.autograd.Function):
    """Works on an array, so that no operator shows what it does."""

    @staticmethod
    def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
        return vt.from_numpy(x.numpy() * 2)

    @staticmethod
    def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
        return grad * 2


def test_custom_function_is_dense() -> None:
    pattern = sparsity_pattern(lambda x: Doubled.apply(x[:3]) + x[3:], vector(6))
    wanted = np.hstack([np.ones((3, 3)), np.eye(3)]).astype(bool)
    assert pattern.matrix().toarray().tolist() == wanted.tolist()


def test_custom_function_that_returns_one_number() -> None:
    class Sum(vt.autograd.Function):
        @staticmethod
        def forward(ctx: vt.autograd.function.FunctionCtx, x: vt.Tensor) -> vt.Tensor:
            return x.sum()

        @staticmethod
        def backward(ctx: vt.autograd.function.FunctionCtx, grad: vt.Tensor) -> vt.Tensor:
            return grad.expand(3)

    matrix = check(lambda x: Sum.apply(x[:3]) * x[3:], vector(6), modes="reverse")
    assert matrix.nnz == 12


# -- what is written without derivatives ----------------------------------------------------------


def test_detached_values_have_no_entries() -> None:
    assert check(lambda x: x * x.detach().sum(), vector(6)).nnz == 6


def test_write_through_a_detached_alias_keeps_the_entries() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        y = x * 1
        y.detach()[2:] = 0
        return y * y

    assert check(function, vector(6)).nnz == 6


def test_write_that_is_not_recorded_keeps_the_entries() -> None:
    """Reverse mode does not see it, forward mode does: the pattern serves both."""

    def function(x: vt.Tensor) -> vt.Tensor:
        y = x * 1
        with vt.no_grad():
            y[2:] = 0
        return y * 2

    assert check(function, vector(6)).nnz == 6


def test_parts_of_complex_numbers() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        z = vt.complex(x[:3], x[3:])
        z.real.mul_(x[:3])
        return (z * 2j).imag

    pattern = check(function, vector(6))
    # A product of complex numbers has both parts of its factors.
    assert pattern.matrix().toarray()[0].nonzero()[0].tolist() == [0, 3]

"""Decompositions: dtypes, errors, and derivatives inside of transforms."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import DTypeError, LinAlgError, MatrixShapeError
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.linalg import decompositions

_RNG = np.random.default_rng(8)


def positive(*shape: int) -> vt.Tensor:
    """Positive definite matrices."""
    x = _RNG.normal(size=shape)
    return vt.tensor(x @ x.swapaxes(-2, -1) + np.eye(shape[-1]))


SQUARE: list[Callable[[vt.Tensor], object]] = [F.linalg_cholesky, F.linalg_eigh]


@pytest.mark.parametrize("function", SQUARE)
def test_what_needs_square_matrices_of_floats(function: Callable[[vt.Tensor], object]) -> None:
    for dtype in (vt.int64, vt.bool, vt.float16):
        with pytest.raises(DTypeError, match="needs float32"):
            function(vt.eye(2, dtype=dtype))
    for shape in ((), (3,), (2, 3)):
        with pytest.raises(MatrixShapeError, match="shape"):
            function(vt.ones(shape))
        with pytest.raises(MatrixShapeError, match="shape"):
            vt.func.vmap(function)(vt.ones(4, *shape))


def results(found: object) -> list[vt.Tensor]:
    parts = found if isinstance(found, tuple) else (found,)
    assert all(isinstance(x, vt.Tensor) for x in parts)
    return list(parts)


@pytest.mark.parametrize("function", SQUARE)
@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0)])
def test_nothing(function: Callable[[vt.Tensor], object], shape: tuple[int, ...]) -> None:
    x = vt.zeros(shape, requires_grad=True)
    y = results(function(x))
    vt.autograd.backward([one.sum() for one in y])
    assert x.grad is not None
    assert x.grad.shape == shape


@pytest.mark.parametrize("function", SQUARE)
def test_single_precision(function: Callable[[vt.Tensor], object]) -> None:
    x = positive(2, 3, 3).float().requires_grad_()
    y = results(function(x))
    assert all(one.dtype is vt.float32 for one in y)
    vt.autograd.backward([one.sum() for one in y])
    assert x.grad is not None
    assert x.grad.dtype is vt.float32
    assert bool(vt.isfinite(x.grad).all())


def test_cholesky_reads_the_lower_triangle() -> None:
    x = positive(3, 3)
    y = F.linalg_cholesky(x)
    np.testing.assert_allclose((y @ y.mT).numpy(), x.numpy())
    below = x.tril().requires_grad_()
    assert vt.equal(F.linalg_cholesky(below), y)
    (grad,) = vt.autograd.grad(F.linalg_cholesky(below).sum(), below)
    assert not grad.triu(1).any()


def test_cholesky_of_what_is_not_positive_definite() -> None:
    with pytest.raises(LinAlgError, match="not positive definite"):
        F.linalg_cholesky(-vt.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        vt.func.vmap(F.linalg_cholesky)(-vt.eye(2).expand(3, 2, 2))


def test_hessian_of_cholesky() -> None:
    x = positive(2, 2)

    def function(z: vt.Tensor) -> vt.Tensor:
        return (F.linalg_cholesky(z) ** 3).sum()

    forward = vt.func.jacfwd(vt.func.jacfwd(function))(x)
    np.testing.assert_allclose(vt.func.hessian(function)(x).detach(), forward.detach())


def test_derivatives_of_larger_factors() -> None:
    x = positive(2, 4, 4)
    turned = vt.complex(x, (x.tril(-1) - x.tril(-1).mT) * 0.2)
    for leaf in (x.requires_grad_(), turned.requires_grad_()):
        assert vt.autograd.gradcheck(F.linalg_cholesky, leaf, check_forward_ad=True)
        assert vt.autograd.gradgradcheck(F.linalg_cholesky, leaf, fast_mode=True)


def test_eigenvalues_and_vectors_of_complex_matrices() -> None:
    """By what does not depend on the phases of the vectors, which are arbitrary."""
    x = positive(2, 3, 3)
    leaf = vt.complex(x, (x.tril(-1) - x.tril(-1).mT) * 0.2).requires_grad_()

    def function(z: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        values, vectors = F.linalg_eigh(z)
        return values, vectors.abs() + (vectors[..., :1, :].conj() * vectors).imag

    assert vt.autograd.gradcheck(function, leaf, check_forward_ad=True)
    assert vt.autograd.gradgradcheck(function, leaf, fast_mode=True)


def test_equal_eigenvalues() -> None:
    x = vt.eye(2, requires_grad=True)
    values, vectors = F.linalg_eigh(x)
    (grad,) = vt.autograd.grad(values.sum(), x, retain_graph=True)
    assert grad.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(LinAlgError, match="are equal"):
        vectors.sum().backward()


def test_hessian_of_eigenvalues() -> None:
    x = positive(3, 3)

    def function(z: vt.Tensor) -> vt.Tensor:
        values, vectors = F.linalg_eigh(z)
        return (values**2).sum() + (values * vectors**4).sum()

    forward = vt.func.jacfwd(vt.func.jacfwd(function))(x)
    np.testing.assert_allclose(vt.func.hessian(function)(x).detach(), forward.detach(), atol=1e-9)


def test_qr_of_tall_and_wide_complex_matrices() -> None:
    for shape in [(4, 2), (2, 4), (3, 3), (2, 3, 2)]:
        values = _RNG.normal(size=(2, *shape))
        x = vt.tensor(values[0] + 1j * values[1]).requires_grad_()
        q, r = F.linalg_qr(x)
        np.testing.assert_allclose((q @ r).detach(), x.detach())
        assert vt.autograd.gradcheck(F.linalg_qr, x, check_forward_ad=True)
        assert vt.autograd.gradgradcheck(F.linalg_qr, x, fast_mode=True)


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0), (0, 3), (2, 0, 0)])
def test_qr_of_nothing(shape: tuple[int, ...]) -> None:
    x = vt.zeros(shape, requires_grad=True)
    q, r = F.linalg_qr(x)
    (q.sum() + r.sum()).backward()
    assert x.grad is not None
    assert x.grad.shape == shape


def test_qr_of_dependent_columns_has_no_derivative() -> None:
    x = vt.zeros(2, 2, requires_grad=True)
    q, _ = F.linalg_qr(x)
    with pytest.raises(LinAlgError, match="singular"):
        q.sum().backward()
    with pytest.raises(DTypeError, match="linalg_qr"):
        F.linalg_qr(vt.ones(2, 3, dtype=vt.int64))
    with pytest.raises(MatrixShapeError, match="linalg_qr"):
        F.linalg_qr(vt.ones(2))


def test_singular_values_and_vectors_of_complex_matrices() -> None:
    """By what does not depend on the phases, which a left and a right vector have together."""

    def function(z: vt.Tensor) -> tuple[vt.Tensor, ...]:
        u, s, vh = F.linalg_svd(z)
        return s, u.abs(), (u[..., :1, :] * vh.mT[..., -1:, :]), vh[..., 0].conj() * vh[..., 1]

    for shape in [(3, 2), (2, 3), (3, 3), (2, 2, 2)]:
        values = _RNG.normal(size=(2, *shape))
        x = vt.tensor(values[0] + 1j * values[1]).requires_grad_()
        assert vt.autograd.gradcheck(function, x, check_forward_ad=True)
        assert vt.autograd.gradgradcheck(function, x, fast_mode=True, atol=1e-4)


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0), (0, 3), (2, 0, 0)])
def test_svd_of_nothing(shape: tuple[int, ...]) -> None:
    x = vt.zeros(shape, requires_grad=True)
    u, s, vh = F.linalg_svd(x)
    (u.sum() + s.sum() + vh.sum()).backward()
    assert x.grad is not None
    assert x.grad.shape == shape


def test_singular_vectors_that_have_no_derivative() -> None:
    x = vt.eye(2, requires_grad=True)
    u, s, _ = F.linalg_svd(x)
    (grad,) = vt.autograd.grad(s.sum(), x, retain_graph=True)
    np.testing.assert_allclose(grad, np.eye(2))
    with pytest.raises(LinAlgError, match="are equal"):
        u.sum().backward()
    # The space that is left over turns at once.
    x = vt.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], requires_grad=True)
    with pytest.raises(LinAlgError, match="singular"):
        F.linalg_svd(x)[0].sum().backward()
    with pytest.raises(LinAlgError, match="nan"):
        F.linalg_svd(vt.full((2, 2), np.nan))
    with pytest.raises(DTypeError, match="linalg_svd"):
        F.linalg_svd(vt.ones(2, 3, dtype=vt.int64))
    with pytest.raises(MatrixShapeError, match="linalg_svd"):
        F.linalg_svd(vt.ones(2))


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_half_of_the_diagonal_is_taken_in_every_memory_order(order: tuple[int, ...]) -> None:
    x = np.arange(1.0, 1 + 2 * 3 * 4 * 4).reshape(2, 3, 4, 4)
    stored = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    expected = np.tril(x)
    expected[..., range(4), range(4)] /= 2
    np.testing.assert_array_equal(decompositions.linalg_half_lower(stored), expected)

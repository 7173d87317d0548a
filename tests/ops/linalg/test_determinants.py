"""Determinants: dtypes, singular matrices, and derivatives inside of transforms."""

import itertools

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import DTypeError, LinAlgError, MatrixShapeError
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array


def test_logarithm_of_determinants_has_real_dtypes() -> None:
    x = vt.eye(3).expand(2, 3, 3) * 2
    sign, logarithm = F.linalg_slogdet(x)
    assert sign.dtype is logarithm.dtype is vt.float32
    sign, logarithm = F.linalg_slogdet(x.to(vt.complex64))
    assert sign.dtype is vt.complex64
    assert logarithm.dtype is vt.float32
    assert sign.shape == logarithm.shape == (2,)


def test_logarithm_of_a_singular_determinant_has_no_gradient() -> None:
    x = vt.ones(2, 2, requires_grad=True)
    sign, logarithm = F.linalg_slogdet(x)
    assert (sign.item(), logarithm.item()) == (0.0, -np.inf)
    with pytest.raises(LinAlgError, match="singular"):
        logarithm.backward()


def test_hessian_of_a_logarithm() -> None:
    x = vt.tensor([[2.0, 0.5], [-0.3, 1.0]], dtype=vt.float64)
    inverse = np.linalg.inv(x.numpy())
    expected = -np.einsum("jk,li->ijkl", inverse, inverse)
    found = vt.func.hessian(lambda z: F.linalg_slogdet(z)[1])(x)
    np.testing.assert_allclose(found.detach(), expected)


@pytest.mark.parametrize("function", [F.linalg_slogdet, F.linalg_det])
def test_determinants_refuse_what_is_no_matrix_of_floats(function: object) -> None:
    assert callable(function)
    for dtype in (vt.int64, vt.bool, vt.float16):
        with pytest.raises(DTypeError, match="needs float32"):
            function(vt.ones(2, 2, dtype=dtype))
    for shape in ((), (3,), (2, 3)):
        with pytest.raises(MatrixShapeError, match="shape"):
            function(vt.ones(shape))
        with pytest.raises(MatrixShapeError, match="shape"):
            vt.func.vmap(function)(vt.ones(4, *shape))


@pytest.mark.parametrize("function", [F.linalg_slogdet, F.linalg_det])
@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0)])
def test_determinants_of_nothing(function: object, shape: tuple[int, ...]) -> None:
    assert callable(function)
    x = vt.zeros(shape, requires_grad=True)
    found = function(x)
    results = found if isinstance(found, tuple) else (found,)
    vt.autograd.backward([y.sum() for y in results])
    assert x.grad is not None
    assert x.grad.shape == shape


def _by_permutations(x: vt.Tensor) -> vt.Tensor:
    """The determinant of a matrix of three rows as a sum of products."""
    total = vt.zeros((), dtype=x.dtype)
    for first, second, third in itertools.permutations(range(3)):
        even = (first > second) + (first > third) + (second > third)
        product = x[0, first] * x[1, second] * x[2, third]
        total = total + product * (-1) ** even
    return total


MATRICES: dict[str, Array] = {
    "regular": np.array([[1.3, -0.7, 0.4], [0.6, 1.6, -0.8], [0.5, 0.9, -1.2]]),
    "of rank 2": np.arange(9.0).reshape(3, 3),
    "of rank 1": np.outer([1.0, -2.0, 0.5], [0.4, 1.5, -1.0]),
    "of zeros": np.zeros((3, 3)),
    "with equal singular values": np.eye(3),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("is_complex", [False, True])
def test_every_derivative_of_a_determinant(name: str, is_complex: bool) -> None:
    x = vt.tensor(MATRICES[name] * (1 - 0.5j) if is_complex else MATRICES[name])
    found, expected = F.linalg_det(x.requires_grad_()), _by_permutations(x)
    weights = x.detach() * 0 + vt.linspace(0.5, 2, 9, dtype=vt.float64).reshape(3, 3)
    if is_complex:
        found, expected = found.real, expected.real
    for _ in range(4):
        np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-12)
        # The derivative along the weights, and its own, down to a constant.
        (one,) = vt.autograd.grad(found, x, create_graph=True)
        (other,) = vt.autograd.grad(expected, x, create_graph=True, materialize_grads=True)
        np.testing.assert_allclose(one.detach(), other.detach(), atol=1e-12)
        found, expected = (one * weights).sum(), (other * weights).sum()
        if is_complex:
            found, expected = found.real, expected.real
        if not expected.requires_grad:
            break


@pytest.mark.parametrize("name", MATRICES)
def test_hessian_of_a_determinant(name: str) -> None:
    x = vt.tensor(MATRICES[name])
    expected = vt.func.hessian(_by_permutations)(x)
    np.testing.assert_allclose(vt.func.hessian(F.linalg_det)(x), expected, atol=1e-12)
    twice = vt.func.jacfwd(vt.func.jacfwd(F.linalg_det))(x)
    np.testing.assert_allclose(twice, expected, atol=1e-12)
    third = vt.func.jacfwd(vt.func.jacrev(vt.func.jacrev(F.linalg_det)))(x)
    expected = vt.func.jacfwd(vt.func.jacrev(vt.func.jacrev(_by_permutations)))(x)
    np.testing.assert_allclose(third, expected, atol=1e-12)


def test_determinants_of_one_element_and_of_single_precision() -> None:
    x = vt.tensor([[[3.0]], [[0.0]]], requires_grad=True)
    y = F.linalg_det(x)
    assert y.dtype is vt.float32
    (grad,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert grad.tolist() == [[[1.0]], [[1.0]]]
    assert grad.dtype is vt.float32
    assert vt.autograd.grad(grad.sum(), x)[0].tolist() == [[[0.0]], [[0.0]]]


def test_a_determinant_with_nan_has_no_gradient() -> None:
    x = vt.tensor([[np.nan, 1.0], [1.0, 1.0]], requires_grad=True)
    y = F.linalg_det(x)
    with pytest.raises(LinAlgError, match="nan"):
        y.backward()

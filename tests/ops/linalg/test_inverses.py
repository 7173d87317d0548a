"""Inverses: dtypes, shapes, errors, and derivatives inside of transforms."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import DTypeError, LinAlgError, MatrixShapeError, ShapeError
from vtgrad.ops.generated import functional as F


def stack(*shape: int) -> vt.Tensor:
    """Regular matrices of single precision."""
    values = np.random.default_rng(3).normal(size=shape) + 3 * np.eye(shape[-1])
    return vt.tensor(values.astype(np.float32))


def test_inverse_keeps_the_dtype() -> None:
    x = stack(2, 3, 3)
    assert F.linalg_inv(x).dtype is vt.float32
    assert F.linalg_inv(x.to(vt.complex64)).dtype is vt.complex64
    np.testing.assert_array_equal(F.linalg_inv(x).numpy(), np.linalg.inv(x.numpy()))


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0)])
def test_inverse_of_nothing(shape: tuple[int, ...]) -> None:
    x = vt.zeros(shape, requires_grad=True)
    y = F.linalg_inv(x)
    assert y.shape == shape
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == shape


def test_inverse_of_a_singular_matrix_is_numpys_error() -> None:
    for kind in (LinAlgError, np.linalg.LinAlgError, RuntimeError):
        with pytest.raises(kind, match="singular"):
            F.linalg_inv(vt.ones(2, 2))
    with pytest.raises(LinAlgError, match="singular"):
        vt.func.vmap(F.linalg_inv)(vt.ones(3, 2, 2))


@pytest.mark.parametrize("dtype", [vt.int64, vt.bool, vt.float16])
def test_inverse_refuses_integers(dtype: vt.dtype) -> None:
    with pytest.raises(DTypeError, match=r"linalg_inv\(\) needs float32"):
        F.linalg_inv(vt.ones(2, 2, dtype=dtype))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_inverse_refuses_what_is_not_square(shape: tuple[int, ...]) -> None:
    with pytest.raises(MatrixShapeError, match="shape"):
        F.linalg_inv(vt.ones(shape))
    with pytest.raises(MatrixShapeError, match="shape"):
        vt.func.vmap(F.linalg_inv)(vt.ones(3, *shape))


def test_hessian_of_an_inverse() -> None:
    x = stack(2, 2).double()
    found = vt.func.hessian(lambda z: F.linalg_inv(z).sum())(x)
    inverse = np.linalg.inv(x.numpy())
    rows, columns = inverse.sum(0), inverse.sum(1)
    one_way = np.einsum("i,jk,l->ijkl", rows, inverse, columns)
    np.testing.assert_allclose(found.numpy(), one_way + one_way.transpose(2, 3, 0, 1))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 3)),
        ((3, 3, 3), (3,)),
        ((3, 3, 3), (3, 3)),
        ((2, 3, 3), (3, 2)),
        ((2, 1, 3, 3), (4, 3, 2)),
        ((3, 3), (2, 3, 0)),
        ((0, 3, 3), (3,)),
        ((0, 0), (0, 2)),
    ],
)
def test_solution_solves(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = stack(*left).double(), vt.randn(right, dtype=vt.float64)
    x = F.linalg_solve(a, b)
    is_vector = len(right) == 1 or right == left[:-1]
    back = a @ x.unsqueeze(-1) if is_vector else a @ x
    assert x.shape == (back.shape[:-1] if is_vector else back.shape)
    expected = np.broadcast_to(b.unsqueeze(-1).numpy() if is_vector else b.numpy(), back.shape)
    np.testing.assert_allclose(back.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 3), (3,)), ((3, 3), (3, 3)), ((2, 3, 3), (2, 3)), ((3, 3), (2, 3, 3)),
     ((2, 2, 2), (2, 2)), ((1, 2, 2), (2, 2)), ((2, 2, 2), (2,)), ((1, 2, 2), (3, 2, 2))],
)  # fmt: skip
def test_solutions_of_samples(
    left: tuple[int, ...],
    right: tuple[int, ...],
    in_dims: tuple[int | None, int | None],
    samples: int,
) -> None:
    a = stack(*((samples,) if in_dims[0] == 0 else ()), *left).double()
    b = vt.randn(*((samples,) if in_dims[1] == 0 else ()), *right, dtype=vt.float64)
    found = vt.func.vmap(F.linalg_solve, in_dims)(a, b)
    for nr in range(samples):
        one = F.linalg_solve(a[nr] if in_dims[0] == 0 else a, b[nr] if in_dims[1] == 0 else b)
        np.testing.assert_allclose(found[nr].numpy(), one.numpy(), atol=1e-12)


def test_what_cannot_be_solved() -> None:
    with pytest.raises(LinAlgError, match="singular"):
        F.linalg_solve(vt.ones(2, 2), vt.ones(2))
    with pytest.raises(DTypeError, match="one dtype"):
        F.linalg_solve(vt.eye(2), vt.ones(2, dtype=vt.float64))
    with pytest.raises(DTypeError, match="int64"):
        F.linalg_solve(vt.eye(2, dtype=vt.int64), vt.ones(2, dtype=vt.int64))
    for left, right in [((2, 2), (3,)), ((2, 2), (3, 2)), ((2, 3), (2,)), ((2, 2), ())]:
        with pytest.raises(MatrixShapeError, match="shape"):
            F.linalg_solve(vt.ones(left), vt.ones(right))
        with pytest.raises(MatrixShapeError, match="shape"):
            vt.func.vmap(F.linalg_solve)(vt.ones(4, *left), vt.ones(4, *right))
    with pytest.raises(ShapeError):
        F.linalg_solve(vt.ones(3, 2, 2), vt.ones(2, 2, 1))


def test_hessian_of_a_solution() -> None:
    a, b = stack(2, 2).double(), vt.randn(2, dtype=vt.float64)

    def function(x: vt.Tensor) -> vt.Tensor:
        return (F.linalg_solve(x, b) ** 2).sum()

    assert vt.autograd.gradgradcheck(function, a.requires_grad_(), fast_mode=True)
    forward = vt.func.jacfwd(vt.func.jacrev(function))(a)
    np.testing.assert_allclose(vt.func.hessian(function)(a).detach(), forward.detach())

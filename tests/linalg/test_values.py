"""What functions of `vtgrad.linalg` give, by numbers that can be computed by hand."""

import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as np_
from tests.linalg.calls import positive, random
from tests.support import collector_off
from vtgrad import linalg
from vtgrad.errors import (
    ArgumentTypeError,
    DTypeError,
    MatrixShapeError,
    MissingPackageError,
    NamesNotSupportedError,
    NoDerivativeError,
    NotSupportedError,
    OptionValueError,
    OutGradError,
    ShapeError,
)
from vtgrad.linalg import scipy_modules
from vtgrad.ops.generated import functional as F

A = vt.tensor([[4.0, 2.0], [2.0, 5.0]], dtype=vt.float64)


def gradient_of(result: vt.Tensor, x: vt.Tensor) -> list[list[float]]:
    found: list[list[float]] = vt.autograd.grad(result, x)[0].tolist()
    return found


class TestSymmetricMatrices:
    def test_one_triangle_is_read(self) -> None:
        lower = vt.tensor([[4.0, 99.0], [2.0, 5.0]])
        assert linalg.cholesky(lower).tolist() == [[2, 0], [1, 2]]
        assert linalg.cholesky(lower.mT, upper=True).tolist() == [[2, 1], [0, 2]]
        both = linalg.eigvalsh(lower), linalg.eigvalsh(lower.mT, "U")
        assert vt.allclose(both[0], both[1])

    def test_gradients_are_symmetric(self) -> None:
        # The determinant is 4 * 5 - 2 * 2; half of its logarithm is that of the diagonal.
        x = A.clone().requires_grad_()
        found = linalg.cholesky(x).diagonal().log().sum() * 32
        assert np.allclose(gradient_of(found, x), [[5, -2], [-2, 4]])
        found = linalg.eigvalsh(x, "U").prod()
        assert np.allclose(gradient_of(found, x), [[5, -2], [-2, 4]])

    @pytest.mark.parametrize("dtype", [vt.float64, vt.complex128])
    def test_large_factors_have_the_derivatives_of_small_ones(self, dtype: vt.dtype) -> None:
        # Those of SciPy's triangular solves, and those of the operator.
        size = 98
        noise = random((3, size, size), complex=dtype.is_complex)
        x, along = noise[0] + noise[0].mH + 60 * vt.eye(size), noise[1] + noise[1].mH
        results: list[list[vt.Tensor]] = []
        for function in (linalg.cholesky, lambda a: F.linalg_cholesky(a, True)):
            leaf = x.clone().requires_grad_()
            factor, tangent = vt.func.jvp(function, (x,), (along,))
            (grad,) = vt.autograd.grad(function(leaf), leaf, noise[2], create_graph=True)
            (second,) = vt.autograd.grad(grad, leaf, along)
            both = vt.vmap(function)(vt.stack([x, 2 * x]))
            results.append([factor, tangent, grad.detach(), second, both])
        for found, expected in zip(*results, strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-9)

    def test_equal_eigenvalues(self) -> None:
        x = vt.eye(2, requires_grad=True)
        total = linalg.eigh(x).eigenvalues.sum()
        assert gradient_of(total, x) == [[1, 0], [0, 1]]
        with pytest.raises(linalg.LinAlgError, match="are equal"):
            linalg.eigh(x).eigenvectors[0, 0].backward()

    def test_tangents_of_equal_values(self) -> None:
        # Those of the basis that LAPACK finds, which here is that of the coordinates.
        x = 2 * vt.eye(2, dtype=vt.float64)
        along = vt.tensor([[1.0, 5.0], [5.0, 3.0]], dtype=vt.float64)
        functions = {
            linalg.eigvalsh: [1, 3],
            linalg.eigvals: [1, 3],
            linalg.svdvals: [1, 3],
            lambda a: linalg.matrix_norm(a, "nuc"): 4,
            lambda a: vt.linalg.norm(a, 2): 2,
            linalg.cond: -1,
        }
        for function, expected in functions.items():
            assert vt.func.jvp(function, (x,), (along,))[1].tolist() == pytest.approx(expected)
        with pytest.raises(linalg.LinAlgError, match="are equal"):
            vt.func.jvp(linalg.eigh, (x,), (along,))
        with pytest.raises(linalg.LinAlgError, match="are equal"):
            vt.func.jvp(linalg.eig, (x,), (along,))
        with pytest.raises(linalg.LinAlgError, match="are equal"):
            vt.func.jvp(linalg.svd, (x,), (along,))

    def test_tangents_of_singular_values_of_low_rank(self) -> None:
        x = vt.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], dtype=vt.float64)
        found = vt.func.jvp(linalg.svdvals, (x,), (vt.ones_like(x),))[1]
        assert found[0].item() == pytest.approx(1)

    def test_which_matrices_fail(self) -> None:
        x = vt.stack([A, vt.tensor([[1.0, 0.0], [0.0, -1.0]], dtype=vt.float64)]).requires_grad_()
        factor, info = linalg.cholesky_ex(x)
        assert info.tolist() == [0, 2]
        assert factor[0].tolist() == [[2, 0], [1, 2]]
        assert factor[1].isnan().all()
        gradient = vt.autograd.grad(factor[0].sum(), x)[0]
        assert gradient[1].tolist() == [[0, 0], [0, 0]]
        assert gradient[0].isfinite().all()
        with pytest.raises(linalg.LinAlgError, match="not positive definite"):
            linalg.cholesky_ex(x, check_errors=True)
        with pytest.raises(linalg.LinAlgError, match="not positive definite"):
            linalg.cholesky(x)


class TestEquations:
    def test_vectors_and_columns(self) -> None:
        x = vt.tensor([[2.0, 0.0], [0.0, 4.0]])
        assert linalg.solve(x, vt.tensor([2.0, 2.0])).tolist() == [1, 0.5]
        assert linalg.solve(x, vt.tensor([[2.0, 4.0]]), left=False).tolist() == [[1, 1]]
        # By PyTorch's rule these are vectors, for which there is no left side.
        with pytest.raises(MatrixShapeError, match="needs matrices"):
            linalg.solve(x.expand(3, 2, 2), vt.ones(3, 2), left=False)
        # Its transposed right side would be taken for vectors, and is matrices.
        left = vt.tensor([[[1.0, 3.0], [4.0, 4.0], [2.0, 8.0]]])
        wide = x.expand(1, 2, 2)
        assert linalg.solve(wide, left, left=False).tolist() == [[[0.5, 0.75], [2, 1], [1, 2]]]

    def test_which_matrices_are_singular(self) -> None:
        x = vt.tensor([[[2.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
        assert linalg.inv_ex(x).info.tolist() == [0, 2]
        assert linalg.inv_ex(x).inverse[0].tolist() == [[0.5, 0], [0, 0.25]]
        found = linalg.solve_ex(x, vt.ones(2, 2))
        assert found.info.tolist() == [0, 2]
        assert found.result[0].tolist() == [0.5, 0.25]
        assert found.result[1].isnan().all()
        with pytest.raises(linalg.LinAlgError, match="singular"):
            linalg.solve_ex(x, vt.ones(2, 2), check_errors=True)

    def test_least_squares_of_each_driver(self) -> None:
        x = vt.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], dtype=vt.float64)
        y = vt.tensor([[1.0], [3.0], [8.0]], dtype=vt.float64)
        sizes = {}
        for driver in ("gels", "gelsy", "gelsd", "gelss"):
            found = linalg.lstsq(x, y, driver=driver)
            assert np.allclose(found.solution.tolist(), [[0.5], [3.5]])
            sizes[driver] = [z.numel() for z in found[1:]]
        assert sizes == {
            "gels": [1, 0, 0],
            "gelsy": [0, 1, 0],
            "gelsd": [1, 1, 2],
            "gelss": [1, 1, 2],
        }
        assert np.allclose(linalg.lstsq(x, y, driver="gels").residuals.tolist(), [1.5])

    def test_a_banded_matrix_is_the_full_one(self) -> None:
        band = random((4, 6))
        band[1] += 5
        full = vt.zeros(6, 6, dtype=vt.float64)
        for row, offset in enumerate((1, 0, -1, -2)):
            part = band[row, 1:] if offset > 0 else band[row, : 6 + offset]
            full.diagonal(offset).copy_(part)
        b = random((6,))
        assert vt.allclose(linalg.solve_banded((2, 1), band, b), linalg.solve(full, b))


class TestFactors:
    def test_pivots_count_from_one(self) -> None:
        x = vt.tensor([[0.0, 2.0], [4.0, 6.0]])
        packed, pivots, info = linalg.lu_factor_ex(x)
        assert packed.tolist() == [[4, 6], [0, 2]]
        assert pivots.tolist() == [2, 2]
        assert pivots.dtype is info.dtype is vt.int32
        assert info.item() == 0
        p, lower, upper = vt.lu_unpack(packed, pivots)
        assert p.tolist() == [[0, 1], [1, 0]]
        assert (p @ lower @ upper).tolist() == x.tolist()
        assert vt.lu_unpack(packed, pivots, unpack_data=False).L.shape == (0,)
        with pytest.raises(linalg.LinAlgError, match="zero on its diagonal"):
            linalg.lu_factor(vt.zeros(2, 2))
        with pytest.raises(NotSupportedError, match="exchanged rows"):
            linalg.lu(x, pivot=False)

    @pytest.mark.parametrize("is_complex", [False, True])
    @pytest.mark.parametrize("hermitian", [False, True])
    def test_ldl(self, is_complex: bool, hermitian: bool) -> None:
        x = random((2, 4, 4), complex=is_complex)
        x = x + (x.mH if hermitian else x.mT)
        b = random((4, 2), 1, complex=is_complex)
        found = linalg.ldl_factor(x, hermitian=hermitian)
        assert found.pivots.dtype is vt.int32
        solution = linalg.ldl_solve(*found, b, hermitian=hermitian)
        assert vt.allclose(x @ solution, b.expand(2, 4, 2))

    def test_ldl_has_no_derivative(self) -> None:
        x = A.clone().requires_grad_()
        with pytest.raises(NoDerivativeError, match="linalg_solve"):
            linalg.ldl_factor(x).LD.sum().backward()

    def test_a_complete_basis(self) -> None:
        x = random((4, 2)).requires_grad_()
        q, r = linalg.qr(x, "complete")
        assert (q.shape, r.shape) == ((4, 4), (4, 2))
        assert vt.allclose(q.mT @ q, vt.eye(4, dtype=vt.float64))
        with pytest.raises(NotSupportedError, match="mode='reduced'"):
            q.sum().backward()
        assert linalg.qr(x, "r").Q.shape == (0,)
        u, _, vh = linalg.svd(x.mT)
        assert (u.shape, vh.shape) == ((2, 2), (4, 4))
        assert vt.allclose(vh @ vh.mT, vt.eye(4, dtype=vt.float64))


class TestRanks:
    def test_what_counts_as_zero(self) -> None:
        x = vt.tensor([1.0, 1e-3, 1e-20], dtype=vt.float64).diag()
        assert linalg.matrix_rank(x).item() == 2
        assert linalg.matrix_rank(x, atol=0.0, rtol=0.0).item() == 3
        assert linalg.matrix_rank(x, atol=0.5).item() == 1
        assert linalg.matrix_rank(x, rtol=0.01, hermitian=True).item() == 1
        both = linalg.matrix_rank(x.expand(2, 3, 3), atol=vt.tensor([0.5, 0.0]), rtol=0.0)
        assert both.tolist() == [1, 3]
        assert linalg.pinv(x, atol=0.5).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]

    def test_several_tolerances_for_each_sample(self) -> None:
        x = vt.stack([vt.tensor([1.0, 0.1]).diag(), vt.tensor([1.0, 0.6]).diag()])
        limits = vt.tensor([[0.0, 0.5], [0.5, 0.9]])
        ranks = vt.vmap(lambda a, t: linalg.matrix_rank(a, rtol=t))(x, limits)
        assert ranks.tolist() == [[2, 1], [2, 1]]
        found = vt.vmap(lambda a: linalg.pinv(a, rtol=limits[0]))(x)
        expected = vt.tensor([[10.0, 0.0], [1 / 0.6, 1 / 0.6]])
        assert vt.allclose(found[:, :, 1, 1], expected)
        with pytest.raises(ShapeError, match="broadcast"):
            linalg.pinv(x, rtol=vt.ones(3))

    def test_the_derivative_of_one_triangle(self) -> None:
        x, weights = random((3, 3)), random((3, 3), 1)
        whole, along = x + x.mT, random((3, 3), 2)
        along = along + along.mT

        def found(x: vt.Tensor) -> vt.Tensor:
            return linalg.pinv(x, hermitian=True)

        def gradient(x: vt.Tensor) -> vt.Tensor:
            leaf = x.clone().requires_grad_()
            return vt.autograd.grad((found(leaf) * weights).sum(), leaf)[0]

        assert vt.allclose(gradient(whole), gradient(whole.tril()))
        tangents = [vt.func.jvp(found, (y,), (along,))[1] for y in (whole, whole.tril())]
        assert vt.allclose(tangents[0], tangents[1])
        change = (found(whole + 1e-6 * along) - found(whole - 1e-6 * along)) / 2e-6
        assert vt.allclose(tangents[0], change, rtol=1e-6, atol=1e-6 * change.abs().max().item())

    def test_condition_of_a_singular_matrix(self) -> None:
        x = vt.tensor([[1.0, 1.0], [1.0, 1.0]])
        assert linalg.cond(x, 1).item() == linalg.cond(x, "fro").item() == float("inf")


class TestMatrixFunctions:
    def test_a_real_matrix_with_a_complex_root(self) -> None:
        x = vt.tensor([[-4.0, 0.0], [0.0, 9.0]], dtype=vt.float64, requires_grad=True)
        root = linalg.sqrtm(x)
        assert root.dtype is vt.complex128
        assert np.allclose(root.detach().numpy(), np.array([[2j, 0], [0, 3]]))
        # The derivative of the square root of -4 is -0.25j.
        gradient = vt.autograd.grad(root[0, 0].imag, x)[0]
        assert gradient.dtype is vt.float64
        assert np.allclose(gradient.numpy(), np.array([[-0.25, 0], [0, 0]]))

    @pytest.mark.parametrize("function", [linalg.sqrtm, linalg.logm])
    def test_gradients_on_the_negative_axis_agree_with_tangents(
        self, function: Callable[[vt.Tensor], vt.Tensor]
    ) -> None:
        # The eigenvalues are -1, 1 and 3, with vectors that have no zeros.
        vectors = linalg.qr(random((3, 3))).Q
        x = vectors @ vt.tensor([-1.0, 1.0, 3.0], dtype=vt.float64).diag() @ vectors.mT
        weights, along = random((3, 3), 1, complex=True), random((3, 3), 2)

        def loss(y: vt.Tensor) -> vt.Tensor:
            return (function(y) * weights).real.sum() ** 2

        gradient = vt.func.grad(loss)
        by_gradient = (gradient(x) * along).sum()
        assert vt.allclose(by_gradient, vt.func.jvp(loss, (x,), (along,))[1])
        change = gradient(x + 1e-5 * along) - gradient(x - 1e-5 * along)
        assert vt.allclose(vt.func.jvp(gradient, (x,), (along,))[1], change / 2e-5, rtol=1e-6)

    def test_the_logarithm_is_the_inverse_of_the_exponential(self) -> None:
        x = random((2, 3, 3)) / 4
        assert vt.allclose(linalg.logm(linalg.expm(x)), x)
        assert vt.matrix_exp(vt.zeros(2, 2, dtype=vt.float16)).dtype is vt.float16

    def test_gradients_of_any_size(self) -> None:
        x = random((2, 2)).requires_grad_()
        (one,) = vt.autograd.grad(linalg.expm(x), x, vt.ones(2, 2, dtype=vt.float64))
        for size in (1e200, 1e-200, 0.0):
            weights = vt.full((2, 2), size, dtype=vt.float64)
            (found,) = vt.autograd.grad(linalg.expm(x), x, weights)
            assert np.allclose((one * size).tolist(), found.tolist(), rtol=1e-12, atol=0)


class TestNorms:
    def test_ties_share_the_gradient(self) -> None:
        x = vt.eye(2, requires_grad=True)
        assert gradient_of(linalg.matrix_norm(x, 2), x) == [[0.5, 0], [0, 0.5]]
        assert gradient_of(linalg.matrix_norm(x, "nuc"), x) == [[1, 0], [0, 1]]
        assert vt.norm(vt.tensor([[3.0, 0.0], [0.0, -4.0]]), "nuc").item() == 7
        # PyTorch's name of the argument, which here is not that of its neighbours.
        assert linalg.norm(input=vt.tensor([3.0, 4.0])).item() == 5

    def test_without_elements(self) -> None:
        assert linalg.matrix_norm(vt.zeros(0, 3), "nuc").item() == 0
        assert linalg.matrix_norm(vt.zeros(3, 0), 1).item() == 0
        with pytest.raises(IndexError, match="nothing to take the least of"):
            linalg.matrix_norm(vt.zeros(0, 3), -2)
        assert linalg.cond(vt.zeros(0, 0)).item() == 0


class TestArguments:
    def test_out(self) -> None:
        out = vt.zeros(2, 2, dtype=vt.float64)
        part = vt.zeros(3, 2, 2, dtype=vt.float64)
        assert linalg.cholesky(A, out=out) is out
        assert out.tolist() == [[2, 0], [1, 2]]
        assert linalg.cholesky(A, out=part[1]).tolist() == out.tolist()
        assert part.sum().item() == 5
        with pytest.raises(OutGradError):
            linalg.pinv(A.clone().requires_grad_(), out=out)
        values, vectors = vt.zeros(2, dtype=vt.float64), out
        assert linalg.eigh(A, out=(values, vectors)).eigenvalues is values
        with pytest.raises(ArgumentTypeError, match="must be 2 tensors"):
            linalg.qr(A, out=(out,))  # type: ignore[arg-type]  # as a caller may
        with pytest.raises(NotSupportedError, match="inside of vmap"):
            vt.vmap(lambda x: linalg.pinv(x, out=out))(A.expand(2, 2, 2))

    def test_what_is_refused(self) -> None:
        with pytest.raises(MatrixShapeError):
            linalg.lu(vt.ones(3))
        with pytest.raises(MatrixShapeError, match="square"):
            linalg.eigvalsh(vt.ones(2, 3))
        with pytest.raises(MatrixShapeError, match="broadcast"):
            linalg.lstsq(vt.ones(2, 3, 3), vt.ones(4, 3, 1))
        with pytest.raises(DTypeError):
            linalg.pinv(vt.ones(2, 2, dtype=vt.int64))
        with pytest.raises(DTypeError, match="one dtype"):
            linalg.solve_triangular(A, vt.ones(2, 1), upper=True)
        with pytest.raises(OptionValueError):
            linalg.qr(A, "full")
        with pytest.raises(OptionValueError):
            linalg.eigh(A, "X")
        with pytest.raises(OptionValueError):
            linalg.matrix_norm(A, 3)
        with pytest.raises(OptionValueError):
            linalg.lstsq(A, A, driver="best")
        with pytest.raises(NamesNotSupportedError):
            linalg.pinv(A.rename("rows", "columns"))
        with pytest.raises(ArgumentTypeError):
            linalg.inv(3)  # type: ignore[arg-type]  # as a caller may

    def test_arrays_stand_for_tensors(self) -> None:
        assert vt.allclose(linalg.pinv(np.eye(2)), vt.eye(2, dtype=vt.float64))  # type: ignore[arg-type]  # as of other operators

    def test_methods_are_the_functions(self) -> None:
        x = positive(random((3, 3)))
        assert vt.allclose(x.inverse() @ x, vt.eye(3, dtype=vt.float64))
        assert vt.allclose(x.logdet(), x.det().log())
        assert vt.allclose(x.slogdet().logabsdet, x.logdet())
        assert vt.allclose(x.cholesky() @ x.cholesky().mT, x)
        assert vt.allclose(x.matrix_power(2), x @ x)
        u, s, v = x.svd()
        assert vt.allclose(u * s @ v.mT, x)
        assert vt.allclose(x.pinverse(), x.inverse())


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if SciPy were not installed."""

    def missing(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(scipy_modules, "import_module", missing)
    scipy_modules.scipy_linalg_or_none.cache_clear()
    yield
    scipy_modules.scipy_linalg_or_none.cache_clear()


class TestWithoutSciPy:
    pytestmark = pytest.mark.usefixtures("without_scipy")

    @pytest.mark.parametrize("upper", [False, True])
    @pytest.mark.parametrize("unit", [False, True])
    def test_triangular_equations(self, upper: bool, unit: bool) -> None:
        x, b = random((2, 3, 3)), random((3, 2))
        found = linalg.solve_triangular(x, b, upper=upper, unitriangular=unit)
        triangle = x.triu() if upper else x.tril()
        if unit:
            triangle.diagonal(0, -2, -1).fill_(1)
        assert vt.allclose(triangle @ found, b.expand(2, 3, 2))
        with pytest.raises(linalg.LinAlgError, match="with SciPy"):
            linalg.solve_triangular(vt.zeros(2, 2), vt.ones(2, 1), upper=True)

    def test_derivatives_of_factors(self) -> None:
        x = random((3, 3)).requires_grad_()
        assert vt.autograd.gradcheck(lambda x: vt.cholesky_inverse(linalg.cholesky(positive(x))), x)

    def test_an_error_that_names_the_extra(self) -> None:
        for call in (linalg.lu, linalg.matrix_exp, linalg.sqrtm, linalg.ldl_factor):
            with pytest.raises(MissingPackageError, match='the extra "scipy"'):
                call(A)


class TestFactorsThatAreKept:
    @pytest.mark.parametrize("shape", [(70,), (70, 2), (2, 70, 1), (2, 70)])
    @pytest.mark.parametrize("is_complex", [False, True])
    def test_large_equations_are_those_of_the_operator(
        self, shape: tuple[int, ...], is_complex: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        a = random((2, 70, 70), complex=is_complex).requires_grad_()
        b = random(shape, 1, complex=is_complex).requires_grad_()
        g = random(tuple(linalg.solve(a, b).shape), 2, complex=is_complex)
        tangent = random((2, 70, 70), 3, complex=is_complex)

        def found() -> list[vt.Tensor]:
            result = linalg.solve(a, b)
            first = vt.autograd.grad(linalg.solve(a, b), (a, b), g)
            again = vt.autograd.grad(result, (a, b), g, create_graph=True)
            second = vt.autograd.grad(again, (a, b), again)
            along = vt.func.jvp(lambda x: linalg.solve(x, b), (a,), (tangent,))[1]
            return [result, *first, *again, *second, along]

        kept = found()
        assert kept[0].grad_fn is not None
        monkeypatch.setattr("vtgrad.linalg.factored_solve._LARGE", 1000)
        for one, other in zip(kept, found(), strict=True):
            assert vt.allclose(one, other, rtol=1e-6, atol=1e-6 * other.abs().max().item())

    def test_tangents_of_gradients(self, monkeypatch: pytest.MonkeyPatch) -> None:
        a, along = random((70, 70)), random((70, 70), 1)
        b, tangent = random((70, 2), 2), random((70, 2), 3)

        def cubes(x: vt.Tensor) -> vt.Tensor:
            return (linalg.solve(x, b) ** 3).sum()

        def of_gradients(grad: vt.Tensor) -> tuple[vt.Tensor, ...]:
            leaves = a.clone().requires_grad_(), b.clone().requires_grad_()
            return vt.autograd.grad(linalg.solve(*leaves), leaves, grad)

        def found() -> list[vt.Tensor]:
            by_matrix = vt.func.jvp(vt.func.grad(cubes), (a,), (along,))[1]
            by_gradient = vt.func.jvp(of_gradients, (b,), (tangent,))[1]
            assert isinstance(by_gradient, tuple)
            return [by_matrix, *by_gradient]

        kept = found()
        monkeypatch.setattr("vtgrad.linalg.factored_solve._LARGE", 1000)
        for one, other in zip(kept, found(), strict=True):
            assert other.abs().max() > 0
            assert vt.allclose(one, other, rtol=1e-6, atol=1e-6 * other.abs().max().item())

    def test_samples(self) -> None:
        a, b = random((3, 70, 70)), random((70, 2), 1)
        found = vt.vmap(linalg.solve, in_dims=(0, None))(a, b)
        assert vt.allclose(found, linalg.solve(a, b))
        with pytest.raises(linalg.LinAlgError, match="singular"):
            linalg.solve(vt.zeros(70, 70), vt.ones(70))
        with pytest.raises(MatrixShapeError):
            linalg.solve(a, vt.ones(3, dtype=vt.float64))


@pytest.mark.parametrize("product", [linalg.multi_dot, np_.linalg.multi_dot])
def test_a_product_of_matrices_dies_with_its_last_reference(
    product: Callable[[list[vt.Tensor]], vt.Tensor],
) -> None:
    make = np_.asarray if product is np_.linalg.multi_dot else vt.Tensor.clone
    with collector_off():
        parts = [make(random((2, 2), nr)).requires_grad_() for nr in range(4)]
        found = product(parts)
        assert np.allclose(
            found.detach().tolist(), np.linalg.multi_dot([x.tolist() for x in parts])
        )
        alive = [weakref.ref(x) for x in parts]
        del found, parts
        assert [x() for x in alive] == [None] * 4


def test_nan_and_inf_end() -> None:
    for bad in (float("nan"), float("inf")):
        x = A.clone()
        x[0, 0] = bad
        for call in (linalg.expm, linalg.logm, linalg.sqrtm):
            assert call(x).isnan().all()
        assert linalg.solve_sylvester(x, A, A).isnan().all()
        assert linalg.solve_toeplitz(x[0], A).isnan().all()
        assert linalg.solve_banded((1, 0), x, A[0]).isnan().all()


def test_lanes() -> None:
    x = A.to("lane:0")
    assert linalg.cholesky(x).device == x.device
    for call in (linalg.pinv, linalg.lu, linalg.eigvals, linalg.matrix_exp):
        with pytest.raises(NotSupportedError, match=r"pass x\.cpu\(\)"):
            call(x)

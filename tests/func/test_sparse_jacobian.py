"""Sparse Jacobians: closed forms, programs of writes, Hessians, modes, blocks and refusals."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

import vtgrad as vt
from vtgrad.func import SparsityPattern, grad, jvp, sparse_jacobian, sparsity_pattern
from vtgrad.storage.arrays import Array
from vtgrad.storage.key_set import keys
from vtgrad.storage.rewind import saves_observed
from vtgrad.storage.thread_mode import thread

Function = Callable[[vt.Tensor], vt.Tensor]


def vector(count: int, seed: int = 0) -> vt.Tensor:
    return vt.tensor(np.random.default_rng(seed).uniform(0.5, 1.5, count))


def dense(function: Function, x: vt.Tensor, jac: Callable[..., Callable[..., object]]) -> Array:
    found = jac(function)(x.clone())
    assert isinstance(found, vt.Tensor)
    return found.detach().numpy().reshape(-1, x.numel())


def check(function: Function, x: vt.Tensor, *, modes: str = "forward reverse") -> SparsityPattern:
    """The matrix equals the dense Jacobian; the pattern, of which no entry is zero by itself."""
    pattern = sparsity_pattern(function, x)
    if "forward" in modes:
        matrix = sparse_jacobian(function, x, mode="forward", check=True)
        np.testing.assert_allclose(matrix.toarray(), dense(function, x, vt.func.jacfwd), atol=1e-12)
    if "reverse" in modes:
        matrix = sparse_jacobian(function, x, mode="reverse", check=True)
        np.testing.assert_allclose(matrix.toarray(), dense(function, x, vt.func.jacrev), atol=1e-12)
    return pattern


def tridiagonal(diagonal: Array, beside: Array) -> csr_array:
    """A symmetric matrix of three diagonals."""
    at = np.arange(diagonal.size)
    rows, columns = np.hstack([at, at[1:], at[:-1]]), np.hstack([at, at[:-1], at[1:]])
    return csr_array((np.hstack([diagonal, beside, beside]), (rows, columns)))


# -- stencils and time steppers -----------------------------------------------------------------


def reaction(u: vt.Tensor) -> vt.Tensor:
    """A residual whose Jacobian is tridiagonal: ``u[i]**3 - u[i - 1] - u[i + 1]``."""
    r = u**3
    r[1:] -= u[:-1]
    r[:-1] -= u[1:]
    return r


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.calls = 0

    def __call__(self, x: vt.Tensor) -> vt.Tensor:
        self.calls += 1
        return self.function(x)


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


# -- arguments and options ------------------------------------------------------------------------


def test_containers_are_one_matrix() -> None:
    def function(p: dict[str, vt.Tensor], scale: float) -> tuple[vt.Tensor, vt.Tensor]:
        return p["w"] @ p["v"] * scale, p["v"].sum()

    p = {"w": vt.ones(2, 3), "v": vt.tensor([1.0, 2.0, 3.0])}
    matrix = sparse_jacobian(function, p, 2.0)
    # Rows: both elements of the product, then the sum. Columns: w, then v.
    assert matrix.toarray().tolist() == [
        [2, 4, 6, 0, 0, 0, 2, 2, 2],
        [0, 0, 0, 2, 4, 6, 2, 2, 2],
        [0, 0, 0, 0, 0, 0, 1, 1, 1],
    ]


def test_argnums_and_aux() -> None:
    def function(a: vt.Tensor, b: vt.Tensor) -> tuple[vt.Tensor, str]:
        return a * b, "beside"

    a, b = vt.tensor([1.0, 2.0]), vt.tensor([3.0, 4.0])
    matrix, aux = sparse_jacobian(function, a, b, argnums=(1, 0), has_aux=True, format="coo")
    assert isinstance(matrix, coo_array)
    assert aux == "beside"
    assert matrix.toarray().tolist() == [[1, 0, 3, 0], [0, 2, 0, 4]]


def test_aux_without_entries() -> None:
    modes: list[Literal["forward", "reverse"]] = ["forward", "reverse"]
    for mode in modes:
        matrix, aux = sparse_jacobian(
            lambda x: (x.detach() * 2, "beside"),
            vt.ones(2),
            has_aux=True,
            mode=mode,
        )
        assert matrix.nnz == 0
        assert aux == "beside"


def test_no_inputs_and_no_outputs() -> None:
    assert sparse_jacobian(lambda x: x * 2, vt.zeros(0)).shape == (0, 0)
    assert sparse_jacobian(lambda x: x[:0], vt.ones(3)).shape == (0, 3)


@pytest.mark.parametrize(("dtype", "wanted"), [(vt.float32, np.float32), (vt.float16, np.float32)])
def test_dtype_of_the_matrix(dtype: vt.dtype, wanted: type[np.generic]) -> None:
    assert sparse_jacobian(lambda x: x * 2, vt.ones(2, dtype=dtype)).dtype == wanted


def test_auto_takes_the_mode_with_fewer_passes() -> None:
    function = Counted(lambda x: x.sum() * 1)
    matrix = sparse_jacobian(function, vector(100))
    assert function.calls == 2
    assert matrix.shape == (1, 100)


def test_pattern_serves_other_inputs() -> None:
    pattern = sparsity_pattern(reaction, vector(30))
    function = Counted(reaction)
    for seed in (1, 2):
        x = vector(30, seed)
        matrix = sparse_jacobian(function, x, pattern=pattern, mode="forward")
        np.testing.assert_allclose(matrix.toarray(), dense(reaction, x, vt.func.jacfwd))
    # The three passes are a batch.
    assert function.calls == 2


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("chunk_size", [None, 1, 2, 100])
def test_passes_together_or_one_after_the_other(
    mode: Literal["forward", "reverse"], chunk_size: int | None
) -> None:
    def function(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        x[1:] *= x[:-1].clone().sin()
        return x * (2 if x[0] > 0 else 3), x.cumsum(0)[-2:].float()

    x = vector(8)
    matrix = sparse_jacobian(function, x, mode=mode, chunk_size=chunk_size, check=True)
    first = dense(lambda x: function(x.clone())[0], x, vt.func.jacrev)
    second = dense(lambda x: function(x.clone())[1].double(), x, vt.func.jacrev)
    np.testing.assert_allclose(matrix.toarray(), np.vstack([first, second]), atol=1e-6)


def test_blocks_give_the_same_pattern() -> None:
    x = vector(64)
    whole = sparsity_pattern(reaction, x)
    function = Counted(reaction)
    blocks = sparsity_pattern(function, x, max_bytes=400)
    assert whole.runs == 1
    assert blocks.runs == function.calls > 2
    assert sparsity_pattern(reaction, x, max_bytes=1).runs > 64
    assert blocks.indptr.tolist() == whole.indptr.tolist()
    assert blocks.indices.tolist() == whole.indices.tolist()
    matrix = sparse_jacobian(reaction, x, max_bytes=400)
    np.testing.assert_allclose(matrix.toarray(), dense(reaction, x, vt.func.jacfwd))


def test_sets_that_are_not_needed_any_more_are_forgotten() -> None:
    """Each step makes new sets; without forgetting, 200 steps would need blocks."""

    def function(x: vt.Tensor) -> vt.Tensor:
        for _ in range(200):
            y = x + x.roll(1) + x.roll(2)
            del y
        return x * 2

    assert sparsity_pattern(function, vector(50), max_bytes=8000).runs == 1


# -- refusals -------------------------------------------------------------------------------------


def into_grad(x: vt.Tensor) -> vt.Tensor:
    y = x.clone().requires_grad_()
    y.sum().backward()
    assert y.grad is not None
    return y.grad


def grown(x: vt.Tensor) -> vt.Tensor:
    return x.clone().resize_(12)


def stored_by_out(x: vt.Tensor) -> vt.Tensor:
    return vt.kron(x[:2], x[2:], out=vt.zeros(8, dtype=vt.float64))


def grown_by_out(x: vt.Tensor) -> vt.Tensor:
    with warnings.catch_warnings(action="ignore"):
        return vt.add(x, 1, out=x[:2].clone())


def with_other_data(x: vt.Tensor) -> vt.Tensor:
    y = vt.zeros(6, dtype=vt.float64)
    y.data = x
    return y


@pytest.mark.parametrize(
    "function",
    [
        into_grad,
        grown,
        stored_by_out,
        grown_by_out,
        with_other_data,
        lambda x: vt.from_numpy(x.numpy() * 2),
        lambda x: x.clone().apply_(lambda v: 2 * v),
        lambda x: vt.tensor(x.clone().untyped_storage().tolist(), dtype=vt.float64),
        lambda x: x + sparse_jacobian(lambda y: y, x).sum(),
        lambda x: vt.utils.checkpoint.checkpoint_loop(lambda u: u * 2, x, 3, snapshots=2),
    ],
)
def test_what_cannot_be_followed_is_refused(function: Function) -> None:
    with pytest.raises(vt.errors.NotSupportedError):
        sparsity_pattern(function, vector(6))


def test_another_thread_is_refused() -> None:
    errors: list[Exception] = []

    def function(x: vt.Tensor) -> vt.Tensor:
        def work() -> None:
            try:
                x.mul_(2)
            except vt.errors.NotSupportedError as error:
                errors.append(error)

        other = threading.Thread(target=work)
        other.start()
        other.join()
        return x * 2

    sparsity_pattern(function, vector(3))
    assert len(errors) == 1


def test_threads_find_patterns_side_by_side() -> None:
    found: dict[int, int] = {}

    def work(nr: int) -> None:
        for _ in range(10):
            found[nr] = sparsity_pattern(lambda x: x[nr:] * x[: 20 - nr], vector(20)).nnz

    threads = [threading.Thread(target=work, args=(nr,)) for nr in range(1, 5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {nr: 2 * (20 - nr) for nr in range(1, 5)}


def test_inside_another_transform_is_refused() -> None:
    def total(x: vt.Tensor) -> vt.Tensor:
        return x.sum() * float(sparse_jacobian(lambda y: y * y, x).sum())

    for transform in (grad, vt.func.jacfwd):
        with pytest.raises(vt.errors.TransformError, match=r"no derivatives; pass x\.detach"):
            transform(total)(vector(3))


def test_inside_of_vmap_is_refused() -> None:
    def total(x: vt.Tensor) -> vt.Tensor:
        return x * sparse_jacobian(lambda y: y * y, x).nnz

    with pytest.raises(vt.errors.BatchedTensorError, match="in a loop over the samples"):
        vt.func.vmap(total)(vt.ones(2, 3))


def test_inference_mode_is_refused() -> None:
    with vt.inference_mode(), pytest.raises(vt.errors.InferenceModeError):
        sparse_jacobian(lambda x: x, vector(3))


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"mode": "both"}, vt.errors.ArgumentValueError),
        ({"format": "csc"}, vt.errors.ArgumentValueError),
        ({"pattern": "dense"}, vt.errors.ArgumentTypeError),
        ({"max_bytes": 0}, vt.errors.ArgumentValueError),
        ({"chunk_size": 0}, vt.errors.ArgumentValueError),
        ({"argnums": 3}, vt.errors.TransformError),
    ],
)
def test_wrong_options(options: dict[str, object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        sparse_jacobian(lambda x: x * x.sum(), vector(3), **options)  # type: ignore[call-overload]  # wrong on purpose


@pytest.mark.parametrize("value", [3, vt.tensor([1]), vt.ones(2, dtype=vt.complex64)])
def test_wrong_outputs(value: object) -> None:
    with pytest.raises(vt.errors.TransformError):
        sparse_jacobian(lambda x: value, vector(3))


def test_pattern_of_other_shapes_is_refused() -> None:
    pattern = sparsity_pattern(reaction, vector(5))
    with pytest.raises(vt.errors.TransformError, match=r"shapes \[\[5\]\], not \[\[6\]\]"):
        sparse_jacobian(reaction, vector(6), pattern=pattern)
    with pytest.raises(vt.errors.TransformError, match="outputs of shapes"):
        sparse_jacobian(lambda x: x[:2], vector(5), pattern=pattern)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_check_finds_a_missing_entry(mode: Literal["forward", "reverse"]) -> None:
    """A pattern that was found for another function."""
    diagonal = sparsity_pattern(lambda x: x * 2, vector(4))
    x = vector(4)
    assert sparse_jacobian(reaction, x, pattern=diagonal, mode=mode).nnz == 4
    with pytest.raises(vt.errors.TransformError, match=r"in 4 of 4 .*the pattern misses"):
        sparse_jacobian(reaction, x, pattern=diagonal, mode=mode, check=True)


def test_scipy_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    with pytest.raises(vt.errors.MissingPackageError, match=r"pip install vtgrad\[sparse\]"):
        sparse_jacobian(reaction, vector(3))
    assert sparsity_pattern(reaction, vector(3)).nnz == 7


# -- what is left behind --------------------------------------------------------------------------


def test_nothing_stays_switched_after_an_error() -> None:
    reasons = saves_observed.reasons

    def function(x: vt.Tensor) -> vt.Tensor:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sparsity_pattern(function, vector(3))
    assert thread.tracer is None
    assert thread.excluded_keys == 0
    assert not keys.modes
    assert saves_observed.reasons == reasons

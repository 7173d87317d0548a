"""Sparse Jacobians: arguments, options, blocks, refusals, and what is left behind."""

from __future__ import annotations

import threading
import warnings
from typing import Literal

import numpy as np
import pytest
from scipy.sparse import coo_array

import vtgrad as vt
from tests.func.sparse import Counted, Function, dense, reaction, vector
from tests.support import needs_global_lock
from vtgrad.func import grad, sparse_jacobian, sparsity_pattern
from vtgrad.graph.tracer import thread
from vtgrad.storage.key_set import keys
from vtgrad.storage.rewind import saves_observed

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


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("chunk_size", [None, 1])
def test_tensors_without_elements(
    mode: Literal["forward", "reverse"], chunk_size: int | None
) -> None:
    def function(p: tuple[vt.Tensor, ...]) -> tuple[vt.Tensor, ...]:
        return p[0] * 2, p[1] ** 2, p[0].sum(1)

    p = vt.ones(2, 0), vt.tensor([1.0, 2.0])
    matrix = sparse_jacobian(function, p, mode=mode, chunk_size=chunk_size, check=True)
    assert matrix.toarray().tolist() == [[2, 0], [0, 4], [0, 0], [0, 0]]
    for x in (vt.ones(0), vt.ones(3, 0)):
        matrix = sparse_jacobian(lambda x: x * 2, x, mode=mode, chunk_size=chunk_size, check=True)
        assert matrix.shape == (0, 0)


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


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("function", "count", "shape"),
    [
        (lambda x: vt.ones(3, dtype=x.dtype), 2, (3, 2)),
        (lambda x: x.detach() * 2, 2, (2, 2)),
        (lambda x: vt.ones(3, dtype=x.dtype) * x.sum(), 0, (3, 0)),
        (lambda x: x[:0], 2, (0, 2)),
        (lambda x: x, 0, (0, 0)),
    ],
)
def test_a_matrix_without_entries_has_its_dtype(
    function: Function,
    count: int,
    shape: tuple[int, int],
    mode: Literal["forward", "reverse"],
) -> None:
    x = vt.ones(count, dtype=vt.float32)
    for check in (False, True):
        found, aux = sparse_jacobian(
            lambda x: (function(x), "aux"), x, mode=mode, check=check, has_aux=True
        )
        assert found.shape == shape
        assert found.dtype == np.float32
        assert found.nnz == 0
        assert aux == "aux"


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


def test_a_function_that_catches_everything_is_run_in_blocks_too() -> None:
    def function(x: vt.Tensor) -> vt.Tensor:
        try:
            return x.cumsum(0)
        except BaseException:
            return x

    pattern = sparsity_pattern(function, vector(40), max_bytes=1000)
    assert pattern.runs > 1
    assert pattern.nnz == 40 * 41 // 2


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


@needs_global_lock
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
    with pytest.raises(vt.errors.MissingPackageError, match="pip install scipy"):
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

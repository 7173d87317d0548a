"""Sums, products, means, extreme values and truth over dimensions, on plain arrays."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from vtgrad.errors import (
    DimensionError,
    DTypeError,
    NotSupportedError,
    OutOfRangeError,
    ShapeError,
)
from vtgrad.ops.kernels import cumulative, reductions
from vtgrad.storage.arrays import Array

NAN = float("nan")
INF = float("inf")
DIMS: list[int | tuple[int, ...] | None] = [None, 0, 1, -1, (0, 1), (2, 0), (0, 1, 2)]


@pytest.fixture(autouse=True)
def _as_the_caller_runs_kernels() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def sample(seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(2, 3, 4))


def strided_copies(x: Array) -> list[Array]:
    """The same values in C order, transposed in memory, stepped, and broadcast."""
    stepped = np.repeat(x, 2, axis=1)[:, ::2]
    return [x, x.copy(order="F"), stepped]


REDUCTIONS: list[tuple[Callable[..., Array], Callable[..., object]]] = [
    (reductions.sum, np.sum),
    (reductions.mean, np.mean),
    (reductions.amax, np.max),
    (reductions.amin, np.min),
    (reductions.any, np.any),
    (reductions.all, np.all),
]


@pytest.mark.parametrize(("kernel", "oracle"), REDUCTIONS)
def test_reductions_agree_with_numpy_over_every_dim_and_strides(
    kernel: Callable[..., Array], oracle: Callable[..., object]
) -> None:
    for x, dim, keepdim in itertools.product(strided_copies(sample()), DIMS, (False, True)):
        got = kernel(x, dim, keepdim)
        expected = np.asarray(oracle(x, axis=dim, keepdims=keepdim))
        np.testing.assert_allclose(got, expected, rtol=1e-14)
        assert type(got) is np.ndarray
        assert got.base is None
        assert got.flags.c_contiguous
        assert got.flags.writeable


def test_kept_dimensions_have_canonical_strides() -> None:
    x = np.ones((2, 3, 4), order="F")
    assert reductions.sum(x, 1, True).strides == (32, 32, 8)
    assert reductions.amax(x, (0, 2), True).strides == (24, 8, 8)
    assert reductions.linalg_vector_norm(x, 2, 0, True).strides == (96, 32, 8)


@pytest.mark.parametrize("kind", [np.bool_, np.uint8, np.int8, np.int32, np.int64])
def test_integers_are_summed_and_multiplied_as_int64(kind: type[np.generic]) -> None:
    x = np.array([1, 1, 0, 1], dtype=kind)
    assert reductions.sum(x).dtype == np.int64
    assert reductions.sum(x).item() == 3
    assert reductions.prod(x).dtype == np.int64
    assert reductions.prod(x).item() == 0
    assert cumulative.cumsum(x, 0).tolist() == [1, 2, 2, 3]
    assert cumulative.cumsum(x, 0).dtype == np.int64


def test_a_requested_dtype_is_the_dtype_that_is_summed_in() -> None:
    x = np.array([200, 100], dtype=np.uint8)
    assert reductions.sum(x, dtype=np.dtype(np.uint8)).item() == 44
    assert reductions.sum(np.array([0.9, 0.9]), dtype=np.dtype(np.int64)).item() == 0
    assert reductions.sum(np.array([0.5, -0.5]), dtype=np.dtype(np.bool_)).item() is True
    assert reductions.sum(np.array([1 + 2j]), dtype=np.dtype(np.float64)).item() == 1.0


def test_half_precision_sums_do_not_stall() -> None:
    # Added one by one in half precision, 4096 ones stop at 2048.
    ones = np.ones((4096, 2), np.float16)
    assert reductions.sum(ones, 0).tolist() == [4096.0, 4096.0]
    assert reductions.sum(ones, 0).dtype == np.float16
    assert reductions.mean(ones * 40).item() == 40.0


@pytest.mark.slow
def test_long_sums_do_not_stall_with_any_strides() -> None:
    # Added one by one in single precision, ones stop at 2**24.
    count = 2**24 + 4096
    rows = np.broadcast_to(np.float32(1), (count, 2)).copy()
    assert reductions.sum(rows, 0).tolist() == [count, count]
    assert reductions.sum(rows[:, :1]).item() == count
    assert reductions.mean(rows, 0, True).tolist() == [[1.0, 1.0]]
    # Expanded: strides of zero, which NumPy does not sort.
    one, two = np.ones(1, np.float32), np.ones(2, np.float32)
    for expanded in (one, two, two.reshape(1, 2)):
        assert reductions.sum(np.broadcast_to(expanded, (count, 2)), 0).tolist() == [count, count]
    assert reductions.sum(np.broadcast_to(one, (2**12, 2**13))).item() == 2**25


def test_sums_in_blocks_agree_with_numpy() -> None:
    x = np.random.default_rng(4).normal(size=(3, 10_000, 2))
    for dim, keepdim in itertools.product(DIMS, (False, True)):
        for view in (x, x[:, ::2], x.transpose(1, 2, 0), x[..., :1]):
            expected = np.sum(view, axis=dim, keepdims=keepdim)
            np.testing.assert_allclose(reductions.sum(view, dim, keepdim), expected, atol=1e-10)


def test_nothing_sums_to_zero_multiplies_to_one_and_has_no_mean() -> None:
    empty = np.zeros((0, 3), np.float32)
    assert reductions.sum(empty).item() == 0.0
    assert reductions.sum(empty, 0).tolist() == [0.0, 0.0, 0.0]
    assert reductions.prod(empty).item() == 1.0
    assert np.isnan(reductions.mean(empty))
    assert np.isnan(reductions.mean(empty, 0)).all()
    assert reductions.mean(empty, 1).shape == (0,)
    assert not reductions.any(empty)
    assert reductions.all(empty)


def test_extremes_of_nothing_are_refused() -> None:
    empty = np.zeros((0, 3))
    for whole in (reductions.max, reductions.min, reductions.amax, reductions.amin):
        with pytest.raises(ShapeError):
            whole(empty)
    for along in (reductions.max_dim, reductions.min_dim, reductions.amax, reductions.argmax):
        with pytest.raises(DimensionError):
            along(empty, 0)
    with pytest.raises(DimensionError):
        reductions.amin(empty, (0, 1, 0))  # before it is seen that one is there twice
    with pytest.raises(OutOfRangeError):
        reductions.argmin(empty)
    values, indices = reductions.max_dim(empty, 1)
    assert values.shape == indices.shape == (0,)


def test_mean_of_integers_needs_a_dtype() -> None:
    with pytest.raises(DTypeError):
        reductions.mean(np.array([1, 2]))
    assert reductions.mean(np.array([1, 2]), dtype=np.dtype(np.float32)).item() == 1.5


def test_a_nan_wins_over_every_number() -> None:
    x = np.array([1.0, NAN, 5.0, NAN])
    assert np.isnan(reductions.max(x))
    assert np.isnan(reductions.min(x))
    values, indices = reductions.min_dim(x, 0)
    assert np.isnan(values)
    assert indices == 1
    assert reductions.argmax(x) == 1


def test_the_index_is_that_of_the_first_of_equal_elements() -> None:
    x = np.array([[2.0, 7.0, 7.0], [1.0, 1.0, 0.0]])
    values, indices = reductions.max_dim(x, 1)
    assert values.tolist() == [7.0, 1.0]
    assert indices.tolist() == [1, 0]
    assert reductions.argmax(x) == 1
    assert reductions.argmax(x.copy(order="F")) == 1
    assert reductions.argmin(x, 0, True).tolist() == [[1, 1, 1]]
    assert reductions.argmin(x, keepdim=True).shape == (1, 1)


def test_any_and_all_answer_in_uint8_for_uint8() -> None:
    x = np.array([[0, 3], [0, 0]], np.uint8)
    assert reductions.any(x, 1).dtype == np.uint8
    assert reductions.any(x, 1).tolist() == [1, 0]
    assert reductions.all(x).dtype == np.uint8
    assert reductions.any(np.array([0.0, NAN])).item() is True


def test_any_over_no_dimension_tests_each_element() -> None:
    x = np.array([[0.0, 2.0]])
    assert reductions.any(x, ()).tolist() == [[False, True]]
    assert reductions.sum(x, ()).item() == 2.0


@pytest.mark.parametrize("bad", [2, -3])
def test_a_missing_dimension_is_named(bad: int) -> None:
    x = np.ones((2, 2))
    for kernel in (reductions.sum, cumulative.cumsum, reductions.softmax, reductions.argmax):
        with pytest.raises(DimensionError) as caught:
            kernel(x, bad)
        assert caught.value.facts["dim"] == bad


def test_a_dimension_given_twice_is_refused() -> None:
    with pytest.raises(ShapeError):
        reductions.sum(np.ones((2, 2)), (0, -2))


def test_a_0d_array_has_one_dimension_to_reduce() -> None:
    x = np.array(3.0)
    assert reductions.sum(x, 0) == reductions.sum(x, -1) == 3.0
    assert reductions.max_dim(x, 0)[1] == 0
    assert cumulative.cumprod(x, 0) == 3.0
    assert reductions.softmax(x, -1) == 1.0
    with pytest.raises(DimensionError):
        reductions.sum(x, 1)


def test_extremes_of_complex_values_are_refused() -> None:
    x = np.array([1j, 2.0])
    with pytest.raises(NotSupportedError):
        reductions.max(x)
    with pytest.raises(NotSupportedError):
        reductions.amin(x)
    with pytest.raises(DTypeError):
        reductions.max_dim(x, 0)
    with pytest.raises(DTypeError):
        reductions.argmax(x)


def test_the_median_is_the_lower_middle_element() -> None:
    assert reductions.median(np.array([4.0, 1.0, 3.0, 2.0])) == 2.0
    assert reductions.median(np.array([3, 1, 2])) == 2
    assert np.isnan(reductions.median(np.array([1.0, NAN, 0.0])))
    assert np.isnan(reductions.median(np.zeros(0)))
    values, indices = reductions.median_dim(
        np.array([[4.0, 1.0, 3.0, 2.0], [0.0, NAN, 1.0, NAN]]), 1
    )
    assert values[0] == 2.0
    assert np.isnan(values[1])
    assert indices.tolist() == [3, 1]
    assert reductions.median_dim(np.ones((2, 3)), 0, True)[0].shape == (1, 3)


def test_running_sums_round_once_per_element() -> None:
    # 2**24 + 1 has no float32: a sum kept in float32 would stay at 2**24 for ever.
    x = np.array([2.0**24, 1.0, 1.0, 1.0, 1.0], np.float32)
    assert cumulative.cumsum(x, 0).tolist()[-1] == 2.0**24 + 4
    assert cumulative.cumsum(x, 0).dtype == np.float32


def test_running_logarithms_of_equal_real_parts_lie_on_the_branch_of_the_later_one() -> None:
    steps = cumulative.logcumsumexp(np.array([-1j, -5j]), 0)
    np.testing.assert_allclose(np.exp(steps), [np.exp(-1j), np.exp(-1j) + np.exp(-5j)])
    assert -2 * np.pi < steps[1].imag < -np.pi


def test_there_are_no_running_sums_in_bool() -> None:
    with pytest.raises(NotSupportedError):
        cumulative.cumsum(np.ones(2), 0, np.dtype(np.bool_))


def test_running_products_follow_the_dimension() -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)
    assert cumulative.cumprod(x, 1).tolist() == [[1, 2, 6], [4, 20, 120]]
    assert cumulative.cumprod(x.T, 1).tolist() == [[1, 4], [2, 10], [3, 18]]
    assert cumulative.cumprod(x.T, 0).flags.c_contiguous


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("correction", [0, 1, 0.5])
def test_var_and_std_agree_with_numpy(dim: int | tuple[int, ...] | None, correction: float) -> None:
    for x in strided_copies(sample(1)):
        expected = np.var(x, axis=dim, ddof=correction)
        np.testing.assert_allclose(reductions.var(x, dim, correction), expected, rtol=1e-12)
        np.testing.assert_allclose(
            reductions.std(x, dim, correction, True),
            np.std(x, axis=dim, ddof=correction, keepdims=True),
            rtol=1e-12,
        )


def test_too_few_elements_for_the_correction_have_no_variance() -> None:
    assert np.isnan(reductions.var(np.array([3.0])))
    assert reductions.var(np.array([1.0, 2.0]), correction=2) == INF
    assert reductions.var(np.array([1.0, 2.0]), correction=5) == INF
    assert np.isnan(reductions.std(np.zeros(0)))


def test_the_variance_of_complex_values_is_real() -> None:
    x = np.array([1 + 1j, 1 - 1j], np.complex64)
    assert reductions.var(x).dtype == np.float32
    assert reductions.var(x) == 2.0


def test_the_variance_survives_a_large_offset() -> None:
    x = np.array([10001.0, 10002.0, 10003.0], np.float32)
    assert reductions.var(x) == 1.0


@pytest.mark.parametrize(
    ("order", "expected"),
    [(2, 5.0), (1, 7.0), (0, 2.0), (INF, 4.0), (-INF, 0.0), (3, 91.0 ** (1 / 3)), (-1, 0.0)],
)
def test_vector_norms_of_every_order(order: float, expected: float) -> None:
    x = np.array([-3.0, 0.0, 4.0])
    np.testing.assert_allclose(reductions.linalg_vector_norm(x, order), expected, rtol=1e-15)
    rows = reductions.linalg_vector_norm(np.stack([x, 2 * x]), order, 1)
    np.testing.assert_allclose(rows, [expected, expected * (1 if order == 0 else 2)], rtol=1e-15)


def test_the_norm_of_complex_values_is_real() -> None:
    x = np.array([3 + 4j, 0], np.complex64)
    assert reductions.linalg_vector_norm(x).dtype == np.float32
    assert reductions.linalg_vector_norm(x) == 5.0
    assert reductions.linalg_vector_norm(np.array([complex(INF, NAN)])) == INF


def test_norms_without_a_neutral_element_refuse_nothing_at_all() -> None:
    empty = np.zeros((0, 3))
    assert reductions.linalg_vector_norm(empty) == 0.0
    assert reductions.linalg_vector_norm(empty, INF, 1).shape == (0,)
    for order in (INF, -INF, -1.0):
        with pytest.raises(ShapeError):
            reductions.linalg_vector_norm(empty, order)
        with pytest.raises(ShapeError):
            reductions.linalg_vector_norm(empty, order, 0)


def test_norms_may_widen_but_not_narrow() -> None:
    x = np.array([3.0, 4.0], np.float32)
    assert reductions.linalg_vector_norm(x, dtype=np.dtype(np.float64)).dtype == np.float64
    for refused in (np.float16, np.complex64):
        with pytest.raises(DTypeError):
            reductions.linalg_vector_norm(x, dtype=np.dtype(refused))
    with pytest.raises(DTypeError):
        reductions.linalg_vector_norm(np.array([3, 4]))


def test_logsumexp_neither_overflows_nor_loses_infinities() -> None:
    log2 = 0.6931471805599453
    assert reductions.logsumexp(np.array([1000.0, 1000.0]), 0) == 1000.0 + log2
    assert reductions.logsumexp(np.array([-1000.0, -1000.0]), 0) == -1000.0 + log2
    assert reductions.logsumexp(np.array([-INF, -INF]), 0) == -INF
    assert reductions.logsumexp(np.array([INF, 1.0]), 0) == INF
    assert reductions.logsumexp(np.zeros((0, 2)), 0).tolist() == [-INF, -INF]
    np.testing.assert_allclose(reductions.logsumexp(np.array([0, 0]), 0), log2, rtol=1e-7)
    assert reductions.logsumexp(np.array([0, 0]), 0).dtype == np.float32
    x = sample(2)
    np.testing.assert_allclose(
        reductions.logsumexp(x, (0, 2)), np.log(np.exp(x).sum((0, 2))), rtol=1e-13
    )


def test_softmax_and_its_logarithm() -> None:
    x = np.array([[1000.0, 1000.0], [0.0, -INF]])
    assert reductions.softmax(x, 1).tolist() == [[0.5, 0.5], [1.0, 0.0]]
    np.testing.assert_allclose(
        reductions.log_softmax(x, 1), [[-np.log(2), -np.log(2)], [0.0, -INF]], rtol=1e-15
    )
    assert np.isnan(reductions.softmax(np.array([-INF, -INF]), 0)).all()
    assert reductions.softmax(sample().T, 0).flags.c_contiguous


def test_softmax_of_integers_needs_a_dtype() -> None:
    with pytest.raises(NotSupportedError):
        reductions.softmax(np.array([1, 2]), 0)
    assert reductions.softmax(np.array([1, 1]), 0, np.dtype(np.float64)).tolist() == [0.5, 0.5]


def test_kernels_leave_their_inputs_alone() -> None:
    x = sample(3)
    before = x.copy()
    x.setflags(write=False)
    for dim in (0, 1, 2):
        for kernel in (reductions.sum, reductions.prod, reductions.softmax, reductions.log_softmax):
            kernel(x, dim)
        reductions.var(x, dim)
        reductions.logsumexp(x, dim)
        reductions.median_dim(x, dim)
        cumulative.cumsum(x, dim)
    reductions.median(x)
    np.testing.assert_array_equal(x, before)

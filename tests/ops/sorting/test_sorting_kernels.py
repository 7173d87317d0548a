"""Sorting, the k largest, and the indices of nonzero elements, on plain arrays."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import DimensionError, DTypeError, ElementIndexError
from vtgrad.ops.kernels import indexing, sorting

NAN = float("nan")


def test_equal_elements_keep_their_order_in_both_directions() -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0])
    values, indices = sorting.sort(x)
    assert values.tolist() == [1, 1, 2, 2]
    assert indices.tolist() == [1, 3, 0, 2]
    values, indices = sorting.sort(x, descending=True)
    assert values.tolist() == [2, 2, 1, 1]
    assert indices.tolist() == [0, 2, 1, 3]
    assert sorting.argsort(x, 0, True).tolist() == [0, 2, 1, 3]


def test_nan_is_larger_than_everything() -> None:
    x = np.array([NAN, np.inf, NAN, -1.0])
    assert sorting.argsort(x).tolist() == [3, 1, 0, 2]
    assert sorting.argsort(x, descending=True).tolist() == [0, 2, 1, 3]
    assert sorting.topk(x, 2)[1].tolist() == [0, 2]
    assert sorting.topk(x, 2, largest=False)[1].tolist() == [3, 1]


def test_bools_and_unsigned_integers_sort_downwards_too() -> None:
    assert sorting.argsort(np.array([False, True, False]), 0, True).tolist() == [1, 0, 2]
    assert sorting.sort(np.array([0, 255, 1], np.uint8), 0, True)[0].tolist() == [255, 1, 0]


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_along_every_dimension(dim: int, descending: bool) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    values, indices = sorting.sort(x, dim, descending)
    expected = np.sort(x, axis=dim)
    np.testing.assert_array_equal(values, np.flip(expected, dim) if descending else expected)
    np.testing.assert_array_equal(np.take_along_axis(x, indices, dim), values)


def test_sorted_values_keep_the_memory_order_of_the_input() -> None:
    x = np.random.default_rng(1).normal(size=(3, 4)).T
    values, indices = sorting.sort(x, 0)
    assert values.strides == indices.strides == (8, 32)
    assert values.base is None
    assert sorting.topk(x, 2, 0)[0].strides == (24, 8)


def test_topk_takes_the_ends() -> None:
    x = np.array([[5.0, 1.0, 4.0], [2.0, 3.0, 6.0]])
    values, indices = sorting.topk(x, 2)
    assert values.tolist() == [[5, 4], [6, 3]]
    assert indices.tolist() == [[0, 2], [2, 1]]
    assert sorting.topk(x, 1, 0, False)[0].tolist() == [[2, 1, 4]]
    assert sorting.topk(x, 0)[0].shape == (2, 0)


@pytest.mark.parametrize("k", [4, -1])
def test_topk_refuses_more_than_there_is(k: int) -> None:
    with pytest.raises(ElementIndexError) as caught:
        sorting.topk(np.ones((2, 3)), k)
    assert caught.value.facts == {"k": k, "size": 3}


def test_a_0d_array_is_its_own_order() -> None:
    values, indices = sorting.sort(np.array(3.0))
    assert (values.item(), indices.item()) == (3.0, 0)
    assert sorting.topk(np.array(3.0), 1)[0].shape == ()
    with pytest.raises(DimensionError):
        sorting.sort(np.array(3.0), 1)


def test_complex_values_have_no_order() -> None:
    with pytest.raises(DTypeError):
        sorting.sort(np.array([1j]))
    with pytest.raises(DTypeError):
        sorting.topk(np.array([True]), 1)


def test_places_of_nonzero_elements_come_row_by_row() -> None:
    x = np.array([[0.0, NAN, 0.0], [2.0, 0.0, -1.0]])
    assert indexing.nonzero(x).tolist() == [[0, 1], [1, 0], [1, 2]]
    assert indexing.nonzero(x).dtype == np.int64
    rows, columns = vt.nonzero(vt.tensor(x), as_tuple=True)
    assert rows.tolist() == [0, 1, 1]
    assert columns.tolist() == [1, 0, 2]


def test_a_0d_array_has_no_coordinates() -> None:
    assert indexing.nonzero(np.array(3.0)).shape == (1, 0)
    assert indexing.nonzero(np.array(0.0)).shape == (0, 0)
    (only,) = vt.nonzero(vt.tensor(3.0), as_tuple=True)
    assert only.tolist() == [0]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize(("shape", "dim"), [((400,), 0), ((3, 400), 1), ((400, 3), 0)])
def test_topk_of_long_rows_is_the_head_of_the_sorted_ones(
    shape: tuple[int, ...], dim: int, k: int, largest: bool
) -> None:
    generator = np.random.default_rng(3)
    with_nan = generator.normal(size=shape)
    with_nan.reshape(-1)[::17] = np.nan
    for x in (generator.normal(size=shape), generator.integers(0, 9, shape), with_nan):
        values, indices = sorting.topk(x, k, dim, largest)
        ordered, order = sorting.sort_stable(x, stable=True, dim=dim, descending=largest)
        head = (slice(None),) * dim + (slice(k),)
        assert np.array_equal(indices, order[head])
        assert np.array_equal(values, ordered[head], equal_nan=True)


@pytest.mark.parametrize("largest", [True, False])
def test_topk_of_many_rows_takes_the_first_of_equal_elements(largest: bool) -> None:
    """Rows with many, few and no elements equal to the last one that is taken, side by side."""
    generator = np.random.default_rng(5)
    for spread in (2, 9, 60, 10_000):
        x = generator.integers(0, spread, (40, 2, 96)).astype(np.float64)
        x[::3] = generator.normal(size=(14, 2, 96))
        x[x == 0] *= generator.choice([1.0, -1.0], np.count_nonzero(x == 0))
        for k in (1, 2, 12):
            values, indices = sorting.topk(x, k, -1, largest)
            ordered, order = sorting.sort(x, -1, largest)
            assert np.array_equal(indices, order[..., :k])
            # The sign of a zero is that of the element that was taken.
            assert values.tobytes() == np.ascontiguousarray(ordered[..., :k]).tobytes()

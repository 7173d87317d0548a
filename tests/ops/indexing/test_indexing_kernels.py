"""Gathering and scattering: worked numbers, duplicates, and the errors of wrong indices."""

import numpy as np
import pytest

from vtgrad.errors import (
    DimensionError,
    DTypeError,
    ElementIndexError,
    OutOfRangeError,
    ResultTypeError,
    ShapeError,
)
from vtgrad.ops.kernels import indexing
from vtgrad.ops.kernels.indexing.index_support import last_mentions
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import carry_out

X: Array = np.arange(6.0).reshape(2, 3)


def ints(*values: object) -> Array:
    return np.array(values, np.int64)


def test_gather_reads_along_one_dimension() -> None:
    assert indexing.gather(X, 0, ints([1, 0])).tolist() == [[3, 1]]
    assert indexing.gather(X, -1, ints([2, 2], [0, 1])).tolist() == [[2, 2], [3, 4]]
    assert indexing.gather(np.array(5.0), 0, ints(0, 0)).tolist() == [5, 5]
    assert indexing.gather(X, 0, np.zeros((0,), np.int64)).shape == (0,)


def test_gather_refuses_wrong_indices() -> None:
    with pytest.raises(ElementIndexError) as caught:
        indexing.gather(X, 0, ints([0, 2]))
    assert caught.value.facts == {"index": 2, "dim": 0, "size": 2}
    assert isinstance(caught.value, RuntimeError)
    with pytest.raises(ElementIndexError):
        indexing.gather(X, 0, ints([0, -1]))
    with pytest.raises(ShapeError):
        indexing.gather(X, 0, ints(0, 1))
    with pytest.raises(ShapeError):
        indexing.gather(X, 1, ints([0], [0], [0]))
    with pytest.raises(DTypeError):
        indexing.gather(X, 0, np.array([[0.0]]))
    with pytest.raises(DimensionError):
        indexing.gather(X, 2, ints([0]))


def test_scatter_stores_the_last_of_duplicates() -> None:
    src = np.array([[7.0, 8.0], [9.0, 10.0]])
    assert indexing.scatter(X, 0, ints([0, 1], [0, 1]), src).tolist() == [[9, 1, 2], [3, 10, 5]]
    assert indexing.scatter(X, 1, ints([2], [0]), 5).tolist() == [[0, 1, 5], [5, 4, 5]]
    assert X.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_scattered_values_are_lost_to_later_mentions_whatever_the_memory_order() -> None:
    index = ints([0, 1], [0, 0])
    lost = [[True, False], [False, False]]
    assert indexing.scatter_overwritten(index, (2, 2), 0).tolist() == lost
    assert indexing.scatter_overwritten(np.asfortranarray(index), (2, 2), 0).tolist() == lost


def test_scatter_writes_into_an_array_of_any_memory_order() -> None:
    target = np.zeros((3, 2)).T
    carry_out(indexing.scatter_(target, 0, ints([0, 1, 0]), np.array([[1.0, 2.0, 4.0]])))
    carry_out(indexing.scatter_add_(target, 1, ints([0, 0], [2, 2]), np.ones((2, 2))))
    assert target.tolist() == [[3, 0, 4], [0, 2, 2]]


def test_scatter_add_counts_every_duplicate() -> None:
    src = np.array([[1.0, 2.0], [4.0, 8.0]])
    out = indexing.scatter_add(np.zeros((2, 2)), 0, ints([0, 1], [0, 0]), src)
    assert out.tolist() == [[5, 8], [0, 2]]


def test_scatter_refuses_wrong_sources() -> None:
    index = ints([0, 1])
    with pytest.raises(DTypeError):
        indexing.scatter(X, 0, index, X.astype(np.float32))
    with pytest.raises(ShapeError):
        indexing.scatter(X, 0, index, X[:, :1])
    with pytest.raises(ShapeError):
        indexing.scatter(X, 0, ints([0, 1, 0, 0]), np.ones((1, 4)))
    with pytest.raises(ResultTypeError):
        indexing.scatter(X, 0, index, 1j)


def test_index_select_takes_slices_with_repetition() -> None:
    assert indexing.index_select(X, 0, ints(1, 1)).tolist() == [[3, 4, 5]] * 2
    assert indexing.index_select(X, 1, np.array(2)).tolist() == [[2], [5]]
    assert indexing.index_select(np.array(4.0), 0, ints(0)).tolist() == 4.0


@pytest.mark.parametrize("wrong", [ints(2), ints(-1), ints([0, 1])])
def test_index_select_refuses_wrong_indices(wrong: Array) -> None:
    with pytest.raises(OutOfRangeError):
        indexing.index_select(X, 0, wrong)


def test_index_add_scales_and_counts_duplicates() -> None:
    out = indexing.index_add(X, 0, ints(0, 0), np.ones((2, 3)), alpha=2)
    assert out.tolist() == [[4, 5, 6], [3, 4, 5]]
    out = indexing.index_add(X, 1, ints(2), np.ones((2, 1)))
    assert out.tolist() == [[0, 1, 3], [3, 4, 6]]
    with pytest.raises(ShapeError):
        indexing.index_add(X, 0, ints(0), np.ones((2, 3)))
    with pytest.raises(ShapeError):
        indexing.index_add(X, 0, ints(0, 1), np.ones((2, 2)))
    with pytest.raises(DTypeError):
        indexing.index_add(X, 0, ints(0), np.ones((1, 3), np.int64))


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_many_rows_are_added_like_few(dtype: str) -> None:
    # From 16 rows on they are added in another way, and again another in other memory orders.
    draw = np.random.default_rng(0)
    index = draw.integers(0, 5, 40)
    rows = draw.integers(0, 3, (40, 3)).astype(dtype)
    target = draw.integers(0, 2, (5, 3)).astype(dtype)
    expected = target.copy()
    for row_index, row in zip(index, rows, strict=True):
        expected[row_index] = expected[row_index] + row
    assert indexing.index_add(target, 0, index, rows).tolist() == expected.tolist()
    assert indexing.index_add(target.T, 1, index, rows.T).T.tolist() == expected.tolist()
    turned = np.asfortranarray(target)
    carry_out(indexing.index_add_(turned, 0, index, rows))
    assert turned.tolist() == expected.tolist()


@pytest.mark.parametrize("extent", [7, 10**6])
def test_the_last_of_many_mentions_is_found_in_small_and_large_targets(extent: int) -> None:
    targets = np.array([3, 1, 3, 6, 1, 3])
    assert last_mentions(targets, extent).tolist() == [False, False, False, True, True, True]


def test_index_copy_keeps_the_last_slice_and_tells_which_it_was() -> None:
    source = np.array([[1.0, 1, 1], [2, 2, 2], [3, 3, 3]])
    out = indexing.index_copy(X, 0, ints(0, 1, 0), source)
    assert out.tolist() == [[3, 3, 3], [2, 2, 2]]
    lost = indexing.index_copy_overwritten(ints(0, 1, 0), (3, 2), 0, 2)
    assert lost.tolist() == [[True, True], [False, False], [False, False]]
    with pytest.raises(OutOfRangeError):
        indexing.index_copy(X, 0, ints(2), X[:1])
    with pytest.raises(ShapeError):
        indexing.index_copy(X, 0, ints(0), X[:1, :2])


def test_index_fill_counts_negative_indices_from_the_end() -> None:
    assert indexing.index_fill(X, 1, ints(-1), 9).tolist() == [[0, 1, 9], [3, 4, 9]]
    assert indexing.index_fill(X, 0, ints(0), np.array(7)).tolist() == [[7] * 3, [3, 4, 5]]
    with pytest.raises(OutOfRangeError):
        indexing.index_fill(X, 1, ints(3), 9)
    with pytest.raises(OutOfRangeError):
        indexing.index_fill(X, 1, ints(0).astype(np.int32), 9)
    with pytest.raises(ShapeError):
        indexing.index_fill(X, 1, ints(0), X)
    with pytest.raises(DTypeError):
        indexing.index_fill(X, 1, ints(0), 1j)


def test_take_reads_row_major_positions_of_any_memory_order() -> None:
    assert indexing.take(X.T, ints([1, -1])).tolist() == [[3, 5]]
    assert indexing.take_spread(np.array([1.0, 2, 4]), (2, 2), ints(0, 3, 0)).tolist() == [
        [5, 0],
        [0, 2],
    ]
    with pytest.raises(OutOfRangeError):
        indexing.take(X, ints(6))
    with pytest.raises(OutOfRangeError):
        indexing.take(X, ints(-7))
    with pytest.raises(DTypeError):
        indexing.take(X, ints(0).astype(np.int32))


def test_masks_broadcast_both_ways() -> None:
    mask = np.array([True, False, True])
    assert indexing.masked_select(X, mask).tolist() == [0, 2, 3, 5]
    assert indexing.masked_fill(X, mask, -1).tolist() == [[-1, 1, -1], [-1, 4, -1]]
    assert indexing.masked_fill(X[0], np.array([[True], [False]]), 8).tolist() == [
        [8, 8, 8],
        [0, 1, 2],
    ]
    assert indexing.masked_spread(np.array([1.0, 2, 3, 4]), (2, 3), mask).tolist() == [
        [1, 0, 2],
        [3, 0, 4],
    ]


def test_masks_must_be_bool_and_fill_with_one_value() -> None:
    with pytest.raises(DTypeError):
        indexing.masked_fill(X, ints(1, 0, 1), 2)
    with pytest.raises(DTypeError):
        indexing.masked_select(X, ints(1, 0, 1))
    with pytest.raises(ShapeError):
        indexing.masked_fill(X, X > 2, X)
    with pytest.raises(ShapeError):
        indexing.masked_select(X, np.ones(4, np.bool_))

"""Index arrays and masks in several dimensions, against NumPy's own indexing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vtgrad.errors import DTypeError, InputOverlapError, OutOfRangeError, ShapeError
from vtgrad.ops.kernels.indexing.advanced_index import (
    index,
    index_at,
    index_put,
    index_put_at_,
    index_put_into,
    index_put_overwritten,
    index_spread,
)
from vtgrad.storage.arrays import Array
from vtgrad.storage.prepared_store import carry_out

X: Array = np.arange(24.0).reshape(2, 3, 4)


def ints(*values: object) -> Array:
    return np.array(values, np.int64)


@st.composite
def keys(draw: st.DrawFn) -> tuple[Array, list[Array | None]]:
    """A tensor and index arrays for some of its dimensions, one of them at least."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    x = np.arange(float(np.prod(sizes))).reshape(sizes)
    if draw(st.booleans()):
        x = x.T
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    count = int(np.prod(shape))
    key: list[Array | None] = []
    for size in x.shape:
        if draw(st.booleans()):
            numbers = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
            key.append(np.array(numbers, np.int64).reshape(shape))
        else:
            key.append(None)
    if all(k is None for k in key):
        key[0] = np.zeros(shape, np.int64)
    return x, key


def numpy_key(key: list[Array | None]) -> tuple[Array | slice, ...]:
    return tuple(slice(None) if k is None else k for k in key)


@given(keys())
def test_reading_agrees_with_numpy(case: tuple[Array, list[Array | None]]) -> None:
    x, key = case
    result = index(x, key)
    assert result.shape == x[numpy_key(key)].shape
    assert result.tolist() == x[numpy_key(key)].tolist()
    assert result.base is None
    assert not np.shares_memory(result, x)


@given(keys())
def test_accumulating_agrees_with_numpy(case: tuple[Array, list[Array | None]]) -> None:
    x, key = case
    values = np.arange(1.0, 1 + index(x, key).size).reshape(index(x, key).shape)
    flat = x.flatten()
    positions: Array = np.arange(x.size).reshape(x.shape)[numpy_key(key)]
    np.add.at(flat, positions, values)
    expected = flat.reshape(x.shape)
    assert index_put(x, key, values, accumulate=True).tolist() == expected.tolist()


@given(keys())
def test_of_duplicates_the_last_in_row_major_order_is_stored_and_survives(
    case: tuple[Array, list[Array | None]],
) -> None:
    x, key = case
    values = np.arange(100.0, 100 + index(x, key).size).reshape(index(x, key).shape)
    stored = index_put(x, key, values)
    positions = [position for position, k in enumerate(key) if k is not None]
    alive = ~index_put_overwritten([k for k in key if k is not None], positions, x.shape)
    # What survives is exactly what is read back, and each surviving value is read once.
    read = index(stored, key)
    assert (read == values).tolist() == alive.tolist()
    assert sorted(stored[stored >= 100].tolist()) == sorted(values[alive].tolist())


def test_where_nothing_is_stored_any_index_is_accepted_and_nothing_overwritten() -> None:
    nothing = np.zeros((0, 2))
    stored = index_put(nothing, [None, ints(0, 5)], np.ones((0, 2)))
    assert stored.shape == (0, 2)
    assert index_put_overwritten([ints(0, 5)], [1], (0, 2)).shape == (0, 2)


def test_neighbouring_index_arrays_stay_in_place_and_separated_ones_come_first() -> None:
    assert index(X, [None, ints(0, 1), ints(1, 2)]).shape == (2, 2)
    assert index(X, [ints(0, 1), None, ints(1, 2)]).tolist() == [[1, 5, 9], [14, 18, 22]]


def test_a_mask_stands_for_the_places_it_names() -> None:
    mask = np.array([[True, False, False], [False, True, True]])
    assert index(X, [mask]).tolist() == [X[0, 0].tolist(), X[1, 1].tolist(), X[1, 2].tolist()]
    assert index(X, [mask, ints(3)]).tolist() == [3, 19, 23]
    assert index(X, [None, np.array([True, False, True])]).shape == (2, 2, 4)


def test_the_result_follows_the_memory_order_of_its_inputs() -> None:
    def steps(a: Array) -> tuple[int, ...]:
        return tuple(s // a.itemsize for s in a.strides)

    across = np.asfortranarray(np.zeros((3, 2), np.int64))
    assert steps(index(np.ones((3, 2)), [across])) == (2, 6, 1)
    assert steps(index(np.ones((4, 2)).T, [ints(0, 1)])) == (4, 1)


def test_values_broadcast_and_one_value_goes_to_a_mask_in_another_dtype() -> None:
    assert index_put(X[0], [ints(0, 2)], np.array(7.0)).tolist() == [
        [7] * 4,
        [4, 5, 6, 7],
        [7] * 4,
    ]
    x = np.zeros(3, np.float32)
    assert index_put(x, [np.array([True, False, True])], ints(4)).tolist() == [4, 0, 4]
    with pytest.raises(DTypeError):
        index_put(x, [ints(0)], ints(4))
    with pytest.raises(ShapeError):
        index_put(x, [ints(0, 1)], np.zeros(3, np.float32))


def test_values_that_share_memory_with_the_target_are_read_first() -> None:
    x = np.arange(8.0)[::2]
    carry_out(index_put_into(x, [ints(1, 2, 3)], x[:3]))
    assert x.tolist() == [0, 0, 2, 4]


def test_a_target_is_not_its_own_source() -> None:
    x = np.arange(4.0)
    with pytest.raises(InputOverlapError):
        index_put_into(x, [ints(0, 1, 2, 3)], x)
    assert x.tolist() == [0, 1, 2, 3]


def test_a_refused_write_changes_nothing() -> None:
    x = np.arange(4.0)
    with pytest.raises(OutOfRangeError):
        index_put_into(x, [ints(0, 4)], np.array(9.0))
    with pytest.raises(ShapeError):
        index_put_into(x, [ints(0, 1)], np.zeros(3))
    assert x.tolist() == [0, 1, 2, 3]


def test_the_inverse_of_reading_counts_every_mention() -> None:
    grad = np.array([1.0, 2.0, 4.0])
    assert index_spread(grad, (3,), [ints(2, 0, -1)], (0,)).tolist() == [2, 0, 5]


def test_index_arrays_are_placed_at_their_dimensions() -> None:
    assert index_at(X, [ints(0, 1), ints(1, 2)], (0, 2)).tolist() == [[1, 5, 9], [14, 18, 22]]
    x = np.zeros((2, 3))
    carry_out(index_put_at_(x, [ints(0, 0)], (1,), np.array(5.0), accumulate=True))
    assert x.tolist() == [[10, 0, 0], [10, 0, 0]]


@pytest.mark.parametrize(
    "key",
    [
        [ints(2)],
        [ints(-3)],
        [None, ints(5)],
        [ints(0, 1), ints(0, 1, 2)],
        [np.array([True, False, True])],
        [None, None, None, ints(0)],
        [np.zeros((2, 3, 4, 1), np.bool_)],
        [np.array([0.5])],
        [np.array([1], np.int16)],
    ],
)
def test_wrong_indices_are_index_errors(key: list[Array | None]) -> None:
    with pytest.raises(OutOfRangeError):
        index(X, key)


def test_an_index_error_names_index_dimension_and_size() -> None:
    with pytest.raises(OutOfRangeError) as caught:
        index(X, [None, ints(0, 5)])
    assert caught.value.facts == {"index": 5, "dim": 1, "size": 3}
    assert "index 5" in str(caught.value)
    assert "dimension 1 of size 3" in str(caught.value)

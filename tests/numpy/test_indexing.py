"""What may stand in the brackets, for reading and for writing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.numpy as vnp
from tests.numpy.support import array, compare
from vtgrad.numpy import ndarray

SHAPE = (4, 3, 5)
INDICES: dict[str, Any] = {
    "int": 1,
    "negative": -1,
    "numpy int": np.int8(2),
    "0-d array": np.array(1),
    "slice": slice(1, 3),
    "step": slice(None, None, 2),
    "backward": slice(None, None, -1),
    "backward, part": slice(3, 0, -2),
    "backward, empty": slice(0, 3, -1),
    "long slice": slice(-100, 100),
    "numpy bounds": slice(np.int64(1), np.int32(3)),
    "ellipsis": ...,
    "new axis": None,
    "empty tuple": (),
    "two ints": (1, 2),
    "all ints": (1, 2, 3),
    "ints and ellipsis": (1, 2, 3, ...),
    "int, slice": (1, slice(None), slice(1, None, 2)),
    "ellipsis, int": (..., 2),
    "new axes": (None, slice(1), None, ..., None),
    "all backward": (slice(None, None, -1),) * 3,
    "backward, int": (slice(None, None, -2), 1),
    "list": [2, 0, 2],
    "array": np.array([[0, 1], [3, 2]]),
    "uint8 array": np.array([0, 3], "B"),
    "int8 array": np.array([0, -1], "b"),
    "empty list": [],
    "mixed": (0, slice(None), [1, 2]),
    "mixed, apart": ([0, 1], slice(None), [1, 2]),
    "mixed, together": (slice(None), [0, 1], [1, 2]),
    "mixed, int between": (slice(None), 0, [1, 2]),
    "mixed, ellipsis": ([0, 1], ..., 2),
    "mixed, nothing between": (slice(None), [0, 1], ..., [1, 2]),
    "broadcast": ([[0], [1]], [0, 2]),
    "mask": np.arange(4) % 2 == 0,
    "mask of two": np.arange(12).reshape(4, 3) % 2 == 0,
    "mask of all": np.arange(60).reshape(4, 3, 5) % 3 == 0,
    "mask and int": (np.arange(4) % 2 == 0, 1),
    "mask and slice": (slice(None), np.array([True, False, True]), slice(1, 3)),
    "list of bools": [True, False, True, True],
    "true": True,
    "false": False,
    "array and new axis": (None, [1, 2], None),
    "array, backward": ([1, 2], slice(None, None, -1)),
    # what is refused
    "out of bounds": 4,
    "list out of bounds": [0, 4],
    "too many": (0, 0, 0, 0),
    "two ellipses": (..., 0, ...),
    "float": 1.0,
    "float array": np.array([1.0]),
    "text": "a",
    "mask of another shape": np.array([True, False]),
    "arrays that do not broadcast": ([0, 1], [0, 1, 2]),
}


def start() -> np.ndarray[Any, Any]:
    return np.arange(60.0).reshape(SHAPE)


def tensors(index: Any) -> Any:
    """The index with arrays of the namespace in place of NumPy's."""
    if isinstance(index, tuple):
        return tuple(tensors(part) for part in index)
    return array(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("name", INDICES)
def test_reading(name: str) -> None:
    index = INDICES[name]
    for grad in (False, True):
        for given in (index, tensors(index)):
            x = array(start(), grad)
            compare(partial(getitem, x, given), partial(getitem, start(), index), name, exact=True)
            turned = start().transpose(2, 0, 1)[1:, ::2]
            y = (x * 1).transpose(2, 0, 1)[1:, ::2]
            compare(partial(getitem, y, given), partial(getitem, turned, index), name, exact=True)


@pytest.mark.parametrize("name", INDICES)
def test_writing_one_value(name: str) -> None:
    index = INDICES[name]
    for value in (7, -1.5, np.float32(2), np.array(3.0)):
        for grad in (False, True):

            def theirs(value: Any = value) -> Any:
                x = start()
                x[index] = value
                return x

            def mine(value: Any = value, grad: bool = grad) -> Any:
                x = array(start(), grad)
                x = x * 1 if grad else x
                x[tensors(index)] = value
                return x

            compare(mine, theirs, name, exact=True)


@pytest.mark.parametrize("name", INDICES)
def test_writing_many_values(name: str) -> None:
    index = INDICES[name]
    try:
        shape = start()[index].shape
    except (IndexError, TypeError):
        pytest.skip("refused in the test above")
    values = [np.arange(np.prod(shape, dtype=int)).reshape(shape) * 10.0]
    values += [values[0][:1], values[0][..., :1], values[0][None]] if shape else []
    # Of an index of nothing NumPy looks at no shape.
    values += [np.ones(7), np.ones((2, *shape))] if values[0].size else []
    for value in values:
        for grad in (False, True):

            def theirs(value: Any = value) -> Any:
                x = start()
                x[index] = value
                return x

            def mine(value: Any = value, grad: bool = grad) -> Any:
                x = array(start(), grad)
                x = x * 1 if grad else x
                x[index] = array(value)
                return x

            compare(mine, theirs, f"{name} {value.shape}", exact=True)


@pytest.mark.parametrize("name", INDICES)
def test_gradients_of_reads_and_writes(name: str) -> None:
    index = INDICES[name]
    try:
        shape = start()[index].shape
    except (IndexError, TypeError):
        pytest.skip("refused in the test above")
    weights = np.arange(60.0).reshape(SHAPE)
    x = array(start(), grad=True)
    (x[index] * (2 + np.arange(np.prod(shape, dtype=int)).reshape(shape))).sum().backward()
    # Each element of the result adds its weight where it comes from.
    right = np.zeros(60)
    places = np.arange(60).reshape(SHAPE)[index]
    np.add.at(right, places, 2 + np.arange(places.size).reshape(places.shape))
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.tolist(), right.reshape(SHAPE))

    y, v = array(start(), grad=True), array(np.ones(shape), grad=True)
    z = y * 1
    z[index] = v
    (z * weights).sum().backward()
    kept, last = np.ones(60), np.full(60, -1)
    kept[places.reshape(-1)] = 0
    last[places.reshape(-1)] = np.arange(places.size)
    assert y.grad is not None
    np.testing.assert_array_equal(
        np.asarray(y.grad.tolist()).reshape(-1), weights.reshape(-1) * kept
    )
    wanted = np.zeros(places.size)
    wanted[last[last >= 0]] = weights.reshape(-1)[last >= 0]
    if places.size:
        assert v.grad is not None
        np.testing.assert_array_equal(v.grad.tolist(), wanted.reshape(shape))


def test_basic_indices_give_views_and_others_copies() -> None:
    viewing: list[Any] = [1, slice(1, 3), (1, slice(None), 2), ..., None, (1, 2, 3, ...)]
    for index in viewing:
        x = array(start())
        view = x[index]
        view[...] = -1
        y = start()
        y[index] = -1
        np.testing.assert_array_equal(x.tolist(), y)
    copying: list[Any] = [[1, 2], np.arange(4) > 1, (0, slice(None), [1, 2])]
    for index in copying:
        x = array(start())
        x[index][...] = -1
        np.testing.assert_array_equal(x.tolist(), start())


def test_overlapping_parts_are_read_before_they_are_written() -> None:
    def shift(x: Any) -> Any:
        x[1:] = x[:-1]
        x[:-1] += x[1:]
        x[::2][1:] = x[::2][:-1]
        x[[0, 1]] = x[[1, 0]]
        return x

    compare(lambda: shift(array(np.arange(8.0))), lambda: shift(np.arange(8.0)), "overlap")
    recorded = shift(array(np.arange(8.0), grad=True) * 1)
    np.testing.assert_array_equal(recorded.tolist(), shift(np.arange(8.0)))
    assert vt.autograd.gradcheck(lambda x: shift(x * 1), (array(np.arange(8.0), grad=True),))


def test_lists_that_hold_scalars_are_stored_with_their_gradients() -> None:
    x = array([1.0, 2.0], grad=True)
    table = array(np.zeros((2, 2)))
    table[0] = [x[1], 3.0]
    table[1] = x[0]
    (table * [[1.0, 10.0], [100.0, 1000.0]]).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1100, 1]


def test_iteration_gives_scalars_of_vectors_and_views_of_tables() -> None:
    x = array([1.0, 2.0], grad=True)
    total = sum(value * value for value in x)
    total.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 4]
    table = array(np.zeros((2, 2)))
    for row in table:
        row += 1
    assert table.tolist() == [[1, 1], [1, 1]]
    assert 1.0 in table
    assert 2.0 not in table
    assert [row.tolist() for row in reversed(table)] == [[1, 1], [1, 1]]


def test_flat_reads_and_writes_in_row_major_order() -> None:
    for make in (array, np.array):
        x: Any = make(np.arange(6.0).reshape(2, 3).T)
        x.flat[2] = 10
        x.flat[[0, 5]] = [7, 8]
        x.flat[3:5] = 1
        assert x.tolist() == np.array([[7, 3], [10, 1], [1, 8]]).tolist()
        assert [float(value) for value in x.flat] == [7, 3, 10, 1, 1, 8]
        x.flat = [1, 2]
        assert x.tolist() == [[1, 2], [1, 2], [1, 2]]
        assert len(x.flat) == 6
    assert type(array(np.zeros((2, 2))).flat[1:]) is ndarray


#: By name, what writes an array of three numbers.
STORES: dict[str, Callable[[Any, Any, Any], object]] = {
    "element": lambda np, x, value: x.__setitem__(1, value),
    "all": lambda np, x, value: x.__setitem__(..., value),
    "slice": lambda np, x, value: x.__setitem__(slice(2), value),
    "backward": lambda np, x, value: x.__setitem__(slice(None, None, -1), value),
    "fill": lambda np, x, value: x.fill(value),
    "mask": lambda np, x, value: x.__setitem__(x == 0, value),
    "list": lambda np, x, value: x.__setitem__([0, 1], value),
    "put": lambda np, x, value: np.put(x, [1, 2], value),
}


@pytest.mark.parametrize("name", STORES)
def test_numbers_that_do_not_fit(name: str) -> None:
    scalars = [np.float64("nan"), np.float32("inf"), np.float64(1e300), np.int64(300), np.int64(-1)]
    numbers = [float("nan"), 300, -1, 2**70, 2.5, True, 1e300, -1e5]
    sequences: list[Any] = [[np.nan], [1e300], (2.5,), [np.float64("nan")], np.array([2.5]), ["3"]]
    if name in ("element", "fill"):
        sequences = []  # NumPy takes no sequence for an element
    for dtype in ("l", "b", "?", "d", "f", "e"):
        for value in (*scalars, *numbers, *sequences):

            def run(namespace: Any, value: Any = value, dtype: str = dtype) -> Any:
                x = namespace.zeros(3, dtype=dtype)
                STORES[name](namespace, x, value)
                return x

            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compare(partial(run, vnp), partial(run, np), f"{name} of {value!r} in {dtype}")

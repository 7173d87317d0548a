"""``x[index] = v`` and ``x[mask] = v`` store at once where the funnel would do the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from tests.views import test_write_part as parts
from tests.views.test_write_part import outcome
from vtgrad.errors import StaleSavedError
from vtgrad.ops.kernels.indexing.advanced_index import store_at
from vtgrad.storage.arrays import Array
from vtgrad.views.write_at_index import write_at_index

VALUES: list[Callable[[], object]] = [*parts.VALUES, lambda: vt.arange(8.0).reshape(2, 4)]

INDICES: list[Callable[[], object]] = [
    lambda: vt.tensor([0, 2]),
    lambda: vt.tensor([2, 0, 1]),
    lambda: vt.tensor([-1, 0]),
    lambda: vt.tensor([1, 1]),
    lambda: vt.tensor([-1, 2]),
    lambda: vt.tensor([1, 3]),
    lambda: vt.tensor([-4]),
    lambda: vt.tensor([0, 9, 2, 9])[::2],
    lambda: vt.tensor([[0, 1]]),
    lambda: vt.tensor(1),
    lambda: vt.tensor([], dtype=vt.int64),
    lambda: vt.tensor([0, 2], dtype=vt.int32),
    lambda: vt.tensor([1, 0], dtype=vt.uint8),
    lambda: vt.tensor([0.0]),
    lambda: vt.tensor([True, False, True]),
    lambda: vt.tensor([False, False, False]),
    lambda: vt.tensor([True, False]),
    lambda: vt.tensor(True),
    lambda: vt.arange(12).reshape(3, 4) % 3 == 0,
    lambda: vt.arange(12).reshape(3, 4) > 7,
    lambda: vt.ones(4, 3, dtype=vt.bool).t(),
]


@pytest.mark.filterwarnings("ignore:a uint8 array")
@pytest.mark.parametrize("dtype", [vt.float32, vt.float64, vt.complex64], ids=str)
@pytest.mark.parametrize("make_index", INDICES)
def test_stores_at_once_and_recorded_ones_leave_the_same(
    make_index: Callable[[], object], dtype: vt.dtype
) -> None:
    """A tensor that requires grad is always written by the general way."""
    for make in VALUES:
        plain = vt.arange(12.0).reshape(3, 4).to(dtype).clone()
        leaf = plain.clone().requires_grad_()
        assert outcome(plain, make_index(), make()) == outcome(leaf.clone(), make_index(), make())


@pytest.mark.filterwarnings("ignore:a uint8 array")
@pytest.mark.parametrize("dtype", [vt.int64, vt.uint8, vt.bool, vt.float16], ids=str)
@pytest.mark.parametrize("make_index", INDICES)
def test_stores_of_other_dtypes_leave_the_same_without_a_layout(
    make_index: Callable[[], object], dtype: vt.dtype
) -> None:
    """A transposed tensor has no layout of its own, so it is written by the general way."""

    def of_dtype() -> object:
        return vt.arange(8).reshape(2, 4).to(dtype)

    for make in [*VALUES, of_dtype]:
        plain = vt.arange(12.0).reshape(3, 4).to(dtype).clone()
        gaps = plain.t().contiguous().t()
        assert outcome(plain, make_index(), make()) == outcome(gaps, make_index(), make())


def test_the_short_way_is_taken_where_nothing_is_recorded() -> None:
    x, rows = vt.zeros(3, 2), vt.ones(2, 2)
    at, mask = vt.tensor([0, -1]), vt.tensor([False, True, False])
    assert write_at_index(x._impl, at._impl, rows, store_at)
    assert write_at_index(x._impl, mask._impl, 5, store_at)
    assert write_at_index(x._impl, mask._impl, vt.tensor(6.0), store_at)
    assert write_at_index(x._impl, (x > 5)._impl, vt.tensor([7.0, 8.0]), store_at)
    assert x.tolist() == [[1, 1], [7, 8], [1, 1]]
    assert x._version == 4
    assert not write_at_index(x._impl, at._impl, rows.requires_grad_(), store_at)
    assert not write_at_index(rows._impl, vt.tensor([0])._impl, 2.0, store_at)
    assert not write_at_index(x._impl, at._impl, x[:2], store_at)
    assert not write_at_index(x._impl, vt.tensor([0, 3])._impl, 1.0, store_at)
    assert not write_at_index(x._impl, at._impl, vt.ones(2, 3), store_at)
    assert x._version == 4


@pytest.mark.parametrize(
    "index", [vt.tensor([2, 0]), vt.tensor([True, False, True])], ids=["index", "mask"]
)
def test_exactly_the_written_elements_are_stale(index: vt.Tensor) -> None:
    x, w = vt.ones(3), vt.ones(3, requires_grad=True)
    kept, lost = w[1] * x[1], (w * x).sum()
    x[index] = 3.0
    kept.backward()
    assert w.grad is not None
    assert w.grad.tolist() == [0, 1, 0]
    with pytest.raises(StaleSavedError, match="__setitem__"):
        lost.backward()
    last = x.writes()[-1]
    assert last.operator == "__setitem__"
    assert last.filename == __file__


def test_an_index_in_the_written_memory_is_read_first() -> None:
    memory = np.array([2, 1, 0, 5])
    x, index = vt.from_numpy(memory), vt.from_numpy(memory[:3])
    x[index] = vt.tensor([7, 8, 9])
    assert memory.tolist() == [9, 8, 7, 5]
    flags = np.array([True, True, False])
    y, mask = vt.from_numpy(flags), vt.from_numpy(flags)
    y[mask] = False
    assert flags.tolist() == [False, False, False]


def test_an_interrupted_store_leaves_its_elements_marked() -> None:
    """The mark and the version come before the store, and are never taken back."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def writer(target: Array, index: Array, value: Array | float | int) -> object:
        store = store_at(target, index, value)
        assert store is not None
        return interrupted, store[1], store[2]

    x, w = vt.ones(3), vt.ones(3, requires_grad=True)
    lost = (w * x).sum()
    with pytest.raises(KeyboardInterrupt):
        write_at_index(x._impl, vt.tensor([1])._impl, 2.0, writer)  # type: ignore[arg-type]  # a Store
    assert x._version == 1
    with pytest.raises(StaleSavedError):
        lost.backward()


def test_one_value_at_a_mask_may_be_an_element_of_the_target() -> None:
    memory = np.array([1.0, 2.0, 3.0])
    x, value = vt.from_numpy(memory), vt.from_numpy(memory[1:2].reshape(()))
    x[vt.tensor([True, True, True])] = value
    assert memory.tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", [vt.complex128, vt.complex64])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_conjugate_that_is_not_computed_is_stored_as_its_value(
    dtype: vt.dtype, recorded: bool
) -> None:
    x, values = vt.zeros(3, dtype=dtype), vt.tensor([1 + 2j, 3 - 4j], dtype=dtype)
    if recorded:
        values.requires_grad_()
    for index in (vt.tensor([True, False, True]), vt.tensor([0, 2])):
        y = x.clone()
        y[index] = values[0].conj()
        assert y.tolist() == [1 - 2j, 0, 1 - 2j]
        y[index] = values.conj()
        assert y.tolist() == [1 - 2j, 0, 3 + 4j]


@pytest.mark.parametrize("index", [[0], [True]])
def test_a_number_has_no_place_for_an_index(index: list[int]) -> None:
    x = vt.tensor(1.5)
    with pytest.raises(vt.errors.OutOfRangeError):
        x[vt.tensor(index)] = 2.0
    with pytest.raises(vt.errors.OutOfRangeError):
        x.index_put((vt.tensor(index),), vt.tensor(2.0))
    assert x.tolist() == 1.5

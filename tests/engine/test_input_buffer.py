"""Sums in an input buffer: what is written in place, and what never is."""

from collections.abc import Iterator

import numpy as np
import pytest

from vtgrad.engine.input_buffer import InputBuffer, use_ownership
from vtgrad.graph.input_metadata import InputMetadata
from vtgrad.graph.node import Node
from vtgrad.graph.region import NoSuchViewError, Region
from vtgrad.storage.arrays import Array

META = InputMetadata((4,), np.dtype(np.float64))


class _Part(Node):
    """The view node of `x[start:stop]`."""

    __slots__ = ("start", "stop")
    start: int
    stop: int

    def view_array(self, array: Array) -> Array:
        part: Array = array[self.start : self.stop]
        return part


def empty() -> InputBuffer:
    """The buffer of a node with one result of four elements."""
    return InputBuffer(Node(()))


def part(start: int, stop: int, *values: float) -> Region:
    """A gradient of `x[start:stop]`."""
    node = _Part(())
    node.start, node.stop = start, stop
    return Region(np.array(values), node, len(values))


def test_an_owned_array_is_added_into() -> None:
    buffer = empty()
    first, second = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])
    buffer.add(first, True, META)
    buffer.add(second, False, META)
    assert buffer.whole(META) is first
    assert first.tolist() == [11, 22, 33, 44]
    assert second.tolist() == [10, 20, 30, 40]


def test_the_second_array_is_added_into_if_only_it_is_owned() -> None:
    buffer = empty()
    first, second = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])
    buffer.add(first, False, META)
    buffer.add(second, True, META)
    assert buffer.whole(META) is second
    assert first.tolist() == [1, 2, 3, 4]


def test_arrays_that_are_not_owned_are_never_written() -> None:
    buffer = empty()
    first, second = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])
    buffer.add(first, False, META)
    buffer.add(second, False, META)
    total = buffer.whole(META)
    assert total is not None
    assert total.tolist() == [11, 22, 33, 44]
    assert first.tolist() == [1, 2, 3, 4]
    assert second.tolist() == [10, 20, 30, 40]
    assert buffer.owned


def test_one_region_waits_and_is_written_out_on_demand() -> None:
    buffer = empty()
    buffer.add(part(1, 3, 5, 6), False, META)
    assert isinstance(buffer.grad, list)
    total = buffer.whole(META)
    assert total is not None
    assert total.tolist() == [0, 5, 6, 0]
    assert buffer.owned


def test_regions_are_added_into_an_owned_array_that_arrives_later() -> None:
    buffer = empty()
    whole = np.array([1.0, 1, 1, 1])
    buffer.add(part(0, 2, 5, 6), False, META)
    buffer.add(part(1, 3, 7, 8), False, META)
    buffer.add(whole, True, META)
    assert buffer.whole(META) is whole
    assert whole.tolist() == [6, 14, 9, 1]


def test_a_region_copies_an_array_that_is_not_owned_once() -> None:
    buffer = empty()
    whole = np.array([1.0, 1, 1, 1])
    buffer.add(whole, False, META)
    buffer.add(part(0, 1, 5), False, META)
    copied = buffer.whole(META)
    buffer.add(part(3, 4, 7), False, META)
    assert buffer.whole(META) is copied
    assert copied is not None
    assert copied.tolist() == [6, 1, 1, 8]
    assert whole.tolist() == [1, 1, 1, 1]


def test_many_regions_are_written_out_before_they_cost_more_than_the_whole() -> None:
    buffer = empty()
    for _ in range(4):
        buffer.add(part(0, 4, 1, 1, 1, 1), False, META)
    assert not isinstance(buffer.grad, list)
    total = buffer.whole(META)
    assert total is not None
    assert total.tolist() == [4, 4, 4, 4]


def test_a_region_of_a_region_is_added_where_both_views_lead() -> None:
    outer = Region([part(1, 2, 9.0), part(0, 2, 3.0, 4.0)], part(2, 4).node, 3)
    assert outer.whole((4,), np.dtype(np.float64)).tolist() == [0, 0, 3, 13]
    assert [array.tolist() for array in outer.arrays()] == [[9], [3, 4]]


class _Flat(Node):
    """The view node of `x.view(-1)`, which needs contiguous memory."""

    __slots__ = ()

    def view_array(self, array: Array) -> Array:
        if not array.flags.c_contiguous:
            raise NoSuchViewError
        return array.reshape(-1)


def test_a_view_that_the_strides_do_not_allow_is_added_through_a_fresh_array() -> None:
    buffer: Array = np.ones((2, 2), order="F")
    inside = [part(1, 3, 5.0, 6.0), part(1, 2, 10.0)]
    Region(inside, _Flat(()), 3).add_into(buffer)
    assert buffer.tolist() == [[1, 16], [7, 1]]


@pytest.fixture
def no_ownership() -> Iterator[None]:
    use_ownership(False)
    yield
    use_ownership(True)


@pytest.mark.usefixtures("no_ownership")
def test_without_ownership_even_owned_arrays_are_left_alone() -> None:
    buffer = empty()
    first, second = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])
    buffer.add(first, True, META)
    buffer.add(second, True, META)
    buffer.add(part(0, 1, 5), False, META)
    total = buffer.whole(META)
    assert total is not None
    assert total.tolist() == [16, 22, 33, 44]
    assert first.tolist() == [1, 2, 3, 4]
    assert second.tolist() == [10, 20, 30, 40]

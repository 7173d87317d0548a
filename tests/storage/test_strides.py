"""Contiguous, dense and cloned strides, reach, and the bounds of a storage."""

import pytest

from vtgrad.errors import OutOfBoundsError
from vtgrad.storage.geometry import (
    check_in_bounds,
    clone_strides,
    contiguous_strides,
    is_contiguous,
    is_non_overlapping_and_dense,
    reach,
)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), ()),
        ((5,), (1,)),
        ((2, 3, 4), (12, 4, 1)),
        ((2, 0, 4), (4, 4, 1)),
        ((2, 1, 3), (3, 3, 1)),
    ],
)
def test_contiguous_strides_count_empty_and_single_dimensions_as_one(
    sizes: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert contiguous_strides(sizes) == expected


@pytest.mark.parametrize(
    ("sizes", "strides", "contiguous", "dense"),
    [
        ((2, 3), (3, 1), True, True),
        ((2, 3), (1, 2), False, True),
        ((1, 3), (77, 1), True, True),
        ((3,), (2,), False, False),
        ((2, 3), (0, 1), False, False),
        ((2, 2), (1, 1), False, False),
        ((0, 3), (5, 9), True, True),
        ((), (), True, True),
        ((1, 1), (9, 9), True, True),
        ((2, 3, 4), (1, 8, 2), False, True),
    ],
)
def test_contiguous_and_dense(
    sizes: tuple[int, ...], strides: tuple[int, ...], contiguous: bool, dense: bool
) -> None:
    assert is_contiguous(sizes, strides) is contiguous
    assert is_non_overlapping_and_dense(sizes, strides) is dense


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((3, 2), (1, 3), (1, 3)),
        ((2, 3), (0, 1), (3, 1)),
        ((3, 2), (1, 0), (2, 1)),
        ((2,), (2,), (1,)),
        ((2, 2), (1, 1), (2, 1)),
        ((4, 2), (1, 8), (1, 4)),
        ((3, 4), (2, 10), (1, 3)),
    ],
)
def test_a_clone_keeps_the_memory_order_without_gaps_and_repetitions(
    sizes: tuple[int, ...], strides: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert clone_strides(sizes, strides) == expected


def test_reach_counts_from_the_offset_and_knows_negative_strides() -> None:
    assert reach((2, 3), (10, 1), 5) == (5, 17)
    assert reach((4,), (-2,), 9) == (3, 9)
    assert reach((2, 2), (-3, 5), 4) == (1, 9)
    assert reach((), (), 7) == (7, 7)


def test_a_geometry_without_elements_reaches_nothing() -> None:
    assert reach((0, 3), (100, 100), 4) == (4, 3)


def test_the_last_element_of_the_storage_is_still_inside() -> None:
    check_in_bounds((2, 3), (3, 1), 4, 10)
    with pytest.raises(OutOfBoundsError) as caught:
        check_in_bounds((2, 3), (3, 1), 5, 10)
    assert caught.value.facts["highest"] == 10
    assert caught.value.facts["storage_elements"] == 10


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [
        ((-1,), (1,), 0),
        ((2,), (-1,), 5),
        ((2,), (1,), -1),
        ((2, 2), (1,), 0),
        ((2**40, 2**40), (0, 0), 0),
        ((2,), (2**70,), 0),
        ((1,), (2**70,), 0),
        ((0,), (1,), 2**70),
    ],
)
def test_malformed_and_overflowing_geometries_are_refused(
    sizes: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    with pytest.raises(OutOfBoundsError):
        check_in_bounds(sizes, strides, offset, 100)


def test_a_geometry_without_elements_fits_any_storage() -> None:
    check_in_bounds((0, 5), (1000, 1000), 50, 0)


def test_bounds_of_what_walks_backwards() -> None:
    check_in_bounds((3,), (-2,), 4, 5, backwards=True)
    check_in_bounds((2, 3), (3, -1), 2, 6, backwards=True)
    for sizes, strides, offset, room in (
        ((3,), (-2,), 3, 5),
        ((3,), (-2,), 5, 5),
        ((2, 3), (3, -1), 1, 6),
        ((2, 3), (3, -1), 3, 6),
        ((2,), (-(2**70),), 0, 10),
        ((2,), (1,), -1, 10),
        ((-1,), (-1,), 0, 10),
    ):
        with pytest.raises(OutOfBoundsError):
            check_in_bounds(sizes, strides, offset, room, backwards=True)
    with pytest.raises(OutOfBoundsError):
        check_in_bounds((3,), (-2,), 4, 5)

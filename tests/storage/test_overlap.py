"""Self-overlap is exact; overlap of two geometries follows from reach and density."""

import itertools
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vtgrad.storage.geometry import Overlap, covers, has_self_overlap, overlap


def names_a_location_twice(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    locations = [
        sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, sizes))
    ]
    return len(set(locations)) < len(locations)


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((3,), (0,), True),
        ((1,), (0,), False),
        ((3, 2), (1, 1), True),
        ((2, 2), (1, 2), False),
        ((2, 3), (3, 2), False),
        ((3, 4), (3, 2), True),  # 2 * 3 == 3 * 2
        ((2, 2, 2), (3, 5, 8), True),  # 3 + 5 == 8
        ((2, 2, 2), (3, 5, 9), False),
        ((0, 5), (0, 0), False),
        ((4,), (-1,), False),
        ((2, 2), (2, -2), True),
        ((), (), False),
    ],
)
def test_self_overlap(sizes: tuple[int, ...], strides: tuple[int, ...], expected: bool) -> None:
    assert has_self_overlap(sizes, strides) is expected


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-30, 30)), max_size=5),
)
def test_self_overlap_agrees_with_naming_every_element(dims: list[tuple[int, int]]) -> None:
    sizes = tuple(size for size, _ in dims)
    strides = tuple(stride for _, stride in dims)
    assert has_self_overlap(sizes, strides) is names_a_location_twice(sizes, strides)


def test_self_overlap_does_not_name_every_element() -> None:
    started = time.perf_counter()
    assert has_self_overlap((999_001, 1000), (1, 1))
    assert not has_self_overlap((50,) * 5, (100_000_007, 10_000_003, 100_003, 9973, 101))
    assert not has_self_overlap((1000,) * 5, (10**12, 10**9, 10**6, 10**3, 1))
    assert has_self_overlap((100, 100, 100, 100), (1_000_003, 999_983, 10_007, 1))
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (((3,), (1,), 0), ((3,), (1,), 0), Overlap.FULL),
        (((3,), (1,), 0), ((3,), (1,), 3), Overlap.NONE),
        (((3,), (1,), 0), ((3,), (1,), 1), Overlap.PARTIAL),
        (((2, 2), (2, 1), 0), ((2, 2), (1, 2), 0), Overlap.PARTIAL),
        (((3,), (2,), 0), ((3,), (2,), 1), Overlap.UNDECIDED),
        (((2,), (2,), 0), ((2,), (1,), 0), Overlap.UNDECIDED),
        (((3,), (2,), 0), ((3,), (2,), 0), Overlap.UNDECIDED),
        (((2, 3), (1, 2), 1), ((2, 3), (1, 2), 1), Overlap.FULL),
        (((0,), (1,), 0), ((3,), (1,), 0), Overlap.NONE),
        (((2,), (5,), 0), ((2,), (5,), 6), Overlap.NONE),
        (((2, 3), (3, 1), 0), ((3,), (1,), 3), Overlap.PARTIAL),
    ],
)
def test_overlap_of_two_geometries(
    a: tuple[tuple[int, ...], tuple[int, ...], int],
    b: tuple[tuple[int, ...], tuple[int, ...], int],
    expected: Overlap,
) -> None:
    assert overlap(a, b) is expected
    assert overlap(b, a) is expected


GAPPY = ((2, 3), (8, 2), 1)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (((2, 3), (8, 2), 1), True),
        (((3,), (2,), 9), True),
        (((2,), (8,), 3), True),
        (((2, 2), (8, 4), 1), True),
        (((5,), (1,), 1), False),  # the gaps too
        (((2,), (8,), 0), False),  # before the first element
        (((2,), (8,), 2), False),  # in the gaps only
        (((3,), (6,), 1), False),  # 1, 7, 13: the row has no fourth element
        (((2,), (8,), 7), False),  # behind a row
        (((0,), (1,), 99), True),
    ],
)
def test_which_parts_a_geometry_with_gaps_covers(
    part: tuple[tuple[int, ...], tuple[int, ...], int], expected: bool
) -> None:
    assert covers(GAPPY, part) is expected


dims = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), max_size=3)


@given(dims, dims, st.integers(0, 4), st.integers(0, 4))
def test_covering_agrees_with_naming_every_element(
    whole: list[tuple[int, int]], part: list[tuple[int, int]], start: int, other_start: int
) -> None:
    sizes, strides = tuple(n for n, _ in whole), tuple(s for _, s in whole)
    part_sizes, part_strides = tuple(n for n, _ in part), tuple(s for _, s in part)
    assume(not has_self_overlap(sizes, strides))
    expected = locations(part_sizes, part_strides, other_start) <= locations(sizes, strides, start)
    found = covers((sizes, strides, start), (part_sizes, part_strides, other_start))
    assert found is expected


def locations(sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> set[int]:
    return {
        offset + sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, sizes))
    }


def test_a_whole_that_walks_backwards_covers_its_parts() -> None:
    whole = ((3, 2), (-4, 1), 9)  # 9, 10, 5, 6, 1, 2
    assert covers(whole, ((3,), (4,), 1))
    assert covers(whole, ((2,), (-4,), 10))
    assert covers(whole, ((2, 2), (4, -1), 2))
    assert not covers(whole, ((3,), (1,), 5))
    assert not covers(whole, ((4,), (-4,), 13))

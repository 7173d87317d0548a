"""Every view operator's geometry: literal sizes, strides and offsets, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vtgrad.errors import (
    ArgumentValueError,
    DimensionError,
    OutOfRangeError,
    ShapeError,
    VtgradError,
)
from vtgrad.storage.geometry import (
    broadcast_shapes,
    contiguous_strides,
    diagonal_geometry,
    expand_geometry,
    flatten_sizes,
    infer_size,
    movedim_order,
    narrow_geometry,
    normalize_dim,
    numel,
    permute_geometry,
    select_geometry,
    slice_geometry,
    split_sizes,
    squeeze_geometry,
    steps_through,
    transpose_geometry,
    unflatten_sizes,
    unfold_geometry,
    unsqueeze_geometry,
    view_strides,
)


def test_dimensions_count_from_either_end() -> None:
    assert normalize_dim(-1, 3) == 2
    assert normalize_dim(2, 3) == 2
    with pytest.raises(DimensionError) as caught:
        normalize_dim(3, 3)
    assert caught.value.facts == {"dim": 3, "ndim": 3}
    assert isinstance(caught.value, IndexError)
    with pytest.raises(DimensionError):
        normalize_dim(-4, 3)


def test_a_0d_geometry_has_dimensions_0_and_minus_1() -> None:
    assert normalize_dim(0, 0) == normalize_dim(-1, 0) == 0
    with pytest.raises(DimensionError):
        normalize_dim(1, 0)


def test_broadcasting_aligns_at_the_end() -> None:
    assert broadcast_shapes((3, 1), (4,)) == (3, 4)
    assert broadcast_shapes((), (2, 0), (1, 1)) == (2, 0)
    assert broadcast_shapes((2, 1, 4), (3, 1)) == (2, 3, 4)
    with pytest.raises(ShapeError) as caught:
        broadcast_shapes((2, 3), (4,))
    assert caught.value.facts["dim"] == 1


def test_one_size_can_be_inferred() -> None:
    assert infer_size((2, -1), 6) == (2, 3)
    assert infer_size((-1,), 0) == (0,)
    assert infer_size((), 1) == ()
    assert infer_size((0, 5), 0) == (0, 5)


@pytest.mark.parametrize(
    ("sizes", "count"),
    [((-1, -1), 4), ((4, -1), 6), ((2, 2), 6), ((-2, 3), 6), ((0, -1), 0), ((0, -1), 6)],
)
def test_shapes_that_cannot_be_inferred_are_refused(sizes: tuple[int, ...], count: int) -> None:
    with pytest.raises(ShapeError):
        infer_size(sizes, count)


@pytest.mark.parametrize(
    ("sizes", "strides", "new", "expected"),
    [
        ((2, 3), (3, 1), (6,), (1,)),
        ((3, 2), (1, 3), (6,), None),
        ((3, 2), (1, 3), (3, 2, 1), (1, 3, 3)),
        ((4, 3), (6, 2), (12,), (2,)),
        ((4, 3), (6, 2), (2, 2, 3), (12, 6, 2)),
        ((2, 3), (0, 1), (6,), None),
        ((2, 3), (0, 0), (6,), (0,)),
        ((), (), (1, 1), (1, 1)),
        ((1,), (7,), (), ()),
        ((0, 3), (3, 1), (3, 0), (1, 1)),
        ((0, 3), (8, 5), (0, 3), (8, 5)),
        ((2, 1, 3), (3, 99, 1), (2, 3), (3, 1)),
        ((4, 4), (8, 1), (2, 2, 2, 2), (16, 8, 2, 1)),
        ((4, 4), (8, 1), (2, 8), None),
    ],
)
def test_which_reshapes_are_views(
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    new: tuple[int, ...],
    expected: tuple[int, ...] | None,
) -> None:
    assert view_strides(sizes, strides, new) == expected


@given(st.data())
def test_a_view_names_the_same_elements_in_the_same_order(data: st.DataObject) -> None:
    base = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    order = data.draw(st.permutations(range(len(base))))
    dense = contiguous_strides(tuple(base))
    sizes = tuple(base[d] for d in order)
    strides = tuple(dense[d] for d in order)
    factors = [f for n in sizes for f in ([2, n // 2] if n == 4 else [n])]
    cut = data.draw(st.integers(0, len(factors)))
    new = (numel(tuple(factors[:cut])), *factors[cut:])
    strided = view_strides(sizes, strides, new)
    memory = np.arange(numel(sizes))
    shown = np.lib.stride_tricks.as_strided(memory, sizes, tuple(8 * s for s in strides))
    if strided is None:
        assert not np.shares_memory(shown.reshape(new), memory)
    else:
        viewed = np.lib.stride_tricks.as_strided(memory, new, tuple(8 * s for s in strided))
        assert viewed.tolist() == shown.reshape(new).tolist()


def test_flatten_and_unflatten() -> None:
    assert flatten_sizes((2, 3, 4), 1, -1) == (2, 12)
    assert flatten_sizes((), 0, -1) == (1,)
    assert flatten_sizes((5,), 0, 0) == (5,)
    assert unflatten_sizes((2, 12), 1, (3, -1)) == (2, 3, 4)
    with pytest.raises(ShapeError):
        flatten_sizes((2, 3), 1, 0)
    with pytest.raises(ShapeError):
        unflatten_sizes((2, 12), 1, (5, -1))
    with pytest.raises(ShapeError):
        unflatten_sizes((2, 12), 1, ())


def test_expand_repeats_with_stride_0() -> None:
    assert expand_geometry((3, 1), (1, 1), (2, -1, 4)) == ((2, 3, 4), (0, 1, 0))
    assert expand_geometry((3,), (2,), (3,)) == ((3,), (2,))
    assert expand_geometry((3,), (2,), (1, 3)) == ((1, 3), (6, 2))
    assert expand_geometry((), (), (2, 1)) == ((2, 1), (0, 0))


@pytest.mark.parametrize("target", [(4,), (2, 2), (3,), (-1, 2, 3), (2, -2)])
def test_expand_refuses_what_does_not_repeat(target: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError):
        expand_geometry((2, 3), (3, 1), target)


def test_dimensions_rearranged() -> None:
    assert permute_geometry((2, 3, 4), (12, 4, 1), (2, 0, -2)) == ((4, 2, 3), (1, 12, 4))
    assert transpose_geometry((2, 3), (3, 1), 0, -1) == ((3, 2), (1, 3))
    assert transpose_geometry((), (), 0, -1) == ((), ())
    assert movedim_order(4, (0,), (2,)) == (1, 2, 0, 3)
    assert movedim_order(3, (0, 2), (-1, 0)) == (2, 1, 0)
    with pytest.raises(ShapeError):
        permute_geometry((2, 3), (3, 1), (0, 0))
    with pytest.raises(ShapeError):
        permute_geometry((2, 3), (3, 1), (0,))
    with pytest.raises(ShapeError):
        movedim_order(3, (0, 0), (1, 2))


def test_squeeze_takes_only_dimensions_of_size_1() -> None:
    assert squeeze_geometry((1, 3, 1), (3, 1, 1)) == ((3,), (1,))
    assert squeeze_geometry((1, 3, 1), (3, 1, 9), (-1, 1)) == ((1, 3), (3, 1))
    assert squeeze_geometry((), (), (0,)) == ((), ())


def test_unsqueeze_gives_the_stride_of_the_whole_dimension() -> None:
    assert unsqueeze_geometry((2, 3), (3, 1), 0) == ((1, 2, 3), (6, 3, 1))
    assert unsqueeze_geometry((2, 3), (3, 1), -1) == ((2, 3, 1), (3, 1, 1))
    assert unsqueeze_geometry((), (), 0) == ((1,), (1,))


def test_select_drops_the_dimension_and_moves_the_offset() -> None:
    assert select_geometry((2, 3), (3, 1), 5, 0, -1) == ((3,), (1,), 8)
    with pytest.raises(OutOfRangeError) as caught:
        select_geometry((2, 3), (3, 1), 0, 1, 3)
    assert caught.value.facts == {"index": 3, "dim": 1, "size": 3}
    with pytest.raises(OutOfRangeError):
        select_geometry((), (), 0, 0, 0)


@given(
    st.integers(0, 5),
    st.none() | st.integers(-7, 7),
    st.none() | st.integers(-7, 7),
    st.integers(-3, 3).filter(bool),
)
def test_slices_take_what_python_slices_take(
    size: int, start: int | None, stop: int | None, step: int
) -> None:
    sizes, strides, offset = slice_geometry((size,), (2,), 1, 0, start, stop, step)
    taken = [offset + k * strides[0] for k in range(sizes[0])]
    assert taken == [1 + 2 * k for k in range(size)[start:stop:step]]


def test_a_slice_needs_a_step() -> None:
    with pytest.raises(ArgumentValueError):
        slice_geometry((3,), (1,), 0, 0, None, None, 0)


def test_narrow_does_not_clamp() -> None:
    assert narrow_geometry((4, 2), (2, 1), 1, 0, -2, 2) == ((2, 2), (2, 1), 5)
    assert narrow_geometry((4,), (1,), 0, 0, 4, 0) == ((0,), (1,), 4)
    with pytest.raises(ShapeError):
        narrow_geometry((4,), (1,), 0, 0, 3, 2)
    with pytest.raises(ShapeError):
        narrow_geometry((4,), (1,), 0, 0, 0, -1)
    with pytest.raises(OutOfRangeError):
        narrow_geometry((4,), (1,), 0, 0, 5, 0)


def test_diagonals_come_last() -> None:
    assert diagonal_geometry((3, 3), (3, 1), 0, 1) == ((2,), (4,), 1)
    assert diagonal_geometry((3, 4), (4, 1), 2, -1) == ((2,), (5,), 6)
    assert diagonal_geometry((2, 5, 3), (15, 3, 1), 0, 0, 0, 2) == ((5, 2), (3, 16), 0)


def test_a_diagonal_outside_the_matrix_is_empty_and_keeps_its_offset() -> None:
    assert diagonal_geometry((2, 2), (2, 1), 3, 7) == ((0,), (3,), 3)


def test_windows_share_the_memory_of_their_dimension() -> None:
    assert unfold_geometry((5, 2), (2, 1), 0, 3, 2) == ((2, 2, 3), (4, 1, 2))
    assert unfold_geometry((), (), 0, 1, 1) == ((1,), (1,))
    for size, step in ((6, 1), (2, 0), (-1, 1)):
        with pytest.raises(ShapeError):
            unfold_geometry((5,), (1,), 0, size, step)


def test_split_gives_the_rest_to_the_last_piece() -> None:
    assert split_sizes(7, 3) == (3, 3, 1)
    assert split_sizes(6, 3) == (3, 3)
    assert split_sizes(2, 5) == (2,)
    assert split_sizes(0, 3) == (0,)
    assert split_sizes(0, 0) == (0,)
    with pytest.raises(ShapeError):
        split_sizes(3, 0)
    with pytest.raises(ShapeError):
        split_sizes(3, -1)


def test_every_refusal_is_an_error_of_the_package() -> None:
    calls = itertools.product((-3, 2), (-3, 2))
    for dim0, dim1 in calls:
        with pytest.raises(VtgradError):
            transpose_geometry((2, 3), (3, 1), dim0, dim1)


# -- parts, wherever the whole may lie --------------------------------------------------------

Geometry3 = tuple[tuple[int, ...], tuple[int, ...], int]
dims = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=3)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (((3,), (1,), 13), ((0, 1), ((1, 0),))),  # a column
        (((2,), (3,), 11), ((1, 0), ((0, 1),))),  # a row
        (((2,), (4,), 10), ((0, 0), ((1, 1),))),  # the diagonal
        (((2,), (2,), 10), ((0, 0), ((2, 0),))),  # every other element of a column
        (((), (), 15), ((2, 1), ())),
        (((4,), (1,), 10), None),  # over the end of a column
        (((2,), (1,), 9), None),  # before the first element
        (((2,), (3,), 13), None),  # behind the last one
    ],
)
def test_parts_of_a_column_major_matrix(
    part: Geometry3, expected: tuple[tuple[int, ...], tuple[tuple[int, ...], ...]] | None
) -> None:
    assert steps_through(((3, 2), (1, 3), 10), part) == expected


def test_what_lies_between_the_elements_is_no_part() -> None:
    assert steps_through(((3,), (2,), 0), ((2,), (2,), 1)) is None
    assert steps_through(((3,), (2,), 0), ((2,), (2,), 2)) == ((1,), ((1,),))


@given(dims, dims, st.integers(0, 3), st.integers(0, 6))
def test_steps_lead_to_the_elements_of_the_part(
    whole: list[tuple[int, int]], part: list[tuple[int, int]], start: int, other: int
) -> None:
    geometry = tuple(n for n, _ in whole), tuple(s for _, s in whole), start
    sizes, strides = tuple(n for n, _ in part), tuple(s for _, s in part)
    found = steps_through(geometry, (sizes, strides, other))
    if found is None:
        return
    first, steps = found
    for index in itertools.product(*map(range, sizes)):
        whole_index = list(first)
        for i, step in zip(index, steps, strict=True):
            whole_index = [p + i * k for p, k in zip(whole_index, step, strict=True)]
        assert all(p < n for p, n in zip(whole_index, geometry[0], strict=True))
        memory = start + sum(p * s for p, s in zip(whole_index, geometry[1], strict=True))
        assert memory == other + sum(i * s for i, s in zip(index, strides, strict=True))

"""Pieces that are no views, diagonals, merged values, and looking beyond a view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.support import (
    differs_from_torch,
    fn_name,
    gradients,
    leaf,
    parent_name,
    ramp,
    refused,
    vt,
)


def indices(*values: int) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.int64)


# -- unsafe pieces --------------------------------------------------------------------------

UNSAFE: dict[str, Callable[[vt.Tensor], tuple[vt.Tensor, ...]]] = {
    "unsafe_split": lambda x: x.unsafe_split(2),
    "unsafe_chunk": lambda x: vt.unsafe_chunk(x, 2),
    "unsafe_split_with_sizes": lambda x: x.unsafe_split_with_sizes((2, 2)),
}


@pytest.mark.parametrize("cut", UNSAFE.values(), ids=UNSAFE)
def test_unsafe_pieces_share_memory_and_nothing_else(
    cut: Callable[[vt.Tensor], tuple[vt.Tensor, ...]],
) -> None:
    x = ramp(4)
    pieces = cut(x)
    assert pieces[0].data_ptr() == x.data_ptr()
    assert not pieces[1]._is_view()
    pieces[1].mul_(2)
    assert (pieces[1]._version, pieces[0]._version, x._version) == (1, 0, 0)


@pytest.mark.parametrize("cut", UNSAFE.values(), ids=UNSAFE)
def test_unsafe_pieces_of_a_leaf_may_be_written(
    cut: Callable[[vt.Tensor], tuple[vt.Tensor, ...]],
) -> None:
    x = leaf(4)
    first, second = cut(x)
    second.mul_(second.detach().clone())
    assert fn_name(second) == "MulBackward0"
    assert (first.output_nr, second.output_nr) == (0, 0)
    assert gradients((second * ramp(2)).sum(), x) == [[0, 0, 3, 8]]


# -- fill_diagonal_ -------------------------------------------------------------------------


def test_filling_a_diagonal_is_a_write_to_a_view() -> None:
    x = leaf(3, 4)
    y = x.clone()
    y.fill_diagonal_(0)
    assert (fn_name(y), y._version) == ("CopySlices", 1)
    assert gradients(y.sum(), x) == [[[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1]]]
    with refused(RuntimeError, "view-of-leaf-write", [x]):
        x.fill_diagonal_(0)


def test_a_wrapped_diagonal_leaves_a_row_out_after_each_square() -> None:
    x = vt.zeros(7, 2).fill_diagonal_(1, wrap=True)
    assert x.tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1], [0, 0], [1, 0]]
    assert x._version == 2


@differs_from_torch("PyTorch writes to other indices than the diagonal's, or fails")
def test_a_wrapped_diagonal_of_rows_that_lie_apart() -> None:
    wide = vt.zeros(9, 4)
    wide[:, :2].fill_diagonal_(1, wrap=True)
    close = vt.zeros(9, 2).fill_diagonal_(1, wrap=True)
    assert wide[:, :2].tolist() == close.tolist()
    assert not wide[:, 2:].any()
    transposed = vt.zeros(2, 9).t()
    assert transposed.fill_diagonal_(1, wrap=True).tolist() == close.tolist()


# -- stored and merged values ---------------------------------------------------------------


@differs_from_torch("a value that another one has overwritten has no gradient")
def test_only_the_value_that_stays_has_a_gradient() -> None:
    x, source = leaf(4), leaf(3)
    y = x.put(indices(1, 3, -3), source)
    assert y.tolist() == [1, 3, 3, 2]
    assert gradients((y * y).sum(), x, source) == [[2, 0, 6, 0], [0, 4, 6]]


def test_added_values_all_have_a_gradient() -> None:
    x, source = leaf(4), leaf(3)
    y = x.clone().put_(indices(1, 3, -3), source, accumulate=True)
    assert y.tolist() == [1, 6, 3, 6]
    assert gradients((y * y).sum(), x, source) == [[2, 12, 6, 12], [12, 12, 12]]


def test_a_masked_scatter_takes_the_first_values() -> None:
    x, source = leaf(4), leaf(3)
    y = x.masked_scatter(x > 2, source)
    assert y.tolist() == [1, 2, 1, 2]
    assert gradients((y * y).sum(), x, source) == [[2, 4, 0, 0], [2, 4, 0]]


def test_scatter_with_reduce_has_no_derivative() -> None:
    x = leaf(3)
    y = x.clone().scatter_(0, indices(1), 2.0, reduce="multiply")
    assert (y.tolist(), fn_name(y), parent_name(y)) == (
        [1, 4, 3],
        "NotImplemented",
        "CloneBackward0",
    )
    with pytest.raises(RuntimeError):
        y.sum().backward()


@differs_from_torch("PyTorch counts what was there before among the largest")
def test_an_extreme_without_what_was_there_before_is_not_shared_with_it() -> None:
    x, source = leaf(2), leaf(2)
    y = x.scatter_reduce(0, indices(0, 0), source - 1, "amax", include_self=False)
    assert y.tolist() == [1, 2]
    assert gradients(y.sum(), x, source) == [[0, 1], [0, 1]]


@differs_from_torch("PyTorch has no gradient, or a wrong one, for a source larger than the index")
@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
def test_the_unused_part_of_a_source_has_no_gradient(how: str) -> None:
    x, source = leaf(3), leaf(3) * 1.5
    y = x.scatter_reduce(0, indices(2), source, how)
    (found,) = gradients(y.sum(), source)
    assert isinstance(found, list)
    assert found[1:] == [0, 0]


def test_products_with_zeros_are_differentiated_twice() -> None:
    x = vt.tensor([0.0, 2.0], dtype=vt.float64, requires_grad=True)
    source = vt.tensor([3.0, 0.0], dtype=vt.float64, requires_grad=True)
    y = x.scatter_reduce(0, indices(0, 1), source, "prod")
    first = vt.autograd.grad(y.sum(), (x, source), create_graph=True)
    assert [g.tolist() for g in first] == [[3, 0], [0, 2]]
    assert gradients(first[0].sum(), source, retain_graph=True) == [[1, 1]]


# -- views by other names -------------------------------------------------------------------


def test_numbers_and_vectors_get_dimensions_as_views() -> None:
    x = leaf(3)
    assert vt.atleast_1d(x) is x
    row = vt.atleast_2d(x)
    assert isinstance(row, vt.Tensor)
    assert (row.shape, row._base is x, fn_name(row)) == ((1, 3), True, "UnsqueezeBackward0")
    both = vt.atleast_3d(x, ramp(2, 2))
    assert [y.shape for y in both] == [(1, 3, 1), (2, 2, 1)]


def test_grids_are_views_of_their_vectors() -> None:
    x, y = leaf(2), leaf(3)
    first, second = vt.meshgrid(x, y, indexing="xy")
    assert (first.shape, first.stride(), second.stride()) == ((3, 2), (0, 1), (1, 0))
    assert first._base is x
    assert gradients((first * second).sum(), x, y) == [[6, 6], [3, 3, 3]]
    with pytest.warns(UserWarning, match="indexing"):
        vt.meshgrid(x, y)


# -- beyond a view --------------------------------------------------------------------------


@differs_from_torch("PyTorch's gradient misses what is found beyond the view")
def test_what_as_strided_finds_beyond_a_view_has_its_gradient() -> None:
    x = leaf(5)
    y = x * 1
    part = y[3:]
    part.retain_grad()
    around = part.as_strided((3,), (1,), 1)
    assert around._base is y
    (around * around).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, 4, 6, 8, 0]
    assert part.grad is not None
    assert part.grad.tolist() == [8, 0]


@differs_from_torch("PyTorch's gradient misses what is found beyond the view")
def test_a_view_that_is_moved_beyond_itself_has_its_gradient() -> None:
    x = leaf(5)
    part = (x * 1)[3:]
    part.as_strided_((3,), (1,), 1)
    assert gradients((part * part).sum(), x) == [[0, 4, 6, 8, 0]]
    copy = vt.as_strided_copy((x * 1)[3:], (3,), (1,), 1)
    assert gradients((copy * copy).sum(), x) == [[0, 4, 6, 8, 0]]


def test_a_window_of_a_view_that_stays_inside_it_is_the_views() -> None:
    x = leaf(6)
    part = (x * 1)[1:5]
    window = part.as_strided((2, 3), (1, 1), 1)
    assert (fn_name(window), parent_name(window)) == ("AsStridedBackward0", "SliceBackward0")
    assert gradients((window * window).sum(), x) == [[0, 4, 12, 16, 10, 0]]


# -- dtypes that meet -----------------------------------------------------------------------


def test_a_copy_that_drops_imaginary_parts_warns() -> None:
    x, z = vt.zeros(2), vt.tensor([1 + 2j, 3j])
    with pytest.warns(UserWarning, match="imaginary"):
        x.copy_(z)
    assert x.tolist() == [1, 0]
    with pytest.warns(UserWarning, match="imaginary"):
        x[0] = z[1]


CUTS: dict[str, Callable[..., tuple[vt.Tensor, ...]]] = {
    "vsplit": lambda count: vt.vsplit(ramp(4, 1), count),
    "hsplit": lambda count: vt.hsplit(ramp(1, 4), count),
    "hsplit of a vector": lambda count: vt.hsplit(ramp(4), count),
    "dsplit": lambda count: vt.dsplit(ramp(1, 1, 4), count),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_number_of_pieces_divides_the_size_also_in_a_tensor(
    cut: Callable[..., tuple[vt.Tensor, ...]],
) -> None:
    for wrong in (3, 0):
        for number in (wrong, np.int64(wrong), vt.tensor(wrong)):
            with pytest.raises(RuntimeError):
                cut(number)
    with pytest.raises(TypeError):
        cut(vt.tensor(2.0))
    for right in (2, np.int64(2), vt.tensor(2), vt.tensor(2, dtype=vt.int32)):
        assert [piece.flatten().tolist() for piece in cut(right)] == [[1, 2], [3, 4]]


def test_a_plane_of_dimensions_that_do_not_exist_is_not_turned() -> None:
    x = ramp(2, 2)
    for dims in ((0, 2), (-3, 0), (5, 5)):
        with refused(IndexError, "dimension", [x]):
            vt.rot90(x, 1, dims)
    for dims in ((0, 0), (0, -2)):
        with pytest.raises(RuntimeError):
            vt.rot90(x, 1, dims)


SCATTERS: dict[str, Callable[[vt.Tensor, vt.Tensor], vt.Tensor]] = {
    "as_strided_scatter": lambda x, part: vt.as_strided_scatter(x, part, (2,), (1,)),
    "diagonal_scatter": lambda x, part: vt.diagonal_scatter(x, part),
    "select_scatter": lambda x, part: vt.select_scatter(x, part, 0, 0),
    "slice_scatter": lambda x, part: vt.slice_scatter(x, part.reshape(1, 2), 0, 0, 1),
}


@pytest.mark.parametrize("scatter", SCATTERS.values(), ids=SCATTERS)
def test_a_complex_part_in_a_real_whole_loses_its_imaginary_parts_with_a_warning(
    scatter: Callable[[vt.Tensor, vt.Tensor], vt.Tensor],
) -> None:
    part = vt.tensor([1 + 2j, 3 + 4j])
    with pytest.warns(UserWarning, match="imaginary part"):
        whole = scatter(vt.zeros(2, 2), part)
    assert whole.flatten()[0] == 1
    assert float(whole.sum()) == 4
    # The values of a lazy conjugate, in a complex whole.
    assert scatter(vt.zeros(2, 2, dtype=vt.complex64), part.conj()).sum().tolist() == 4 - 6j

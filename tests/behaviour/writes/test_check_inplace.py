"""Which writes are allowed next to the refused ones, and what becomes of those who share memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import fn_name, gradients, leaf, node_of, ramp, refused, unreached, vt


def _quietly(b: vt.Tensor) -> None:
    with vt.no_grad():
        b.mul_(2)


def test_a_leaf_and_its_views_are_written_under_no_grad_and_stay_leaves() -> None:
    x = leaf(2, 3)
    with vt.no_grad():
        x.add_(1)
        x[0].zero_()
    assert x.is_leaf
    assert x.grad_fn is None
    assert x.requires_grad
    assert x._version == 2
    assert x.tolist() == [[0, 0, 0], [5, 6, 7]]


def test_a_metadata_operator_turns_a_leaf_under_no_grad() -> None:
    x = leaf(2, 3)
    with vt.no_grad():
        x.t_()
    assert x.shape == (3, 2)
    assert x.is_leaf
    assert x._version == 1


def test_a_leaf_without_gradient_becomes_part_of_the_graph_of_its_operand() -> None:
    x, w = ramp(3), leaf(3)
    x.mul_(w)
    assert not x.is_leaf
    assert x.requires_grad
    assert fn_name(x) == "MulBackward0"
    assert gradients(x.sum(), w) == [[1, 2, 3]]


def test_a_piece_of_a_base_without_gradient_is_written() -> None:
    b = ramp(2, 3)
    first, second = b.unbind(0)
    first.add_(1)
    assert b._version == 1
    assert second.tolist() == [4, 5, 6]
    assert b.tolist() == [[2, 3, 4], [4, 5, 6]]


SINGLE_PIECES: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "tensor_split": lambda b: b.tensor_split(2)[0],
    "vsplit": lambda b: b.vsplit(2)[0],
    "hsplit": lambda b: b.t().hsplit(2)[0],
}


@pytest.mark.parametrize("piece", SINGLE_PIECES.values(), ids=SINGLE_PIECES)
def test_pieces_that_are_single_views_may_be_written(
    piece: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    a = leaf(4, 1)
    b = a.clone()
    piece(b).mul_(3)
    assert fn_name(b) == "CopySlices"
    assert gradients(b.sum(), a) == [[[3], [3], [1], [1]]]


def test_the_base_of_pieces_may_be_written_and_differentiated() -> None:
    a = leaf(2, 3)
    b = a.clone()
    b.unbind(0)
    b.mul_(2)
    assert gradients(b.sum(), a) == [[[2, 2, 2], [2, 2, 2]]]


@pytest.mark.parametrize("write", [_quietly, lambda b: b.detach().mul_(2)])
def test_an_unrecorded_write_to_the_base_spoils_its_pieces_too(
    write: Callable[[vt.Tensor], object],
) -> None:
    b = leaf(2, 3).clone()
    piece = b.unbind(0)[0]
    write(b)
    with refused(RuntimeError, "multi-output-view"):
        assert piece.grad_fn
    assert fn_name(b) == "CloneBackward0"


def test_a_write_through_data_does_not_spoil_pieces() -> None:
    b = leaf(2, 3).clone()
    piece = b.unbind(0)[0]
    b.data.mul_(2)
    assert fn_name(piece) == "UnbindBackward0"


def test_a_piece_written_under_no_grad_spoils_its_sisters() -> None:
    b = leaf(2, 3).clone()
    first, second = b.unbind(0)
    with vt.no_grad():
        first.mul_(2)
    assert b.tolist() == [[2, 4, 6], [4, 5, 6]]
    with refused(RuntimeError, "multi-output-view"):
        assert second.grad_fn


def test_a_spoiled_piece_of_a_base_that_had_no_gradient_is_a_piece_all_the_same() -> None:
    b = ramp(2, 3)
    piece = b.unbind(0)[0]
    b.mul_(leaf(3))
    with refused(RuntimeError, "multi-output-view"):
        assert piece.grad_fn


def test_a_no_grad_view_is_a_view_that_requires_grad_and_has_no_node() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
    assert v._base is b
    assert v.requires_grad
    assert v.grad_fn is None
    assert v.is_leaf


def test_a_no_grad_view_of_a_constant_is_written_with_a_constant() -> None:
    b = ramp(2, 3)
    with vt.no_grad():
        v = b[0]
    v.mul_(2)
    assert b.tolist() == [[2, 4, 6], [4, 5, 6]]


def test_a_no_grad_view_is_written_under_no_grad() -> None:
    b = leaf(2, 3).clone()
    with vt.no_grad():
        v = b[0]
        v.mul_(2)
    assert b.tolist() == [[2, 4, 6], [4, 5, 6]]
    assert (b._version, v._version) == (1, 1)
    assert fn_name(b) == "CloneBackward0"


def test_a_no_grad_view_written_under_no_grad_has_no_gradient_function_and_the_base_has() -> None:
    p = leaf(2, 3)
    with vt.no_grad():
        v = p[0]
        v.zero_()
    with refused(RuntimeError, "no-grad-view"):
        assert v.grad_fn
    with refused(RuntimeError, "no-grad-view"):
        assert v.is_leaf
    with refused(RuntimeError, "no-grad-view"):
        v * 2
    assert v.tolist() == [0, 0, 0]
    assert (p * 2).requires_grad


def test_gradients_of_a_no_grad_view_go_nowhere() -> None:
    a = leaf(2, 3)
    b = a.clone()
    with vt.no_grad():
        v = b[0]
    y = (v * 2).sum()
    assert y.requires_grad
    assert unreached(y, v, a)
    y.backward()
    assert a.grad is None
    assert v.grad is None


def test_a_view_made_while_recording_may_be_written_under_no_grad_and_lives_on() -> None:
    a = leaf(2, 3)
    b = a.clone()
    v = b[0]
    with vt.no_grad():
        v.mul_(2)
    assert v.tolist() == [2, 4, 6]
    assert gradients(v.sum(), a) == [[[1, 1, 1], [0, 0, 0]]]


def test_expanding_by_one_is_no_overlap() -> None:
    b = ramp(1)
    b.expand(1).add_(1)
    assert b.tolist() == [2]


def test_the_very_same_region_may_be_operand_and_target() -> None:
    b = ramp(4)
    b[1:].add_(b[1:])
    assert b.tolist() == [1, 4, 6, 8]


def test_a_square_may_be_taken_of_itself() -> None:
    b = ramp(3)
    b.mul_(b)
    assert b.tolist() == [1, 4, 9]


def test_regions_that_are_too_hard_to_tell_apart_are_read_before_they_are_written() -> None:
    b = ramp(6)
    b[0:4:2].add_(b[0:2])
    assert b.tolist() == [2, 2, 5, 4, 5, 6]
    c = ramp(6)
    c[0:4:2].copy_(c[0:2])
    assert c.tolist() == [1, 2, 2, 4, 5, 6]


# What stores one value only may do so anywhere, as long as nothing is recorded.
ONE_VALUE: dict[str, Callable[[vt.Tensor], object]] = {
    "masked fill": lambda x: x.masked_fill_(vt.tensor([True, False, False]), 9.0),
    "index fill": lambda x: x.index_fill_(0, vt.tensor([1]), 9.0),
    "assign at a list": lambda x: x.__setitem__([1], 9.0),
}


@pytest.mark.filterwarnings("ignore:Use of:UserWarning")  # PyTorch's, of these very writes
@pytest.mark.parametrize("write", ONE_VALUE.values(), ids=ONE_VALUE)
def test_one_value_is_stored_in_an_expanded_tensor(write: Callable[[vt.Tensor], object]) -> None:
    b = ramp(1)
    wide = b.expand(3)
    write(wide)
    assert b.tolist() == [9]
    assert wide._version == b._version == 1


def test_interleaved_regions_do_not_overlap() -> None:
    b = ramp(6)
    b[::2].add_(b[1::2])
    assert b.tolist() == [3, 2, 7, 4, 11, 6]


def test_disjoint_regions_of_one_storage_do_not_overlap() -> None:
    a = leaf(4)
    b = a.clone()
    b[:2].mul_(b[2:])
    assert b.tolist() == [3, 8, 3, 4]


def test_a_row_may_be_copied_onto_another_row() -> None:
    a = leaf(2, 3)
    b = a.clone()
    b[1] = b[0]
    assert b.tolist() == [[1, 2, 3], [1, 2, 3]]
    assert gradients((b * ramp(2, 3)).sum(), a) == [[[5, 7, 9], [0, 0, 0]]]


def test_in_place_never_changes_the_dtype() -> None:
    f = vt.ones(2)
    f.add_(ramp(2))
    assert f.dtype == vt.float32
    assert f.tolist() == [2, 3]


def test_copy_fill_and_assignment_convert_between_dtypes() -> None:
    i = vt.tensor([1, 2])
    i.copy_(vt.tensor([1.9, 2.9]))
    assert i.tolist() == [1, 2]
    i[0] = 7.9
    assert i.tolist() == [7, 2]
    i.fill_(3.7)
    assert i.tolist() == [3, 3]
    i.masked_fill_(i > 0, 2.5)
    assert i.tolist() == [2, 2]


COMPLEX_INTO_REAL: dict[str, Callable[[vt.Tensor, vt.Tensor], object]] = {
    "copy": lambda x, z: x.copy_(z),
    "assign": lambda x, z: x.__setitem__(slice(None), z),
    "assign an element": lambda x, z: x.__setitem__(0, z[0]),
    "fill": lambda x, z: x.fill_(z[0]),
}


@pytest.mark.parametrize("write", COMPLEX_INTO_REAL.values(), ids=COMPLEX_INTO_REAL)
def test_storing_complex_values_among_real_ones_warns_and_keeps_the_real_part(
    write: Callable[[vt.Tensor, vt.Tensor], object],
) -> None:
    x, z = ramp(1), vt.tensor([5 + 6j], dtype=vt.complex128)
    with pytest.warns(UserWarning, match="imaginary"):
        write(x, z)
    assert x.tolist() == [5]
    assert x._version == 1


def test_a_real_part_that_was_copied_has_a_complex_gradient() -> None:
    a, z = leaf(2), vt.tensor([1 + 2j, 3 + 4j], dtype=vt.complex128, requires_grad=True)
    b = a.clone()
    with pytest.warns(UserWarning, match="imaginary"):
        b.copy_(z)
    assert gradients((b * ramp(2)).sum(), a, z) == [[0, 0], [1, 2]]


def test_a_metadata_operator_on_a_detached_alias_leaves_the_shape_of_the_source() -> None:
    x = leaf(2, 3)
    d = x.detach()
    d.t_()
    assert d.shape == (3, 2)
    assert x.shape == (2, 3)
    assert x._version == 1
    x.data.unsqueeze_(0)
    assert x.dim() == 2
    assert x._version == 1


def test_detach_in_place_of_a_base_leaves_its_views_attached() -> None:
    b = leaf(2, 3).clone()
    v = b[0]
    b.detach_()
    assert b.grad_fn is None
    assert not b.requires_grad
    assert b.is_leaf
    assert v.requires_grad
    assert fn_name(v) == "SelectBackward0"


@pytest.mark.parametrize("offset", [0, 1])
def test_writing_a_diagonal_differentiates_the_diagonal_only(offset: int) -> None:
    a = leaf(2, 2)
    b = a.clone()
    b.diagonal(offset).zero_()
    expected = [[0, 1], [1, 0]] if offset == 0 else [[1, 0], [1, 1]]
    assert gradients(b.sum(), a) == [expected]
    assert node_of(b).name().endswith("CopySlices")

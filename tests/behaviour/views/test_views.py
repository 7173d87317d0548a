"""What is a view, of which base, and what node stands behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import fn_name, gradients, leaf, node_of, parent_name, ramp, vt

MakeView = Callable[[vt.Tensor], vt.Tensor]


def test_the_base_of_a_view_of_a_view_is_the_root() -> None:
    x = ramp(2, 3)
    v = x[0]
    w = v[1:]
    assert x._base is None
    assert v._base is x
    assert w._base is x
    assert w[0]._base is x


def test_a_root_is_no_view() -> None:
    assert not ramp(2)._is_view()
    assert not (ramp(2) * 2)._is_view()
    assert not ramp(2).clone()._is_view()


def test_views_of_tensors_without_gradient_are_tracked_too() -> None:
    x = ramp(2, 3)
    v = x[0]
    assert v._is_view()
    assert not v.requires_grad
    v.mul_(leaf(1))
    assert x.requires_grad
    assert fn_name(x) == "CopySlices"


def test_detach_is_no_view_although_it_shares_the_memory() -> None:
    x = leaf(2, 3)
    d = x.detach()
    assert not d._is_view()
    assert d._base is None
    assert d.is_leaf
    assert d[0]._base is d
    assert d.data_ptr() == x.data_ptr()


def test_data_is_no_view_although_it_shares_the_memory() -> None:
    x = leaf(2, 3)
    data = x.data
    assert not data._is_view()
    assert data._base is None
    assert not data.requires_grad
    assert data.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_writing_through_detach_changes_values_but_not_the_graph() -> None:
    x = leaf(3).exp()
    before = node_of(x)
    x.detach().mul_(0)
    assert x.tolist() == [0, 0, 0]
    assert x.grad_fn is before
    assert x._version == 1


VIEWS: dict[str, tuple[MakeView, tuple[int, ...], tuple[int, ...], int, str]] = {
    # name: how, shape, stride, offset, node; all from a contiguous (2, 3)
    "T": (lambda x: x.T, (3, 2), (1, 3), 0, "PermuteBackward0"),
    "mT": (lambda x: x.mT, (3, 2), (1, 3), 0, "TransposeBackward0"),
    "t": (lambda x: x.t(), (3, 2), (1, 3), 0, "TBackward0"),
    "transpose": (lambda x: x.transpose(0, 1), (3, 2), (1, 3), 0, "TransposeBackward0"),
    "swapaxes": (lambda x: x.swapaxes(0, 1), (3, 2), (1, 3), 0, "TransposeBackward0"),
    "permute": (lambda x: x.permute(1, 0), (3, 2), (1, 3), 0, "PermuteBackward0"),
    "movedim": (lambda x: x.movedim(0, 1), (3, 2), (1, 3), 0, "PermuteBackward0"),
    "view": (lambda x: x.view(3, 2), (3, 2), (2, 1), 0, "ViewBackward0"),
    "view same shape": (lambda x: x.view(2, 3), (2, 3), (3, 1), 0, "ViewBackward0"),
    "view_as": (lambda x: x.view_as(ramp(3, 2)), (3, 2), (2, 1), 0, "ViewBackward0"),
    "reshape": (lambda x: x.reshape(-1), (6,), (1,), 0, "ViewBackward0"),
    "flatten": (lambda x: x.flatten(), (6,), (1,), 0, "ViewBackward0"),
    "ravel": (lambda x: x.ravel(), (6,), (1,), 0, "ViewBackward0"),
    "unflatten": (lambda x: x.unflatten(1, (3, 1)), (2, 3, 1), (3, 1, 1), 0, "ViewBackward0"),
    "squeeze all": (lambda x: x.squeeze(), (2, 3), (3, 1), 0, "SqueezeBackward0"),
    "squeeze dim": (lambda x: x.squeeze(0), (2, 3), (3, 1), 0, "SqueezeBackward1"),
    "squeeze dims": (lambda x: x.squeeze((0,)), (2, 3), (3, 1), 0, "SqueezeBackward2"),
    "unsqueeze": (lambda x: x.unsqueeze(1), (2, 1, 3), (3, 3, 1), 0, "UnsqueezeBackward0"),
    "narrow": (lambda x: x.narrow(1, 1, 2), (2, 2), (3, 1), 1, "SliceBackward0"),
    "narrow from the end": (lambda x: x.narrow(1, -1, 1), (2, 1), (3, 1), 2, "SliceBackward0"),
    "select": (lambda x: x.select(1, 2), (2,), (3,), 2, "SelectBackward0"),
    "select from the end": (lambda x: x.select(0, -1), (3,), (1,), 3, "SelectBackward0"),
    "diagonal": (lambda x: x.diagonal(), (2,), (4,), 0, "DiagonalBackward0"),
    "upper diagonal": (lambda x: x.diagonal(1), (2,), (4,), 1, "DiagonalBackward0"),
    "unfold": (lambda x: x.unfold(1, 2, 1), (2, 2, 2), (3, 1, 1), 0, "UnfoldBackward0"),
    "expand": (lambda x: x.expand(4, 2, 3), (4, 2, 3), (0, 3, 1), 0, "ExpandBackward0"),
    "as_strided": (lambda x: x.as_strided((2,), (4,), 1), (2,), (4,), 1, "AsStridedBackward0"),
    "int": (lambda x: x[1], (3,), (1,), 3, "SelectBackward0"),
    "negative int": (lambda x: x[-2], (3,), (1,), 0, "SelectBackward0"),
    "slice": (lambda x: x[0:1], (1, 3), (3, 1), 0, "SliceBackward0"),
    "full slice": (lambda x: x[:], (2, 3), (3, 1), 0, "SliceBackward0"),
    "slice with unit step": (lambda x: x[::1], (2, 3), (3, 1), 0, "SliceBackward0"),
    "slice past the end": (lambda x: x[0:9], (2, 3), (3, 1), 0, "SliceBackward0"),
    "step": (lambda x: x[:, ::2], (2, 2), (3, 2), 0, "SliceBackward0"),
    "full slices": (lambda x: x[:, :], (2, 3), (3, 1), 0, "AliasBackward0"),
    "full slice and ellipsis": (lambda x: x[0:2, ...], (2, 3), (3, 1), 0, "AliasBackward0"),
    "ellipsis": (lambda x: x[...], (2, 3), (3, 1), 0, "AliasBackward0"),
    "none": (lambda x: x[None], (1, 2, 3), (6, 3, 1), 0, "UnsqueezeBackward0"),
    "integer tensor": (lambda x: x[vt.tensor(1)], (3,), (1,), 3, "SelectBackward0"),
}


@pytest.mark.parametrize(("make", "shape", "stride", "offset", "name"), VIEWS.values(), ids=VIEWS)
def test_a_view_has_its_geometry_its_base_and_its_node(
    make: MakeView, shape: tuple[int, ...], stride: tuple[int, ...], offset: int, name: str
) -> None:
    x = leaf(2, 3)
    v = make(x)
    assert v is not x
    assert v._is_view()
    assert v._base is x
    assert tuple(v.shape) == shape
    assert tuple(v.stride()) == stride
    assert v.storage_offset() == offset
    assert v.data_ptr() == x.data_ptr() + 8 * offset
    assert fn_name(v) == name
    assert v.output_nr == 0
    assert (x._version, v._version) == (0, 0)


def test_a_view_reads_what_is_written_to_the_base_and_the_base_what_is_written_to_it() -> None:
    x = ramp(2, 3)
    column = x[:, 1]
    x[0, 1] = 20.0
    assert column.tolist() == [20, 5]
    column[1] = 50.0
    assert x.tolist() == [[1, 20, 3], [4, 50, 6]]


def test_methods_that_have_nothing_to_do_return_the_very_same_object() -> None:
    x = ramp(3)
    assert x.contiguous() is x
    assert x.to(vt.float64) is x
    assert x.double() is x
    assert x.flatten() is x
    assert x.add_(1) is x
    assert x.detach_() is x
    assert x.requires_grad_() is x


def test_reshape_expand_squeeze_and_clone_never_return_the_same_object() -> None:
    x = ramp(3)
    assert x.reshape(3) is not x
    assert x.reshape(3)._is_view()
    assert x.expand(3) is not x
    assert x.squeeze() is not x
    assert x.view(3) is not x
    assert x.clone() is not x


def test_flatten_of_a_single_number_is_a_view_with_one_dimension() -> None:
    x = leaf(1)[0]
    flat = x.flatten()
    assert flat.shape == (1,)
    assert flat._is_view()


@pytest.mark.parametrize("flat", [lambda x: x.reshape(6), lambda x: x.flatten()])
def test_a_shape_that_strides_cannot_express_is_a_copy_and_no_view(flat: MakeView) -> None:
    x = leaf(2, 3)
    y = flat(x.t())
    assert y.tolist() == [1, 4, 2, 5, 3, 6]
    assert not y._is_view()
    assert fn_name(y) == "UnsafeViewBackward0"
    assert parent_name(y) == "CloneBackward0"
    assert y.data_ptr() != x.data_ptr()


def test_ravel_of_what_strides_cannot_express_is_a_view_of_a_copy() -> None:
    x = leaf(2, 3)
    y = x.t().ravel()
    assert y.tolist() == [1, 4, 2, 5, 3, 6]
    assert y._base is not None
    assert y._base is not x
    assert fn_name(y) == "ViewBackward0"
    assert parent_name(y) == "CloneBackward0"
    assert y.data_ptr() != x.data_ptr()


def test_view_that_strides_cannot_express_is_refused() -> None:
    with pytest.raises(RuntimeError):
        ramp(2, 3).t().view(6)


def test_a_partly_mergeable_reshape_is_still_a_view() -> None:
    x = leaf(2, 3, 4).transpose(0, 1)  # strides 4, 12, 1: the last dimension can be split
    v = x.reshape(3, 2, 2, 2)
    assert tuple(v.stride()) == (4, 12, 2, 1)
    assert v._is_view()


PIECES: dict[str, tuple[Callable[[vt.Tensor], object], str, int]] = {
    "split": (lambda x: x.split(2)[1], "SplitBackward0", 1),
    "chunk": (lambda x: x.chunk(2)[1], "SplitBackward0", 1),
    "split with sizes": (lambda x: x.split([1, 3])[1], "SplitWithSizesBackward0", 1),
    "unbind": (lambda x: x.unbind(0)[3], "UnbindBackward0", 3),
    "tensor_split": (lambda x: x.tensor_split(2)[1], "SliceBackward0", 0),
    "hsplit": (lambda x: x.hsplit(2)[1], "SliceBackward0", 0),
    "vsplit": (lambda x: x.vsplit(2)[1], "SliceBackward0", 0),
}


@pytest.mark.parametrize(("take", "name", "number"), PIECES.values(), ids=PIECES)
def test_pieces_of_a_tensor_know_their_place_among_the_outputs(
    take: Callable[[vt.Tensor], vt.Tensor], name: str, number: int
) -> None:
    x = leaf(4, 2)
    piece = take(x)
    assert fn_name(piece) == name
    assert piece.output_nr == number
    assert piece._base is x
    assert (x._version, piece._version) == (0, 0)


def test_all_pieces_of_one_unbind_share_one_node() -> None:
    first, second = leaf(2, 2).unbind(0)
    assert first.grad_fn is second.grad_fn


def test_an_index_of_several_steps_makes_one_node_per_step() -> None:
    x = leaf(2, 3)
    v = x[0, 1:]
    assert fn_name(v) == "SliceBackward0"
    assert parent_name(v) == "SelectBackward0"
    assert v._base is x


def test_full_slices_inside_a_tuple_make_no_node() -> None:
    v = leaf(2, 3)[:, 0]
    assert fn_name(v) == "SelectBackward0"
    assert parent_name(v) == "AccumulateGrad"


COPIES: dict[str, MakeView] = {
    "list": lambda x: x[[0, 1]],
    "mask": lambda x: x[x > 2],
    "integer tensor with a dimension": lambda x: x[vt.tensor([0])],
    "empty list": lambda x: x[[]],
}


@pytest.mark.parametrize("take", COPIES.values(), ids=COPIES)
def test_indexing_with_lists_masks_and_integer_tensors_copies(take: MakeView) -> None:
    x = leaf(3, 2)
    y = take(x)
    assert not y._is_view()
    assert y._base is None
    assert fn_name(y) == "IndexBackward0"


def test_clone_keeps_dense_strides_and_contiguous_does_not() -> None:
    x = ramp(2, 3).t()
    assert tuple(x.clone().stride()) == (1, 3)
    assert tuple(x.contiguous().stride()) == (2, 1)
    assert x.contiguous() is not x


def test_clone_of_a_tensor_with_gaps_or_overlap_is_dense() -> None:
    assert tuple(ramp(3, 1).expand(3, 2).clone().stride()) == (2, 1)
    assert tuple(ramp(4)[::2].clone().stride()) == (1,)
    assert tuple(ramp(1, 3).expand(2, 3).clone().stride()) == (3, 1)
    assert tuple(ramp(1, 3).expand(2, 3).t().clone().stride()) == (2, 1)
    assert tuple(ramp(6).as_strided((2, 2), (1, 1)).clone().stride()) == (2, 1)


def test_as_strided_reads_any_part_of_the_storage() -> None:
    x = ramp(4)
    assert x[2:].as_strided((4,), (1,), 0).tolist() == [1, 2, 3, 4]


def test_as_strided_without_offset_starts_where_the_view_starts() -> None:
    assert ramp(4)[2:].as_strided((1,), (1,)).tolist() == [3]


def test_the_gradient_of_an_overlapping_as_strided_counts_each_reading() -> None:
    x = leaf(4)
    windows = x.as_strided((3, 2), (1, 1))
    assert gradients(windows.sum(), x) == [[1, 2, 2, 1]]


def test_the_gradient_of_an_expanded_tensor_is_summed() -> None:
    x = leaf(2, 1)
    weight = vt.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]], dtype=vt.float64)
    assert gradients((x.expand(2, 3) * weight).sum(), x) == [[[6], [60]]]


def test_the_gradient_of_a_view_of_a_view_lands_in_the_right_elements() -> None:
    x = leaf(2, 3)
    assert gradients((x.t()[1:, 0] * ramp(2)).sum(), x) == [[[0, 1, 2], [0, 0, 0]]]


def test_a_view_outlives_the_name_of_its_base() -> None:
    v = ramp(2, 3)[1]
    assert v.tolist() == [4, 5, 6]
    assert v._base is not None
    assert v._base.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_full_index_is_a_new_object_over_the_same_memory() -> None:
    x = ramp(2, 3)
    for v in (x[...], x[()], x[:], x[None]):
        assert v is not x
        assert v._base is x
        assert v.data_ptr() == x.data_ptr()


def test_a_view_can_be_made_of_another_tensor_that_lies_as_its_base_does() -> None:
    v = ramp(2, 3).t()[1:]
    other = vt.zeros(2, 3, dtype=vt.float32, requires_grad=True)
    again = v._view_func(other)
    assert again is not None
    assert (again.shape, again.stride(), again.storage_offset()) == ((2, 2), (1, 3), 1)
    assert again._base is other
    assert fn_name(again) == "AsStridedBackward0"
    part = vt.view_as_real(vt.zeros(2, dtype=vt.complex64))[0]
    complex_part = part._view_func(vt.tensor([3 + 4j, 0]))
    assert complex_part is not None
    assert complex_part.tolist() == [3, 4]


def test_a_view_cannot_be_made_of_a_tensor_that_lies_otherwise() -> None:
    v = ramp(2, 3)[1]
    assert v._view_func(ramp(3, 2)) is None
    assert v._view_func(ramp(3, 2).t()) is None
    assert v._view_func(ramp(3, 3)[:2]) is None
    assert v._view_func(ramp(3, 3)[1:]) is None
    assert ramp(2, 3)._view_func(ramp(2, 3)) is None
    assert ramp(2, 3)[0].detach()._view_func(ramp(2, 3)) is None
    with pytest.raises(TypeError):
        v._view_func(3)  # type: ignore[arg-type]  # that is the test

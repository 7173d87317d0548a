"""View operators on tensors: what they show, what they are, and their gradients, in numbers."""

from collections.abc import Callable

import pytest

import vtgrad as vt
from tests.support import fn_name, leaf, weighted_gradients
from vtgrad.errors import DimensionError, OutOfBoundsError, OutOfRangeError, ShapeError

Op = Callable[[vt.Tensor], vt.Tensor]


VIEWS: list[tuple[Op, list[int], list[int], int, str]] = [
    (lambda x: x.select(1, -1), [2], [3], 2, "SelectBackward0"),
    (lambda x: x.narrow(1, 1, 2), [2, 2], [3, 1], 1, "SliceBackward0"),
    (lambda x: x.narrow(1, -1, 1), [2, 1], [3, 1], 2, "SliceBackward0"),
    (lambda x: x.t(), [3, 2], [1, 3], 0, "TBackward0"),
    (lambda x: x.T, [3, 2], [1, 3], 0, "PermuteBackward0"),
    (lambda x: x.mT, [3, 2], [1, 3], 0, "TransposeBackward0"),
    (lambda x: x.transpose(0, -1), [3, 2], [1, 3], 0, "TransposeBackward0"),
    (lambda x: x.swapaxes(0, 1), [3, 2], [1, 3], 0, "TransposeBackward0"),
    (lambda x: x.permute(1, 0), [3, 2], [1, 3], 0, "PermuteBackward0"),
    (lambda x: x.movedim(0, 1), [3, 2], [1, 3], 0, "PermuteBackward0"),
    (lambda x: x.view(3, 2), [3, 2], [2, 1], 0, "ViewBackward0"),
    (lambda x: x.view(-1), [6], [1], 0, "ViewBackward0"),
    (lambda x: x.reshape((6,)), [6], [1], 0, "ViewBackward0"),
    (lambda x: x.t().reshape(3, 2, 1), [3, 2, 1], [1, 3, 3], 0, "ReshapeAliasBackward0"),
    (lambda x: x.flatten(), [6], [1], 0, "ViewBackward0"),
    (lambda x: x.ravel(), [6], [1], 0, "ViewBackward0"),
    (lambda x: x.unflatten(1, (3, -1)), [2, 3, 1], [3, 1, 1], 0, "ViewBackward0"),
    (lambda x: x.unsqueeze(0), [1, 2, 3], [6, 3, 1], 0, "UnsqueezeBackward0"),
    (lambda x: x.expand(2, -1, -1), [2, 2, 3], [0, 3, 1], 0, "ExpandBackward0"),
    (lambda x: x.diagonal(1), [2], [4], 1, "DiagonalBackward0"),
    (lambda x: x.unfold(1, 2, 1), [2, 2, 2], [3, 1, 1], 0, "UnfoldBackward0"),
    (lambda x: x.as_strided((2, 2), (1, 2), 1), [2, 2], [1, 2], 1, "AsStridedBackward0"),
    (lambda x: x.squeeze(), [2, 3], [3, 1], 0, "SqueezeBackward0"),
    (lambda x: x.squeeze(0), [2, 3], [3, 1], 0, "SqueezeBackward1"),
    (lambda x: x.squeeze((0, 1)), [2, 3], [3, 1], 0, "SqueezeBackward2"),
    (lambda x: x.split(2, 1)[1], [2, 1], [3, 1], 2, "SplitBackward0"),
    (lambda x: x.split([1, 2], 1)[1], [2, 2], [3, 1], 1, "SplitWithSizesBackward0"),
    (lambda x: x.chunk(2, 1)[0], [2, 2], [3, 1], 0, "SplitBackward0"),
    (lambda x: x.unbind(1)[2], [2], [3], 2, "UnbindBackward0"),
    (lambda x: x.tensor_split(2, 1)[1], [2, 1], [3, 1], 2, "SliceBackward0"),
    (lambda x: x[0, 1:], [2], [1], 1, "SliceBackward0"),
    (lambda x: x[...], [2, 3], [3, 1], 0, "AliasBackward0"),
    (lambda x: x[None], [1, 2, 3], [6, 3, 1], 0, "UnsqueezeBackward0"),
]


@pytest.mark.parametrize(("op", "sizes", "strides", "offset", "node"), VIEWS)
def test_views_show_the_memory_of_their_base(
    op: Op, sizes: list[int], strides: list[int], offset: int, node: str
) -> None:
    base = leaf(2, 3)
    view = op(base)
    assert list(view.shape) == sizes
    assert list(view.stride()) == strides
    assert view.storage_offset() == offset
    assert fn_name(view) == node
    assert view._base is base
    assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()


@pytest.mark.parametrize(("op", "sizes", "strides", "offset", "node"), VIEWS)
def test_a_write_to_the_base_is_seen_in_the_view(
    op: Op, sizes: list[int], strides: list[int], offset: int, node: str
) -> None:
    base = leaf(2, 3).detach()
    view = op(base)
    base.zero_()
    assert not view.any().item()
    assert view._version == base._version == 1


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (lambda x: x.select(1, -1), [[0, 0, 1], [0, 0, 2]]),
        (lambda x: x.narrow(1, 1, 2), [[0, 1, 2], [0, 3, 4]]),
        (lambda x: x.t(), [[1, 3, 5], [2, 4, 6]]),
        (lambda x: x.permute(1, 0), [[1, 3, 5], [2, 4, 6]]),
        (lambda x: x.movedim(0, 1), [[1, 3, 5], [2, 4, 6]]),
        (lambda x: x.view(3, 2), [[1, 2, 3], [4, 5, 6]]),
        (lambda x: x.t().reshape(6), [[1, 3, 5], [2, 4, 6]]),
        (lambda x: x.unsqueeze(1), [[1, 2, 3], [4, 5, 6]]),
        (lambda x: x.expand(2, -1, -1), [[8, 10, 12], [14, 16, 18]]),
        (lambda x: x.diagonal(1), [[0, 1, 0], [0, 0, 2]]),
        (lambda x: x.unfold(1, 2, 1), [[1, 5, 4], [5, 13, 8]]),
        (lambda x: x.as_strided((2, 2), (1, 1), 1), [[0, 1, 5], [4, 0, 0]]),
        (lambda x: x.split(2, 1)[1], [[0, 0, 1], [0, 0, 2]]),
        (lambda x: x.unbind(1)[2], [[0, 0, 1], [0, 0, 2]]),
        (lambda x: x.tensor_split((1,), 1)[1], [[0, 1, 2], [0, 3, 4]]),
        (lambda x: x.contiguous(), [[1, 2, 3], [4, 5, 6]]),
        (lambda x: x.select_scatter(vt.zeros(3, dtype=vt.float64), 0, 1), [[1, 2, 3], [0, 0, 0]]),
    ],
)
def test_the_gradient_lies_where_the_view_looked(op: Op, expected: object) -> None:
    x = leaf(2, 3)
    assert weighted_gradients(op(x), x) == [expected]


def test_a_view_of_a_view_belongs_to_the_first_base() -> None:
    x = leaf(2, 3)
    v = x.t()[1:].unsqueeze(0)
    assert v._base is x
    assert weighted_gradients(v, x) == [[[0, 1, 3], [0, 2, 4]]]


def test_reshape_copies_only_where_no_strides_fit() -> None:
    x = leaf(2, 3)
    copy = x.t().reshape(6)
    assert copy._base is None
    assert fn_name(copy) == "UnsafeViewBackward0"
    assert copy.tolist() == [1, 4, 2, 5, 3, 6]
    with pytest.raises(ShapeError):
        x.t().view(6)


def test_what_is_given_back_unchanged_is_the_same_object() -> None:
    x = leaf(3)
    assert x.contiguous() is x
    assert x.flatten() is x
    assert x.view(3) is not x
    assert x.expand(3) is not x
    assert x.squeeze() is not x


def test_sizes_come_one_by_one_or_together() -> None:
    x = leaf(2, 3)
    for turned in (x.permute(1, 0), x.permute((1, 0)), vt.permute(x, [1, 0])):
        assert turned.shape == (3, 2)
    for shown in (x.view(3, 2), x.view([3, 2]), x.reshape(3, -1), vt.reshape(x, (3, 2))):
        assert shown.shape == (3, 2)
    assert x.expand((4, 2, 3)).shape == x.expand(4, 2, 3).shape == (4, 2, 3)


def test_pieces_are_numbered_and_missing_gradients_are_zeros() -> None:
    x = leaf(5)
    pieces = x.split(2)
    assert [p.output_nr for p in pieces] == [0, 1, 2]
    assert [p.tolist() for p in pieces] == [[1, 2], [3, 4], [5]]
    assert weighted_gradients(pieces[1], x) == [[0, 0, 1, 2, 0]]
    assert weighted_gradients(x.split(2)[2], x) == [[0, 0, 0, 0, 1]]
    assert weighted_gradients(x.split([3, 2])[1], x) == [[0, 0, 0, 1, 2]]
    assert [p.tolist() for p in vt.zeros(0).chunk(2)] == [[], []]


def test_overlapping_and_repeated_elements_of_as_strided_share_the_gradient() -> None:
    x = leaf(3)
    assert weighted_gradients(x.as_strided((2, 2), (1, 1)), x) == [[1, 5, 4]]
    wide = x[:1].expand(3)
    assert weighted_gradients(wide.as_strided((1,), (1,), 0), x) == [[1, 0, 0]]


def test_as_strided_reads_storage_outside_of_its_input() -> None:
    x = leaf(6)
    middle = x[2:4]
    outside = middle.as_strided((3,), (1,), 1)
    assert outside.tolist() == [2, 3, 4]
    # Positions 2 and 3 of the storage belong to the input, position 1 does not.
    assert weighted_gradients(outside, middle) == [[2, 3]]


@pytest.mark.parametrize(
    ("op", "error"),
    [
        (lambda x: x.select(0, 2), OutOfRangeError),
        (lambda x: x.select(2, 0), DimensionError),
        (lambda x: x.narrow(1, 2, 2), ShapeError),
        (lambda x: x.transpose(0, 2), DimensionError),
        (lambda x: x.permute(0, 0), ShapeError),
        (lambda x: x.view(4, -1), ShapeError),
        (lambda x: x.expand(3, 3), ShapeError),
        (lambda x: x.unsqueeze(3), DimensionError),
        (lambda x: x.unfold(1, 4, 1), ShapeError),
        (lambda x: x.as_strided((7,), (1,)), OutOfBoundsError),
        (lambda x: x.as_strided((2,), (-1,), 3), OutOfBoundsError),
        (lambda x: x.as_strided((1,), (1,), 2**62), OutOfBoundsError),
        (lambda x: x.unsqueeze(0).t(), ShapeError),
        (lambda x: x.split([1, 1], 1)[0], ShapeError),
        (lambda x: x.chunk(0)[0], ShapeError),
        (lambda x: x.sum().unbind()[0], DimensionError),
        (lambda x: x.sum().unflatten(0, (1,)), ShapeError),
    ],
)
def test_what_has_no_view_is_refused(op: Op, error: type[Exception]) -> None:
    with pytest.raises(error):
        op(leaf(2, 3))


INPLACE: list[tuple[Callable[[vt.Tensor], vt.Tensor], list[int], str]] = [
    (lambda y: y.t_(), [3, 2], "TBackward1"),
    (lambda y: y.transpose_(0, 1), [3, 2], "TransposeBackward1"),
    (lambda y: y.swapaxes_(0, 1), [3, 2], "TransposeBackward1"),
    (lambda y: y.squeeze_(), [2, 3], "SqueezeBackward3"),
    (lambda y: y.squeeze_(0), [2, 3], "SqueezeBackward4"),
    (lambda y: y.squeeze_((0, 1)), [2, 3], "SqueezeBackward5"),
    (lambda y: y.unsqueeze_(1), [2, 1, 3], "UnsqueezeBackward1"),
    (lambda y: y.as_strided_((2, 2), (3, 1), 1), [2, 2], "AsStridedBackward1"),
]


@pytest.mark.parametrize(("op", "sizes", "node"), INPLACE)
def test_metadata_operators_change_the_tensor_itself(op: Op, sizes: list[int], node: str) -> None:
    y = leaf(2, 3).clone()
    assert op(y) is y
    assert list(y.shape) == sizes
    assert fn_name(y) == node
    assert y._version == 1


def test_gradients_pass_through_metadata_operators_and_later_writes() -> None:
    x = leaf(2, 3)
    y = x.clone()
    y.t_()
    y[0] = 0.0
    assert weighted_gradients(y, x) == [[[0, 3, 5], [0, 4, 6]]]


def test_second_derivatives_pass_through_views() -> None:
    x = leaf(2, 2)
    y = x.t().reshape(4)[1:].unfold(0, 2, 1)
    (g,) = vt.autograd.grad((y * y).sum(), x, create_graph=True)
    # Each element's square counts as often as a window shows it: d/dx of sum(g) is 2 * count.
    (h,) = vt.autograd.grad(g.sum(), x)
    assert h.tolist() == [[0, 4], [2, 2]]


def test_sum_to_size_is_the_tensor_itself_where_nothing_was_added() -> None:
    x = leaf(2, 3)
    assert x.sum_to_size(2, 3) is x
    part = x.sum_to_size(3)
    assert part.shape == (3,)
    assert fn_name(part) == "ViewBackward0"
    assert weighted_gradients(part[1], x) == [[[0, 1, 0], [0, 1, 0]]]
    for wrong in ((2,), (4, 2, 3), (-1, 3)):
        with pytest.raises(ShapeError):
            x.sum_to_size(wrong)


@pytest.mark.parametrize(
    ("op", "sizes"),
    [
        (lambda x: x.T, (2, 3, 4)),
        (lambda x: x.T, (3,)),
        (lambda x: x.T, ()),
        (lambda x: x.mT, ()),
        (lambda x: x.H, ()),
        (lambda x: x.mH, ()),
        (vt.adjoint, ()),
    ],
)
def test_transposes_of_what_is_no_matrix_are_warned_about(op: Op, sizes: tuple[int, ...]) -> None:
    with pytest.warns(UserWarning, match="deprecated") as caught:
        made = op(leaf(*sizes))
    assert made.shape == sizes[::-1]
    assert len(caught) == 1


def test_elements_cannot_be_deleted() -> None:
    with pytest.raises(TypeError, match="deleted"):
        del leaf(2)[0]  # type: ignore[attr-defined]  # it is refused

"""A write to a view rewires the base, and views of the base learn of it when they are next read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import (
    collector_off,
    differs_from_torch,
    fn_name,
    gradients,
    leaf,
    node_of,
    parent_name,
    parent_of,
    ramp,
    recorded,
    refused,
    unreached,
    vt,
)


def test_writing_a_view_gives_the_base_a_copy_slices_node() -> None:
    b = leaf(2, 3).clone()
    v = b[0]
    v.mul_(2)
    assert fn_name(b) == "CopySlices"
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_of(node_of(v)) is b.grad_fn


def test_writing_the_base_gives_it_the_operators_own_node() -> None:
    b = leaf(2, 3).clone()
    v = b.view(6)[1:]
    assert fn_name(v) == "SliceBackward0"
    b.mul_(2)
    assert fn_name(b) == "MulBackward0"
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_of(node_of(v)) is b.grad_fn
    assert v.output_nr == 0


def test_a_rebuilt_view_hangs_directly_on_the_base() -> None:
    b = leaf(2, 3).clone()
    v = b.t()[1:].unsqueeze(0)
    b.mul_(2)
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_name(v) == "MulBackward0"


def test_a_view_is_rebuilt_once_per_version() -> None:
    b = leaf(3).clone()
    v = b[1:]
    b.mul_(2)
    first = v.grad_fn
    assert v.grad_fn is first
    b.mul_(2)
    second = v.grad_fn
    assert second is not first
    assert v.grad_fn is second


def test_reading_a_stale_node_changes_nothing_but_the_node() -> None:
    b = leaf(3).clone()
    v = b[1:]
    b.mul_(2)
    assert v.grad_fn is not None
    assert (b._version, v._version) == (1, 1)
    assert v.tolist() == [4, 6]
    assert fn_name(b) == "MulBackward0"


def test_a_write_under_no_grad_makes_views_stale_without_recording() -> None:
    b = leaf(3, 2).clone()
    v, before = b[1], b.grad_fn
    with vt.no_grad():
        b.mul_(2)
    assert b.grad_fn is before
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_of(node_of(v)) is before


def test_a_write_through_detach_makes_views_stale_without_recording() -> None:
    b = leaf(3, 2).clone()
    v, before = b[1], b.grad_fn
    b.detach().mul_(2)
    assert b.grad_fn is before
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_of(node_of(v)) is before


def test_a_write_through_data_is_invisible_to_views() -> None:
    b = leaf(3, 2).clone()
    v = b[1]
    b.data.mul_(2)
    assert fn_name(v) == "SelectBackward0"
    assert v.tolist() == [6, 8]


def test_a_view_of_a_leaf_is_rebuilt_over_its_accumulator() -> None:
    x = leaf(3, 2)
    v = x[1]
    with vt.no_grad():
        x.mul_(2)
    assert fn_name(v) == "AsStridedBackward0"
    assert parent_name(v) == "AccumulateGrad"
    assert gradients((v * v).sum(), x) == [[[0, 0], [12, 16], [0, 0]]]


def test_a_differentiable_write_makes_earlier_views_require_grad() -> None:
    b = ramp(2, 3)
    v = b[0]
    before = (v.requires_grad, v.is_leaf)
    b.mul_(leaf(3))
    assert before == (False, True)
    assert (v.requires_grad, v.is_leaf) == (True, False)
    assert fn_name(v) == "AsStridedBackward0"


@differs_from_torch("it takes the view for a leaf unless its producer was asked for before")
def test_a_view_that_came_to_require_grad_is_written_whether_or_not_its_producer_was_read() -> None:
    w = leaf(3)
    for read in (False, True):
        b = ramp(3)
        v = b[:2]
        b.mul_(w)
        assert not read or v.grad_fn is not None
        v.mul_(2)
        assert gradients(b.sum(), w) == [[2, 4, 3]]


def test_views_of_an_unwritten_region_require_grad_with_gradient_zero() -> None:
    b = ramp(2, 3)
    written, other = b[0], b[1]
    w = leaf(3)
    written.mul_(w)
    assert other.requires_grad
    assert gradients(other.sum(), w) == [[0, 0, 0]]


def test_backward_through_base_view_and_view_of_view_agrees() -> None:
    def build() -> tuple[vt.Tensor, vt.Tensor, vt.Tensor, vt.Tensor]:
        w = leaf(2)
        b = ramp(2, 2)
        row = b[1]
        cell = row[0:1]
        row.mul_(w)
        return w, b, row, cell

    w, b, _, _ = build()
    assert gradients((b * b).sum(), w) == [[18, 64]]
    w, _, row, _ = build()
    assert gradients((row * row).sum(), w) == [[18, 64]]
    w, _, _, cell = build()
    assert gradients((cell * cell).sum(), w) == [[18, 0]]


FILLS: dict[str, Callable[[vt.Tensor], object]] = {
    "fill a view": lambda b: b[1].fill_(7.0),
    "zero a view": lambda b: b[1].zero_(),
    "assign a number": lambda b: b.__setitem__(1, 7.0),
    "assign a constant tensor": lambda b: b.__setitem__(1, ramp(1)[0]),
}


@pytest.mark.parametrize("write", FILLS.values(), ids=FILLS)
def test_overwriting_a_region_with_constants_stops_its_gradient(
    write: Callable[[vt.Tensor], object],
) -> None:
    a = leaf(3)
    b = a.clone()
    write(b)
    assert fn_name(b) == "CopySlices"
    assert gradients((b * ramp(3)).sum(), a) == [[1, 0, 3]]


def test_nothing_is_recorded_when_neither_base_nor_operand_requires_grad() -> None:
    b = ramp(3)
    b[0].mul_(2)
    assert b.grad_fn is None
    assert not b.requires_grad
    assert b._version == 1


ASSIGNMENTS: dict[str, tuple[Callable[[vt.Tensor], object], str]] = {
    "int": (lambda b: b.__setitem__(0, 1.0), "CopySlices"),
    "ellipsis": (lambda b: b.__setitem__(..., 1.0), "FillBackward3"),
    "0-d tensor behind an ellipsis": (lambda b: b.__setitem__(..., ramp()), "FillBackward3"),
    "tensor behind an ellipsis": (lambda b: b.__setitem__(..., ramp(3)), "CopyBackwards"),
    "full slice": (lambda b: b.__setitem__(slice(None), ramp(2, 3)), "CopyBackwards"),
    "number behind a full slice": (lambda b: b.__setitem__(slice(None), 1.0), "FillBackward3"),
    "list": (lambda b: b.__setitem__([0], 1.0), "IndexPutBackward0"),
    "mask": (lambda b: b.__setitem__(b.detach() > 2, 1.0), "IndexPutBackward0"),
    "slice and list": (lambda b: b.__setitem__((slice(1, 2), [0]), 1.0), "CopySlices"),
    "none": (lambda b: b.__setitem__(None, 1.0), "CopySlices"),
    "true": (lambda b: b.__setitem__(True, 1.0), "CopySlices"),
}


@pytest.mark.parametrize(("write", "name"), ASSIGNMENTS.values(), ids=ASSIGNMENTS)
def test_assignment_records_a_node_that_fits_the_index(
    write: Callable[[vt.Tensor], object], name: str
) -> None:
    b = leaf(2, 3).clone()
    write(b)
    assert fn_name(b) == name


IN_PLACE_NAMES: dict[str, tuple[Callable[[vt.Tensor], object], str]] = {
    "fill with a number": (lambda b: b.fill_(1.0), "FillBackward2"),
    "fill with a tensor": (lambda b: b.fill_(ramp(1)[0]), "FillBackward3"),
    "zero": (lambda b: b.zero_(), "ZeroBackward0"),
    "copy a constant": (lambda b: b.copy_(ramp(3)), "CopyBackwards"),
    "square": (lambda b: b.square_(), "PowBackward0"),
    "augmented power": (lambda b: b.__ipow__(2), "PowBackward0"),
    "t": (lambda b: b.t_(), "TBackward1"),
    "transpose": (lambda b: b.transpose_(0, 1), "TransposeBackward1"),
    "swapaxes": (lambda b: b.swapaxes_(0, 1), "TransposeBackward1"),
    "squeeze": (lambda b: b.squeeze_(), "SqueezeBackward3"),
    "unsqueeze": (lambda b: b.unsqueeze_(0), "UnsqueezeBackward1"),
    "add": (lambda b: b.add_(1), "AddBackward0"),
    "exp": (lambda b: b.exp_(), "ExpBackward0"),
}


@pytest.mark.parametrize(("write", "name"), IN_PLACE_NAMES.values(), ids=IN_PLACE_NAMES)
def test_an_in_place_operator_names_its_node(
    write: Callable[[vt.Tensor], object], name: str
) -> None:
    b = leaf(2, 3).clone()
    write(b)
    assert fn_name(b) == name


TURNS: dict[str, tuple[Callable[[vt.Tensor], object], tuple[int, ...], str]] = {
    "t": (lambda v: v.t_(), (3, 2), "TBackward1"),
    "transpose": (lambda v: v.transpose_(0, 1), (3, 2), "TransposeBackward1"),
    "squeeze": (lambda v: v.squeeze_(), (2, 3), "SqueezeBackward3"),
    "unsqueeze": (lambda v: v.unsqueeze_(0), (1, 2, 3), "UnsqueezeBackward1"),
}


@pytest.mark.parametrize(("turn", "shape", "name"), TURNS.values(), ids=TURNS)
def test_a_metadata_operator_on_a_view_changes_that_view_only(
    turn: Callable[[vt.Tensor], object], shape: tuple[int, ...], name: str
) -> None:
    b = leaf(2, 3).clone()
    v = b[0:2]
    turn(v)
    assert v.shape == shape
    assert b.shape == (2, 3)
    assert fn_name(v) == name
    assert fn_name(b) == "CloneBackward0"
    assert (b._version, v._version) == (1, 1)
    assert v._base is b


def test_a_transposed_view_keeps_its_geometry_when_it_is_rebuilt() -> None:
    a = leaf(2, 3)
    b = a.clone()
    v = b[0:2]
    v.t_()
    b.mul_(2)
    assert fn_name(v) == "AsStridedBackward0"
    assert v.shape == (3, 2)
    assert gradients((v * ramp(3, 2)).sum(), a) == [[[2, 6, 10], [4, 8, 12]]]


def test_a_metadata_operator_on_one_view_makes_its_sisters_stale() -> None:
    b = leaf(2, 3).clone()
    first, second = b[0], b[1]
    second.unsqueeze_(0)
    assert fn_name(first) == "AsStridedBackward0"


def test_a_metadata_operator_on_a_base_leaves_the_shape_of_its_views() -> None:
    a = leaf(2, 3)
    b = a.clone()
    row = b[0]
    b.t_()
    assert b.shape == (3, 2)
    assert row.tolist() == [1, 2, 3]
    row.mul_(10)
    assert b.tolist() == [[10, 4], [20, 5], [30, 6]]
    assert gradients(b.sum(), a) == [[[10, 10, 10], [1, 1, 1]]]


def test_writes_to_base_and_view_in_turn_give_gradients_that_follow_the_values() -> None:
    a = leaf(4)
    b = a.clone()
    v = b[:2]
    b.mul_(3)
    v.mul_(5)
    b.mul_(2)
    assert b.tolist() == [30, 60, 18, 24]
    assert gradients(b.sum(), a) == [[30, 30, 6, 6]]


def test_a_view_taken_before_a_write_stands_for_the_written_values() -> None:
    a = leaf(2)
    b = a.clone()
    v = b[0]
    b.mul_(10)
    assert v.item() == 10
    assert gradients(v, a) == [[10, 0]]


def test_a_base_whose_name_is_gone_is_still_rebased() -> None:
    with collector_off():
        a = leaf(3)
        v = a.clone()[1:]
        v.mul_(2)
        assert v._base is not None
        assert fn_name(v._base) == "CopySlices"
        assert fn_name(v) == "AsStridedBackward0"
        assert gradients(v.sum(), a) == [[0, 2, 2]]


def test_the_earlier_use_of_a_view_is_no_use_of_the_written_view() -> None:
    b = leaf(3).clone()
    v = b[0:2]
    y = (v * ramp(2)).sum()
    v.add_(1)
    assert unreached(y, v)
    with refused(RuntimeError, "unused-input", [b, v, y]):
        vt.autograd.grad(y, v)


def test_the_earlier_use_of_a_tensor_is_no_use_of_the_written_tensor() -> None:
    x = leaf(2).clone()
    y = (x * 2).sum()
    x.add_(1)
    assert unreached(y, x)
    with refused(RuntimeError, "unused-input", [x, y]):
        vt.autograd.grad(y, x)
    assert gradients((x * 2).sum(), x) == [[2, 2]]


def test_copy_sums_the_gradient_of_a_broadcast_source() -> None:
    a, source = leaf(2, 3), leaf(3)
    b = a.clone()
    b.copy_(source)
    assert gradients(b.sum(), a, source) == [[[0, 0, 0], [0, 0, 0]], [2, 2, 2]]


def test_copy_gives_the_source_a_gradient_of_its_own_dtype() -> None:
    source = vt.ones(3, dtype=vt.float32, requires_grad=True)
    b = ramp(3)
    b.copy_(source)
    (gradient,) = vt.autograd.grad(b.sum(), source)
    assert gradient.dtype == vt.float32


def test_a_rebuilt_view_is_output_zero() -> None:
    b = leaf(4, 2).clone()
    v = b.max(0)[0]
    piece = b.tensor_split(2)[1]
    b.mul_(2)
    assert v.output_nr == 0
    assert piece.output_nr == 0
    assert fn_name(piece) == "AsStridedBackward0"


@pytest.mark.parametrize("through_view", [False, True])
def test_a_result_that_was_not_the_first_is_output_zero_once_it_was_written(
    through_view: bool,
) -> None:
    largest = vt.aminmax(leaf(2, 3), dim=1)[1]
    v = largest[:1]
    assert (largest.output_nr, v.output_nr) == (1, 0)
    (v if through_view else largest).mul_(2)
    assert (largest.output_nr, v.output_nr) == (0, 0)
    assert fn_name(largest) == ("CopySlices" if through_view else "MulBackward0")


def test_overlapping_windows_of_a_written_base_sum_their_gradients() -> None:
    b = leaf(4).clone()
    windows = b.unfold(0, 2, 1)
    b.mul_(2)
    assert gradients(windows.sum(), b) == [[1, 2, 2, 1]]


def test_an_expanded_view_of_a_written_base_sums_its_gradients() -> None:
    b = leaf(3, 1).clone()
    wide = b.expand(3, 2)
    b.mul_(2)
    assert gradients(wide.sum(), b) == [[[2], [2], [2]]]


def test_filling_a_preallocated_buffer_row_by_row_differentiates_every_row() -> None:
    w = leaf(3)
    buffer = vt.zeros(3, 3, dtype=vt.float64)
    for i in range(3):
        buffer[i] = w * (i + 1)
    assert buffer.tolist() == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]
    assert gradients((buffer * buffer).sum(), w) == [[28, 56, 84]]


def test_a_recurrence_written_in_place_has_the_gradient_of_the_unrolled_one() -> None:
    # s[0] = a, s[i] = a * s[i - 1]: s[4] = a ** 5, so the gradient at 2 is 5 * 2 ** 4.
    a = vt.tensor(2.0, dtype=vt.float64, requires_grad=True)
    s = vt.zeros(5, dtype=vt.float64)
    s[0] = a
    for i in range(1, 5):
        s[i] = a * s[i - 1].clone()
    assert s.tolist() == [2, 4, 8, 16, 32]
    assert gradients(s[4], a) == [80]


def test_second_derivatives_go_through_a_write_to_a_view() -> None:
    # b0 * b1 = a0**3 * a1: twice by a0 is 6 * a0 * a1, by a0 and a1 it is 3 * a0**2.
    a = vt.tensor([2.0, 5.0], dtype=vt.float64, requires_grad=True)
    b = a.clone()
    b[0:1].pow_(3)
    (first,) = vt.autograd.grad(b[0] * b[1], a, create_graph=True)
    assert first.tolist() == [60, 8]
    assert gradients(first[0], a) == [[60, 12]]


def test_a_written_view_keeps_its_producer_when_its_base_is_detached() -> None:
    x = vt.tensor([1.0, 2.0, 4.0], requires_grad=True)
    base = x * 1
    view = base[:2]
    view.mul_(3)
    base.detach_()
    view.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0, 0.0]


def test_a_view_that_was_written_and_detached_has_no_producer() -> None:
    x = vt.tensor([1.0, 2.0, 4.0], requires_grad=True)
    base = x * 1
    view = base[:2]
    view.mul_(3)
    with pytest.raises(RuntimeError):
        view.detach_()  # a view; and nothing has changed
    assert view.grad_fn is not None
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.output_nr == 0


def test_metadata_operators_keep_a_leafs_node_if_shape_and_order_stay() -> None:
    x = vt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    before = (x * 1).grad_fn
    with vt.no_grad():
        x.squeeze_()
        x.transpose_(1, 1)
    after = (x * 1).grad_fn
    assert before is not None
    assert after is not None
    assert before.next_functions[0][0] is after.next_functions[0][0]


def test_a_written_view_runs_in_its_turn_although_nobody_has_asked_for_its_producer() -> None:
    log: list[object] = []
    x, w = leaf(2, 2), leaf(2)
    b = x * 1
    v = b[0]
    v.mul_(w)
    later = w.exp()
    later.register_hook(recorded(log, "later"))
    v.register_hook(recorded(log, "view"))
    (v.sum() + (later * ramp(2)).sum()).backward()
    assert log == [("later", [1, 2]), ("view", [1, 1])]


def test_the_views_that_a_write_has_made_stale_run_before_what_was_recorded_earlier() -> None:
    log: list[object] = []
    x, w = leaf(2, 2), leaf(2)
    b = x * 1
    v, sister = b[0], b[0]
    v.mul_(w)
    later = w.exp()
    later.register_hook(recorded(log, "later"))
    assert fn_name(sister) == "AsStridedBackward0"
    sister.register_hook(recorded(log, "sister"))
    (sister.sum() + (later * ramp(2)).sum()).backward()
    assert log == [("sister", [1, 1]), ("later", [1, 2])]

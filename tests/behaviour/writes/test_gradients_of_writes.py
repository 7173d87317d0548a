"""First and second derivatives through programs that write in place, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import gradients, leaf, ramp, refused, vt

Make = Callable[[vt.Tensor], vt.Tensor]

# Each view of the clone b of a = [[1, 2, 3], [4, 5, 6]] and the elements of a that it covers.
REGIONS: dict[str, tuple[Make, list[list[int]]]] = {
    "row": (lambda b: b[0], [[1, 1, 1], [0, 0, 0]]),
    "column": (lambda b: b[:, 1], [[0, 1, 0], [0, 1, 0]]),
    "cell": (lambda b: b[1, 2], [[0, 0, 0], [0, 0, 1]]),
    "step": (lambda b: b[:, ::2], [[1, 0, 1], [1, 0, 1]]),
    "transposed": (lambda b: b.t()[1:], [[0, 1, 1], [0, 1, 1]]),
    "diagonal": (lambda b: b.diagonal(), [[1, 0, 0], [0, 1, 0]]),
    "flat": (lambda b: b.view(-1)[1:4], [[0, 1, 1], [1, 0, 0]]),
    "permuted": (lambda b: b.permute(1, 0)[0], [[1, 0, 0], [1, 0, 0]]),
    "narrowed": (lambda b: b.narrow(1, 1, 1), [[0, 1, 0], [0, 1, 0]]),
    "unsqueezed": (lambda b: b.unsqueeze(0)[0, 1], [[0, 0, 0], [1, 1, 1]]),
    "strided": (lambda b: b.as_strided((2,), (3,), 2), [[0, 0, 1], [0, 0, 1]]),
    "unfolded": (lambda b: b.unfold(1, 1, 2), [[1, 0, 1], [1, 0, 1]]),
    "whole": (lambda b: b[...], [[1, 1, 1], [1, 1, 1]]),
    "nothing": (lambda b: b[0:0], [[0, 0, 0], [0, 0, 0]]),
}
every_region = pytest.mark.parametrize(("take", "covered"), REGIONS.values(), ids=REGIONS)


@every_region
def test_scaling_a_region_scales_its_gradient_only(take: Make, covered: list[list[int]]) -> None:
    a = leaf(2, 3)
    b = a.clone()
    take(b).mul_(10)
    scaled = [[10 if c else 1 for c in row] for row in covered]
    assert gradients(b.sum(), a) == [scaled]


@every_region
def test_overwriting_a_region_moves_its_gradient_to_the_source(
    take: Make, covered: list[list[int]]
) -> None:
    a, s = leaf(2, 3), vt.tensor(7.0, dtype=vt.float64, requires_grad=True)
    b = a.clone()
    take(b).copy_(s)
    kept = [[1 - c for c in row] for row in covered]
    assert gradients(b.sum(), a, s) == [kept, sum(map(sum, covered))]


@every_region
def test_squaring_a_region_has_the_second_derivative_of_the_square(
    take: Make, covered: list[list[int]]
) -> None:
    a = leaf(2, 3)
    b = a.clone()
    take(b).pow_(2)
    (first,) = vt.autograd.grad(b.sum(), a, create_graph=True)
    expected = [
        [2 * v if c else 1 for v, c in zip(values, row, strict=True)]
        for values, row in zip(([1, 2, 3], [4, 5, 6]), covered, strict=True)
    ]
    assert first.tolist() == expected
    if any(map(sum, covered)):
        assert gradients(first.sum(), a) == [[[2 * c for c in row] for row in covered]]


@every_region
def test_a_region_read_before_a_write_to_all_is_read_as_written(
    take: Make, covered: list[list[int]]
) -> None:
    a = leaf(2, 3)
    b = a.clone()
    v = take(b)
    b.mul_(4)
    assert gradients(v.sum(), a) == [[[4 * c for c in row] for row in covered]]


METADATA: dict[str, Make] = {
    "t": lambda x: x.t_(),
    "transpose": lambda x: x.transpose_(0, 1),
    "swapaxes": lambda x: x.swapaxes_(0, 1),
    "squeeze": lambda x: x.squeeze_(),
    "squeeze a dimension": lambda x: x.squeeze_(0),
    "unsqueeze": lambda x: x.unsqueeze_(1),
    "as_strided": lambda x: x.as_strided_((3, 2), (1, 3)),
}


@pytest.mark.parametrize("turn", METADATA.values(), ids=METADATA)
def test_turning_a_tensor_keeps_each_element_with_its_gradient(turn: Make) -> None:
    a = leaf(2, 3)
    b = a.clone()
    turn(b)
    assert gradients((b * b.detach()).sum(), a) == [[[1, 2, 3], [4, 5, 6]]]


@pytest.mark.parametrize("turn", METADATA.values(), ids=METADATA)
def test_turning_a_view_and_writing_it_writes_the_right_elements(turn: Make) -> None:
    a = leaf(3, 2, 3)
    b = a.clone()
    v = b[1]
    if turn is METADATA["as_strided"]:
        v.as_strided_((3, 2), (1, 3), 6)
    else:
        turn(v)
    v.mul_(10)
    assert b[1].tolist() == [[70, 80, 90], [100, 110, 120]]
    ones, tens = [[1, 1, 1]] * 2, [[10, 10, 10]] * 2
    assert gradients(b.sum(), a) == [[ones, tens, ones]]


def test_two_overlapping_regions_written_one_after_the_other() -> None:
    a = leaf(4)
    b = a.clone()
    b[:3].mul_(2)
    b[1:].mul_(3)
    assert b.tolist() == [2, 12, 18, 12]
    assert gradients(b.sum(), a) == [[2, 6, 6, 3]]


def test_a_write_through_a_view_of_a_view_that_was_written_itself() -> None:
    a = leaf(4)
    b = a.clone()
    outer = b[1:]
    inner = outer[1:]
    outer.mul_(2)
    inner.mul_(3)
    outer.add_(1)
    assert b.tolist() == [1, 5, 19, 25]
    assert gradients((b * b).sum(), a) == [[2, 20, 228, 300]]


def test_a_product_of_two_regions_of_one_buffer() -> None:
    a = leaf(4)
    b = a.clone()
    y = (b[:2] * b[2:]).sum()
    assert gradients(y, a) == [[3, 4, 1, 2]]


@pytest.mark.storage_rule
def test_a_region_multiplied_in_place_by_another_region_is_stale_at_once() -> None:
    # The second factor is a view of the buffer that the write moves to its next version.
    a = leaf(4)
    b = a.clone()
    b[:2].mul_(b[2:])
    with refused(RuntimeError, "stale-saved", [a, b]):
        b.sum().backward()
    assert a.grad is None


def test_a_region_multiplied_in_place_by_a_copy_of_another_region() -> None:
    a = leaf(4)
    b = a.clone()
    b[:2].mul_(b[2:].clone())
    assert b.tolist() == [3, 8, 3, 4]
    assert gradients(b.sum(), a) == [[3, 4, 2, 3]]


@pytest.mark.storage_rule
def test_a_recurrence_over_views_of_one_buffer_is_refused_before_backward_runs() -> None:
    # Each product keeps the previous element, and the next write makes all of them stale.
    w = vt.tensor(2.0, dtype=vt.float64, requires_grad=True)
    s = vt.zeros(4, dtype=vt.float64)
    s[0] = w
    for i in range(1, 4):
        s[i] = w * s[i - 1]
    assert s.tolist() == [2, 4, 8, 16]
    with refused(RuntimeError, "stale-saved", [w, s]):
        s[3].backward()
    assert w.grad is None


def test_a_running_sum_over_views_of_one_buffer_needs_no_copies() -> None:
    a = leaf(4)
    s = vt.zeros(4, dtype=vt.float64)
    s[0] = a[0]
    for i in range(1, 4):
        s[i] = s[i - 1] + a[i]
    assert s.tolist() == [1, 3, 6, 10]
    assert gradients(s.sum(), a) == [[4, 3, 2, 1]]


def test_a_buffer_that_is_reused_differentiates_both_uses() -> None:
    a = leaf(2)
    b = a.clone()
    first = (b * 3).sum()
    b.mul_(2)
    second = (b * 5).sum()
    assert gradients(first + second, a) == [[13, 13]]


def test_second_derivatives_through_a_scaled_region_reach_the_scale() -> None:
    # sum(b * b) with b0 = a0 * w: by a0 it is 2 * a0 * w**2, and that by w is 4 * a0 * w.
    a, w = leaf(2), vt.tensor(3.0, dtype=vt.float64, requires_grad=True)
    b = a.clone()
    b[0].mul_(w)
    (first,) = vt.autograd.grad((b * b).sum(), a, create_graph=True)
    assert first.tolist() == [18, 4]
    assert gradients(first[0], w) == [12]


def test_second_derivatives_through_an_assignment() -> None:
    # b = [a0**2, a1], so the sum of cubes is a0**6 + a1**3.
    a = leaf(2)
    b = a.clone()
    b[0] = a[0] ** 2
    (first,) = vt.autograd.grad((b**3).sum(), a, create_graph=True)
    assert first.tolist() == [6, 12]
    assert gradients(first.sum(), a) == [[30, 12]]


def test_second_derivatives_through_a_stale_view() -> None:
    a = leaf(3)
    b = a.clone()
    v = b[1:]
    b.mul_(b.detach().clone())
    assert v.tolist() == [4, 9]
    (first,) = vt.autograd.grad((v * v).sum(), a, create_graph=True)
    assert first.tolist() == [0, 16, 54]
    assert gradients(first.sum(), a) == [[0, 8, 18]]


def test_a_masked_write_differentiates_both_sides() -> None:
    a, s = leaf(4), vt.tensor(9.0, dtype=vt.float64, requires_grad=True)
    b = a.clone()
    b.masked_fill_(b.detach() > 2, s)
    assert b.tolist() == [1, 2, 9, 9]
    assert gradients((b * ramp(4)).sum(), a, s) == [[1, 2, 0, 0], 7]


def test_writing_an_integer_view_of_nothing_differentiable_stays_out_of_the_graph() -> None:
    i = vt.arange(4)
    i[1:3] = 7
    assert i.tolist() == [0, 7, 7, 3]
    assert i.grad_fn is None
    assert (leaf(8)[i]).requires_grad


def test_an_unused_piece_counts_as_zero() -> None:
    a = leaf(3, 2)
    pieces = a.split(1)
    assert gradients((pieces[1] * 5).sum(), a) == [[[0, 0], [5, 5], [0, 0]]]
    assert gradients(a.unbind(1)[0].sum(), a) == [[[1, 0], [1, 0], [1, 0]]]


def test_the_place_of_a_piece_among_the_outputs_survives_being_saved() -> None:
    a = leaf(2, 2)
    first, second = a.unbind(0)
    (gradient,) = vt.autograd.grad((first * second).sum(), a, create_graph=True)
    assert gradient.tolist() == [[3, 4], [1, 2]]
    assert gradients((gradient * gradient).sum(), a) == [[[2, 4], [6, 8]]]


WITHOUT_SLOPE: dict[str, Callable[[vt.Tensor], object]] = {
    "normal": lambda b: b.normal_(),
    "uniform": lambda b: b.uniform_(),
    "bernoulli": lambda b: b.bernoulli_(0.5),
    "sign": lambda b: b.sign_(),
    "floor": lambda b: b.floor_(),
    "ceil": lambda b: b.ceil_(),
    "round": lambda b: b.round_(),
    "trunc": lambda b: b.trunc_(),
    "equal": lambda b: b.eq_(1),
    "greater": lambda b: b.gt_(1),
    "zero": lambda b: b.zero_(),
    "fill": lambda b: b.fill_(3.0),
}


@pytest.mark.parametrize("write", WITHOUT_SLOPE.values(), ids=WITHOUT_SLOPE)
def test_what_no_longer_depends_on_the_old_value_has_gradient_zero(
    write: Callable[[vt.Tensor], object],
) -> None:
    a = leaf(3)
    b = a.clone()
    write(b)
    assert gradients(b.sum(), a) == [[0, 0, 0]]


@pytest.mark.parametrize("write", WITHOUT_SLOPE.values(), ids=WITHOUT_SLOPE)
def test_such_a_write_to_a_region_stops_the_gradient_there_only(
    write: Callable[[vt.Tensor], object],
) -> None:
    a = leaf(3)
    b = a.clone()
    write(b[1:])
    assert gradients(b.sum(), a) == [[1, 0, 0]]


def test_a_part_of_a_view_that_gradients_in_row_major_order_do_not_have() -> None:
    x = leaf(3, 4)
    columns = x.t().clone()
    flat = columns.t().view(12)
    (g,) = gradients(flat[2:7].sum(), x)
    assert g == [[0, 0, 1, 1], [1, 1, 1, 0], [0, 0, 0, 0]]
    (g,) = gradients((flat[2:7] * 2 + columns.t()[0, 0]).sum() + columns.sum(), x)
    assert g == [[6, 1, 3, 3], [3, 3, 3, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    "write",
    [
        lambda t, value: t.fill_(value),
        lambda t, value: t.__setitem__(slice(None), value),
        lambda t, value: t.__setitem__(None, value),
        lambda t, value: t.__setitem__(0, value),
        lambda t, value: t.__setitem__(vt.tensor([True, False]), value),
    ],
)
@pytest.mark.parametrize("recorded", [True, False])
def test_a_number_in_the_memory_that_is_written_is_recorded_as_any_other(
    write: Callable[[vt.Tensor, vt.Tensor], None], recorded: bool
) -> None:
    a = leaf(2)
    b = a * 1
    target = b.detach()
    with vt.set_grad_enabled(recorded):
        value = b[1]
    write(target, value)
    assert target.requires_grad
    found = vt.autograd.grad(target.sum(), a, allow_unused=True)[0]
    # A view made without recording requires grad and passes none on.
    assert (found is None) != recorded
    assert found is None or found[0].item() == 0

"""The version counter: what moves it, by how much, and who shares it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, leaf, ramp, refused, vt

Write = Callable[[vt.Tensor], object]

VALUE_WRITES: dict[str, Write] = {
    "mul by one": lambda x: x.mul_(1),
    "zero": lambda x: x.zero_(),
    "fill": lambda x: x.fill_(4.0),
    "copy onto itself": lambda x: x.copy_(x),
    "add itself": lambda x: x.add_(x),
    "augmented add": lambda x: x.__iadd__(1),
    "augmented subtract": lambda x: x.__isub__(1),
    "augmented multiply": lambda x: x.__imul__(2),
    "augmented divide": lambda x: x.__itruediv__(2),
    "exp": lambda x: x.exp_(),
    "clamp": lambda x: x.clamp_(0, 1),
    "masked fill": lambda x: x.masked_fill_(x > 2, 0.0),
    "index fill through a list": lambda x: x.__setitem__([0], 1.0),
    "normal": lambda x: x.normal_(),
    "uniform": lambda x: x.uniform_(),
}


@pytest.mark.parametrize("write", VALUE_WRITES.values(), ids=VALUE_WRITES)
def test_one_in_place_operation_moves_the_version_by_exactly_one(write: Write) -> None:
    x = ramp(2, 3)
    write(x)
    assert x._version == 1
    write(x)
    assert x._version == 2


INDICES: dict[str, object] = {
    "int": 0,
    "negative int": -1,
    "slice": slice(0, 1),
    "stepped slice": slice(None, None, 2),
    "ellipsis": ...,
    "none": None,
    "int list": [0, 1],
    "tuple of ints": (0, 0),
    "slice and list": (slice(0, 1), [0, 2]),
    "true": True,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_assignment_through_any_index_moves_the_version_by_one(index: object) -> None:
    x = ramp(2, 3)
    x[index] = 1.0  # type: ignore[index]  # the kinds of index are the parameter here
    assert x._version == 1


def test_assignment_through_a_mask_moves_the_version_by_one() -> None:
    x = ramp(2, 3)
    x[x > 2] = 0.0
    assert x._version == 1


def test_nested_assignment_moves_the_version_by_one() -> None:
    x = ramp(2, 3)
    x[0][0] = 5.0
    assert x._version == 1
    assert x.tolist() == [[5, 2, 3], [4, 5, 6]]


def test_augmented_assignment_to_an_item_writes_twice() -> None:
    # Python writes the view, then assigns the view back to the item: two writes.
    x = ramp(3)
    x[0] += 10
    assert x.tolist() == [11, 2, 3]
    assert x._version == 2


def test_writing_an_empty_tensor_moves_the_version() -> None:
    x = vt.zeros(0, 3)
    x.zero_()
    assert x._version == 1


def test_assignments_that_touch_no_element_move_the_version() -> None:
    x = ramp(2, 3)
    x[0:0] = 1.0
    x[vt.zeros(2, 3, dtype=vt.bool)] = 5.0
    x[[]] = 1.0
    x[0:0].add_(1)
    assert x._version == 4
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_views_share_the_counter_of_their_base_in_both_directions() -> None:
    x = ramp(2, 3)
    v = x[0]
    v.add_(1)
    x.add_(1)
    assert (x._version, v._version) == (2, 2)


def test_a_later_view_starts_at_the_present_version() -> None:
    x = ramp(2, 3)
    x.add_(1)
    assert x[1]._version == 1
    assert x.t()[0:1]._version == 1


def test_sister_views_see_each_others_writes_in_the_version() -> None:
    x = ramp(2, 3)
    upper, lower = x[0], x[1]
    upper.zero_()
    assert lower._version == 1


def test_detach_shares_the_counter() -> None:
    x = leaf(3).clone()
    d = x.detach()
    d.add_(1)
    assert (x._version, d._version) == (1, 1)
    x.add_(1)
    assert d._version == 2


def test_data_has_a_counter_of_its_own() -> None:
    x = ramp(3)
    x.add_(1)
    data = x.data
    assert data._version == 0
    data.add_(1)
    assert (data._version, x._version) == (1, 1)
    assert x.tolist() == [3, 4, 5]


def test_each_access_of_data_is_a_new_object_with_a_fresh_counter() -> None:
    x = ramp(3)
    first = x.data
    first.add_(1)
    assert x.data is not first
    assert x.data._version == 0


def test_copies_and_results_start_at_version_zero() -> None:
    x = ramp(2, 2)
    x.add_(1)
    assert x.clone()._version == 0
    assert x.t().contiguous()._version == 0
    assert (x + 1)._version == 0
    assert x.to(vt.float32)._version == 0


def test_the_version_cannot_be_assigned() -> None:
    x = ramp(2)
    with pytest.raises(AttributeError):
        setattr(x, "_version", 3)  # noqa: B010  # a plain assignment would not type-check
    assert x._version == 0


METADATA_WRITES: dict[str, Write] = {
    "t": lambda x: x.t_(),
    "transpose": lambda x: x.transpose_(0, 1),
    "swapaxes": lambda x: x.swapaxes_(0, 1),
    "squeeze nothing": lambda x: x.squeeze_(),
    "unsqueeze": lambda x: x.unsqueeze_(0),
    "as_strided": lambda x: x.as_strided_((3,), (1,), 1),
}


@pytest.mark.parametrize("write", METADATA_WRITES.values(), ids=METADATA_WRITES)
def test_in_place_metadata_operators_move_the_version_though_no_element_changes(
    write: Write,
) -> None:
    x = ramp(2, 3)
    alias = x.detach()
    write(x)
    assert x._version == 1
    assert alias.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_looking_at_a_tensor_or_marking_it_does_not_move_the_version() -> None:
    x = leaf(3).clone()
    x.retain_grad()
    x.register_hook(lambda gradient: gradient)
    assert x.grad_fn is not None
    x.view(-1)
    x.detach()
    x.detach_()
    x.requires_grad_()
    assert x._version == 0


def test_backward_does_not_move_the_version_of_what_it_reads() -> None:
    x = leaf(3)
    y = x.exp()
    y.sum().backward()
    assert (x._version, y._version) == (0, 0)


def test_assigning_data_keeps_the_version_and_takes_the_new_memory() -> None:
    x = ramp(3)
    x.add_(1)
    v = x[0:2]
    y = ramp(2, 2).t()
    y.add_(1)
    y.add_(1)
    x.data = y
    assert x._version == 1
    assert x.shape == (2, 2)
    assert tuple(x.stride()) == (1, 2)
    assert x.data_ptr() == y.data_ptr()
    assert x.data_ptr() != v.data_ptr()


def test_views_made_before_data_was_assigned_still_share_the_counter() -> None:
    x = ramp(3)
    v = x[0:2]
    y = ramp(2, 2)
    x.data = y
    x.add_(1)
    assert (x._version, v._version, y._version) == (1, 1, 0)
    assert v._base is x
    assert v.tolist() == [1, 2]


def test_writing_into_out_moves_its_version_by_one() -> None:
    x = ramp(3)
    target = ramp(3)
    vt.add(x, 1, out=target)
    assert (x._version, target._version) == (0, 1)
    assert target.tolist() == [2, 3, 4]


def test_out_may_be_an_operand() -> None:
    x = ramp(3)
    vt.add(x, 1, out=x)
    assert x._version == 1
    assert x.tolist() == [2, 3, 4]


def test_out_of_another_shape_is_resized_and_moves_its_version() -> None:
    x = ramp(3)
    target = vt.empty(0, dtype=vt.float64)
    before = target._version
    vt.add(x, 1, out=target)
    assert target.tolist() == [2, 3, 4]
    assert target._version > before


def test_accumulating_a_gradient_writes_into_the_same_grad_object() -> None:
    x = leaf(2)
    (x * 2).sum().backward()
    first = x.grad
    assert first is not None
    version = first._version
    (x * 3).sum().backward()
    assert x.grad is first
    assert first._version == version + 1
    assert first.tolist() == [5, 5]


def test_the_version_can_be_moved_by_hand() -> None:
    x = leaf(2).clone()
    y = (x * x).sum()
    vt.autograd.graph.increment_version(x)
    assert x._version == 1
    with refused(RuntimeError, "stale-saved", [x, y]):
        y.backward()


@differs_from_torch("there the first version has moved, and it is a RuntimeError")
def test_versions_move_by_hand_all_or_none() -> None:
    x = leaf(2).clone()
    with refused(TypeError, "argument-type", [x]):
        vt.autograd.graph.increment_version([x, 3])  # type: ignore[list-item]  # what is refused
    assert x._version == 0
    with refused(TypeError, "argument-type"):
        vt.autograd.graph.increment_version(3)  # type: ignore[arg-type]  # what is refused


def test_writes_under_no_grad_move_the_version() -> None:
    x = leaf(3)
    with vt.no_grad():
        x.mul_(2)
        x[0] = 7.0
    assert x._version == 2
    assert x.tolist() == [7, 4, 6]

"""Arrays that a user or a sibling holds are never written by backward, nor aliased by `.grad`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .support import differs_from_torch, grad_list, leaf, ramp, vt

Path = Callable[[vt.Tensor], vt.Tensor]

# Operators that hand the incoming gradient on as it is, or as a view of it.
PASS_ON: dict[str, Path] = {
    "the leaf itself": lambda x: x,
    "view": lambda x: x.view(2, 1).view(2),
    "clone": lambda x: x.clone(),
    "add": lambda x: x + 1,
    "transpose": lambda x: x.view(1, 2).t().view(2),
    "unsqueeze": lambda x: x.unsqueeze(0).squeeze(0),
    "add itself": lambda x: x + x,
    "full slice": lambda x: x[:],
    "permute": lambda x: x.view(1, 2).permute(1, 0).reshape(2),
    "cat": lambda x: vt.cat([x]),
    "stack": lambda x: vt.stack([x])[0],
}


@differs_from_torch("there `.grad` may share the memory of the gradient that was passed in")
@pytest.mark.parametrize("path", PASS_ON.values(), ids=PASS_ON)
def test_grad_never_shares_memory_with_the_gradient_passed_in(path: Path) -> None:
    x, passed = leaf(2), ramp(2)
    path(x).backward(passed)
    before = grad_list(x)
    assert x.grad is not None
    assert x.grad.untyped_storage().data_ptr() != passed.untyped_storage().data_ptr()
    passed.zero_()
    assert grad_list(x) == before


@differs_from_torch("there `.grad` may be the gradient passed in, and is then accumulated into")
@pytest.mark.parametrize("path", PASS_ON.values(), ids=PASS_ON)
def test_the_gradient_passed_in_is_never_written(path: Path) -> None:
    x, passed = leaf(2), ramp(2)
    for _ in range(3):
        path(x).backward(passed)
    assert passed.tolist() == [1, 2]
    assert passed._version == 0


@differs_from_torch("there two leaves may be given one array")
@pytest.mark.parametrize("path", PASS_ON.values(), ids=PASS_ON)
def test_a_gradient_that_goes_to_two_leaves_is_not_shared_by_them(path: Path) -> None:
    x, z = leaf(2), leaf(2)
    ((path(x) + path(z)) * ramp(2)).sum().backward()
    before = grad_list(z)
    assert x.grad is not None
    x.grad.zero_()
    assert grad_list(z) == before


def test_what_a_hook_kept_is_not_written_afterwards() -> None:
    kept: list[vt.Tensor] = []
    x = leaf(2)
    y = x * 1
    y.register_hook(kept.append)
    (y.sum() + (y * 3).sum()).backward()
    (x * 10).sum().backward()
    assert kept[0].tolist() == [4, 4]
    assert grad_list(x) == [14, 14]


def test_a_retained_gradient_is_not_the_leafs_gradient() -> None:
    x = leaf(2)
    y = x.view(2)
    y.retain_grad()
    y.backward(ramp(2))
    assert y.grad is not None
    y.grad.zero_()
    assert grad_list(x) == [1, 2]


def test_accumulating_does_not_write_what_an_earlier_grad_call_returned() -> None:
    x = leaf(2)
    (returned,) = vt.autograd.grad((x * 2).sum(), x)
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    assert returned.tolist() == [2, 2]


def test_a_gradient_assigned_by_the_user_is_accumulated_into() -> None:
    x, mine = leaf(2), ramp(2)
    x.grad = mine
    (x * 2).sum().backward()
    assert x.grad is mine
    assert mine.tolist() == [3, 4]


def test_saved_values_are_not_written_by_backward() -> None:
    x, c = leaf(2), ramp(2)
    y = (x * c).sum() + (x * c).sum()
    y.backward()
    assert c.tolist() == [1, 2]
    assert c._version == 0


def test_an_expanded_incoming_gradient_is_stored_as_a_full_array() -> None:
    x = leaf(2, 3)
    x.sum().backward()
    assert x.grad is not None
    assert tuple(x.grad.stride()) == (3, 1)
    x.grad[0, 0] = 5.0
    assert grad_list(x) == [[5, 1, 1], [1, 1, 1]]


def test_many_reads_of_one_buffer_add_up_region_by_region() -> None:
    x = leaf(4)
    total = x[0:2].sum() + (x[1:3] * 10).sum() + (x[2:4] * 100).sum() + x.sum()
    total.backward()
    assert grad_list(x) == [2, 12, 111, 101]


@differs_from_torch("there both values get a gradient, also the overwritten one")
def test_of_two_values_assigned_to_one_place_only_the_survivor_has_a_gradient() -> None:
    v, x = leaf(2), ramp(3)
    x[[0, 0]] = v
    assert x.tolist() == [2, 2, 3]
    (gradient,) = vt.autograd.grad(x.sum(), v)
    assert gradient.tolist() == [0, 1]


@differs_from_torch("there every value gets a gradient, also the overwritten ones")
def test_survivors_among_interleaved_duplicates_have_the_gradient() -> None:
    v, x = leaf(5), ramp(3).clone()
    x[[2, 0, 2, 1, 0]] = v
    assert x.tolist() == [5, 4, 3]
    (gradient,) = vt.autograd.grad((x * ramp(3)).sum(), v)
    assert gradient.tolist() == [0, 0, 3, 2, 1]


@differs_from_torch("there every value gets a gradient, also the overwritten ones")
def test_survivors_among_duplicate_pairs_of_indices_have_the_gradient() -> None:
    v, x = leaf(3), vt.zeros(2, 2, dtype=vt.float64)
    x[[0, 1, 0], [1, 1, 1]] = v
    assert x.tolist() == [[0, 3], [0, 2]]
    (gradient,) = vt.autograd.grad(x.sum(), v)
    assert gradient.tolist() == [0, 1, 1]


def test_duplicates_that_accumulate_all_have_the_gradient() -> None:
    v, x = leaf(2), ramp(3)
    x.index_put_((vt.tensor([0, 0]),), v, accumulate=True)
    assert x.tolist() == [4, 2, 3]
    (gradient,) = vt.autograd.grad(x.sum(), v)
    assert gradient.tolist() == [1, 1]


def test_duplicates_in_a_read_accumulate_their_gradients() -> None:
    x = leaf(3)
    (gradient,) = vt.autograd.grad((x[[0, 0, 2]] * ramp(3)).sum(), x)
    assert gradient.tolist() == [3, 0, 3]

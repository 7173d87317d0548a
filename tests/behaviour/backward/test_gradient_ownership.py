"""Arrays that a user or a sibling holds are never written by backward, nor aliased by `.grad`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import differs_from_torch, grad_list, leaf, node_of, ramp, vt

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
    "written region": lambda x: _scaled(x),
    "overwritten region": lambda x: _overwritten(x),
}


def _scaled(x: vt.Tensor) -> vt.Tensor:
    b = x.clone()
    b[0:1].mul_(3)
    return b


def _overwritten(x: vt.Tensor) -> vt.Tensor:
    b = x.clone()
    b[0] = 7.0
    return b


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


# How a region takes an operand in, and what the operand's gradient then is for a sum of the buffer.
TAKE_IN: dict[str, tuple[Callable[[vt.Tensor, vt.Tensor], object], list[float]]] = {
    "add": (lambda v, w: v.add_(w), [1, 1, 1]),
    "subtract": (lambda v, w: v.sub_(w), [-1, -1, -1]),
    "add scaled": (lambda v, w: v.add_(w, alpha=3), [3, 3, 3]),
    "copy": (lambda v, w: v.copy_(w), [1, 1, 1]),
    "assign": (lambda v, w: v.__setitem__(..., w), [1, 1, 1]),
    "add a copy": (lambda v, w: v.add_(w.clone()), [1, 1, 1]),
    "masked fill": (lambda v, w: v.masked_fill_(v.detach() > 0, w[0]), [3, 0, 0]),
    "index add": (lambda v, w: v.index_add_(0, vt.tensor([0, 1, 2]), w), [1, 1, 1]),
}


@pytest.mark.parametrize(("take_in", "expected"), TAKE_IN.values(), ids=TAKE_IN)
def test_an_operands_gradient_is_not_overwritten_by_the_writes_before_it(
    take_in: Callable[[vt.Tensor, vt.Tensor], object], expected: list[float]
) -> None:
    # The operand is older than the buffer's writes, so its gradient waits while theirs are run,
    # which rewrite the same region of the same gradient buffer.
    a, w = leaf(2, 3), leaf(3)
    old = w * 2
    b = a.clone()
    b[0].mul_(10)
    b[0].zero_()
    b[0].add_(1)
    take_in(b[0], old)
    b.sum().backward()
    assert grad_list(w) == [2 * g for g in expected]
    assert grad_list(a) == [[0, 0, 0], [1, 1, 1]]


def test_the_gradients_of_two_operands_of_one_region_do_not_share_memory() -> None:
    a, w, u = leaf(2, 3), leaf(3), leaf(3)
    first, second = w * 2, u * 3
    b = a.clone()
    b[0].add_(first)
    b[0].mul_(5)
    b[0].add_(second)
    b[0].mul_(7)
    b.sum().backward()
    assert grad_list(w) == [70, 70, 70]
    assert grad_list(u) == [21, 21, 21]
    assert grad_list(a) == [[35, 35, 35], [1, 1, 1]]


def test_a_leaf_as_operand_keeps_its_gradient_when_the_buffer_is_scaled_before() -> None:
    a, w = leaf(2, 3), leaf(3)
    b = a.clone()
    b[0].mul_(10)
    b[0].add_(w)
    b.sum().backward()
    assert grad_list(w) == [1, 1, 1]
    assert grad_list(a) == [[10, 10, 10], [1, 1, 1]]


def test_a_region_replaces_its_part_of_the_gradient_and_not_what_siblings_were_given() -> None:
    # Both sides of the sum are handed one gradient; the buffer's side then rewrites its part.
    a, c = leaf(3), leaf(3)
    b = a.clone()
    b[0:2].mul_(10)
    total = ((b + c) * ramp(3)).sum()
    total.backward()
    assert grad_list(c) == [1, 2, 3]
    assert grad_list(a) == [10, 20, 3]


def test_what_a_hook_kept_of_a_written_buffer_is_not_rewritten() -> None:
    kept: list[vt.Tensor] = []
    a = leaf(3)
    b = a.clone()
    b[0:2].mul_(10)
    b.register_hook(kept.append)
    b.retain_grad()
    (b * ramp(3)).sum().backward()
    assert kept[0].tolist() == [1, 2, 3]
    assert grad_list(b) == [1, 2, 3]
    assert grad_list(a) == [10, 20, 3]


def test_gradients_asked_for_along_a_chain_of_writes_are_not_rewritten_on_the_way() -> None:
    a = leaf(3)
    b = a.clone()
    before = vt.autograd.graph.get_gradient_edge(b)
    b[0:2].mul_(10)
    between = vt.autograd.graph.get_gradient_edge(b)
    b[1:].mul_(100)
    edges = [before, between, vt.autograd.graph.get_gradient_edge(b)]
    found = vt.autograd.grad((b * ramp(3)).sum(), edges)
    assert [g.tolist() for g in found] == [[10, 2000, 300], [1, 200, 300], [1, 2, 3]]


def test_a_slice_that_arrives_before_a_shared_gradient_does_not_change_the_siblings() -> None:
    # The slice was made last, so its part of b's gradient waits when the sum hands out its own.
    a, c = leaf(3), leaf(3)
    b = a * 1
    both = b + c
    part = b[0:2]
    ((both * ramp(3)).sum() + (part * 100).sum()).backward()
    assert grad_list(c) == [1, 2, 3]
    assert grad_list(a) == [101, 102, 3]


def test_what_is_added_to_one_summand_later_does_not_change_the_other() -> None:
    # The product was made first, so it adds to b's gradient after the sum handed out its own.
    a, d = leaf(3), leaf(3)
    b, c = a * 1, d * 1
    product = b * 5
    both = b + c
    (product.sum() + (both * ramp(3)).sum()).backward()
    assert grad_list(a) == [6, 7, 8]
    assert grad_list(d) == [1, 2, 3]


def test_what_a_pre_hook_kept_is_not_written_afterwards() -> None:
    kept: list[vt.Tensor] = []

    def keep(gradients: tuple[vt.Tensor | None, ...]) -> None:
        kept.extend(g for g in gradients if g is not None)

    a = leaf(3)
    b = a * 1
    product = b * 5
    shifted = b + 1
    node_of(shifted).register_prehook(keep)
    (product.sum() + (shifted * ramp(3)).sum()).backward()
    assert kept[0].tolist() == [1, 2, 3]
    assert grad_list(a) == [6, 7, 8]


def test_what_a_post_hook_kept_is_not_written_afterwards() -> None:
    kept: list[vt.Tensor] = []

    def keep(inputs: tuple[vt.Tensor | None, ...], outputs: tuple[vt.Tensor | None, ...]) -> None:
        kept.extend(g for g in (*inputs, *outputs) if g is not None)

    a = leaf(3)
    b = a * 1
    product = b * 5
    doubled = b * 2
    node_of(doubled).register_hook(keep)
    (product.sum() + (doubled * ramp(3)).sum()).backward()
    assert [g.tolist() for g in kept] == [[2, 4, 6], [1, 2, 3]]
    assert grad_list(a) == [7, 9, 11]

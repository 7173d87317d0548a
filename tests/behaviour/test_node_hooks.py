"""Hooks on nodes and after accumulation, and the order in which all kinds of hooks run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .support import grad_list, leaf, node_of, parent_of, ramp, recorded, refused, vt

Gradients = tuple[vt.Tensor | None, ...]


def _seen_by_pre(log: list[object], mark: str) -> Callable[[Gradients], None]:
    """Give a hook for `register_prehook` that only looks."""

    def hook(outputs: Gradients) -> None:
        log.append((mark, _lists(outputs)))

    return hook


def _seen_by_post(log: list[object], mark: str) -> Callable[[Gradients, Gradients], None]:
    """Give a hook for `Node.register_hook` that only looks."""

    def hook(inputs: Gradients, outputs: Gradients) -> None:
        log.append((mark, _lists(outputs)))

    return hook


def _lists(gradients: Gradients) -> list[object]:
    return [None if g is None else g.tolist() for g in gradients]


def test_a_pre_hook_gets_and_may_replace_the_gradients_of_the_outputs() -> None:
    seen: list[object] = []
    x = leaf(2)
    y = x * 3

    def double(gradients: Gradients) -> Gradients:
        seen.append(_lists(gradients))
        first = gradients[0]
        assert first is not None
        return (first * 2,)

    node_of(y).register_prehook(double)
    y.backward(ramp(2))
    assert seen == [[[1, 2]]]
    assert grad_list(x) == [6, 12]


def test_a_post_hook_gets_both_sides_and_may_replace_what_goes_on() -> None:
    seen: list[object] = []
    x = leaf(2)
    y = x * ramp(2)

    def add_one(inputs: Gradients, outputs: Gradients) -> Gradients:
        seen.append((_lists(inputs), _lists(outputs)))
        first = inputs[0]
        assert first is not None
        return (first + 1, None)

    node_of(y).register_hook(add_one)
    y.backward(ramp(2))
    assert seen == [([[1, 4], None], [[1, 2]])]
    assert grad_list(x) == [2, 5]


def test_node_hooks_that_return_none_change_nothing() -> None:
    seen: list[object] = []
    x = leaf(2)
    y = x * 3
    node_of(y).register_prehook(_seen_by_pre(seen, "pre"))
    node_of(y).register_hook(_seen_by_post(seen, "post"))
    y.backward(ramp(2))
    assert seen == [("pre", [[1, 2]]), ("post", [[1, 2]])]
    assert grad_list(x) == [3, 6]


def test_a_removed_node_hook_does_not_run() -> None:
    seen: list[object] = []
    y = leaf(2) * 3
    first = node_of(y).register_prehook(_seen_by_pre(seen, "pre"))
    second = node_of(y).register_hook(_seen_by_post(seen, "post"))
    first.remove()
    second.remove()
    y.backward(ramp(2))
    assert seen == []


def test_a_node_hook_stays_with_the_node_when_the_tensor_is_written() -> None:
    seen: list[object] = []
    b = leaf(2).clone()
    node_of(b).register_prehook(_seen_by_pre(seen, "pre"))
    b.mul_(3)
    b.sum().backward()
    assert seen == [("pre", [[3, 3]])]


def test_a_hook_after_accumulation_sees_the_leaf_with_its_whole_gradient() -> None:
    seen: list[object] = []
    x = leaf(2)
    (x * 2).sum().backward()
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, grad_list(t))))
    (x * 3).sum().backward()
    assert seen == [(True, [5, 5])]


def test_a_hook_after_accumulation_may_step_the_leaf_and_drop_its_gradient() -> None:
    x = leaf(2)

    def step(t: vt.Tensor) -> None:
        assert t.grad is not None
        with vt.no_grad():
            t.sub_(t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    assert x.tolist() == [-2, -1]
    assert x.grad is None


def test_hooks_after_accumulation_are_for_leaves_only() -> None:
    y = leaf(2) * 2
    with pytest.raises(RuntimeError):
        y.register_post_accumulate_grad_hook(lambda t: None)
    with refused(RuntimeError, "grad-required"):
        ramp(2).register_post_accumulate_grad_hook(lambda t: None)


def test_a_hook_after_accumulation_does_not_run_for_grad() -> None:
    seen: list[object] = []
    x = leaf(2)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(1))
    vt.autograd.grad((x * 2).sum(), x)
    assert seen == []


def test_hooks_of_a_leaf_run_tensor_then_pre_then_post_accumulate_then_post() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 2
    accumulator = parent_of(node_of(y))
    accumulator.register_hook(_seen_by_post(log, "post"))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", grad_list(t))))
    accumulator.register_prehook(_seen_by_pre(log, "pre"))

    def double(gradient: vt.Tensor) -> vt.Tensor:
        log.append("tensor")
        return gradient * 2

    x.register_hook(double)
    y.sum().backward()
    assert log == ["tensor", ("pre", [[4, 4]]), ("accumulated", [4, 4]), ("post", [[4, 4]])]


def test_hooks_of_a_non_leaf_run_tensor_then_pre_then_post() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 2
    node_of(y).register_hook(_seen_by_post(log, "post"))
    node_of(y).register_prehook(_seen_by_pre(log, "pre"))
    y.register_hook(recorded(log, "tensor"))
    y.backward(ramp(2))
    assert log == [("tensor", [1, 2]), ("pre", [[1, 2]]), ("post", [[1, 2]])]


def test_leaves_run_before_nodes_that_were_made_earlier() -> None:
    # An accumulator goes first as soon as it is ready: a gradient is stored before work goes on.
    log: list[object] = []
    x, z = leaf(1), leaf(1)
    early = x * 2
    early.register_hook(recorded(log, "early"))
    z.register_hook(recorded(log, "leaf"))
    (early + z).backward()
    assert log == [("leaf", [1]), ("early", [1])]


def test_later_made_nodes_run_first() -> None:
    log: list[object] = []
    x = leaf(1)
    first, second, third = x * 2, x * 3, x * 4
    for name, y in (("third", third), ("first", first), ("second", second)):
        y.register_hook(recorded(log, name))
    vt.stack([second, first, third]).sum().backward()
    assert log == [("third", [1]), ("second", [1]), ("first", [1])]


def test_a_hook_after_accumulation_must_return_none() -> None:
    x = leaf(2)
    x.register_post_accumulate_grad_hook(lambda t: 3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError):
        (x * 2).sum().backward()


def test_a_pre_hook_must_return_as_many_gradients_as_it_got() -> None:
    x = leaf(2)
    y = x * 2
    node_of(y).register_prehook(lambda gradients: (gradients[0], gradients[0]))
    with pytest.raises(RuntimeError):
        y.sum().backward()
    assert x.grad is None


def test_a_pre_hook_may_drop_the_gradient() -> None:
    x = leaf(2)
    y = x * 2
    node_of(y).register_prehook(lambda gradients: (None,))
    y.sum().backward()
    assert x.grad is None


def test_a_pre_hook_of_a_node_with_several_outputs_gets_none_for_an_unused_one() -> None:
    log: list[object] = []
    first, _ = leaf(4).split(2)
    node_of(first).register_prehook(_seen_by_pre(log, "split"))
    first.sum().backward()
    assert log == [("split", [[1, 1], None])]


def test_a_node_has_room_for_notes() -> None:
    node = node_of(leaf(2) * 2)
    assert node.metadata == {}
    node.metadata["where"] = "here"
    assert node.metadata == {"where": "here"}

"""Hooks on nodes and after accumulation, and the order in which all kinds of hooks run."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable

import pytest

from tests.support import (
    differs_from_torch,
    grad_list,
    leaf,
    node_of,
    parent_of,
    ramp,
    recorded,
    refused,
    vt,
)

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


class _GivesToAll(vt.autograd.Function):
    """A product whose backward has a gradient for the second argument too, of another shape."""

    @staticmethod
    def forward(ctx: object, x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return x * y

    @staticmethod
    def backward(ctx: object, grad: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        return grad * 2, grad[0] * 3


UNNEEDED: dict[str, tuple[Callable[[vt.Tensor, vt.Tensor], vt.Tensor], list[object]]] = {
    "mul": (lambda x, c: x * c, [[1, 2], None]),
    "add, second": (lambda x, c: c + x, [None, [1, 1]]),
    "dot": (lambda x, c: x.dot(c), [[1, 2], None]),
    "where": (lambda x, c: vt.where(c > 1, x, c), [[0, 1], None]),
    "masked_fill": (lambda x, c: x.masked_fill(c > 1, c[0]), [[1, 0], None]),
    "fill_": (lambda x, c: c.clone().fill_(x[0]), [None, 2]),
    "cat": (lambda x, c: vt.cat((c, x, c)), [[1, 1], [1, 1], [1, 1]]),
    "stack": (lambda x, c: vt.stack((c, x)), [[1, 1], [1, 1]]),
    "custom Function": (_GivesToAll.apply, [[2, 2], 3]),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("compute", "shown"), UNNEEDED.values(), ids=UNNEEDED)
def test_only_lists_and_custom_functions_answer_where_no_gradient_is_needed(
    compute: Callable[[vt.Tensor, vt.Tensor], vt.Tensor], shown: list[object], create_graph: bool
) -> None:
    seen: list[object] = []
    x = leaf(2)
    y = compute(x, ramp(2))

    def look(inputs: Gradients, outputs: Gradients) -> None:
        seen.append(_lists(inputs))

    node_of(y).register_hook(look)
    vt.autograd.grad(y, x, vt.ones_like(y), create_graph=create_graph)
    assert seen == [shown]


@differs_from_torch("there the gradient that was passed to backward is overwritten")
def test_a_hook_may_write_to_a_gradient_that_nobody_needs() -> None:
    x = leaf(2)
    y = vt.cat((x, ramp(2)))

    def spoil(inputs: Gradients, outputs: Gradients) -> None:
        for gradient in inputs:
            assert gradient is not None
            gradient.mul_(0)

    node_of(y).register_hook(spoil)
    arrived = vt.ones_like(y)
    y.backward(arrived)
    assert arrived.tolist() == [1, 1, 1, 1]


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


def test_a_post_accumulate_hook_sees_a_leaf_that_nobody_holds_any_more() -> None:
    seen: list[vt.Tensor] = []

    def made() -> vt.Tensor:
        x = leaf(2)
        x.register_post_accumulate_grad_hook(seen.append)
        x.register_post_accumulate_grad_hook(seen.append)
        return (x * x).sum()

    y = made()
    y.backward(retain_graph=True)
    first, second = seen
    assert first is second
    assert first.is_leaf
    assert first.requires_grad
    assert first.tolist() == [1, 2]
    assert grad_list(first) == [2, 4]
    y.backward()
    assert seen[2] is first
    assert grad_list(first) == [4, 8]


@pytest.mark.parametrize("by", ["data", "set_"])
def test_a_post_accumulate_hook_sees_where_a_leaf_lay_when_it_was_let_go(by: str) -> None:
    seen: list[vt.Tensor] = []
    other = vt.tensor([[7.0, 8.0], [9.0, 10.0]], dtype=vt.float64).t()

    def made() -> vt.Tensor:
        x = leaf(2, 2)
        x.register_post_accumulate_grad_hook(seen.append)
        y = (x * 2).sum()
        if by == "data":
            x.data = other
        else:
            with vt.no_grad():
                x.set_(other)
        return y

    made().backward()
    assert seen[0].tolist() == [[7, 9], [8, 10]]
    assert grad_list(seen[0]) == [[2, 2], [2, 2]]


@differs_from_torch("It keeps the node with the old shape, or fails while it accumulates.")
def test_a_gradient_for_a_leaf_that_changed_its_shape_and_was_let_go_is_refused_for_its_hooks() -> (
    None
):
    def made() -> vt.Tensor:
        x = leaf(2, 2)
        x.register_post_accumulate_grad_hook(lambda t: pytest.fail("called"))
        y = (x * 2).sum()
        x.data = ramp(3)
        return y

    with refused(RuntimeError, "shape"):
        made().backward()


@differs_from_torch("It keeps the node with the old shape, so that no gradient fits.")
@pytest.mark.parametrize("several", [False, True])
def test_a_leaf_that_took_on_another_shape_as_out_gets_gradients_of_that_shape(
    several: bool,
) -> None:
    x = leaf(2)
    before = (x * 2).sum()
    with vt.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if several:
            vt.max(ramp(3, 1), 1, out=(x, vt.zeros(3, dtype=vt.int64)))
        else:
            vt.add(ramp(3), 1, out=x)
    with refused(RuntimeError, "shape"):
        before.backward()
    assert x.grad is None
    (x * 2).sum().backward()
    assert grad_list(x) == [2, 2, 2]


def test_a_leaf_that_was_detached_and_let_go_requires_no_grad_in_its_post_accumulate_hook() -> None:
    seen: list[tuple[bool, object]] = []

    def made() -> vt.Tensor:
        x = leaf(2)
        x.register_post_accumulate_grad_hook(lambda t: seen.append((t.requires_grad, t.grad)))
        y = (x * 2).sum()
        x.detach_()
        return y

    made().backward()
    assert seen == [(False, None)]


def test_post_accumulate_hooks_of_views_made_under_no_grad_are_never_called() -> None:
    x = leaf(2)
    with vt.no_grad():
        view = x[:1]
    assert view.requires_grad
    assert view.is_leaf
    handle = view.register_post_accumulate_grad_hook(lambda t: pytest.fail("called"))
    (view * 2).sum().backward()
    assert view.grad is None
    handle.remove()


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


# -- what hooks may return ---------------------------------------------------------------------

NOT_TUPLES: dict[str, Callable[[vt.Tensor], object]] = {
    "a tensor": lambda g: g * 2,
    "a list": lambda g: [g],
    "a number": lambda g: 3,
    "a tuple of numbers": lambda g: (3,),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wrong", NOT_TUPLES.values(), ids=NOT_TUPLES)
def test_node_hooks_return_a_tuple_or_none(
    wrong: Callable[[vt.Tensor], object], create_graph: bool
) -> None:
    x = leaf(2)
    y = x.exp()

    def before(gradients: Gradients) -> Gradients:
        assert gradients[0] is not None
        return wrong(gradients[0])  # type: ignore[return-value]  # the point of the test

    def after(inputs: Gradients, outputs: Gradients) -> Gradients:
        return before(inputs)

    for handle in (node_of(y).register_prehook(before), node_of(y).register_hook(after)):
        with handle, pytest.raises(TypeError):
            vt.autograd.grad(y.sum(), x, create_graph=create_graph, retain_graph=True)
    assert x.grad is None


# -- with grad, or with inputs -----------------------------------------------------------------


def _watched(log: list[object], x: vt.Tensor) -> vt.Tensor:
    """Give ``x * 1``, with every kind of hook on its node."""
    y = x * 1

    def five_times(gradient: vt.Tensor) -> vt.Tensor:
        log.append("tensor")
        return gradient * 5

    y.register_hook(five_times)
    node_of(y).register_prehook(lambda outputs: log.append("pre"))
    node_of(y).register_hook(lambda inputs, outputs: log.append("post"))
    return y


def test_grad_at_a_node_runs_its_tensor_hooks_and_not_the_node() -> None:
    log: list[object] = []
    x = leaf(2)
    y = _watched(log, x)
    y.retain_grad()
    (found,) = vt.autograd.grad(y.sum(), y)
    assert found.tolist() == [5, 5]
    assert grad_list(y) == [5, 5]
    assert log == ["tensor"]
    assert x.grad is None


def test_grad_at_a_node_on_the_way_hands_out_what_arrived_there() -> None:
    log: list[object] = []
    x = leaf(2)
    y = _watched(log, x)
    at_y, at_x = vt.autograd.grad(y.sum(), (y, x))
    assert at_y.tolist() == [1, 1]
    assert at_x.tolist() == [5, 5]
    assert log == ["tensor", "pre", "post"]


def test_backward_with_a_result_as_input_runs_all_hooks_of_its_node() -> None:
    log: list[object] = []
    x = leaf(2)
    y = _watched(log, x)
    y.sum().backward(inputs=[y])
    assert log == ["tensor", "pre", "post"]
    assert grad_list(y) == [5, 5]
    assert x.grad is None


def test_grad_at_a_leaf_runs_its_tensor_hooks_and_accumulates_nothing() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 1
    accumulator = parent_of(node_of(y))
    x.register_hook(lambda gradient: gradient * 2)
    accumulator.register_prehook(lambda outputs: log.append("pre"))
    accumulator.register_hook(lambda inputs, outputs: log.append("post"))
    x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    (found,) = vt.autograd.grad(y.sum(), x, retain_graph=True)
    assert found.tolist() == [2, 2]
    assert x.grad is None
    assert log == []
    y.sum().backward(inputs=[x])
    assert grad_list(x) == [2, 2]
    assert log == ["pre", "accumulated", "post"]


# -- removing ----------------------------------------------------------------------------------


def test_handles_of_every_kind_may_be_removed_twice() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 3
    handles = [
        y.register_hook(recorded(log, "tensor")),
        node_of(y).register_prehook(_seen_by_pre(log, "pre")),
        node_of(y).register_hook(_seen_by_post(log, "post")),
        x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated")),
    ]
    for handle in handles * 2:
        handle.remove()
    y.sum().backward()
    for handle in handles:
        handle.remove()
    assert log == []


def test_a_hook_removed_by_one_of_the_same_kind_runs_a_last_time() -> None:
    # Who is to be called is settled when the first of them is.
    log: list[object] = []
    x = leaf(2)
    y = x * 1

    def remove(_: vt.Tensor) -> None:
        log.append("first")
        removed.remove()

    first = y.register_hook(remove)
    removed = y.register_hook(recorded(log, "second"))
    total = y.sum()
    total.backward(retain_graph=True)
    assert log == ["first", ("second", [1, 1])]
    total.backward()
    first.remove()
    assert log == ["first", ("second", [1, 1]), "first"]


def test_a_hook_added_by_one_of_the_same_kind_runs_from_the_next_time_on() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 1

    def add(_: vt.Tensor) -> None:
        handle.remove()
        y.register_hook(recorded(log, "added"))

    handle = y.register_hook(add)
    total = y.sum()
    total.backward(retain_graph=True)
    assert log == []
    total.backward()
    assert log == [("added", [1, 1])]


# -- no gradient -------------------------------------------------------------------------------


def test_hooks_of_a_leaf_run_though_no_gradient_has_arrived() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 2
    x.register_hook(lambda gradient: log.append(("tensor", gradient)))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("accumulated", t.grad)))
    node_of(y).register_prehook(lambda gradients: (None,))
    y.sum().backward()
    assert log == [("tensor", None), ("accumulated", None)]
    assert x.grad is None


# -- what each kind sees -----------------------------------------------------------------------


def test_a_retained_gradient_is_what_comes_before_the_hooks_of_the_node() -> None:
    x = leaf(2)
    y = x * 1
    y.retain_grad()

    def seven_times(gradients: Gradients) -> Gradients:
        assert gradients[0] is not None
        return (gradients[0] * 7,)

    node_of(y).register_prehook(seven_times)
    y.sum().backward()
    assert grad_list(y) == [1, 1]
    assert grad_list(x) == [7, 7]


def test_a_hook_on_a_root_sees_all_that_enters_there() -> None:
    log: list[object] = []
    x = leaf(2)
    y = x * 2
    y.register_hook(recorded(log, "y"))
    vt.autograd.backward([y, y], [ramp(2), ramp(2) * 10])
    assert log == [("y", [11, 22])]
    assert grad_list(x) == [22, 44]


def test_a_retained_gradient_of_a_recorded_backward_can_be_differentiated() -> None:
    x = leaf(2)
    y = x * x
    y.retain_grad()
    with pytest.warns(UserWarning, match="create_graph"):
        (y * y).sum().backward(create_graph=True)
    assert y.grad is not None
    assert y.grad.requires_grad
    assert y.grad.tolist() == [2, 8]
    (second,) = vt.autograd.grad(y.grad.sum(), x)
    assert second.tolist() == [4, 8]
    x.grad = y.grad = None


def test_hooks_after_accumulation_run_in_order_and_in_the_mode_of_the_backward() -> None:
    log: list[object] = []
    x = leaf(2)
    x.register_post_accumulate_grad_hook(lambda t: log.append((grad_list(t), "first")))
    x.register_post_accumulate_grad_hook(lambda t: log.append(vt.is_grad_enabled()))
    (x * x).sum().backward()
    with pytest.warns(UserWarning, match="create_graph"):
        (x * x).sum().backward(create_graph=True)
    assert log == [([2, 4], "first"), False, ([4, 8], "first"), True]
    x.grad = None


MISSHAPEN: dict[str, vt.Tensor] = {
    "longer": ramp(3),
    "broader": ramp(3, 2),
    "of another dtype": vt.ones(2, dtype=vt.float32),
}


@pytest.mark.parametrize("wrong", MISSHAPEN.values(), ids=MISSHAPEN)
def test_node_hooks_return_gradients_of_the_same_shape_and_dtype(wrong: vt.Tensor) -> None:
    x = leaf(2)
    y = x * 1
    handles = [
        node_of(y).register_prehook(lambda gradients: (wrong,)),
        node_of(y).register_hook(lambda inputs, outputs: (wrong, None)),
    ]
    for handle in handles:
        with refused(RuntimeError, "hook", [x, y]):
            y.sum().backward(retain_graph=True)
        handle.remove()
    assert x.grad is None
    y.sum().backward()
    assert grad_list(x) == [1, 1]


def test_integer_results_are_no_results_of_the_node() -> None:
    log: list[object] = []
    x = leaf(2, 3)
    values, _ = x.max(1)
    node = node_of(values)
    node.register_prehook(lambda grads: log.append(len(grads)))
    node.register_hook(lambda new, old: log.append((len(new), len(old))))
    values.sum().backward(retain_graph=True)
    assert log == [1, (1, 1)]
    gradient = vt.tensor([5.0, 7.0], dtype=vt.float64)
    answer = node(gradient)
    assert isinstance(answer, vt.Tensor)
    assert answer.tolist() == [[0, 0, 5], [0, 0, 7]]
    with pytest.raises(TypeError):
        node(gradient, None)


@differs_from_torch(
    "the node of a leaf goes with the last graph that leads to it, and its hooks too"
)
def test_a_hook_on_the_node_of_a_leaf_outlives_the_graph() -> None:
    x = leaf(2)
    seen: list[int] = []

    def count(*_: object) -> None:
        seen.append(1)

    node = (x * 2).grad_fn
    assert node is not None
    accumulates = node.next_functions[0][0]
    assert accumulates is not None
    accumulates.register_hook(count)
    accumulates.metadata["note"] = 1
    del node, accumulates
    gc.collect()
    (x * 3).sum().backward()
    assert seen == [1]
    again = (x * 4).grad_fn
    assert again is not None
    assert again.next_functions[0][0] is not None
    assert again.next_functions[0][0].metadata == {"note": 1}


def test_nodes_print_their_class() -> None:
    x = leaf(2)
    base = x * 1
    base[0].mul_(2)
    product = (x * 2).grad_fn
    assert product is not None
    printed = [repr(n) for n in (product, product.next_functions[0][0], base.grad_fn)]
    names = ["MulBackward0", "AccumulateGrad", "CopySlices"]
    assert [text.split(" object at 0x")[0] for text in printed] == [f"<{name}" for name in names]
    assert all(text.endswith(">") for text in printed)

"""What forward and backward of a custom Function say to each other, and what is saved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functions import Function, function
from tests.support import (
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    node_of,
    ramp,
    refused,
    vt,
)


class Multiply(Function):
    """A product, which saves both factors."""

    @staticmethod
    def forward(ctx: Any, a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, gradient: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
        a, b = ctx.saved_tensors
        return gradient * b, gradient * a


def saves(what: str, seen: list[Any] | None = None) -> Any:
    """Give a Function that saves its input, its output, or something between."""

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        between = x * 3
        y = between * 1
        ctx.kept = between
        ctx.save_for_backward({"input": x, "output": y, "between": between}[what])
        return y

    def backward(ctx: Any, gradient: vt.Tensor) -> Any:
        (saved,) = ctx.saved_tensors
        if seen is not None:
            seen.append(saved)
        return gradient * saved

    return function(forward, backward)


def test_saved_arguments_make_gradients() -> None:
    a, b = leaf(2), leaf(2)
    Multiply.apply(a, b).sum().backward()
    assert grad_list(a) == [1, 2]
    assert grad_list(b) == [1, 2]


def test_second_derivatives_go_through_saved_arguments() -> None:
    x = leaf(2)
    y = Multiply.apply(Multiply.apply(x, x), x)
    (first,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert first.tolist() == [3, 12]
    assert gradients(first.sum(), x) == [[6, 12]]


def test_a_saved_argument_comes_back_itself_an_output_as_another() -> None:
    for what in ("input", "output", "between"):
        seen: list[vt.Tensor] = []
        b = leaf(2).clone()
        y = saves(what, seen)(b)
        context: Any = y.grad_fn
        y.sum().backward()
        assert (seen[0] is b) == (what == "input")
        assert (seen[0] is context.kept) == (what == "between")
        assert seen[0] is not y
        expected = {"input": "CloneBackward0", "output": "FnBackward", "between": None}
        assert fn_name(seen[0]) == expected[what]


@pytest.mark.parametrize("what", ["input", "output", "between"])
def test_what_was_overwritten_since_is_found(what: str) -> None:
    b = leaf(2).clone()
    y = saves(what)(b)
    context: Any = y.grad_fn
    root = y.sum()
    {"input": b, "output": y, "between": context.kept}[what].detach().add_(1)
    with refused(RuntimeError, "stale-saved", [b, y]):
        root.backward()


@differs_from_torch("there it is found when backward of the Function runs")
def test_what_was_overwritten_is_found_before_anything_has_run() -> None:
    log: list[str] = []
    x = leaf(2)
    b = x.clone()
    y = saves("input")(b) * 2
    y.register_hook(lambda g: log.append("hook"))
    b.add_(1)
    with refused(RuntimeError, "stale-saved", [x, b, y]):
        y.sum().backward()
    assert log == []


def test_what_is_kept_as_an_attribute_is_not_checked_and_read_as_it_is() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.kept = x.detach()
        return x * 2

    a = leaf(2)
    b = a.clone()
    y = function(forward, lambda ctx, g: g * ctx.kept)(b).sum()
    b.mul_(10)
    assert gradients(y, a) == [[10, 20]]


def test_what_was_overwritten_but_is_never_read_does_not_matter() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(2)
    b = x.clone()
    y = function(forward)(b).sum()
    b.add_(1)
    y.backward(retain_graph=True)
    y.backward()
    assert grad_list(x) == [4, 4]


def test_a_value_that_another_function_reads_is_checked_when_it_does() -> None:
    def read(ctx: Any) -> Any:
        return ctx.saved_tensors

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    b = leaf(2).clone()
    y = function(forward, lambda ctx, g: g * read(ctx)[0])(b).sum()
    b.add_(1)
    with refused(RuntimeError, "stale-saved", [b]):
        y.backward()


def test_saved_values_are_freed_by_backward_and_attributes_are_not() -> None:
    y = saves("input")(leaf(2))
    context: Any = y.grad_fn
    assert context.saved_tensors[0].tolist() == [1, 2]
    y.sum().backward(retain_graph=True)
    assert context.saved_tensors[0].tolist() == [1, 2]
    root = y.sum()
    root.backward()
    assert context.kept.tolist() == [3, 6]
    with refused(RuntimeError, "graph-freed"):
        context.saved_tensors  # noqa: B018
    with refused(RuntimeError, "graph-freed"):
        y.sum().backward()


def test_a_function_that_reads_nothing_saved_runs_twice() -> None:
    x = leaf(2)
    y = function(lambda ctx, x: x * 2)(x)
    y.sum().backward()
    y.sum().backward()
    assert grad_list(x) == [4, 4]


def test_what_was_read_of_a_context_that_outlives_its_graph() -> None:
    kept: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        y = x * 2
        ctx.save_for_backward(x, y)
        ctx.note = "mine"
        kept.append(ctx)
        return y

    x = leaf(2)
    y = function(forward)(x)
    del y
    (context,) = kept
    assert context.note == "mine"
    assert context.needs_input_grad == (True,)
    first, second = context.saved_tensors
    assert first is x
    assert second.tolist() == [2, 4]
    assert fn_name(second) == "FnBackward"


def test_none_may_be_saved_and_a_second_call_replaces_the_first() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        ctx.save_for_backward(None, x, None)
        return x * 2

    x = leaf(2)
    node: Any = function(forward)(x).grad_fn
    assert node.saved_tensors[0] is None
    assert node.saved_tensors[1] is x
    assert len(node.saved_tensors) == 3


@pytest.mark.parametrize("value", [3, "x", [1], (leaf(1),)])
def test_only_tensors_are_saved(value: object) -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x, value)
        return x * 2

    b = leaf(2).clone()
    with refused(TypeError, "argument-type", [b]):
        function(forward)(b)


def test_any_name_is_free_for_attributes() -> None:
    names = "hooks function sequence_nr ownership name edges next_edges input_nr node".split()

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        for name in names:
            setattr(ctx, name, name)
        return x * 2

    def backward(ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
        assert [getattr(ctx, name) for name in names] == names
        return gradient * 2

    x = leaf(2)
    y = function(forward, backward)(x)
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    assert grad_list(x) == [20, 20]


def test_the_node_shows_attributes_of_the_context_and_the_other_way_round() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.factor = 2
        assert ctx.name() == "FnBackward"
        assert ctx.next_functions[0][0] is not None
        return x * 2

    def backward(ctx: Any, gradient: vt.Tensor) -> Any:
        return gradient * ctx.factor * ctx.more

    x = leaf(2)
    y = function(forward, backward)(x)
    node: Any = y.grad_fn
    assert node.factor == 2
    assert node.needs_input_grad == (True,)
    node.more = 5
    y.sum().backward()
    assert grad_list(x) == [10, 10]
    with pytest.raises(AttributeError):
        node.nobody_stored_this  # noqa: B018
    node.metadata["note"] = 1
    assert node.metadata == {"note": 1}


def test_next_functions_lists_the_tensors_among_the_arguments() -> None:
    b = leaf(2).clone()

    def forward(ctx: Any, *arguments: Any) -> vt.Tensor:
        return b * 2

    y = function(forward)(3, b, None, ramp(2))
    assert node_of(y).next_functions == ((b.grad_fn, 0), (None, 0))


def test_results_that_are_not_differentiable() -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        sign = x.sign()
        ctx.mark_non_differentiable(sign)
        return x * 2, sign, x.to(vt.int64)

    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor, i: vt.Tensor) -> vt.Tensor:
        seen.extend((h.tolist(), h.dtype, i.tolist(), i.dtype))
        return g * 2

    x = leaf(2)
    y, sign, whole = function(forward, backward)(x)
    for constant in (sign, whole):
        assert not constant.requires_grad
        assert constant.grad_fn is None
    y.sum().backward()
    assert seen == [[0, 0], vt.float64, [0, 0], vt.int64]
    assert grad_list(x) == [2, 2]


def test_an_argument_that_is_not_differentiable_comes_back_detached() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_non_differentiable(x)
        return x

    b = leaf(2).clone()
    y = function(forward)(b)
    assert y is not b
    assert not y.requires_grad
    assert not y._is_view()
    assert y.data_ptr() == b.data_ptr()
    assert fn_name(b) == "CloneBackward0"


def test_only_tensors_are_marked() -> None:
    def dirty(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(3)
        return x * 2

    def constant(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_non_differentiable(3)
        return x * 2

    def materialize(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.set_materialize_grads(3)
        return x * 2

    b = leaf(2).clone()
    with refused(RuntimeError, "function", [b]):
        function(dirty)(b)
    with refused(RuntimeError, "function", [b]):
        function(constant)(b)
    with refused(TypeError, "argument-type", [b]):
        function(materialize)(b)


@pytest.mark.parametrize("materialize", [True, False])
def test_gradients_that_did_not_arrive(materialize: bool) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> Any:
        ctx.set_materialize_grads(materialize)
        return x * 2, "no tensor", x * 3

    def backward(ctx: Any, *gradients: Any) -> Any:
        seen.extend(None if g is None else g.tolist() for g in gradients)
        return gradients[0] * 2

    x = leaf(2)
    y, _, _ = function(forward, backward)(x)
    y.sum().backward()
    assert seen == [[1, 1], None, [0, 0] if materialize else None]


@pytest.mark.parametrize("materialize", [True, False])
def test_a_node_that_gets_no_gradient_at_all_runs(materialize: bool) -> None:
    seen: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.set_materialize_grads(materialize)
        return x * 2

    def backward(ctx: Any, gradient: Any) -> Any:
        seen.append(None if gradient is None else gradient.tolist())
        return gradient

    x = leaf(2)
    stop = function(lambda ctx, x: x * 1, lambda ctx, g: None)
    stop(function(forward, backward)(x)).sum().backward()
    assert seen == [[0, 0] if materialize else None]
    assert x.grad is None if not materialize else grad_list(x) == [0, 0]


@differs_from_torch("a second call replaces the first there, silently")
def test_marks_of_several_calls_add_up() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> Any:
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(a)
        ctx.mark_non_differentiable(b)
        return a, b, x * 4

    a, b, c = function(forward, lambda ctx, g, h, i: i)(leaf(2))
    assert (a.requires_grad, b.requires_grad, c.requires_grad) == (False, False, True)


def test_needs_of_arguments_are_those_of_forward() -> None:
    seen: list[Any] = []

    def backward(ctx: Any, gradient: vt.Tensor) -> Any:
        seen.append(ctx.needs_input_grad)
        return gradient, gradient, None

    a, b = leaf(2), leaf(2)
    y = function(lambda ctx, a, b, n: a * b, backward)(a, b, 3)
    vt.autograd.grad(y.sum(), a)
    assert seen == [(True, True, False)]

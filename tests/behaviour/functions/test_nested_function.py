"""Functions whose arguments and results are tensors inside containers."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.functions import once_differentiable
from tests.support import differs_from_torch, fn_name, grad_list, gradients, leaf, ramp, refused, vt

NestedIOFunction = vt.autograd.function.NestedIOFunction

NESTED = differs_from_torch("these methods fail there when apply is called")


class Pair(NamedTuple):
    """Two tensors."""

    first: Any
    second: Any


class Mix(NestedIOFunction):
    """Takes a pair and a dict, returns a dict with a list and a number."""

    @staticmethod
    def forward_extended(ctx: Any, pair: Any, options: Any) -> Any:
        a, b = pair
        ctx.save_for_backward([a], {"b": b}, None)
        ctx.kind = type(pair)
        return {"both": [a * b, a + options["shift"]], "factor": 3}

    @staticmethod
    def backward_extended(ctx: Any, grads: Any) -> Any:
        [a], named, nothing = ctx.saved_tensors
        assert nothing is None
        assert grads["factor"] is None
        of_product, of_sum = grads["both"]
        to_a, to_b = of_product * named["b"] + of_sum, of_product * a
        answer = Pair(to_a, to_b) if ctx.kind is Pair else [to_a, to_b]
        return answer, {"shift": of_sum} if ctx.needs_input_grad[2:] else None


def made(forward: Any, backward: Any = None) -> Any:
    """Give a Function of these nested methods."""
    methods = {"forward_extended": staticmethod(forward)}
    if backward is not None:
        methods["backward_extended"] = staticmethod(backward)
    return type("Fn", (NestedIOFunction,), methods)


def test_it_may_be_a_plain_function() -> None:
    class Plain(NestedIOFunction):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor, n: int) -> vt.Tensor:
            ctx.save_for_backward(x)
            return x**n

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> Any:
            return g * 2 * ctx.saved_tensors[0], None

    assert vt.autograd.NestedIOFunction is NestedIOFunction
    x = leaf(2)
    y: Any = Plain.apply(x, 2)
    assert fn_name(y) == "PlainBackward"
    y.sum().backward()
    assert grad_list(x) == [2, 4]


@NESTED
@pytest.mark.parametrize("wrap", [lambda a, b: [a, b], lambda a, b: (a, b), Pair])
@pytest.mark.parametrize("tensor_shift", [False, True])
def test_gradients_of_nested_arguments(wrap: Any, tensor_shift: bool) -> None:
    a, b, shift = leaf(2), leaf(2), leaf(2)
    result: Any = Mix.apply(wrap(a, b), {"shift": shift if tensor_shift else 1.0})
    product, total = result["both"]
    assert result["factor"] == 3
    assert (product.tolist(), total.tolist()) == ([1, 4], [2, 4] if tensor_shift else [2, 3])
    assert fn_name(product) == "MixBackward"
    (product + total * 10).sum().backward()
    assert grad_list(a) == [11, 12]
    assert grad_list(b) == [1, 2]
    if tensor_shift:
        assert grad_list(shift) == [10, 10]


@NESTED
def test_second_derivatives_of_nested_arguments() -> None:
    a, b = leaf(2), leaf(2)
    result: Any = Mix.apply((a, b), {"shift": 1.0})
    (to_a,) = vt.autograd.grad((result["both"][0] ** 2).sum(), a, create_graph=True)
    assert to_a.tolist() == [2, 16]
    assert gradients(to_a.sum(), a, b) == [[2, 8], [4, 16]]


@NESTED
def test_one_tensor_in_and_out_needs_no_container() -> None:
    x = leaf(2)
    y = made(lambda ctx, x: x * 3, lambda ctx, g: g * 3).apply(x)
    y.sum().backward()
    assert grad_list(x) == [3, 3]


@NESTED
def test_a_tensor_at_two_places_gets_both_gradients() -> None:
    x = leaf(2)
    y = made(lambda ctx, xs: xs[0] * xs[1], lambda ctx, g: ([g * 2, g * 3],)).apply([x, x])
    y.sum().backward()
    assert grad_list(x) == [5, 5]


@NESTED
def test_what_is_not_in_a_plain_container_is_not_found() -> None:
    class Box(list[Any]):
        pass

    y = made(lambda ctx, xs: xs[0] * 2, lambda ctx, g: None).apply(Box([leaf(2)]))
    assert not y.requires_grad


@NESTED
def test_none_stands_for_any_part() -> None:
    x, y, z = leaf(2), leaf(2), leaf(2)
    apply = made(lambda ctx, a, b: a[0] * a[1] * b[0], lambda ctx, g: (None, [g])).apply
    apply([x, y], [z]).sum().backward()
    assert (x.grad, y.grad, grad_list(z)) == (None, None, [1, 1])
    made(lambda ctx, a: a["x"] * 2, lambda ctx, g: {"x": None}).apply({"x": x}).sum().backward()
    made(lambda ctx, a: a["x"] * 2, lambda ctx, g: {}).apply({"x": x}).sum().backward()
    assert x.grad is None


@NESTED
@pytest.mark.parametrize(
    "answer",
    [
        lambda g: [g],
        lambda g: ([g],),
        lambda g: ([g, g, g], None),
        lambda g: (g, None),
        lambda g: ([g, [g]], None),
        lambda g: ({"x": g}, None),
        lambda g: ([g, g], 3),
        lambda g: ([g, 3], None),
    ],
)
def test_gradients_that_are_nested_in_another_way_are_refused(answer: Any) -> None:
    x = leaf(2)
    y = made(lambda ctx, pair, n: pair[0] * pair[1], lambda ctx, g: answer(g)).apply([x, x], 3)
    with refused(RuntimeError, "gradient", [x, y]):
        y.sum().backward()


@NESTED
def test_nested_declarations() -> None:
    def forward(ctx: Any, inner: Any) -> Any:
        (b,) = inner
        ctx.mark_dirty(inner)
        sign = b.sign()
        ctx.mark_non_differentiable({"sign": sign})
        return {"written": b.mul_(2), "sign": sign}

    x = leaf(2)
    b = x.clone()
    result = made(forward, lambda ctx, g: [g["written"] * 2]).apply([b])
    assert result["written"] is b
    assert not result["sign"].requires_grad
    b.sum().backward()
    assert grad_list(x) == [2, 2]


@NESTED
def test_values_that_were_overwritten_are_found_beforehand() -> None:
    a, b = leaf(2).clone(), leaf(2)
    log: list[Any] = []
    result: Any = Mix.apply([a, b], {"shift": 1.0})
    root = (result["both"][0] * 2).sum()
    root.register_hook(log.append)
    a.mul_(2)
    with refused(RuntimeError, "stale-saved", [a, b]):
        root.backward()
    assert log == []


@NESTED
def test_missing_methods_and_names() -> None:
    x = leaf(2)
    with refused(NotImplementedError, "missing-method", [x]):
        NestedIOFunction.apply([x])
    y = made(lambda ctx, xs: xs[0] * 2).apply([x])
    with refused(NotImplementedError, "missing-method", [x]):
        y.sum().backward()
    with refused(TypeError, "argument-type", [x]):
        Mix.apply([x, x], options={"shift": 1.0})


@NESTED
def test_gradients_of_nested_arguments_that_are_no_constants() -> None:
    """What is computed without recording has no derivative, also inside containers."""
    backward = once_differentiable(lambda ctx, g: {"x": g["y"] * 6 * ctx.saved_tensors[0]})

    def forward(ctx: Any, given: Any) -> Any:
        ctx.save_for_backward(given["x"])
        return {"y": given["x"] ** 2 * 3}

    x = leaf(2)
    y = made(forward, backward).apply({"x": x})["y"]
    (first,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert first.tolist() == [6, 12]
    with refused(RuntimeError, "no-derivative", [x]):
        (first.sum() + x.sum()).backward()


@NESTED
def test_the_contents_of_containers_are_not_changed() -> None:
    given = [leaf(2), {"n": ramp(1)}]
    made(lambda ctx, xs: xs[0] * xs[1]["n"], lambda ctx, g: None).apply(given)
    assert isinstance(given[1], dict)
    assert list(given[1]) == ["n"]

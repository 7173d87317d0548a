"""A backward that is not recorded: whatever it computed has no derivative, and says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.functions import Function, function, once_differentiable
from tests.support import differs_from_torch, fn_name, grad_list, leaf, ramp, refused, vt

PYTORCH_DROPS_IT = differs_from_torch("the term is missing there, silently")


def once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function, also a lambda, whose parameters have no types."""
    return once_differentiable(backward)


def cube(ctx: Any, t: vt.Tensor) -> vt.Tensor:
    """Forward of x cubed."""
    ctx.save_for_backward(t)
    return t**3


@once_differentiable
def of_cube(ctx: Any, g: vt.Tensor) -> vt.Tensor:
    """Backward of x cubed."""
    assert not vt.is_grad_enabled()
    product: vt.Tensor = g * 3 * ctx.saved_tensors[0] ** 2
    return product


def first_derivative(apply: Any, x: vt.Tensor, *rest: Any) -> vt.Tensor:
    """Give the recorded first derivative of the Function's sum."""
    (first,) = vt.autograd.grad(apply(x, *rest).sum(), x, create_graph=True)
    return first


@PYTORCH_DROPS_IT
def test_no_term_of_a_second_derivative_is_dropped() -> None:
    """PyTorch gives 2 here, where 8 and 14 are true."""
    x = leaf(2)
    y = function(cube, of_cube)(x).sum() + (x**2).sum()
    (first,) = vt.autograd.grad(y, x, create_graph=True)
    assert first.tolist() == [5, 16]
    with refused(RuntimeError, "no-derivative", [x]):
        vt.autograd.grad(first.sum(), x)


@PYTORCH_DROPS_IT
def test_the_derivative_by_a_saved_tensor_that_is_no_argument_is_not_dropped() -> None:
    weight = leaf(2)

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(weight)
        return x * weight

    apply = function(forward, once(lambda ctx, g: g * ctx.saved_tensors[0]))
    first = first_derivative(apply, leaf(2))
    with refused(RuntimeError, "no-derivative", [weight]):
        vt.autograd.grad(first.sum() + weight.sum(), weight)


@PYTORCH_DROPS_IT
@pytest.mark.parametrize("wrap", [lambda w: w, lambda w: [w], lambda w: {"w": w}])
def test_the_derivative_by_an_attribute_is_not_dropped(wrap: Any) -> None:
    weight = leaf(2)

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.kept = wrap(weight)
        return x * weight

    apply = function(forward, once(lambda ctx, g: g * weight))
    first = first_derivative(apply, leaf(2))
    with refused(RuntimeError, "no-derivative", [weight]):
        vt.autograd.grad(first.sum() + weight.sum(), weight)


def test_an_attribute_may_contain_itself() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.notes = {"x": x}
        ctx.notes["notes"] = [ctx.notes]
        return x * 2

    first = first_derivative(function(forward, once(lambda ctx, g: g * 2)), leaf(2))
    assert first.tolist() == [2, 2]


def test_an_attribute_that_is_an_invalid_view_does_not_matter() -> None:
    def forward(ctx: Any, x: vt.Tensor, row: vt.Tensor) -> vt.Tensor:
        ctx.row = row
        return x * 2

    base = leaf(2, 2).clone()
    rows = base.unbind()
    x = leaf(2)
    apply = function(forward, once(lambda ctx, g: (g * 2, None)))
    y = apply(x, rows[0])
    base.mul_(2)
    (first,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    assert first.tolist() == [2, 2]


@PYTORCH_DROPS_IT
def test_gradients_in_one_list_are_looked_at() -> None:
    methods = {
        "forward": staticmethod(lambda ctx, x: x * 2),
        "backward": staticmethod(once(lambda ctx, grads: grads[0] * 2)),
        "boxed_grads_call": True,
    }
    boxed: Any = type("Fn", (Function,), methods)
    x = leaf(2)
    weight = leaf(2)
    (first,) = vt.autograd.grad(boxed.apply(x), x, weight, create_graph=True)
    assert first.tolist() == [2, 4]
    assert fn_name(first) == "Error"
    with refused(RuntimeError, "no-derivative", [x, weight]):
        vt.autograd.grad(first.sum(), weight)


def test_saved_tensors_that_reading_frees() -> None:
    methods = {
        "forward": staticmethod(cube),
        "backward": staticmethod(of_cube),
        "clear_saved_tensors_on_access": True,
    }
    made: Any = type("Fn", (Function,), methods)
    assert first_derivative(made.apply, leaf(2)).tolist() == [3, 12]


@pytest.mark.parametrize("dtype", [vt.int64, vt.bool])
def test_gradients_of_integers(dtype: Any) -> None:
    apply = function(lambda ctx, x: x * 1, once(lambda ctx, g: g.to(dtype)))
    first = first_derivative(apply, leaf(2))
    assert first.dtype == vt.float64
    assert first.tolist() == [1, 1]


def test_none_stays_none() -> None:
    x = leaf(2)
    y = function(lambda ctx, x: x * 1, once(lambda ctx, g: None))(x)
    assert vt.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True) == (None,)


def test_the_decorated_function_keeps_its_name_and_returns_what_it_did() -> None:
    assert of_cube.__name__ == "of_cube"
    seen: list[Any] = []

    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        seen.append(vt.is_grad_enabled())
        return g * 2, None

    x = leaf(2)
    function(lambda ctx, x, n: x * 2, backward)(x, 3).backward(ramp(2))
    assert grad_list(x) == [2, 4]
    assert seen == [False]


def test_an_error_in_backward_turns_recording_on_again() -> None:
    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        raise ValueError("from backward")

    x = leaf(2)
    y = function(lambda ctx, x: x * 2, backward)(x)
    with pytest.raises(ValueError, match="from backward"):
        vt.autograd.grad(y.sum(), x, create_graph=True)
    assert vt.is_grad_enabled()

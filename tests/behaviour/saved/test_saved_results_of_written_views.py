"""Second derivatives through an operator that wrote a view and saved what it wrote.

What breaks it: a saved result with another producer than the view that shows it. Then the gradient
by the view, its hooks and its retained gradient miss what goes through the saved result.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import collector_off, differs_from_torch, fn_name, grad_list, vt

Curve = Callable[[float], float]

# name: the derivative of the operator's first derivative by its result, at x.
SLOPES: dict[str, Curve] = {
    "tanh_": lambda x: -2 * math.tanh(x),
    "exp_": lambda x: 1.0,
    "sigmoid_": lambda x: 1 - 2 / (1 + math.exp(-x)),
    # y' is 1 / 2y, so that its slope by y is -1 / 2y².
    "sqrt_": lambda x: -1 / (2 * x),
    # y' is -y², and -y³ / 2.
    "reciprocal_": lambda x: -2 / x,
    "rsqrt_": lambda x: -1.5 / x,
}
every_operator = pytest.mark.parametrize("name", SLOPES)

POINTS = [0.25, 0.5, 1.0]


def points() -> vt.Tensor:
    """The leaf 1/4, 1/2, 1."""
    return vt.tensor(POINTS, dtype=vt.float64, requires_grad=True)


def close(*values: float) -> object:
    """These numbers, but for rounding."""
    return pytest.approx(list(values), rel=1e-12)


def first_derivative(b: vt.Tensor, a: vt.Tensor) -> vt.Tensor:
    """The gradient of the sum of `b`, recorded, as one number."""
    (g,) = vt.autograd.grad(b.sum(), a, create_graph=True)
    return g.sum()


@every_operator
def test_the_gradient_by_the_view_has_what_goes_through_the_saved_result(name: str) -> None:
    a = points()
    b = a.clone()
    v = b[:2]
    getattr(v, name)()
    (by_v,) = vt.autograd.grad(first_derivative(b, a), v)
    assert by_v.tolist() == close(SLOPES[name](0.25), SLOPES[name](0.5))


@every_operator
def test_a_hook_on_the_view_sees_it_and_may_change_it(name: str) -> None:
    a = points()
    b = a.clone()
    v = b[:2]
    getattr(v, name)()
    g = first_derivative(b, a)
    (before,) = vt.autograd.grad(g, a, retain_graph=True)
    log: list[Any] = []

    def tripled(gradient: vt.Tensor) -> vt.Tensor:
        log.append(gradient.tolist())
        return gradient * 3

    v.register_hook(tripled)
    (after,) = vt.autograd.grad(g, a)
    assert log == [close(SLOPES[name](0.25), SLOPES[name](0.5))]
    assert vt.allclose(after, before * 3)


@every_operator
@pytest.mark.parametrize("when", ["before the write", "after the write", "after the first pass"])
def test_the_view_retains_it(name: str, when: str) -> None:
    a = points()
    b = a.clone()
    v = b[:2]
    if when == "before the write":
        v.retain_grad()
    getattr(v, name)()
    if when == "after the write":
        v.retain_grad()
    g = first_derivative(b, a)
    if when == "after the first pass":
        v.retain_grad()
    elif v.grad is not None:
        v.grad = None
    g.backward()
    assert grad_list(v) == close(SLOPES[name](0.25), SLOPES[name](0.5))


def test_both_ways_to_the_view_arrive_together() -> None:
    # b = [y0, y1, x2] with y = tanh(x), and the sum of b and of v² has the slope
    # (1 + 2y)(1 - y²), whose own slope by y is 2(1 - y²) - 2y(1 + 2y).
    a = points()
    b = a.clone()
    v = b[:2]
    v.tanh_()
    total = b.sum() + (v * v).sum()
    (g,) = vt.autograd.grad(total, a, create_graph=True)
    (by_v,) = vt.autograd.grad(g.sum(), v)
    y = [math.tanh(0.25), math.tanh(0.5)]
    assert by_v.tolist() == close(*[2 * (1 - n * n) - 2 * n * (1 + 2 * n) for n in y])


def test_a_hook_on_the_view_stays_when_only_what_was_computed_with_it_lives() -> None:
    a = points()
    b = a.clone()
    v = b[:2]
    v.tanh_()
    log: list[Any] = []
    v.register_hook(lambda gradient: log.append(gradient.tolist()))
    total = b.sum() + (v * v).sum()
    del v
    (g,) = vt.autograd.grad(total, a, create_graph=True)
    log.clear()
    g.sum().backward()
    y = [math.tanh(0.25), math.tanh(0.5)]
    assert log == [close(*[2 * (1 - n * n) - 2 * n * (1 + 2 * n) for n in y])]


def test_a_view_with_the_same_elements_has_a_producer_of_its_own() -> None:
    a = points()
    b = a.clone()
    v, sister = b[:2], b[:2]
    v.tanh_()
    g = first_derivative(b, a)
    assert v.grad_fn is not sister.grad_fn
    assert vt.autograd.grad(g, sister, allow_unused=True) == (None,)


def test_a_view_that_is_made_again_by_its_function_is_the_same() -> None:
    a = points()
    z = vt.complex(a, a * 2)
    v = z.real[:2]
    v.tanh_()
    (g,) = vt.autograd.grad(vt.view_as_real(z).sum(), a, create_graph=True)
    (by_v,) = vt.autograd.grad(g.sum(), v)
    assert by_v.tolist() == close(SLOPES["tanh_"](0.25), SLOPES["tanh_"](0.5))


def test_the_producer_looks_like_that_of_any_other_view() -> None:
    b = points().clone()
    v, plain = b[:2], b[1:]
    plain.mul_(2)
    v.tanh_()
    assert fn_name(v) == fn_name(plain) == "AsStridedBackward0"
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    assert v.grad_fn is v.grad_fn
    saved: Any = v.grad_fn
    assert tuple(saved._saved_size) == (2,)
    assert saved.next_functions == ((b.grad_fn, 0),)


@pytest.mark.parametrize("ask", ["before", "after", "never"])
def test_nothing_is_left_to_the_collector(ask: str) -> None:
    with collector_off():
        a = points()
        b = a.clone()
        v = b[:2]
        v.tanh_()
        if ask == "before":
            assert v.grad_fn is not None
        g = first_derivative(b, a)
        if ask == "after":
            assert v.grad_fn is not None
        g.backward()
        del b, v, g
        a.grad = None
        assert gc.collect() == 0


@pytest.mark.parametrize(
    "through_a_view",
    [False, pytest.param(True, marks=differs_from_torch("there the view is not reached"))],
)
def test_a_custom_function_that_saves_what_it_wrote(through_a_view: bool) -> None:
    class Exp(vt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx: Any, gradient: vt.Tensor) -> vt.Tensor:
            y: vt.Tensor = ctx.saved_tensors[0]
            return gradient * y

    a = points()
    b = a.clone()
    v = b[:2] if through_a_view else b
    Exp.apply(v)
    (by_v,) = vt.autograd.grad(first_derivative(b, a), v)
    assert by_v.tolist() == close(*[1.0] * v.numel())

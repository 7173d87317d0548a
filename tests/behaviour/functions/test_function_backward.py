"""Backward of a custom Function: what it returns, what it may do, and who watches."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.functions import Function, function, once_differentiable, triple_
from tests.support import (
    ON_TORCH,
    differs_from_torch,
    fn_name,
    grad_list,
    gradients,
    leaf,
    needs_global_lock,
    node_of,
    ramp,
    recorded,
    refused,
    vt,
)


def answering(backward: Callable[..., Any], *arguments: Any) -> None:
    """Run backward of a Function of these arguments that multiplies the tensors among them."""

    def forward(ctx: Any, *given: Any) -> vt.Tensor:
        product = vt.ones(2, dtype=vt.float64)
        for x in given:
            product = product * x
        return product

    function(forward, backward)(*arguments).sum().backward()


def test_none_and_surplus_nones_are_accepted() -> None:
    x, y = leaf(2), leaf(2)
    answering(lambda ctx, g: (None, g), x, y)
    assert x.grad is None
    assert grad_list(y) == [1, 1]
    answering(lambda ctx, g: None, x)
    answering(lambda ctx, g: (g, None, None), x)
    assert grad_list(x) == [1, 1]


def test_an_input_that_is_given_none_counts_as_unused() -> None:
    x = leaf(2)
    root = function(lambda ctx, x: x * 2, lambda ctx, g: None)(x).sum()
    with refused(RuntimeError, "unused-input", [x, root]):
        vt.autograd.grad(root, x, retain_graph=True)
    assert vt.autograd.grad(root, x, retain_graph=True, allow_unused=True) == (None,)
    (zeros,) = vt.autograd.grad(root, x, materialize_grads=True)
    assert zeros.tolist() == [0, 0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda g: (),
        lambda g: (g, g),
        lambda g: 3.0,
        lambda g: [g],
        lambda g: "gradient",
        lambda g: g.numpy(),
        lambda g: vt.ones(3, dtype=vt.float64),
        lambda g: vt.ones(1, dtype=vt.float64),
        lambda g: vt.tensor(1.0),
        lambda g: vt.ones(2, dtype=vt.complex128),
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_is_no_gradient_of_the_argument_is_refused(answer: Any, create_graph: bool) -> None:
    x = leaf(2)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: answer(g.detach()))(x)
    with refused(RuntimeError, "gradient", [x, y]):
        vt.autograd.grad(y.sum(), x, create_graph=create_graph)


@pytest.mark.parametrize(
    "answer", [lambda g: g, lambda g: (g, g, g, g), lambda g: (g, g, None), lambda g: (g, 1, None)]
)
def test_there_is_one_gradient_for_each_argument(answer: Any) -> None:
    x, y = leaf(2), leaf(2)
    with refused(RuntimeError, "gradient", [x, y]):
        answering(lambda ctx, g: answer(g), x, 3, y)
    answering(lambda ctx, g: (g, None, g * 2), x, 3, y)
    assert (grad_list(x), grad_list(y)) == ([1, 1], [2, 2])


def test_a_gradient_of_an_argument_that_needs_none_is_dropped() -> None:
    x = leaf(2)
    answering(lambda ctx, g: (g, vt.ones(7)), x, ramp(2))
    assert grad_list(x) == [1, 1]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("dtype", [vt.float32, vt.int64])
def test_a_broadcast_gradient_is_summed_and_another_dtype_is_cast(
    dtype: Any, create_graph: bool
) -> None:
    x = leaf(2)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: vt.ones(3, 2, dtype=dtype))(x)
    (found,) = vt.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert found.tolist() == [3, 3]
    assert found.dtype == vt.float64


@differs_from_torch("refused there, with another error")
def test_the_gradient_for_a_written_view_must_fit_it_too() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(3)

    x = leaf(2, 3)
    b = x.clone()
    function(forward, lambda ctx, g: vt.ones(4, 3, dtype=vt.float32))(b[0])
    assert gradients(b.sum(), x) == [[[4, 4, 4], [1, 1, 1]]]


@differs_from_torch("it is broadcast there")
def test_a_gradient_for_a_written_view_that_is_too_small_is_refused() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(3)

    b = leaf(2, 3).clone()
    function(forward, lambda ctx, g: vt.ones(1, dtype=vt.float64))(b[0])
    with refused(RuntimeError, "gradient", [b]):
        b.sum().backward()


# -- writing to gradients -----------------------------------------------------------------------


@differs_from_torch("the caller's gradient is overwritten there")
@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_may_write_to_its_gradient(create_graph: bool) -> None:
    """The operands' order does not matter, and the user's own gradient stays what it was."""
    spoil = function(lambda ctx, x: x * 1, lambda ctx, g: g.mul_(10))
    for order in ((0, 1), (1, 0)):
        x, y = leaf(2), leaf(2)
        terms = [spoil(x), y * 1]
        given = ramp(2)
        root = terms[order[0]] + terms[order[1]]
        found = vt.autograd.grad(root, [x, y], given, create_graph=create_graph)
        assert [g.tolist() for g in found] == [[10, 20], [1, 2]]
        assert given.tolist() == [1, 2]
        assert given._version == 0


@differs_from_torch("each spoils the others' gradients there")
def test_two_readers_of_one_value_write_to_their_gradients() -> None:
    spoil = function(lambda ctx, x: x * 1, lambda ctx, g: g.zero_())
    double = function(lambda ctx, x: x * 1, lambda ctx, g: g.mul_(2))
    x = leaf(2)
    y = x * 1
    (double(y) + spoil(y) + double(y)).backward(ramp(2))
    assert grad_list(x) == [4, 8]


@differs_from_torch("the same memory is handed to all of them there")
def test_several_results_have_gradients_of_their_own() -> None:
    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor) -> Any:
        g.zero_()
        return h.mul_(2)

    x, y = leaf(2), leaf(2)
    a, b = function(lambda ctx, x: (x * 1, x * 1), backward)(x)
    (a + b + y).backward(ramp(2))
    assert grad_list(x) == [2, 4]
    assert grad_list(y) == [1, 2]


def test_what_backward_returns_may_be_written_later() -> None:
    kept: list[vt.Tensor] = []

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        answer = g * 2
        kept.append(answer)
        return answer, answer

    x, y = leaf(2), leaf(2)
    function(lambda ctx, x, y: x + y, backward)(x, y).sum().backward()
    kept[0].zero_()
    assert (grad_list(x), grad_list(y)) == ([2, 2], [2, 2])
    assert x.grad is not None
    assert y.grad is not None
    assert x.grad.data_ptr() != y.grad.data_ptr()


def test_what_backward_returns_may_be_saved_values() -> None:
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(2)
    apply = function(forward, lambda ctx, g: ctx.saved_tensors[0])
    apply(x).sum().backward()
    apply(x).sum().backward()
    assert x.tolist() == [1, 2]
    assert grad_list(x) == [2, 4]


# -- recording backward -------------------------------------------------------------------------


def test_backward_records_only_with_create_graph() -> None:
    seen: list[bool] = []

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        seen.extend((vt.is_grad_enabled(), g.requires_grad))
        return g * 2

    x = leaf(2)
    y = function(lambda ctx, x: x * 2, backward)(x)
    weight = vt.ones(2, dtype=vt.float64).requires_grad_()
    vt.autograd.grad(y, x, weight, retain_graph=True)
    (first,) = vt.autograd.grad(y, x, weight, create_graph=True)
    assert seen[::2] == [False, True]
    assert seen[3]
    assert gradients(first.sum(), weight) == [[2, 2]]


class Cube(Function):
    """x cubed, whose derivative is another Function."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        (x,) = ctx.saved_tensors
        return ThreeSquares.apply(x) * g


class ThreeSquares(Function):
    """Three times x squared."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return 3 * x * x

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> Any:
        return g * 6 * ctx.saved_tensors[0]


def test_third_derivatives_through_functions_in_backward() -> None:
    x = leaf(2)
    (first,) = vt.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (second,) = vt.autograd.grad(first.sum(), x, create_graph=True)
    assert (first.tolist(), second.tolist()) == ([3, 12], [6, 12])
    assert gradients(second.sum(), x) == [[6, 6]]


class Square(Function):
    """x squared, whose backward is not to be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, n: int) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: vt.Tensor) -> tuple[vt.Tensor, None]:
        assert not vt.is_grad_enabled()
        return 2 * ctx.saved_tensors[0] * g, None


def test_once_differentiable_gives_first_derivatives() -> None:
    x = leaf(2)
    Square.apply(x, 1).sum().backward()
    assert grad_list(x) == [2, 4]
    (first,) = vt.autograd.grad(Square.apply(x, 1).sum(), x, create_graph=True)
    assert first.tolist() == [2, 4]


def test_once_differentiable_refuses_a_second_derivative() -> None:
    x = leaf(2)
    weight = vt.ones(2, dtype=vt.float64).requires_grad_()
    (first,) = vt.autograd.grad(Square.apply(x, 1), x, weight, create_graph=True)
    assert fn_name(first) == "Error"
    with refused(RuntimeError, "no-derivative", [x, weight]):
        first.sum().backward()


@differs_from_torch("the second derivative is wrong there: 2 x instead of 6 x")
def test_once_differentiable_refuses_instead_of_dropping_a_term() -> None:
    x = leaf(2)
    (first,) = vt.autograd.grad((Square.apply(x, 1) * x).sum(), x, create_graph=True)
    assert first.tolist() == [3, 12]
    with refused(RuntimeError, "no-derivative", [x]):
        vt.autograd.grad(first.sum(), x)
    (first,) = vt.autograd.grad(Square.apply(x, 1).sum() + (x**3).sum(), x, create_graph=True)
    with refused(RuntimeError, "no-derivative", [x]):
        vt.autograd.grad(first.sum(), x)


# -- who watches --------------------------------------------------------------------------------


def test_hooks_of_the_node_run_before_and_after() -> None:
    log: list[Any] = []

    def backward(ctx: Any, g: vt.Tensor, h: Any) -> Any:
        log.append("backward")
        return g * 2, None, None

    x = leaf(2)
    y, _ = function(lambda ctx, x, n, c: (x * 2, 5), backward)(x, 3, ramp(2))
    node = node_of(y)

    def shown(gradients: Any) -> list[Any]:
        return [None if g is None else g.tolist() for g in gradients]

    def before(incoming: tuple[vt.Tensor | None, ...]) -> None:
        log.append(shown(incoming))

    def after(
        outgoing: tuple[vt.Tensor | None, ...], incoming: tuple[vt.Tensor | None, ...]
    ) -> None:
        log.append((shown(outgoing), shown(incoming)))

    node.register_prehook(before)
    node.register_hook(after)
    y.sum().backward()
    assert log == [[[1, 1], None], "backward", ([[2, 2], None], [[1, 1], None])]


def test_hooks_replace_what_backward_gets_and_what_it_returned() -> None:
    x = leaf(2)
    y = function(lambda ctx, x: x * 2)(x)

    def tenfold(incoming: tuple[vt.Tensor, ...]) -> tuple[vt.Tensor, ...]:
        return (incoming[0] * 10,)

    node_of(y).register_prehook(tenfold)
    node_of(y).register_hook(lambda new, old: (new[0] + old[0],))
    y.sum().backward()
    assert grad_list(x) == [30, 30]


def test_a_hook_registered_inside_forward_runs() -> None:
    log: list[Any] = []

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.register_hook(lambda new, old: log.append("hook"))
        return x * 2

    function(forward)(leaf(2)).sum().backward()
    assert log == ["hook"]


def test_hooks_and_retained_gradients_of_results() -> None:
    log: list[object] = []
    x = leaf(2)
    y, z = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3)(x)
    y.register_hook(recorded(log, "y"))
    z.register_hook(recorded(log, "z"))
    z.retain_grad()
    (y * 5 + z * 7).sum().backward()
    assert log == [("y", [5, 5]), ("z", [7, 7])]
    assert grad_list(z) == [7, 7]
    assert grad_list(x) == [31, 31]


@pytest.mark.parametrize("through_view", [False, True])
def test_backward_sees_what_leaves_have_got_before_it(through_view: bool) -> None:
    """As a hook does: it is the user's code."""
    seen: list[Any] = []
    x, late = leaf(2), leaf(2)

    def forward(ctx: Any, b: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(b)
        return b.mul_(2)

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        seen.append(None if late.grad is None else late.grad.tolist())
        return g * 2

    b = x.clone()
    function(forward, backward)(b.view(-1) if through_view else b)
    (b * late).sum().backward()
    assert seen == [[2, 4]]


# -- what user code may do in there -------------------------------------------------------------


setting: contextvars.ContextVar[str] = contextvars.ContextVar("setting", default="default")


@pytest.mark.parametrize("through_view", [False, True])
def test_backward_runs_in_the_context_of_its_caller(through_view: bool) -> None:
    """Context variables are the caller's, and NumPy's error settings are among them."""
    seen: list[Any] = []

    def forward(ctx: Any, b: vt.Tensor) -> vt.Tensor:
        ctx.mark_dirty(b)
        return b.mul_(2)

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        seen.extend((setting.get(), np.geterr()["divide"]))
        setting.set("changed")
        return g * 2

    b = leaf(2).clone()
    function(forward, backward)(b.view(-1) if through_view else b)
    token = setting.set("mine")
    try:
        with np.errstate(divide="raise"):
            b.sum().backward()
        assert seen == ["mine", "raise"]
        assert setting.get() == "changed" or ON_TORCH
    finally:
        setting.reset(token)


def test_backward_may_run_another_backward() -> None:
    inner = leaf(2)

    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        with vt.enable_grad():
            (Cube.apply(inner) * g.detach()).sum().backward()
        assert inner.grad is not None
        return g * inner.grad

    x = leaf(2)
    function(lambda ctx, x: x * 2, backward)(x).sum().backward()
    assert grad_list(inner) == [3, 12]
    assert grad_list(x) == [3, 12]


@pytest.mark.parametrize("depth", [60])
def test_backward_in_backward_in_backward(depth: int) -> None:
    """Each level differentiates a Function whose backward does the same."""

    def level(n: int) -> Callable[..., Any]:
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            if n == 0:
                return g
            with vt.enable_grad():
                x = leaf(1)
                (found,) = vt.autograd.grad(level(n - 1)(x).sum(), x)
            return g * found + 1

        return function(lambda ctx, x: x * 1, backward)

    x = leaf(1)
    level(depth)(x).sum().backward()
    assert grad_list(x) == [depth + 1]


class OwnError(Exception):
    """Not one of the library's."""


def test_an_error_in_backward_comes_out_and_backward_can_be_repeated() -> None:
    fails = [True]

    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx: Any, g: vt.Tensor) -> Any:
        if fails[0]:
            raise OwnError
        return g * ctx.saved_tensors[0]

    x = leaf(2)
    y = function(forward, backward)(x)
    for create_graph in (False, True):
        with pytest.raises(OwnError):
            vt.autograd.grad(y, x, ramp(2), create_graph=create_graph)
    assert vt.is_grad_enabled()
    assert x.grad is None
    fails[0] = False
    y.backward(ramp(2))
    assert grad_list(x) == [1, 4]


@needs_global_lock
def test_threads_differentiate_functions_at_once() -> None:
    shared = leaf(50)

    def work() -> None:
        for _ in range(20):
            b = shared.clone()
            triple_(b[10:20])
            (Cube.apply(b) * 1).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    scale = np.ones(50)
    scale[10:20] = 27
    expected = 80 * scale * 3 * np.arange(1.0, 51.0) ** 2
    assert grad_list(shared) == expected.tolist()


@differs_from_torch("nodes of Functions are called by another method there")
def test_the_node_may_be_run_alone() -> None:
    y = function(lambda ctx, x: x * 2)(leaf(2))
    found: Any = node_of(y)(ramp(2))
    assert found.tolist() == [2, 4]

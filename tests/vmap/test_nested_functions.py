"""Custom Functions with a generated rule in nested calls of `vmap`, against loops.

What breaks it: a level that is passed on to the graph as one sample, and so has no gradient; sums
over the samples of another level; a write that reaches the value of the inner level only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from tests.support import node_of
from vtgrad.errors import BatchedTensorError
from vtgrad.func import grad, hessian, jacfwd, jacrev, jvp, vmap

AS = vt.tensor(np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.9]]))
BS = vt.tensor(np.array([0.5, -0.3, 1.7, 0.9]))
W = vt.tensor(np.array([0.5, -0.3, 1.7]))


class Product(vt.autograd.Function):
    """Its second gradient has the shape of the product; one result is made of one argument."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor, y: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor, vt.Tensor]:
        assert x.ndim <= 1
        double, sign = y * 2, x.sign()
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(x, y, double)
        ctx.save_for_forward(x, y)
        return x * y, double, sign

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor, h: vt.Tensor, _: object) -> tuple[vt.Tensor, vt.Tensor]:
        x, _, double = ctx.saved_tensors
        return g * double / 2, g * x + h * 2

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor, u: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor, None]:
        x, y = ctx.saved_tensors
        return t * y + x * u, u * 2, None


class Tripled(vt.autograd.Function):
    """Writes to its argument."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: vt.Tensor) -> vt.Tensor:
        return x.mul_(3)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_dirty(inputs[0])

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g * 3

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t.mul_(3)


class Row(vt.autograd.Function):
    """Returns a view."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        return x.unsqueeze(0)

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        return g.squeeze(0)

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        return t.unsqueeze(0)


def products(*pair: vt.Tensor) -> vt.Tensor:
    first, second, sign = Product.apply(*pair)
    return (first.sin() * second + sign).sum()


Programs = Callable[[vt.Tensor, vt.Tensor, vt.Tensor], vt.Tensor]
PROGRAMS: dict[str, Programs] = {
    "both levels": lambda a, b, w: products(a, b) + products(a * b, w),
    "the outer level": lambda a, b, w: products(a, w) * b,
    "the inner level": lambda a, b, w: products(w, b) * a.sum(),
    "no level": lambda a, b, w: products(w, w[0]) * b * a.sum(),
    "a write": lambda a, b, w: (Tripled.apply(a * b) * w).cos().sum(),
    "a write of a part": lambda a, b, w: _tripled_part(a * b * w),
    "a view": lambda a, b, w: (Row.apply(a * b)[0] * w).sin().sum(),
}


def _tripled_part(x: vt.Tensor) -> vt.Tensor:
    y = x.clone()
    Tripled.apply(y[1:])
    return (y * x).sum()


def nested(program: Programs) -> Programs:
    return lambda xs, bs, w: vmap(lambda a: vmap(lambda b: program(a, b, w))(bs))(xs)


def looped(program: Programs) -> Programs:
    return lambda xs, bs, w: vt.stack([vt.stack([program(a, b, w) for b in bs]) for a in xs])


def check(found: object, expected: object) -> None:
    assert isinstance(found, vt.Tensor)
    assert isinstance(expected, vt.Tensor)
    np.testing.assert_allclose(found.numpy(force=True), expected.numpy(force=True), atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_are_those_of_loops(name: str) -> None:
    whole, loop = nested(PROGRAMS[name]), looped(PROGRAMS[name])
    args = (AS, BS, W)
    check(whole(*args), loop(*args))
    for nr in range(3):
        check(jacrev(whole, nr)(*args), jacrev(loop, nr)(*args))
        check(jacfwd(whole, nr)(*args), jacfwd(loop, nr)(*args))
        check(
            grad(lambda *x: whole(*x).sin().sum(), nr)(*args),
            grad(lambda *x: loop(*x).sin().sum(), nr)(*args),
        )
    t = (AS.flip(0), BS.flip(0), W.flip(0))
    for f, g in (
        (whole, loop),
        (grad(lambda *x: whole(*x).sum()), grad(lambda *x: loop(*x).sum())),
    ):
        check(jvp(f, args, t)[1], jvp(g, args, t)[1])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("transform", [grad, hessian])
def test_derivatives_for_each_sample(name: str, transform: Any) -> None:
    program = PROGRAMS[name]
    for nr in range(3):
        # Inside of both levels, and between the two.
        check(nested(transform(program, nr))(AS, BS, W), looped(transform(program, nr))(AS, BS, W))

    def between(a: vt.Tensor) -> vt.Tensor:
        found = transform(lambda a: vmap(lambda b: program(a, b, W))(BS).sum())(a)
        assert isinstance(found, vt.Tensor)
        return found

    check(vmap(between)(AS), vt.stack([between(a) for a in AS]))


def test_an_argument_of_both_levels_is_written() -> None:
    xs = vt.ones(2, 4, 3)
    y = vmap(vmap(Tripled.apply))(xs)
    assert y is xs
    assert xs.tolist() == (vt.ones(2, 4, 3) * 3).tolist()
    assert xs._version > 0


def test_three_levels() -> None:
    def program(a: vt.Tensor, b: vt.Tensor, c: vt.Tensor) -> vt.Tensor:
        return products(a * c, b) + Tripled.apply(a * b)[0]

    def inner(a: vt.Tensor, bs: vt.Tensor, c: vt.Tensor) -> vt.Tensor:
        return vmap(lambda b: program(a, b, c), chunk_size=3)(bs)

    def whole(xs: vt.Tensor, bs: vt.Tensor, cs: vt.Tensor) -> vt.Tensor:
        return vmap(lambda c: vmap(lambda a: inner(a, bs, c))(xs))(cs)

    def row(a: vt.Tensor, bs: vt.Tensor, c: vt.Tensor) -> vt.Tensor:
        return vt.stack([program(a, b, c) for b in bs])

    def loop(xs: vt.Tensor, bs: vt.Tensor, cs: vt.Tensor) -> vt.Tensor:
        return vt.stack([vt.stack([row(a, bs, c) for a in xs]) for c in cs])

    args = (AS, BS, vt.tensor([1.0, -0.5], dtype=vt.float64))
    check(whole(*args), loop(*args))
    for nr in range(3):
        check(jacrev(whole, nr)(*args), jacrev(loop, nr)(*args))
        check(jacfwd(whole, nr)(*args), jacfwd(loop, nr)(*args))


# -- what a Function captures ---------------------------------------------------------------------


class Kept(vt.autograd.Function):
    """Keeps its argument as an attribute, which nothing turns into a value."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
        ctx.x = x
        return x * x

    @staticmethod
    def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = g * 2 * ctx.x
        return found

    @staticmethod
    def jvp(ctx: Any, t: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = t * 2 * ctx.x
        return found


def kept(x: vt.Tensor) -> vt.Tensor:
    found: vt.Tensor = Kept.apply(x)
    return found.sum()


def test_a_sample_that_is_no_saved_tensor_is_that_of_the_call_while_its_vmap_runs() -> None:
    check(vmap(grad(kept))(AS), AS * 2)
    check(vmap(jacrev(lambda x: kept(x)[None]))(AS)[:, 0], AS * 2)
    check(vmap(lambda x: jvp(kept, (x,), (W,))[1])(AS), (AS * 2 * W).sum(1))
    check(vmap(lambda a: vmap(lambda b: grad(kept)(a * b))(BS))(AS), nested_twice())
    late: list[Callable[[], object]] = [
        lambda: grad(lambda xs: vmap(kept)(xs).sum())(AS),
        lambda: vmap(grad(lambda a: vmap(lambda b: kept(a * b))(BS).sum()))(AS),
    ]
    for call in late:
        with pytest.raises(BatchedTensorError, match="after its vmap had returned"):
            call()


def nested_twice() -> vt.Tensor:
    return AS[:, None] * BS[None, :, None] * 2


def capturing(a: vt.Tensor, *, forward: bool) -> Callable[[vt.Tensor], vt.Tensor]:
    class Capturing(Kept):
        @staticmethod
        def forward(ctx: Any, x: vt.Tensor) -> vt.Tensor:
            return x * a if forward else x * 2

        @staticmethod
        def backward(ctx: Any, g: vt.Tensor) -> vt.Tensor:
            return g * a

    def call(x: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = Capturing.apply(x)
        return found.sum()

    return call


@pytest.mark.parametrize("forward", [True, False])
def test_a_captured_sample_beside_arguments_without_samples_is_refused(forward: bool) -> None:
    def inside(a: vt.Tensor) -> Any:
        return grad(capturing(a, forward=forward))(W)

    def between(a: vt.Tensor) -> Any:
        return grad(lambda w: vmap(capturing(a[0], forward=forward))(w[None]).sum())(W)

    def recorded(a: vt.Tensor) -> Any:
        return grad(lambda w: grad(capturing(a, forward=forward))(w).sum())(W)

    for function in (inside, between, recorded):
        with pytest.raises(BatchedTensorError, match="as an argument"):
            vmap(function)(AS)
    # Beside arguments with these samples it is one of them.
    found = vmap(lambda a: grad(capturing(a, forward=forward))(a.detach()))(AS)
    check(found, AS)


HOOKS: dict[str, Callable[[vt.Tensor, vt.Tensor], object]] = {
    "tensor": lambda y, a: y.register_hook(lambda g: g * a),
    "node": lambda y, a: node_of(y).register_hook(lambda gi, go: (gi[0] * a, gi[1])),
    "node before": lambda y, a: node_of(y).register_prehook(lambda go: (go[0] * a,)),
}


def hooked(a: vt.Tensor, w: vt.Tensor, kind: str = "tensor") -> vt.Tensor:
    y = w * 3
    HOOKS[kind](y, a)
    return y.sum()


@pytest.mark.parametrize("kind", HOOKS)
def test_a_sample_that_a_hook_captures_is_refused_where_gradients_have_no_samples(
    kind: str,
) -> None:
    with pytest.raises(BatchedTensorError):
        vmap(lambda a: grad(lambda w: hooked(a, w, kind))(W))(AS)


def test_a_sample_that_a_hook_captures_meets_gradients_of_samples() -> None:
    check(vmap(lambda a: grad(lambda w: hooked(a, w * a))(W))(AS), AS * AS * 3)


def test_gradients_for_each_sample_do_not_fit_into_one_grad() -> None:
    def given(x: vt.Tensor, a: vt.Tensor) -> None:
        (x * x).backward(a)

    for run in (given, lambda x, a: hooked(a, x).backward()):
        x = W.clone().requires_grad_()
        with pytest.raises(BatchedTensorError):
            vmap(lambda a, run=run, x=x: (run(x, a), a)[1])(AS)
        assert x.grad is None

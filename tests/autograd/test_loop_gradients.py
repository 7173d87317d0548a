"""`checkpoint_loop`: the results and gradients of a plain loop."""

from __future__ import annotations

import threading
import weakref
from functools import cache
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.autograd.loops import (
    Counted,
    Step,
    assert_as_plain,
    bits,
    moved_grad,
    plain_loop,
)
from tests.functions import function
from tests.support import collector_off, leaf, needs_global_lock, ramp, vt

checkpoint_loop = vt.utils.checkpoint.checkpoint_loop

RNG = np.random.default_rng(20)


def drawn(*shape: int) -> vt.Tensor:
    return vt.tensor(RNG.normal(size=shape) * 0.7, dtype=vt.float64).requires_grad_()


W, B, F = drawn(4, 4), drawn(4), drawn(12, 4)
LEAVES = (W, B, F)


def in_place(state: Any) -> Any:
    u, v, t = state
    u[1:] += 0.1 * v[:-1]
    v *= B
    v -= u
    u[:2].mul_(W[1, :2])
    return u, v + F[t], t + 1


def new_tensors(state: Any) -> Any:
    u, v, t = state
    a = (u @ W).tanh()
    return a * B + v, a * a + F[t] * u[0], t + 1


def ignores_the_state(state: Any) -> Any:
    return B.exp(), W[0] * 2, state[2]


def swaps(state: Any) -> Any:
    return state[1], state[0] * B, state[2]


def same_tensor_twice(state: Any) -> Any:
    u = state[0] * W[0] + state[1]
    return u, u, state[2]


def returns_a_view(state: Any) -> Any:
    wide = vt.cat([state[0] * B, state[1]])
    return wide[1:5].sin(), wide[::2], state[2]


def returns_a_parameter(state: Any) -> Any:
    u = state[0] * 2 + state[1]
    u.mul_(B)
    return u, F[state[2]], state[2] + 1


def user_function(state: Any) -> Any:
    apply = function(
        lambda ctx, x, y: (ctx.save_for_backward(x, y), x * y.sin())[1],
        lambda ctx, g: (
            g * ctx.saved_tensors[1].sin(),
            g * ctx.saved_tensors[0] * ctx.saved_tensors[1].cos(),
        ),
    )
    return apply(state[0], W[1]), state[1] * apply(B, state[0]), state[2]


@pytest.mark.parametrize("snapshots", [1, 2, 5, 40])
@pytest.mark.parametrize(
    "step",
    [
        in_place,
        new_tensors,
        ignores_the_state,
        swaps,
        same_tensor_twice,
        returns_a_view,
        returns_a_parameter,
        user_function,
    ],
)
def test_gradients_are_those_of_the_plain_loop_to_the_last_bit(step: Step, snapshots: int) -> None:
    first, second = drawn(4), drawn(4)

    def loss(loop: Any) -> vt.Tensor:
        # The initial state and the parameters are used outside of the loop too.
        early = (first * W[2]).sum()
        u, v, _ = loop((first * 1, second.clone(), 0))
        late: vt.Tensor = (u * v).sum() + u[1:].sum()
        return late + early + (W * W).sum() + (first * first).sum()

    assert_as_plain(
        lambda: loss(lambda s: checkpoint_loop(step, s, 12, snapshots=snapshots)),
        lambda: loss(lambda s: plain_loop(step, s, 12)),
        (*LEAVES, first, second),
    )


def test_a_leaf_is_the_state() -> None:
    x = leaf(3)

    def step(u: Any) -> Any:
        u *= B[:3]
        return u + x

    assert_as_plain(
        lambda: checkpoint_loop(step, x, 5, snapshots=2).sum(),
        lambda: plain_loop(step, x.clone(), 5).sum(),
        (x, B),
    )
    assert x.tolist() == [1, 2, 3]


def test_the_gradient_of_a_power() -> None:
    x, a = leaf(1), leaf(1)
    with vt.no_grad():
        a.fill_(3)
    y = checkpoint_loop(lambda u: u * a, x, 4, snapshots=2)
    assert y.tolist() == [81]
    y.backward()
    assert x.grad is not None
    assert a.grad is not None
    # d(x a^4)/dx and /da.
    assert (x.grad.tolist(), a.grad.tolist()) == ([81], [108])


def _binomial(n: int, s: int) -> int:
    """Give the fewest repeated steps: Griewank and Walther 2000, proposition 1."""
    if n == 1:
        return 0
    s = min(s, n - 1)
    t = next(t for t in range(n + 1) if comb(s + t, s) >= n)
    return t * n - comb(s + t, t - 1)


@pytest.mark.parametrize("snapshots", [1, 2, 3, 4, 7, 30])
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 31, 100])
def test_the_number_of_steps_is_the_binomial_optimum(steps: int, snapshots: int) -> None:
    step = Counted(lambda u: u * 1.5)
    y = checkpoint_loop(step, leaf(1), steps, snapshots=snapshots)
    assert step.calls == steps
    y.backward()
    assert step.calls == steps + _binomial(steps, snapshots)


def test_no_snapshot_is_left_out() -> None:
    # `_binomial` itself, by the recursion that it solves.
    @cache
    def fewest(n: int, s: int) -> int:
        if n == 1:
            return 0
        if s == 1:
            return n * (n - 1) // 2
        return min(i + fewest(i, s) + fewest(n - i, s - 1) for i in range(1, n))

    assert all(fewest(n, s) == _binomial(n, s) for n in range(1, 40) for s in range(1, 6))


class Pair(NamedTuple):
    u: vt.Tensor
    v: vt.Tensor


def test_states_of_every_form() -> None:
    x = leaf(2)

    def step(s: Any) -> Any:
        pair = Pair(s["pair"].u * s["list"][0], s["pair"].v)
        return {"pair": pair, "list": [s["list"][0] + 1, "k", None], "n": s["n"] + 1}

    start: dict[str, Any] = {"pair": Pair(x * 1, vt.arange(2)), "list": [x * 2, "k", None], "n": 0}
    found = checkpoint_loop(step, start, 3, snapshots=2)
    expected = plain_loop(step, start, 3)
    assert isinstance(found["pair"], Pair)
    assert (found["n"], found["list"][1:], found["pair"].v.tolist()) == (3, ["k", None], [0, 1])
    assert not found["pair"].v.requires_grad
    assert bits(found["pair"].u) == bits(expected["pair"].u)


def test_the_state_may_change_its_form() -> None:
    def step(s: Any) -> Any:
        return (s, s[:2] * 2) if isinstance(s, vt.Tensor) else s[0] * s[1].sum()

    x = leaf(3)
    assert_as_plain(
        lambda: checkpoint_loop(step, x, 4, snapshots=2).sum(),
        lambda: plain_loop(step, x, 4).sum(),
        (x,),
    )


def test_a_step_may_overwrite_what_the_step_before_has_saved() -> None:
    def step(u: Any) -> Any:
        u += 1
        return (u * 0.1).exp()

    x = leaf(4)
    with pytest.raises(RuntimeError, match="overwritten"):
        plain_loop(step, x * 1, 3).sum().backward()
    checkpoint_loop(step, x * 1, 3, snapshots=1).sum().backward()
    found = moved_grad(x)
    with vt.autograd.graph.allow_mutation_on_saved_tensors():
        plain_loop(step, x * 1, 3).sum().backward()
    assert bits(found) == bits(x.grad)


def test_nothing_is_recorded_without_recording() -> None:
    x = leaf(2)
    start = ramp(2)
    with vt.no_grad():
        y = checkpoint_loop(lambda u: u.mul_(x), start, 3, snapshots=1)
    assert (y.requires_grad, y.tolist(), start.tolist()) == (False, [1, 16], [1, 2])


def test_no_step_returns_the_state_itself() -> None:
    x = leaf(2)
    assert checkpoint_loop(lambda u: u * 2, x, 0, snapshots=1) is x


def test_a_loop_without_gradients_has_no_node() -> None:
    y = checkpoint_loop(lambda u: u * 2, ramp(2), 3, snapshots=1)
    assert (y.grad_fn, y.tolist()) == (None, [8, 16])


def test_gradients_of_one_input_only() -> None:
    x = leaf(4)
    y = checkpoint_loop(lambda u: u * B + F[0], x, 4, snapshots=2)
    (found,) = vt.autograd.grad(y.sum(), B, retain_graph=True)
    (expected,) = vt.autograd.grad(plain_loop(lambda u: u * B + F[0], x, 4).sum(), B)
    assert bits(found) == bits(expected)
    assert x.grad is None
    (found,) = vt.autograd.grad(y.sum(), x)
    assert bits(found) == bits((B * B * B * B).detach())


def test_a_kept_graph_runs_again() -> None:
    step = Counted(lambda u: (u * B).sin())
    x = leaf(4)
    y = checkpoint_loop(step, x, 9, snapshots=2).sum()
    found = [vt.autograd.grad(y, (x, B), retain_graph=True) for _ in range(3)]
    assert len({tuple(map(bits, pair)) for pair in found}) == 1
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_random_numbers_are_drawn_again() -> None:
    def step(u: Any) -> Any:
        return u * vt.rand(4, dtype=vt.float64) + vt.randn(4, dtype=vt.float64) * B

    def loss(loop: Any) -> vt.Tensor:
        vt.manual_seed(3)
        total: vt.Tensor = loop().sum()
        return total

    x = leaf(4)
    assert_as_plain(
        lambda: loss(lambda: checkpoint_loop(step, x, 7, snapshots=2)),
        lambda: loss(lambda: plain_loop(step, x, 7)),
        (x, B),
    )


def test_backward_leaves_the_generator_alone() -> None:
    vt.manual_seed(3)
    y = checkpoint_loop(lambda u: u * vt.rand(2), vt.ones(2).requires_grad_(), 5, snapshots=1)
    before: Any = vt.get_rng_state()
    y.sum().backward()
    assert before.equal(vt.get_rng_state())


def test_a_loop_inside_a_step() -> None:
    def inner(u: Any) -> Any:
        return (u * W[0]).sin() + B

    def outer(u: Any) -> Any:
        return checkpoint_loop(inner, u, 5, snapshots=2) * W[1]

    x = leaf(4)
    assert_as_plain(
        lambda: checkpoint_loop(outer, x, 6, snapshots=2).sum(),
        lambda: plain_loop(lambda u: plain_loop(inner, u, 5) * W[1], x, 6).sum(),
        (x, W, B),
    )


def test_hooks_see_whole_gradients() -> None:
    def seen(loop: Any) -> list[object]:
        x = leaf(4)
        log: list[object] = []
        middle = x * 1
        middle.retain_grad()
        handles = [t.register_hook(lambda g: log.append(bits(g))) for t in (B, middle)]
        loop(lambda u: u * B + middle, middle).sum().backward()
        for handle in handles:
            handle.remove()
        assert middle.grad is not None
        return [*log, bits(middle.grad)]

    found = seen(lambda step, x: checkpoint_loop(step, x, 5, snapshots=2))
    assert found == seen(lambda step, x: plain_loop(step, x, 5))
    assert len(found) == 3


def test_hooks_inside_of_a_step_run_once_for_each_step() -> None:
    def run(loop: Any) -> list[object]:
        log: list[object] = []

        def step(u: Any) -> Any:
            v = u * B
            if vt.is_grad_enabled():
                v.register_hook(lambda g: log.append(bits(g)))
            return v

        loop(step, leaf(4)).sum().backward()
        return log

    found = run(lambda step, x: checkpoint_loop(step, x, 5, snapshots=2))
    assert found == run(lambda step, x: plain_loop(step, x, 5))
    assert len(found) == 5


def test_hooks_on_the_node_of_the_loop() -> None:
    x = leaf(4)
    y = checkpoint_loop(lambda u: u * B, x, 3, snapshots=1)
    node: Any = y.grad_fn
    log: list[Any] = []
    node.register_hook(lambda outgoing, incoming: log.append((outgoing, incoming)))
    node.register_prehook(lambda grads: (grads[0] * 2,))
    y.sum().backward()
    ((outgoing, incoming),) = log
    assert incoming[0].tolist() == [2, 2, 2, 2]
    assert bits(outgoing[0]) == bits(x.grad)


def test_a_stale_view_of_a_parameter() -> None:
    base = leaf(6)
    part = base[1:5]
    with vt.no_grad():
        base.mul_(0.5)
    x = leaf(4)
    assert_as_plain(
        lambda: checkpoint_loop(lambda u: (u * part).sin(), x, 6, snapshots=2).sum(),
        lambda: plain_loop(lambda u: (u * part).sin(), x, 6).sum(),
        (base, x),
    )


def test_a_leaf_that_is_made_in_a_step() -> None:
    def step(u: Any) -> Any:
        own = vt.ones(4, dtype=vt.float64).requires_grad_()
        return u * B + own.sin()

    x = leaf(4)
    assert_as_plain(
        lambda: checkpoint_loop(step, x, 6, snapshots=2).sum(),
        lambda: plain_loop(step, x, 6).sum(),
        (x, B),
    )


def test_other_dtypes_and_strides() -> None:
    def step(s: Any) -> Any:
        z, u, n = s
        return z * z.conj().exp() * 0.1, (u.sin() + n).t(), n + 1

    z = vt.tensor([1 + 2j, 0.5j], dtype=vt.complex128).requires_grad_()
    u = vt.tensor(RNG.normal(size=(3, 3)), dtype=vt.float32).requires_grad_()

    def loss(loop: Any) -> vt.Tensor:
        found = loop((z * 1, u.t()[:, ::2].expand(2, 3, 2)[0].t(), vt.tensor(1)))
        total: vt.Tensor = found[0].abs().sum() + found[1].sum()
        return total

    assert_as_plain(
        lambda: loss(lambda s: checkpoint_loop(step, s, 5, snapshots=2)),
        lambda: loss(lambda s: plain_loop(step, s, 5)),
        (z, u),
    )


@needs_global_lock
def test_two_threads_run_one_kept_graph() -> None:
    x = leaf(4)
    y = checkpoint_loop(lambda u: (u * B).sin(), x, 40, snapshots=3).sum()
    (expected,) = vt.autograd.grad(y, x, retain_graph=True)
    found: list[object] = []

    def work() -> None:
        (g,) = vt.autograd.grad(y, x, retain_graph=True)
        found.append(bits(g))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [bits(expected)] * 3


def test_no_cycle_keeps_the_loop_alive() -> None:
    with collector_off():
        x = leaf(4)

        class Step:
            def __call__(self, u: Any) -> Any:
                return (u * x).sin()

        step = Step()
        alive = weakref.ref(step)
        y = checkpoint_loop(step, x, 5, snapshots=2)
        del step
        assert alive() is not None
        y.sum().backward()
        assert alive() is None


def test_a_read_of_a_part_of_a_state_that_is_a_view_gets_its_gradient_once() -> None:
    start, factor = drawn(1, 3), drawn(5, 3)

    def one_row_of_five(u: vt.Tensor) -> vt.Tensor:
        wide = (factor * u[:, 1:2] + u[:, :1].sin()) * u[:, 2:3]
        return wide[2:3]

    def reshaped(u: vt.Tensor) -> vt.Tensor:
        return (u.view(3)[:2].view(2, 1) * u[:, 1:]).view(4)[1:].view(1, 3)

    def a_result_of_a_loop(u: vt.Tensor) -> Any:
        return checkpoint_loop(lambda v: v.sin() * v[:, :1] + v[:, 1:2], u, 3, snapshots=1)

    steps: tuple[Step, ...] = (one_row_of_five, reshaped, a_result_of_a_loop)
    for step in steps:

        def loss(of: Any, step: Step = step, **options: Any) -> Any:
            u = of(step, start, 4, **options)
            return (u[:, 1:] * u[:, :1]).sum()

        assert_as_plain(
            lambda: loss(checkpoint_loop, snapshots=2), lambda: loss(plain_loop), (start, factor)
        )


def test_backward_in_inference_mode() -> None:
    start, factor = drawn(3), drawn(3)

    def step(u: vt.Tensor) -> vt.Tensor:
        u[1:].mul_(factor[1:])
        return (u * factor).sin()

    last = checkpoint_loop(step, start, 6, snapshots=2)
    expected = vt.autograd.grad(plain_loop(step, start.clone(), 6).sum(), (start, factor))
    loss = last.sum()
    for keeps in (True, False):
        with vt.inference_mode():
            found = vt.autograd.grad(loss, (start, factor), retain_graph=keeps)
            assert vt.is_inference_mode_enabled()
        assert [bits(x) for x in found] == [bits(x) for x in expected]


@pytest.mark.parametrize("snapshots", [1, 2])
def test_a_step_that_differentiates_an_energy(snapshots: int) -> None:
    position, momentum, stiffness = drawn(3), drawn(3), drawn(3)

    def energy(q: vt.Tensor) -> vt.Tensor:
        return (stiffness * q.cos()).sum()

    def step(state: Any) -> Any:
        q, p = state
        (force,) = vt.autograd.grad(energy(q), q, create_graph=True)
        p = p - 0.1 * force
        return q + 0.1 * p, p

    def loss(of: Any, **options: Any) -> Any:
        q, p = of(step, (position, momentum), 9, **options)
        return (q * p).sum()

    assert_as_plain(
        lambda: loss(checkpoint_loop, snapshots=snapshots),
        lambda: loss(plain_loop),
        (position, momentum, stiffness),
    )


def registers_on_the_state(u: vt.Tensor) -> vt.Tensor:
    if u.requires_grad:
        u.register_hook(lambda g: g.clamp(-0.3, 0.3))
    return (u * B).sin()


def registers_before_and_after_a_write(u: vt.Tensor) -> vt.Tensor:
    if u.requires_grad:
        u.register_hook(lambda g: g * 2)
    u.mul_(B)
    if u.requires_grad:
        u.register_hook(lambda g: g + 1)
    return u.sin()


def registers_on_views_and_the_result(u: vt.Tensor) -> vt.Tensor:
    v = u[1:]
    if v.requires_grad:
        v.register_hook(lambda g: g * 2)
    v.mul_(B[1:])
    u = u.sin()
    if u.requires_grad:
        u.register_hook(lambda g: g * 0.5)
    return u


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize(
    "step",
    [
        registers_on_the_state,
        registers_before_and_after_a_write,
        registers_on_views_and_the_result,
    ],
)
def test_hooks_that_a_step_registers(step: Step, steps: int) -> None:
    start = drawn(4)
    assert_as_plain(
        lambda: checkpoint_loop(step, start, steps, snapshots=2).sum() + start.sum(),
        lambda: plain_loop(step, start.clone(), steps).sum() + start.sum(),
        (start, B),
    )

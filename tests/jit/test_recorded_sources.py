"""Functions that are recorded, written as NumPy, and compared with themselves on new values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import vtgrad as vt
from tests.jit.sources import bits, function_of
from vtgrad.storage.arrays import Array

Function = Callable[..., object]


def some(*shape: int, seed: int = 0) -> vt.Tensor:
    values = np.random.default_rng(seed).standard_normal(shape) * 0.5
    return vt.from_numpy(np.asarray(values))


def leaf(tensor: vt.Tensor) -> vt.Tensor:
    return tensor.detach().clone().requires_grad_()


def recurrence(a: vt.Tensor, drive: vt.Tensor) -> tuple[vt.Tensor, ...]:
    a, drive = leaf(a), leaf(drive)
    level = vt.zeros(50, 16, dtype=vt.float64)
    for t in range(49):
        level[t + 1] = a * level[t] + drive
    loss = level.sum()
    return loss.detach(), *vt.autograd.grad(loss, (a, drive))


def heat(start: vt.Tensor) -> tuple[vt.Tensor, ...]:
    start = leaf(start)
    u = start.clone()
    for _ in range(10):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        inner += 0.1 * (around - 4 * inner)
    loss = (u * u).sum()
    return loss.detach(), *vt.autograd.grad(loss, start)


def kalman(flow: vt.Tensor, noise: vt.Tensor, drift: vt.Tensor) -> tuple[vt.Tensor, ...]:
    noise, drift = leaf(noise), leaf(drift)
    a, p = flow[0], noise * 10
    total = vt.zeros((), dtype=vt.float64)
    for t in range(1, 40):
        v = flow[t] - a
        f = p + noise
        k = p / f
        total = total + f.log() + v * v / f
        a = a + k * v
        p = p * (1 - k) + drift
    return total.detach(), *vt.autograd.grad(total, (noise, drift))


def lstm(xs: vt.Tensor, w: vt.Tensor, u: vt.Tensor) -> tuple[vt.Tensor, ...]:
    w, u = leaf(w), leaf(u)
    h = c = vt.zeros(4, 8, dtype=vt.float64)
    for x in xs:
        i, f, g, o = (x @ w + h @ u).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    loss = (h * h).sum()
    return loss.detach(), *vt.autograd.grad(loss, (w, u))


def hmc(q: vt.Tensor, momenta: vt.Tensor) -> vt.Tensor:
    def slope(at: vt.Tensor) -> vt.Tensor:
        at = leaf(at)
        (found,) = vt.autograd.grad((at**2 + at**4 / 4).sum(), at)
        return found

    draws = vt.zeros(4, 8, dtype=vt.float64)
    for n in range(4):
        p = momenta[n] - 0.05 * slope(q)
        for _ in range(5):
            q = q + 0.1 * p
            p = p - 0.1 * slope(q)
        draws[n] = q
    return draws


def sgd(x: vt.Tensor, y: vt.Tensor, w1: vt.Tensor, w2: vt.Tensor) -> vt.Tensor:
    w1.requires_grad_()
    w2.requires_grad_()
    losses = vt.zeros(30, dtype=vt.float64)
    for n in range(30):
        error = (x @ w1).tanh() @ w2 - y
        loss = (error * error).mean()
        grads = vt.autograd.grad(loss, (w1, w2))
        with vt.no_grad():
            losses[n] = loss
            for w, grad in zip((w1, w2), grads, strict=True):
                w -= grad * 0.1
    w1.requires_grad_(False)
    w2.requires_grad_(False)
    return losses


def arguments(seed: int) -> dict[str, list[vt.Tensor]]:
    number = some(3, seed=seed).abs() + 0.5
    return {
        "recurrence": [some(16, seed=seed), some(16, seed=seed + 1)],
        "heat": [some(12, 12, seed=seed)],
        "kalman": [some(40, seed=seed), number[0].clone(), number[1].clone()],
        "lstm": [some(12, 4, 8, seed=seed), some(8, 32, seed=seed), some(8, 32, seed=seed + 1)],
        "hmc": [some(8, seed=seed), some(4, 8, seed=seed)],
        "sgd": [some(8, 4, seed=seed), some(8, 1), some(4, 6, seed=seed), some(6, 1, seed=seed)],
    }


def arrays_of(result: object) -> list[Array]:
    parts = result if isinstance(result, tuple) else (result,)
    return [part.numpy() for part in parts]


@pytest.mark.parametrize(
    ("function", "most"),
    [(recurrence, 40), (heat, 60), (kalman, 125), (lstm, 130), (hmc, 60), (sgd, 75)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_source_of_a_recording_is_the_function(function: Function, most: int) -> None:
    name = function.__name__
    traced = vt.jit.trace(function, *arguments(0)[name])
    text = traced.code
    given = [x.numpy().copy() for x in arguments(7)[name]]
    tensors = arguments(7)[name]
    expected = arrays_of(function(*tensors))
    found = function_of(text)(*given)
    assert bits(found if isinstance(found, tuple) else (found,)) == bits(expected)
    assert bits(given) == bits([x.numpy() for x in tensors])
    body = text.split("\ndef replay")[1].split('"""')[2]
    assert len(body.splitlines()) <= most, text
    # A drawing has a box for each line, and an explanation counts all steps.
    assert traced.graph.dot().source.count("[label=") == len(traced.graph.steps)
    assert f"{len(traced._call.recording.program.steps):,} steps recorded" in str(traced.explain())


def test_names_come_from_the_function() -> None:
    def program(rate: vt.Tensor) -> vt.Tensor:
        state = vt.zeros(20, 3, dtype=vt.float64)
        for t in range(19):
            state[t + 1] = state[t] * rate + 1
        loss = (state * state).sum()
        loss.backward()
        return loss.detach()

    text = vt.jit.trace(program, some(3).requires_grad_()).code
    for part in ("def replay(rate)", "state = zeros((20, 3))", "state[t + 1])", "grad_rate"):
        assert part in text, text


def test_draws_take_a_generator_with_the_same_bits(tmp_path: Path) -> None:
    generator = vt.Generator()

    def noisy(x: vt.Tensor) -> vt.Tensor:
        return x + vt.randn(3, generator=generator, dtype=vt.float64)

    traced = vt.jit.trace(noisy, some(3))
    traced.export(tmp_path / "noisy.py")
    function = function_of((tmp_path / "noisy.py").read_text("utf-8"))
    generator.manual_seed(5)
    same = np.random.Generator(np.random.PCG64(5))
    for _ in range(2):
        np.testing.assert_array_equal(function(np.ones(3), same), noisy(vt.ones(3)).numpy())

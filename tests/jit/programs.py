"""The seven programs of the measurements, written down by the builder, gradients included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.jit.building import Builder
from vtgrad.jit.steps import Place, Program


def _some(*shape: int, seed: int = 0) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(seed).standard_normal(shape) * 0.5


def recurrence(steps: int = 50, width: int = 16) -> Program:
    """`level[t + 1] = a * level[t] + drive`, and the gradient of its sum."""
    b = Builder()
    a, drive = b.argument(_some(width), "a"), b.argument(_some(width, seed=1), "drive")
    level = b.empty((steps, width), name="level")
    b.run(np.ndarray.fill, level, 0.0, writes=[level])
    for t in range(steps - 1):
        product = b.call(np.multiply, a, b.at(level, t))
        total = b.call(np.add, product, drive)
        b.set(b.at(level, t + 1), total)
    y = b.call(np.add.reduce, level, axis=None, name="y")
    grad_level = b.empty((steps, width))
    b.set(grad_level, 1.0)
    grad_a, grad_drive = b.empty((width,), name="grad_a"), b.empty((width,), name="grad_drive")
    b.set(grad_a, 0.0)
    b.set(grad_drive, 0.0)
    for t in range(steps - 2, -1, -1):
        grad = b.call(np.ndarray.copy, b.at(grad_level, t + 1))
        b.set(b.at(grad_level, t + 1), 0.0)
        b.call(np.add, grad_drive, grad, out=grad_drive)
        part = b.call(np.multiply, grad, b.at(level, t))
        b.call(np.add, grad_a, part, out=grad_a)
        back = b.call(np.multiply, grad, a)
        b.call(np.add, b.at(grad_level, t), back, out=b.at(grad_level, t))
    return b.returns(y, grad_a, grad_drive)


def heat(size: int = 16, steps: int = 20) -> Program:
    """Steps of the heat equation in place, and the gradient with respect to the start."""
    b = Builder()
    start = b.argument(_some(size, size), "start")
    u = b.call(np.ndarray.copy, start, name="u")

    def inner(place: Place, up: int, left: int) -> Place:
        rows, columns = slice(1 + up, size - 1 + up), slice(1 + left, size - 1 + left)
        return b.at(place, rows, columns)

    for _ in range(steps):
        total = b.call(np.add, inner(u, -1, 0), inner(u, 1, 0))
        total = b.call(np.add, total, inner(u, 0, -1))
        total = b.call(np.add, total, inner(u, 0, 1))
        four = b.call(np.multiply, inner(u, 0, 0), 4.0)
        change = b.call(np.subtract, total, four)
        scaled = b.call(np.multiply, change, 0.1)
        b.call(np.add, inner(u, 0, 0), scaled, out=inner(u, 0, 0))
    loss = b.call(np.add.reduce, u, axis=None)
    grad = b.empty((size, size), name="grad_u")
    b.set(grad, 1.0)
    for _ in range(steps):
        scaled = b.call(np.multiply, inner(grad, 0, 0), 0.1)
        four = b.call(np.multiply, scaled, -4.0)
        b.call(np.add, inner(grad, 0, 0), four, out=inner(grad, 0, 0))
        for up, left in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            b.call(np.add, inner(grad, up, left), scaled, out=inner(grad, up, left))
    return b.returns(loss, grad)


def kalman(years: int = 100) -> Program:
    """The likelihood of a local level model, in numbers without dimensions, and its gradient."""
    b = Builder()
    y = b.argument(_some(years), "flow")
    noise, drift = b.argument(np.array(1.5), "noise"), b.argument(np.array(0.3), "drift")
    a, p = b.call(np.ndarray.copy, b.at(y, 0)), b.call(np.multiply, noise, 10.0)
    total = b.call(np.multiply, noise, 0.0)
    kept = []
    for t in range(years):
        v = b.call(np.subtract, b.at(y, t), a, name="v")
        f = b.call(np.add, p, noise, name="f")
        k = b.call(np.divide, p, f, name="k")
        square = b.call(np.multiply, v, v)
        ratio = b.call(np.divide, square, f)
        total = b.call(np.add, total, b.call(np.add, b.call(np.log, f), ratio))
        kept.append((v, f, k, p))
        a = b.call(np.add, a, b.call(np.multiply, k, v))
        p = b.call(np.add, b.call(np.multiply, p, b.call(np.subtract, 1.0, k)), drift)
    grad_a = b.call(np.multiply, noise, 0.0)
    grad_noise = b.call(np.multiply, noise, 0.0, name="grad_noise")
    for v, f, k, p in reversed(kept):
        slope = b.call(np.divide, b.call(np.multiply, v, 2.0), f)
        through = b.call(np.multiply, grad_a, k)
        grad_v = b.call(np.add, slope, through)
        grad_f = b.call(np.divide, b.call(np.subtract, p, v), f)
        b.call(np.add, grad_noise, grad_f, out=grad_noise)
        grad_a = b.call(np.subtract, grad_a, grad_v)
    return b.returns(total, grad_a, grad_noise)


def lstm(steps: int = 20, batch: int = 4, width: int = 8) -> Program:
    """Steps of an LSTM with its gradient with respect to the recurrent weights."""
    b = Builder()
    xs = b.argument(_some(steps, batch, width), "xs")
    w, u = (
        b.argument(_some(width, 4 * width, seed=1), "w"),
        b.argument(_some(width, 4 * width), "u"),
    )
    h, c = b.constant(np.zeros((batch, width))), b.constant(np.zeros((batch, width)))
    kept = []
    for t in range(steps):
        gates = b.call(np.matmul, b.at(xs, t), w)
        gates = b.call(np.add, gates, b.call(np.matmul, h, u), name="gates")
        parts = [b.at(gates, slice(None), slice(n * width, (n + 1) * width)) for n in range(4)]
        i, f, o = [b.call(np.tanh, part) for part in parts[:3]]
        g = b.call(np.tanh, parts[3])
        before = h
        c = b.call(np.add, b.call(np.multiply, f, c), b.call(np.multiply, i, g), name="c")
        h = b.call(np.multiply, o, b.call(np.tanh, c), name="h")
        kept.append((i, f, o, g, before))
    loss = b.call(np.add.reduce, h, axis=None)
    grad_u = b.empty((width, 4 * width), name="grad_u")
    b.set(grad_u, 0.0)
    grad_h = b.empty((batch, width))
    b.set(grad_h, 1.0)
    for i, f, o, g, before in reversed(kept):
        all_four = b.empty((batch, 4 * width))
        for n, part in enumerate((i, f, o, g)):
            one = b.call(np.multiply, grad_h, part)
            b.set(b.at(all_four, slice(None), slice(n * width, (n + 1) * width)), one)
        turned = b.view(before, lambda array: array.T)
        b.call(np.add, grad_u, b.call(np.matmul, turned, all_four), out=grad_u)
        grad_h = b.call(np.matmul, all_four, b.view(u, lambda array: array.T))
    return b.returns(loss, grad_u, h)


def hmc(rounds: int = 5, leaps: int = 10, size: int = 8) -> Program:
    """Hamiltonian Monte Carlo of a normal distribution: loops in a loop, and lists of numbers."""
    b = Builder()
    q, m = b.argument(_some(size), "q"), b.argument(_some(rounds, size, seed=2), "momenta")
    out = b.empty((rounds, size), name="draws")
    for n in range(rounds):
        p = b.call(np.ndarray.copy, b.at(m, n))
        p = b.call(np.subtract, p, b.call(np.multiply, q, 0.05))
        for _ in range(leaps):
            q = b.call(np.add, q, b.call(np.multiply, p, 0.1))
            p = b.call(np.subtract, p, b.call(np.multiply, q, 0.1))
        p = b.call(np.add, p, b.call(np.multiply, q, 0.05))
        b.set(b.at(out, n), q)
        b.call(np.multiply, b.at(out, n), p, out=b.at(m, n))
    return b.returns(out)


def sgd(steps: int = 100, size: int = 8) -> Program:
    """Steps of SGD in place on a network with two layers, and a learning rate that falls."""
    b = Builder()
    x, y = b.argument(_some(size, 4), "x"), b.argument(_some(size, 1, seed=1), "y")
    w1, w2 = b.outside(_some(4, 6, seed=3), "w1"), b.outside(_some(6, 1, seed=4), "w2")
    losses = b.empty((steps,), name="losses")
    for n in range(steps):
        hidden = b.call(np.tanh, b.call(np.matmul, x, w1))
        error = b.call(np.subtract, b.call(np.matmul, hidden, w2), y)
        b.call(np.add.reduce, b.call(np.multiply, error, error), axis=None, out=b.at(losses, n))
        grad = b.call(np.multiply, error, 2.0)
        grad_w2 = b.call(np.matmul, b.view(hidden, lambda array: array.T), grad)
        back = b.call(np.matmul, grad, b.view(w2, lambda array: array.T))
        slope = b.call(np.subtract, 1.0, b.call(np.multiply, hidden, hidden))
        grad_w1 = b.call(
            np.matmul, b.view(x, lambda array: array.T), b.call(np.multiply, back, slope)
        )
        for w, g in ((w1, grad_w1), (w2, grad_w2)):
            b.call(np.subtract, w, b.call(np.multiply, g, 0.1 * 0.97**n), out=w)
    return b.returns(losses)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "recurrence": recurrence,
    "heat": heat,
    "kalman": kalman,
    "lstm": lstm,
    "hmc": hmc,
    "sgd": sgd,
}

"""The programs of `replay.py` in JAX, compiled, for comparison where JAX is installed.

They are written as is usual there: loops are `lax.scan`, and arrays are not written in place. Each
function takes JAX and returns a compiled function of the arrays of the program.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["cells", "heat", "kalman", "load", "network", "recurrence"]

# JAX has no types here: it is not installed where types are checked.
Lib: TypeAlias = Any
Array: TypeAlias = Any
Compiled: TypeAlias = Callable[..., tuple[Array, ...]]


def load() -> Lib | None:
    """JAX with float64 and one thread, whose calls return when all is computed; None without it."""
    try:
        jax: Lib = importlib.import_module("jax")
    except ImportError:
        print("jax is left out: it is not installed")
        return None
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    return jax


def recurrence(steps: int) -> Callable[[Lib], Compiled]:
    """A recurrence of so many states."""

    def make(jax: Lib) -> Compiled:
        np = jax.numpy

        def total(a: Array, drive: Array) -> Array:
            def step(before: Array, _: None) -> tuple[Array, Array]:
                after = a * before + drive
                return after, after

            _, level = jax.lax.scan(step, np.zeros_like(a), None, steps - 1)
            return level.sum()

        return _with_gradient(jax, total, (0, 1))

    return make


def network(rate: float) -> Callable[[Lib], Compiled]:
    """A step of gradient descent of two layers; returns the loss and other weights."""

    def make(jax: Lib) -> Compiled:
        np = jax.numpy

        def loss(x: Array, y: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
            return ((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()

        with_gradient = jax.value_and_grad(loss, (2, 3, 4, 5))

        def step(x: Array, y: Array, *weights: Array) -> tuple[Array, ...]:
            value, slopes = with_gradient(x, y, *weights)
            pairs = zip(weights, slopes, strict=True)
            return (value, *[weight - rate * slope for weight, slope in pairs])

        compiled: Compiled = jax.jit(step)
        return compiled

    return make


def cells(jax: Lib) -> Compiled:
    """Cells of an LSTM."""
    np, sigmoid = jax.numpy, jax.nn.sigmoid

    def mean(x: Array, w: Array, r: Array, bias: Array) -> Array:
        n = r.shape[0]

        def step(state: tuple[Array, Array], now: Array) -> tuple[tuple[Array, Array], None]:
            h, c = state
            gates = now @ w + h @ r + bias
            update = sigmoid(gates[:, :n]) * np.tanh(gates[:, 3 * n :])
            c = sigmoid(gates[:, n : 2 * n]) * c + update
            return (sigmoid(gates[:, 2 * n : 3 * n]) * np.tanh(c), c), None

        start = np.zeros((x.shape[1], n))
        (h, _), _ = jax.lax.scan(step, (start, start), x)
        return h.mean()

    return _with_gradient(jax, mean, (1, 2, 3))


def heat(steps: int) -> Callable[[Lib], Compiled]:
    """The heat equation, in so many steps."""

    def make(jax: Lib) -> Compiled:
        def total(start: Array, k: Array) -> Array:
            def step(u: Array, _: None) -> tuple[Array, None]:
                near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
                return u.at[1:-1, 1:-1].add(k * (near - 4 * u[1:-1, 1:-1])), None

            u, _ = jax.lax.scan(step, start, None, steps)
            return (u * u).sum()

        return _with_gradient(jax, total, (0, 1))

    return make


def kalman(jax: Lib) -> Compiled:
    """The likelihood of a local level."""
    np = jax.numpy

    def likelihood(y: Array, q: Array, r: Array) -> Array:
        def step(state: tuple[Array, Array], now: Array) -> tuple[tuple[Array, Array], Array]:
            m, p = state[0], state[1] + q
            s, v = p + r, now - m
            gain = p / s
            return (m + gain * v, p * (1 - gain)), np.log(s) + v * v / s

        start = (np.zeros(()), np.full((), 10.0))
        return jax.lax.scan(step, start, y)[1].sum()

    return _with_gradient(jax, likelihood, (1, 2))


def _with_gradient(jax: Lib, function: Callable[..., Array], by: tuple[int, ...]) -> Compiled:
    with_gradient = jax.value_and_grad(function, by)

    def flat(*arrays: Array) -> tuple[Array, ...]:
        value, slopes = with_gradient(*arrays)
        return (value, *slopes)

    compiled: Compiled = jax.jit(flat)
    return compiled

"""Programs that are recorded once and then replayed, gradient included.

Each stands beside itself run by vtgrad without a recording, beside PyTorch, beside JAX where that
is installed, and beside its gradient written by hand in NumPy. Run ``python -m benchmarks.replay``,
with names of programs to choose some; with ``VTGRAD_LOOPS=0`` in the environment, the replay is a
table of calls in Python.
"""

import os

# Before NumPy is imported: its matrix products use one thread, like PyTorch's.
os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")})
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import importlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import vtgrad as vt
from benchmarks import replay_jax
from benchmarks.measure import interleaved, steady

__all__ = ["PROGRAMS", "Program", "tensors"]

Floats: TypeAlias = NDArray[np.float64]
# Tensors of vtgrad or of PyTorch: the libraries have no common type.
Tensor: TypeAlias = Any
Lib: TypeAlias = Any

STEPS_OF_HEAT = 20
RATE = 0.01


@dataclass(frozen=True)
class Program:
    """A program of a library, and the same by hand.

    Attributes
    ----------
    name : str
        With its size.
    body : callable
        Takes a library and tensors; returns what it computes, and gradients.
    by_hand : callable
        Takes arrays; returns the same.
    in_jax : callable
        Takes JAX; returns a compiled function that takes arrays, and returns the same.
    arrays : list of numpy.ndarray
        The arguments.
    leaves : set of int
        Those that require grad.
    with_floats : callable or None
        As `by_hand`, with floats of Python in place of single numbers of NumPy.
    """

    name: str
    body: Callable[..., tuple[Tensor, ...]]
    by_hand: Callable[..., tuple[object, ...]]
    in_jax: Callable[[Lib], Callable[..., tuple[Tensor, ...]]]
    arrays: list[Floats]
    leaves: frozenset[int]
    with_floats: Callable[..., tuple[object, ...]] | None = None


def recurrence(steps: int) -> Callable[..., tuple[Tensor, ...]]:
    """A recurrence whose states are written into the rows of one array."""

    def body(lib: Lib, a: Tensor, drive: Tensor) -> tuple[Tensor, ...]:
        level = lib.zeros(steps, a.shape[0], dtype=lib.float64)
        for t in range(steps - 1):
            # PyTorch takes a saved row for overwritten when another row is written.
            before = level[t] if lib is vt else level[t].clone()
            level[t + 1] = a * before + drive
        total = level.sum()
        return (total.detach(), *lib.autograd.grad(total, (a, drive)))

    return body


def recurrence_by_hand(steps: int) -> Callable[..., tuple[object, ...]]:
    def body(a: Floats, drive: Floats) -> tuple[object, ...]:
        level = np.zeros((steps, len(a)))
        for t in range(steps - 1):
            np.multiply(a, level[t], level[t + 1])
            level[t + 1] += drive
        grad, grad_a, grad_drive = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
        for t in range(steps - 2, -1, -1):
            grad += 1.0
            grad_drive += grad
            grad_a += grad * level[t]
            grad *= a
        return level.sum(), grad_a, grad_drive

    return body


def network(lib: Lib, x: Tensor, y: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
    """A step of gradient descent of two layers, in place."""
    w1, b1, w2, b2 = weights
    loss = ((lib.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()
    gradients = lib.autograd.grad(loss, weights)
    with lib.no_grad():
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.sub_(gradient, alpha=RATE)
    return (loss.detach(),)


def network_by_hand(x: Floats, y: Floats, *weights: Floats) -> tuple[object, ...]:
    w1, b1, w2, b2 = weights
    h = x @ w1
    h += b1
    np.tanh(h, h)
    error = h @ w2
    error += b2
    error -= y
    loss = np.square(error).mean()
    error *= 2.0 / error.size
    grad_h = error @ w2.T
    grad_h *= 1.0 - np.square(h)
    w2 -= RATE * (h.T @ error)
    b2 -= RATE * error.sum(0)
    w1 -= RATE * (x.T @ grad_h)
    b1 -= RATE * grad_h.sum(0)
    return (loss,)


def cells(lib: Lib, x: Tensor, w: Tensor, r: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    """Cells of an LSTM in a loop."""
    width = r.shape[0]
    h = c = lib.zeros(x.shape[1], width, dtype=lib.float64)
    for t in range(x.shape[0]):
        gates = x[t] @ w + h @ r + bias
        entrance, memory = lib.sigmoid(gates[:, :width]), lib.sigmoid(gates[:, width : 2 * width])
        exit_ = lib.sigmoid(gates[:, 2 * width : 3 * width])
        c = memory * c + entrance * lib.tanh(gates[:, 3 * width :])
        h = exit_ * lib.tanh(c)
    mean = h.mean()
    return (mean.detach(), *lib.autograd.grad(mean, (w, r, bias)))


def cells_by_hand(x: Floats, w: Floats, r: Floats, bias: Floats) -> tuple[object, ...]:
    n = r.shape[0]
    h = c = np.zeros((x.shape[1], n))
    kept = []
    for xt in x:
        gates = xt @ w
        gates += h @ r
        gates += bias
        sigmoids = 1 / (1 + np.exp(-gates[:, : 3 * n]))
        update = np.tanh(gates[:, 3 * n :])
        before, state = h, c
        c = sigmoids[:, n : 2 * n] * c + sigmoids[:, :n] * update
        squashed = np.tanh(c)
        h = sigmoids[:, 2 * n :] * squashed
        kept.append((xt, before, state, sigmoids, update, squashed))
    grad_w, grad_r, grad_bias = np.zeros_like(w), np.zeros_like(r), np.zeros_like(bias)
    grad_h, grad_c = np.full_like(h, 1 / h.size), np.zeros_like(c)
    grad_gates = np.empty((x.shape[1], 4 * n))
    for xt, before, state, sigmoids, update, squashed in reversed(kept):
        grad_c += grad_h * sigmoids[:, 2 * n :] * (1 - squashed * squashed)
        grad_gates[:, :n] = grad_c * update
        grad_gates[:, n : 2 * n] = grad_c * state
        grad_gates[:, 2 * n : 3 * n] = grad_h * squashed
        grad_gates[:, : 3 * n] *= sigmoids * (1 - sigmoids)
        grad_gates[:, 3 * n :] = grad_c * sigmoids[:, :n] * (1 - update * update)
        grad_c *= sigmoids[:, n : 2 * n]
        grad_w += xt.T @ grad_gates
        grad_r += before.T @ grad_gates
        grad_bias += grad_gates.sum(0)
        grad_h = grad_gates @ r.T
    return h.mean(), grad_w, grad_r, grad_bias


def heat(lib: Lib, start: Tensor, k: Tensor) -> tuple[Tensor, ...]:
    """The heat equation, in place."""
    u = start.clone()
    for _ in range(STEPS_OF_HEAT):
        near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += k * (near - 4 * u[1:-1, 1:-1])
    total = (u * u).sum()
    return (total.detach(), *lib.autograd.grad(total, (start, k)))


def heat_by_hand(start: Floats, k: Floats) -> tuple[object, ...]:
    u = start.copy()
    curvatures = []
    for _ in range(STEPS_OF_HEAT):
        curvature = u[2:, 1:-1] + u[:-2, 1:-1]
        curvature += u[1:-1, 2:]
        curvature += u[1:-1, :-2]
        curvature -= 4 * u[1:-1, 1:-1]
        curvatures.append(curvature)
        u[1:-1, 1:-1] += k * curvature
    total = (u * u).sum()
    grad, grad_k = 2 * u, 0.0
    for curvature in reversed(curvatures):
        inside = grad[1:-1, 1:-1].copy()
        grad_k += (inside * curvature).sum()
        inside *= k
        grad[2:, 1:-1] += inside
        grad[:-2, 1:-1] += inside
        grad[1:-1, 2:] += inside
        grad[1:-1, :-2] += inside
        inside *= 4
        grad[1:-1, 1:-1] -= inside
    return total, grad, grad_k


def kalman(lib: Lib, y: Tensor, q: Tensor, r: Tensor) -> tuple[Tensor, ...]:
    """The likelihood of a local level by the Kalman filter, in 0-d tensors."""
    m, p = lib.zeros((), dtype=lib.float64), lib.full((), 10.0, dtype=lib.float64)
    total = lib.zeros((), dtype=lib.float64)
    for t in range(y.shape[0]):
        p = p + q
        s = p + r
        v = y[t] - m
        gain = p / s
        total = total + lib.log(s) + v * v / s
        m = m + gain * v
        p = p * (1 - gain)
    return (total.detach(), *lib.autograd.grad(total, (q, r)))


def kalman_by_hand(y: Floats, q: Floats, r: Floats) -> tuple[object, ...]:
    return _kalman_of_numbers(y, q[()], r[()], np.log)


def kalman_with_floats(y: Floats, q: Floats, r: Floats) -> tuple[object, ...]:
    return _kalman_of_numbers(y.tolist(), float(q), float(r), math.log)


def _kalman_of_numbers(y: Any, q: Any, r: Any, log: Callable[[Any], Any]) -> tuple[object, ...]:
    """The likelihood and its gradient, in floats of NumPy or of Python."""
    m, p, total = 0.0, 10.0, 0.0
    kept = []
    for observed in y:
        p = p + q
        s = p + r
        v = observed - m
        gain = p / s
        kept.append((p, s, v, gain))
        total = total + log(s) + v * v / s
        m = m + gain * v
        p = p * (1 - gain)
    grad_m, grad_p, grad_q, grad_r = 0.0, 0.0, 0.0, 0.0
    for p, s, v, gain in reversed(kept):
        error = v / s
        grad_gain = (grad_m * v - grad_p * p) / s
        grad_s = 1 / s - error * error - grad_gain * gain
        grad_m = grad_m * (1 - gain) - 2 * error
        grad_p = grad_p * (1 - gain) + grad_gain + grad_s
        grad_r = grad_r + grad_s
        grad_q = grad_q + grad_p
    return total, grad_q, grad_r


def _normal(*shape: int) -> Floats:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def _network(batch: int, wide: int, hidden: int, out: int) -> list[Floats]:
    scale = wide**-0.5
    return [
        *(_normal(batch, wide), _normal(batch, out)),
        *(_normal(wide, hidden) * scale, _normal(hidden)),
        *(_normal(hidden, out) * scale, _normal(out)),
    ]


def _cells(steps: int) -> list[Floats]:
    return [_normal(steps, 16, 32), _normal(32, 128) * 0.2, _normal(32, 128) * 0.2, _normal(128)]


_ALL, _WEIGHTS = frozenset({0, 1}), frozenset({2, 3, 4, 5})
_NETWORK = (network, network_by_hand, replay_jax.network(RATE))
_CELLS = (cells, cells_by_hand, replay_jax.cells)
_HEAT = (heat, heat_by_hand, replay_jax.heat(STEPS_OF_HEAT))
PROGRAMS = [
    Program(
        f"recurrence {steps}x{width}",
        recurrence(steps),
        recurrence_by_hand(steps),
        replay_jax.recurrence(steps),
        [0.3 * _normal(width), _normal(width, 1)[:, 0]],
        _ALL,
    )
    for steps, width in ((50, 16), (1000, 64))
] + [
    Program("network 32", *_NETWORK, _network(32, 32, 32, 1), _WEIGHTS),
    *[Program(f"LSTM {steps}", *_CELLS, _cells(steps), frozenset({1, 2, 3})) for steps in (1, 50)],
    Program("heat 64", *_HEAT, [_normal(64, 64), np.array(0.1)], _ALL),
    Program(
        "Kalman 100",
        kalman,
        kalman_by_hand,
        replay_jax.kalman,
        [_normal(100), np.array(0.5), np.array(1.5)],
        frozenset({1, 2}),
        kalman_with_floats,
    ),
    Program("heat 256", *_HEAT, [_normal(256, 256), np.array(0.1)], _ALL),
    Program("network 256x784", *_NETWORK, _network(256, 784, 512, 10), _WEIGHTS),
]


def tensors(lib: Lib, program: Program) -> list[Tensor]:
    """The arguments of a program, in a library."""
    return [
        lib.tensor(x.copy(), dtype=lib.float64).requires_grad_(i in program.leaves)
        for i, x in enumerate(program.arrays)
    ]


def ways(program: Program, torch: Lib | None, jax: Lib | None) -> dict[str, Callable[[], object]]:
    """Calls that run a program, each with arguments of its own."""
    jit: Any = importlib.import_module("vtgrad.jit.api")
    examples = tensors(vt, program)
    replayed = jit.trace(lambda *x: program.body(vt, *x), *examples)
    arguments = tensors(vt, program)
    found: dict[str, Callable[[], object]] = {
        "replayed": lambda: replayed(*arguments),
        "eager": lambda: program.body(vt, *examples),
    }
    arrays = [x.copy() for x in program.arrays]
    found["by hand"] = lambda: program.by_hand(*arrays)
    with_floats = program.with_floats
    if with_floats is not None:
        found["floats"] = lambda: with_floats(*arrays)
    if torch is not None:
        torches = tensors(torch, program)
        found["torch"] = lambda: program.body(torch, *torches)
    if jax is not None:
        compiled, given = program.in_jax(jax), [jax.numpy.asarray(x) for x in program.arrays]
        jax.block_until_ready(compiled(*given))  # it is compiled by its first call
        found["jax"] = lambda: jax.block_until_ready(compiled(*given))
    return found


def _torch() -> Lib | None:
    try:
        torch: Lib = importlib.import_module("torch")
    except ImportError:
        print("torch is left out: it is not installed")
        return None
    torch.set_num_threads(1)
    return torch


_COLUMNS = ("torch", "jax", "eager", "by hand", "floats", "replayed")


def main(names: Sequence[str], rounds: int = 7) -> None:
    """Print the least time of each way, in microseconds, and the ratios to PyTorch and by hand."""
    torch, jax = _torch(), replay_jax.load()
    print(f"vtgrad {vt.__version__}, loops in C: {vt.__loops__}")
    print(f"| program | {' | '.join(_COLUMNS)} | to torch | to by hand |")
    print(f"| --- |{' ---: |' * (len(_COLUMNS) + 2)}")
    for program in PROGRAMS:
        if names and not any(name in program.name for name in names):
            continue
        calls = {name: steady(call) for name, call in ways(program, torch, jax).items()}
        least = {name: min(times) for name, times in interleaved(calls, rounds).items()}
        replayed = least["replayed"]
        cells_of_row = [
            *[f"{1e6 * least[k]:,.1f}" if k in least else "" for k in _COLUMNS],
            *[f"{replayed / least[k]:.3f}" if k in least else "" for k in ("torch", "by hand")],
        ]
        print(f"| {program.name} | {' | '.join(cells_of_row)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

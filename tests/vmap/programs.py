"""Random functions of one sample, which run in vtgrad and in PyTorch.

A program is a list of steps on vectors, matrices, numbers and indices: elementwise operators,
products, views, reductions, indexing by samples, writes, and transforms inside.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

__all__ = ["BATCH", "Data", "Step", "draw", "function_of"]

N: Final = 4
BATCH: Final = 3

# Modules, tensors and functions of either library.
Lib = Any
Value = Any


@dataclass
class State:
    """The values of a program so far, by kind; those that the program has made may be written."""

    lib: Lib
    func: Lib
    vectors: list[Value]
    matrices: list[Value]
    numbers: list[Value]
    indices: list[Value]
    own: list[Value] = field(default_factory=list)

    def new(self, vector: Value) -> None:
        """Add a vector."""
        self.vectors.append(vector)


@dataclass(frozen=True)
class Step:
    """A kind of step, and numbers that say with which operands."""

    kind: str
    a: int
    b: int
    k: int


def _pick(values: list[Value], number: int) -> Value:
    return values[number % len(values)]


def _table(state: State, step: Step) -> Value:
    """A table of zeros with samples, or a copy; it may be written from then on."""
    v = _pick(state.vectors, step.a)
    made = v.new_zeros(N) + 0 if step.k % 2 else v.clone()
    state.own.append(made)
    return made


def _own(state: State, step: Step) -> Value:
    return _pick(state.own, step.a) if state.own else _table(state, step)


STEPS: dict[str, Callable[[State, Step], None]] = {}


def _step(function: Callable[[State, Step], None]) -> Callable[[State, Step], None]:
    STEPS[function.__name__.strip("_")] = function
    return function


# -- elementwise -----------------------------------------------------------------------------------


@_step
def _products(s: State, t: Step) -> None:
    a, b = _pick(s.vectors, t.a), _pick(s.vectors, t.b)
    s.new([a * b, a * 0.5 - b, a.tanh() + b.sin(), s.lib.where(a > b, a * 2, b)][t.k % 4])


@_step
def _scaled(s: State, t: Step) -> None:
    a, x = _pick(s.vectors, t.a), _pick(s.numbers, t.b)
    s.new([a * x, x - a, s.lib.maximum(a, x.expand(N)), s.lib.addcmul(a, a, x)][t.k % 4])


@_step
def _masked(s: State, t: Step) -> None:
    a, x = _pick(s.vectors, t.a), _pick(s.numbers, t.b)
    s.new([a.masked_fill(a > 0.3, 0.25), a.clamp(-0.5, 0.5), s.lib.where(a > x, a, x)][t.k % 3])


# -- matrices --------------------------------------------------------------------------------------


@_step
def _outer(s: State, t: Step) -> None:
    s.matrices.append(s.lib.outer(_pick(s.vectors, t.a), _pick(s.vectors, t.b).tanh()))


@_step
def _times(s: State, t: Step) -> None:
    m, v = _pick(s.matrices, t.a), _pick(s.vectors, t.b)
    s.new([m @ v, v @ m, s.lib.mv(m.t(), v), (m @ v[:, None]).squeeze(-1)][t.k % 4].tanh())


@_step
def _squared(s: State, t: Step) -> None:
    m, n = _pick(s.matrices, t.a), _pick(s.matrices, t.b)
    s.matrices.append([m @ n, m * n.t(), s.lib.addmm(m, n, m)][t.k % 3].tanh())


@_step
def _rows(s: State, t: Step) -> None:
    m = _pick(s.matrices, t.a)
    k = t.k % N
    s.new([m[k], m[:, k], m.diagonal(), m.t()[k], m.unbind(1)[k], m.sum(t.b % 2)][t.b % 6])


# -- views and joining -----------------------------------------------------------------------------


@_step
def _moved(s: State, t: Step) -> None:
    v, k = _pick(s.vectors, t.a), t.k % N
    s.new(
        [
            v.flip(0),
            v.roll(k),
            s.lib.cat([v[k:], v[:k]]),
            v.view(2, 2).t().reshape(-1),
            v[None].expand(2, N)[1],
            s.lib.stack([v, v * 2], 1)[:, 1],
            v.as_strided((N,), (0,), v.storage_offset()) if k else v.unfold(0, N, 1)[0],
        ][t.b % 6]
    )


# -- reductions ------------------------------------------------------------------------------------


@_step
def _reduced(s: State, t: Step) -> None:
    v = _pick(s.vectors, t.a)
    s.numbers.append(
        [
            v.sum(),
            v.mean(),
            v.prod(),
            v.max(),
            v.logsumexp(0),
            (v * v + 0.1).sum().sqrt(),
            v.std(),
            v.median(),
            v.sort()[0][1],
        ][t.k % 9].tanh()
    )


@_step
def _running(s: State, t: Step) -> None:
    v = _pick(s.vectors, t.a)
    s.new(
        [v.cumsum(0), v.softmax(0), v.sort()[0], v.cumprod(0), v - v.mean(0, keepdim=True)][t.k % 5]
    )


# -- indices of samples ----------------------------------------------------------------------------


@_step
def _found(s: State, t: Step) -> None:
    v = _pick(s.vectors, t.a).detach()
    s.indices.append([v.argmax(), v.argmin(), v.argsort()[t.b % N], (v > 0).sum() % N][t.k % 4])


@_step
def _by_index(s: State, t: Step) -> None:
    i, j = _pick(s.indices, t.a), _pick(s.indices, t.b)
    v, m = _pick(s.vectors, t.k), _pick(s.matrices, t.b)
    s.new([m[i], m[:, i], v.roll(1) * v[i], m[i, j] * v, v[s.lib.stack([i, j, i, j])]][t.k % 5])


@_step
def _gathered(s: State, t: Step) -> None:
    v, m = _pick(s.vectors, t.a), _pick(s.matrices, t.b)
    order = _pick(s.vectors, t.k).detach().argsort()
    s.new([v[order], v.gather(0, order), m[order, t.k % N], v.index_select(0, order)][t.k % 4])


# -- writes ----------------------------------------------------------------------------------------


@_step
def _made(s: State, t: Step) -> None:
    s.new(_table(s, t))


@_step
def _written(s: State, t: Step) -> None:
    target, x, v = _own(s, t), _pick(s.numbers, t.b), _pick(s.vectors, t.b)
    k = t.k % N
    if t.k % 5 == 0:
        target[k] = x
    elif t.k % 5 == 1:
        target[k:] = v.clone()[: N - k]
    elif t.k % 5 == 2:
        target.add_(v.clone() * 0.5)
    elif t.k % 5 == 3:
        target[k:].mul_(-0.5)
    else:
        target.copy_(v.clone().flip(0))


@_step
def _written_by_index(s: State, t: Step) -> None:
    target, i = _own(s, t), _pick(s.indices, t.b)
    x, v = _pick(s.numbers, t.k), _pick(s.vectors, t.b)
    if t.k % 4 == 0:
        target[i] = x
    elif t.k % 4 == 1:
        target[[0, 2]] = v.clone()[:2]
    elif t.k % 4 == 2:
        target.index_add_(0, i.reshape(1), x.reshape(1))
    else:
        target.scatter_(0, v.detach().argsort(), v.clone())


@_step
def _written_matrix(s: State, t: Step) -> None:
    m = _pick(s.matrices, t.a).clone()
    v, k = _pick(s.vectors, t.b), t.k % N
    if t.k % 3 == 0:
        m[k] = v
    elif t.k % 3 == 1:
        m.diagonal().add_(v)
    else:
        m.t()[k:, 0].copy_(v[k:])
    s.matrices.append(m)


# -- transforms inside -----------------------------------------------------------------------------


@_step
def _derivative(s: State, t: Step) -> None:
    v, w = _pick(s.vectors, t.a), _pick(s.vectors, t.b)

    def number(u: Value) -> Value:
        return (u * v.sin() * u.roll(1)).sum()

    def vector(u: Value) -> Value:
        return u * v + u.sum() * w

    s.new(
        [
            lambda: s.func.grad(number)(w),
            lambda: s.func.jvp(vector, (w,), (v,))[1],
            lambda: s.func.vjp(vector, w)[1](v)[0],
            lambda: s.func.jacrev(vector)(w).sum(0),
            lambda: s.func.jacfwd(vector)(w)[t.b % N],
            lambda: s.func.hessian(number)(w)[:, t.b % N],
        ][t.k % 6]()
    )


@_step
def _batch_inside(s: State, t: Step) -> None:
    m, v, x = _pick(s.matrices, t.a), _pick(s.vectors, t.b), _pick(s.numbers, t.b)
    dim = t.k % 2
    rows = s.func.vmap(lambda row: (row * v).tanh() + x, in_dims=dim, out_dims=dim)(m)
    s.matrices.append(rows)
    s.new(s.func.vmap(lambda y: y * x)(v))


# -- programs --------------------------------------------------------------------------------------


def draw(rng: random.Random) -> list[Step]:
    return [
        Step(rng.choice(list(STEPS)), rng.randrange(60), rng.randrange(60), rng.randrange(60))
        for _ in range(rng.randint(3, 9))
    ]


def function_of(lib: Lib, func: Lib, steps: list[Step]) -> Callable[..., Value]:
    """The program as a function of a vector, a matrix, a number, an index and another vector."""

    def program(x: Value, m: Value, y: Value, i: Value, w: Value) -> Value:
        state = State(lib, func, [x, w], [m], [y], [i])
        for step in steps:
            STEPS[step.kind](state, step)
        total = state.vectors[-1].tanh() + state.numbers[-1]
        for vector in state.vectors[-3:]:
            total = total + vector.sin() * 0.5
        return total * state.matrices[-1][1].cos()

    return program


@dataclass(frozen=True)
class Data:
    """Arguments, and which dimension of each is the batch."""

    arrays: list[Any]
    dims: tuple[int | None, ...]
    out_dim: int

    @staticmethod
    def draw(rng: random.Random) -> Data:
        shapes: list[tuple[int, ...]] = [(N,), (N, N), (), (), (N,)]
        dims: list[int | None] = [
            rng.choice([*range(len(shape) + 1), -1, *([None] * (nr > 0))])
            for nr, shape in enumerate(shapes)
        ]
        noise = np.random.default_rng(rng.randrange(2**32))
        arrays = []
        for nr, (shape, dim) in enumerate(zip(shapes, dims, strict=True)):
            size = list(shape)
            if dim is not None:
                size.insert(dim if dim >= 0 else len(size), BATCH)
            is_index = nr == 3
            arrays.append(noise.integers(0, N, size) if is_index else noise.uniform(-1, 1, size))
        return Data(arrays, tuple(dims), rng.choice([0, 1, -1]))

    def tensors(self, lib: Lib, *, leaves: bool = False) -> list[Value]:
        made = [lib.tensor(array) for array in self.arrays]
        return [x.requires_grad_() if leaves and x.is_floating_point() else x for x in made]

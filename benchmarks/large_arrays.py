"""A million elements and more: forward and backward against the same written by hand in NumPy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import vtgrad as vt
from vtgrad.storage.arrays import Array

from .measure import Ratio, ratio

BAR = 1.15


@dataclass(frozen=True)
class Program:
    """A scalar of three tensors, the first of which gets a gradient, and the same by hand."""

    name: str
    ours: Callable[[vt.Tensor, vt.Tensor, vt.Tensor], vt.Tensor]
    by_hand: Callable[[Array, Array, Array], object]


def tanh_times_itself(x: Array, y: Array, z: Array) -> object:
    """Sum of tanh(x) * x, and its gradient."""
    t = np.tanh(x)
    value = np.sum(t * x)
    gradient = (1 - t * t) * x
    gradient += t
    return value, gradient


def chain(x: Array, y: Array, z: Array) -> object:
    """Sum of exp(sin(a)) * a with a = x * y + z."""
    a = x * y + z
    c = np.exp(np.sin(a))
    value = np.sum(c * a)
    gradient = a * c
    gradient *= np.cos(a)
    gradient += c
    gradient *= y
    return value, gradient


def rectified(x: Array, y: Array, z: Array) -> object:
    """Mean of relu(x * y) ** 2."""
    r = np.maximum(x * y, 0)
    value = np.mean(r * r)
    gradient = r * (2 / x.size)
    gradient *= r > 0
    gradient *= y
    return value, gradient


def quotient(x: Array, y: Array, z: Array) -> object:
    """Sum of x / (x * x + 2) * y."""
    d = x * x + 2
    q = x / d
    value = np.sum(q * y)
    inner = y / d
    gradient = inner * q
    gradient *= -2
    gradient *= x
    gradient += inner
    return value, gradient


def normalised(x: Array, y: Array, z: Array) -> object:
    """Sum of softmax(x) * y over rows of 1,000."""
    rows, weights = x.reshape(-1, 1000), y.reshape(-1, 1000)
    s = np.exp(rows - rows.max(1, keepdims=True))
    s /= s.sum(1, keepdims=True)
    value = np.sum(s * weights)
    gradient = weights * s
    gradient -= s * gradient.sum(1, keepdims=True)
    return value, gradient


def _rows_of(x: vt.Tensor) -> vt.Tensor:
    return x.view(-1, 1000)


PROGRAMS = (
    Program("tanh(x) * x", lambda x, y, z: (x.tanh() * x).sum(), tanh_times_itself),
    Program(
        "exp(sin(a)) * a, a = x * y + z",
        lambda x, y, z: ((a := x * y + z).sin().exp() * a).sum(),
        chain,
    ),
    Program("relu(x * y) ** 2", lambda x, y, z: ((x * y).relu() ** 2).mean(), rectified),
    Program("x / (x * x + 2) * y", lambda x, y, z: (x / (x * x + 2) * y).sum(), quotient),
    Program(
        "softmax of rows", lambda x, y, z: (_rows_of(x).softmax(1) * _rows_of(y)).sum(), normalised
    ),
)


def _differentiate(program: Program, leaf: vt.Tensor, y: vt.Tensor, z: vt.Tensor) -> None:
    leaf.grad = None
    program.ours(leaf, y, z).backward()


def rows() -> Iterator[tuple[str, Ratio, float]]:
    """Name, ratio and bar of each row."""
    for dtype, size in (("float64", 10**6), ("float32", 10**6), ("float64", 10**7)):
        generator = np.random.default_rng(1)
        x, y, z = (generator.normal(size=size).astype(dtype) for _ in range(3))
        leaf = vt.from_numpy(x).requires_grad_()
        for program in PROGRAMS:
            found = ratio(
                partial(_differentiate, program, leaf, vt.from_numpy(y), vt.from_numpy(z)),
                partial(program.by_hand, x, y, z),
                repeats=max(1, 3 * 10**6 // size),
            )
            yield f"{program.name}, {dtype}, {size:.0e}", found, BAR

"""Large arrays, both passes, against the same written by hand in NumPy, in two ways.

**Plain* is a version that ignores memory: the same operators forward, and backward one ordinary
expression for the gradient of each operator's inputs, from left to right, without algebra across
operators. Nothing is multiplied by one, the gradient of a sum.

**Strict* is a version that minimises memory for this one program: a dead array is overwritten where
that saves an allocation, values that both passes use are kept, and a square has one gradient, not
two. Algebra that rewrites the program is left out. A library that records one operator at a time
cannot reach this, because when an operator runs, its later uses of the operands are unknown:
README.md has the figures.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from benchmarks.bench import Bench, prepared
from benchmarks.libraries import Array, Body, Real, Toolkit
from benchmarks.measure import steady
from benchmarks.results import Bar, Result

SECTION = "large arrays, both passes"
SIZES = (1_000_000, 10_000_000)
BAR = Bar(1.15, 1.15, against="numpy")

ByHand: TypeAlias = Callable[..., tuple[object, Real]]
"""From the inputs to the value and the gradient of the first."""


def smooth(lib: Toolkit, x: Array) -> Array:
    """One costly function."""
    return (lib.ops.tanh(x) * x).sum()


def smooth_plain(x: Real) -> tuple[object, Real]:
    """Value and gradient of `smooth`."""
    t = np.tanh(x)
    value = (t * x).sum()
    grad_t = x
    grad_x = t
    return value, grad_x + grad_t * (1 - t * t)


def smooth_strict(x: Real) -> tuple[object, Real]:
    """Value and gradient of `smooth`."""
    t = np.tanh(x)
    work = t * x
    value = work.sum()
    np.multiply(t, t, out=work)
    np.subtract(1, work, out=work)
    work *= x
    work += t
    return value, work


def residual(lib: Toolkit, x: Array) -> Array:
    """Cheap functions only: all of the time is memory traffic."""
    del lib
    r = x * x - x
    return (r * r).sum()


def residual_plain(x: Real) -> tuple[object, Real]:
    """Value and gradient of `residual`."""
    r = x * x - x
    value = (r * r).sum()
    grad_r = r + r
    grad_x = -grad_r
    return value, grad_x + grad_r * x + grad_r * x


def residual_strict(x: Real) -> tuple[object, Real]:
    """Value and gradient of `residual`."""
    r = x * x
    r -= x
    work = r * r
    value = work.sum()
    r *= 2
    np.multiply(r, x, out=work)
    work *= 2
    work -= r
    return value, work


def in_place(lib: Toolkit, x: Array) -> Array:
    """In-place operators on temporaries, and on half of an array."""
    y = x * 0.5
    y += 1.0
    half = y[: y.shape[0] // 2]
    half *= 2.0
    z = lib.ops.exp(-y)
    return z.sum()


def in_place_plain(x: Real) -> tuple[object, Real]:
    """Value and gradient of `in_place`."""
    y = x * 0.5
    y += 1
    half = y[: y.shape[0] // 2]
    half *= 2
    z = np.exp(-y)
    value = z.sum()
    grad_y = -z
    grad_half = grad_y[: y.shape[0] // 2]
    grad_half *= 2
    return value, grad_y * 0.5


def in_place_strict(x: Real) -> tuple[object, Real]:
    """Value and gradient of `in_place`."""
    z = x * 0.5
    z += 1
    half = z[: z.shape[0] // 2]
    half *= 2
    np.negative(z, out=z)
    np.exp(z, out=z)
    value = z.sum()
    np.negative(z, out=z)
    half *= 2
    z *= 0.5
    return value, z


def waves(lib: Toolkit, x: Array, y: Array, z: Array) -> Array:
    """Several costly functions of a product."""
    a = x * y + z
    return (lib.ops.exp(lib.ops.sin(a)) * a).sum()


def waves_plain(x: Real, y: Real, z: Real) -> tuple[object, Real]:
    """Value and gradient of `waves`."""
    a = x * y + z
    s = np.sin(a)
    e = np.exp(s)
    value = (e * a).sum()
    grad_e = a
    grad_s = grad_e * e
    grad_a = e + grad_s * np.cos(a)
    return value, grad_a * y


def waves_strict(x: Real, y: Real, z: Real) -> tuple[object, Real]:
    """Value and gradient of `waves`."""
    a = x * y
    a += z
    c = np.sin(a)
    np.exp(c, out=c)
    gradient = c * a
    value = gradient.sum()
    gradient *= np.cos(a)
    gradient += c
    gradient *= y
    return value, gradient


def quotient(lib: Toolkit, x: Array, y: Array, z: Array) -> Array:
    """Divisions."""
    del lib, z
    return (x / (x * x + 2.0) * y).sum()


def quotient_plain(x: Real, y: Real, z: Real) -> tuple[object, Real]:
    """Value and gradient of `quotient`."""
    del z
    d = x * x + 2
    q = x / d
    value = (q * y).sum()
    grad_q = y
    grad_x = grad_q / d
    grad_d = -grad_q * x / (d * d)
    return value, grad_x + grad_d * x + grad_d * x


def quotient_strict(x: Real, y: Real, z: Real) -> tuple[object, Real]:
    """Value and gradient of `quotient`."""
    del z
    d = x * x
    d += 2
    q = x / d
    value = (q * y).sum()
    inner = np.divide(y, d, out=d)
    gradient = np.multiply(inner, q, out=q)
    gradient *= -2
    gradient *= x
    gradient += inner
    return value, gradient


@dataclass(frozen=True)
class Pair:
    """A program and its gradient written by hand, in both ways."""

    body: Body
    plain: ByHand
    strict: ByHand
    writes: bool = False
    # The number of inputs besides the one that gets a gradient.
    beside: int = 0


PAIRS = {
    "tanh(x)*x": Pair(smooth, smooth_plain, smooth_strict),
    "(x*x - x)**2": Pair(residual, residual_plain, residual_strict),
    "exp(-y), y written": Pair(in_place, in_place_plain, in_place_strict, writes=True),
    "exp(sin(a))*a, a = x*y + z": Pair(waves, waves_plain, waves_strict, beside=2),
    "x / (x*x + 2) * y": Pair(quotient, quotient_plain, quotient_strict, beside=2),
}


def inputs(size: int) -> list[Real]:
    """One long vector."""
    return [np.linspace(-2.0, 2.0, size, dtype=np.float32)]


def constants(pair: Pair, size: int) -> list[Real]:
    """The other inputs."""
    generator = np.random.default_rng(1)
    return [generator.normal(size=size).astype(np.float32) for _ in range(pair.beside)]


def rows(bench: Bench) -> Iterator[Result]:
    """Each pair at a million and at ten million elements."""
    for size in SIZES[:1] if bench.quick else SIZES:
        (x,) = inputs(size)
        for name, pair in PAIRS.items():
            able = bench.able(writes=pair.writes)
            others = constants(pair, size)
            programs = {
                key: prepared(library, pair.body, [x], "both", others)
                for key, library in able.items()
            }
            programs["numpy"] = steady(partial(pair.plain, x, *others))
            programs["strict"] = steady(partial(pair.strict, x, *others))
            yield bench.compare(SECTION, f"{name}, {size:,}", programs, BAR, rounds=5)

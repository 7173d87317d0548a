"""Forward mode, in times of the program itself; Jacobians, and products with Hessians.

A program is written once, with the functions that vtgrad and PyTorch have under one name. Other
libraries take no part: they have no forward mode, or cannot write in it.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import vtgrad
from benchmarks.bench import Bench
from benchmarks.libraries import Array, Real
from benchmarks.measure import interleaved, ratios, steady
from benchmarks.results import Bar, Result

SECTION = "forward mode"
FORWARD: Final = Bar(2.2, 2.2, against="")
PRODUCT: Final = Bar(2.5, 2.5, against="")
JACOBIAN: Final = Bar(0.3, 0.3)
PASSES: Final = Bar(5.0, 5.0, against="")
SIZE = 1_000_000
VECTOR = 200
UNKNOWNS = 10_000
DTYPE: Final = "float32"
LIBRARIES: Final[tuple[str, ...]] = ("vtgrad", "torch")

Function = Callable[[Array], Array]
Rounds = dict[str, list[float]]


@dataclass(frozen=True)
class Modules:
    """A library, and its packages of derivatives.

    Attributes
    ----------
    ops, func, functional : module
        Such as `torch`, `torch.func` and `torch.autograd.functional`.
    """

    ops: Any
    func: Any
    functional: Any

    @classmethod
    def of(cls, name: str) -> "Modules":
        """The modules of a library."""
        parts = (name, f"{name}.func", f"{name}.autograd.functional")
        return cls(*map(importlib.import_module, parts))

    def tensor(self, array: Real) -> Array:
        """A tensor without grad, with memory of its own."""
        return self.ops.tensor(array)


Program = Callable[[Modules, Mapping[str, Array], Array], Array]


def scaled(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """A chain whose operators are linear in `x`."""
    for _ in range(5):
        x = x * given["c"] + given["c"]
    return x


def squashed(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """A chain of products and of a function whose slope takes three steps."""
    for _ in range(5):
        x = lib.ops.tanh(x * 1.1)
    return x


def squares(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """Products in which both factors have a tangent."""
    return (x * x - x) ** 2


def waves(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """A program that uses an intermediate value twice."""
    a = x * given["c"] + given["c"]
    return lib.ops.exp(lib.ops.sin(a)) * a


def in_place(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """Writes that overwrite the whole of one array."""
    y = x * 1.0
    for _ in range(5):
        y.mul_(given["c"])
        y.add_(1.0)
        y.tanh_()
    return y


def heat(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """A grid whose inside is updated in place, through views that were made before."""
    u = x.reshape(given["side"], given["side"]) * 1.0
    inside, north, south, west, east = (
        u[1:-1, 1:-1],
        u[:-2, 1:-1],
        u[2:, 1:-1],
        u[1:-1, :-2],
        u[1:-1, 2:],
    )
    for _ in range(5):
        inside += 0.1 * (north + south + west + east - 4.0 * inside)
    return u


def layers(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """Products of matrices, of which the first has a tangent."""
    y = x.reshape(given["side"], given["side"])
    for _ in range(3):
        y = lib.ops.tanh(y @ given["w"])
    return y


PROGRAMS: Final[dict[str, Program]] = {
    "x * c + c, 5 times": scaled,
    "tanh(x * 1.1), 5 times": squashed,
    "(x*x - x)**2": squares,
    "exp(sin(a))*a": waves,
    "y *= c, y += 1, tanh_(y)": in_place,
    "heat equation through views": heat,
    "tanh(x @ w), 3 times": layers,
}


def steps(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """50 operators on a vector: elementwise ones, products with a matrix, and writes."""
    for _ in range(10):
        y = lib.ops.tanh(given["m"] @ x)
        x = y * x + 0.5
        x[1:] *= 0.9
    return x


def tridiagonal(u: Array) -> Array:
    """A residual whose Jacobian is tridiagonal."""
    r = u**3
    r[1:] -= u[:-1]
    r[:-1] -= u[1:]
    return r


def constants(lib: Modules, size: int, dtype: str = DTYPE) -> dict[str, Array]:
    """What programs use beside their argument, for one of `size` elements."""
    side = round(size**0.5)
    rng = np.random.default_rng(1)
    w = rng.standard_normal((side, side)) / side**0.5
    c = np.linspace(0.9, 1.1, size)
    given = {"c": lib.tensor(c.astype(dtype)), "w": lib.tensor(w.astype(dtype)), "side": side}
    if size <= VECTOR:
        m = rng.standard_normal((size, size)) / size**0.5
        given["m"] = lib.tensor(m.astype(dtype))
    return given


def arguments(size: int, dtype: str = DTYPE) -> tuple[Real, Real]:
    """A point and a direction."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 1.0, size).astype(dtype)
    return x, rng.uniform(-1.0, 1.0, size).astype(dtype)


def small(lib: Modules, given: Mapping[str, Array], x: Array) -> Array:
    """1,000 small operators: the cost of the library itself."""
    for _ in range(500):
        x = lib.ops.sin(x) * given["c"]
    return x


# Programs whose gradient is differentiated, and how many elements their argument has.
GRADIENTS: Final[dict[str, tuple[Program, int]]] = {
    "tanh(x * 1.1), 5 times, 1,000,000": (squashed, SIZE),
    "heat equation through views, 512x512": (heat, 512 * 512),
    "tanh(x @ w), 3 times, 128x128": (layers, 128 * 128),
    "1,000 operators, 16": (small, 16),
}


class Measured:
    """A program in one library, with everything that it is called with."""

    def __init__(self, library: str, program: Program, size: int, dtype: str = DTYPE) -> None:
        self.lib = lib = Modules.of(library)
        given = constants(lib, size, dtype)
        self.run: Function = lambda x: program(lib, given, x)
        self.number: Function = lambda x: (program(lib, given, x) ** 2).sum()
        self.x, self.v = map(lib.tensor, arguments(size, dtype))
        self.leaf = self.x.clone().requires_grad_()

    def plain(self) -> Array:
        """The program itself."""
        return self.run(self.x)

    def forward(self) -> Array:
        """Its value, and the product of its Jacobian with a vector."""
        return self.lib.func.jvp(self.run, (self.x,), (self.v,))

    def gradient(self) -> Array:
        """The gradient of the number."""
        return self.lib.ops.autograd.grad(self.number(self.leaf), self.leaf)

    def hvp(self) -> Array:
        """The product of its Hessian with a vector, by `functional`."""
        return self.lib.functional.hvp(self.number, self.x, self.v)

    def pushed_gradient(self) -> Array:
        """The same by forward mode over reverse mode."""
        return self.lib.func.jvp(self.lib.func.grad(self.number), (self.x,), (self.v,))

    def jacobian(self) -> Array:
        """The Jacobian: all rows in one pass in vtgrad, row by row in PyTorch."""
        return self.lib.functional.jacobian(self.run, self.x, vectorize=self.lib.ops is vtgrad)


def _ratio(bench: Bench, program: Program, size: int, what: str, unit: str) -> Rounds:
    """The time of one method of `Measured` in times of another one, by library."""
    found: Rounds = {}
    for name in LIBRARIES:
        if name in bench.libraries:
            one = Measured(name, program, size)
            programs = {part: steady(getattr(one, part)) for part in (what, unit)}
            times = interleaved(programs, bench.rounds)
            found[name] = ratios(times[what], times[unit])
    return found


def _sparse(bench: Bench) -> Iterator[Result]:
    """A tridiagonal Jacobian in times of one product with it: its passes, and the rest."""
    lib = Modules.of("vtgrad")
    x, v = map(lib.tensor, arguments(1_000 if bench.quick else UNKNOWNS))
    pattern = lib.func.sparsity_pattern(tridiagonal, x)
    found = interleaved(
        {
            "product": steady(lambda: lib.func.jvp(tridiagonal, (x,), (v,))),
            "known": steady(lambda: lib.func.sparse_jacobian(tridiagonal, x, pattern=pattern)),
            "found": steady(lambda: lib.func.sparse_jacobian(tridiagonal, x)),
        },
        bench.rounds,
    )
    name = f"tridiagonal Jacobian, {len(x):,}"
    for what, bar in (("known", None if bench.quick else PASSES), ("found", None)):
        times = {"vtgrad": ratios(found[what], found["product"])}
        yield Result(SECTION, f"{name}, pattern {what} / jvp", "times", times, bar)


def rows(bench: Bench) -> Iterator[Result]:
    """Forward mode, products with Hessians, and Jacobians."""
    size = 10_000 if bench.quick else SIZE
    for name, program in PROGRAMS.items():
        found = _ratio(bench, program, size, "forward", "plain")
        yield Result(
            SECTION, f"{name}: jvp / plain", "times", found, None if bench.quick else FORWARD
        )
    for name, (program, elements) in GRADIENTS.items():
        count = min(elements, 10_000) if bench.quick else elements
        for what, spoken in (("hvp", "hvp"), ("pushed_gradient", "jvp of grad")):
            found = _ratio(bench, program, count, what, "gradient")
            bar = None if bench.quick else PRODUCT
            yield Result(SECTION, f"{name}: {spoken} / gradient", "times", found, bar)
    measured = {
        name: steady(Measured(name, steps, VECTOR).jacobian)
        for name in LIBRARIES
        if name in bench.libraries
    }
    yield bench.compare(SECTION, f"Jacobian of 50 operators, {VECTOR}", measured, JACOBIAN)
    yield from _sparse(bench)

"""Random programs that write in place, under every nesting of the transforms.

A program runs on NumPy arrays of Taylor polynomials too (`jets.py`), which gives its derivatives
without a graph and without tangents. Values that a later write would make stale are copied first,
so that no nesting may refuse a program.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad as vt
from tests.func.jets import ORDER, Jet

FUNC: Any = vt.func
FUNCTIONAL: Any = vt.autograd.functional

N: Final = 4
# A vector or a number of either library.
Vec = Any
Function = Callable[[Vec], Vec]
# A kind, the numbers of two vectors, and two indices, the first of them not 0.
Step = tuple[str, int, int, int, int]


class OfTensors:
    @staticmethod
    def start(a: Vec) -> list[Vec]:
        buffers = [vt.full((N,), v, dtype=vt.float64) for v in (0.0, 1.0, 0.5)]
        buffers[0] += a
        buffers[2][1:3] = a
        return buffers

    copy = staticmethod(vt.Tensor.clone)
    total = staticmethod(vt.Tensor.sum)
    cumsum = staticmethod(lambda x: x.cumsum(0))
    flip = staticmethod(lambda x: x.flip(0))
    tanh_ = staticmethod(vt.Tensor.tanh_)
    exp_ = staticmethod(vt.Tensor.exp_)
    reciprocal_ = staticmethod(vt.Tensor.reciprocal_)

    @staticmethod
    def store_where(x: Vec, places: list[bool], value: Vec) -> None:
        x[vt.tensor(places)] = value

    @staticmethod
    def add_at(x: Vec, places: list[int], values: Vec) -> None:
        x.index_add_(0, vt.tensor(places), values)


class OfJets:
    @staticmethod
    def start(a: Vec) -> list[Vec]:
        rows = [[a] * N, [1.0] * N, [0.5, a, a, 0.5]]
        buffers = []
        for row in rows:
            buffer = np.empty(N, dtype=object)
            buffer[:] = [Jet.of(v) for v in row]
            buffers.append(buffer)
        return buffers

    copy = staticmethod(lambda x: x.copy() if isinstance(x, np.ndarray) else x)
    total = staticmethod(np.sum)
    cumsum = staticmethod(np.cumsum)
    flip = staticmethod(lambda x: x[::-1])
    tanh_ = staticmethod(lambda x: np.tanh(x, out=x))
    exp_ = staticmethod(lambda x: np.exp(x, out=x))

    @staticmethod
    def reciprocal_(x: Vec) -> None:
        x[:] = [number.reciprocal() for number in x]

    @staticmethod
    def store_where(x: Vec, places: list[bool], value: Vec) -> None:
        x[np.array(places)] = value

    @staticmethod
    def add_at(x: Vec, places: list[int], values: Vec) -> None:
        for place, value in zip(places, values, strict=True):
            x[place] = x[place] + value


Lib = type[OfTensors] | type[OfJets]


def _take(lib: Lib, a: Vec, b: list[Vec], step: Step) -> None:
    """One step, on buffers whose elements stay between -1 and 1, or near."""
    kind, i, j, s, e = step
    x, y = b[i], lib.copy(b[j])
    if kind == "mul_":
        x *= y
    elif kind == "mul_by_itself":
        x *= lib.copy(x)
    elif kind == "mul_view_":
        x[s:] *= y[: N - s]
    elif kind == "add_view_":
        x[:s] += y[N - s :] * 0.5
    elif kind == "sub_shifted_":
        x[s:] -= lib.copy(x[: N - s]) * y[e]
    elif kind == "div_":
        x /= y * y + 2.0
    elif kind == "pow_":
        x[s - 1 :] **= 3
    elif kind == "scale_one":
        x[e] *= a
    elif kind == "slice":
        x[s:] = y[: N - s]
    elif kind == "number":
        x[:s] = b[j][e]
    elif kind == "number_where":
        lib.store_where(x, [nr % 2 == e % 2 for nr in range(N)], b[j][s])
    elif kind == "swap":
        first = lib.copy(x[0])
        x[0] = x[s]
        x[s] = first
    elif kind == "put":
        x[[s - 1, s]] = y[[s, e]] * a
    elif kind == "add_at":
        lib.add_at(x, [e, s, e], y[:3])
    elif kind == "reverse":
        x[:] = lib.flip(y)
    elif kind == "new":
        b[i] = lib.copy(x) * y + a
    elif kind == "cumsum":
        b[i] = lib.cumsum(lib.copy(x))
    elif kind == "exp_":
        lib.exp_(x[s:])
        # The result is saved, so the buffer is not written any more.
        b[i] = lib.copy(x)
    elif kind == "reciprocal_":
        x += 2.0
        lib.reciprocal_(x)
        b[i] = lib.copy(x)
    else:
        raise AssertionError(kind)
    lib.tanh_(b[i])
    b[i] = lib.copy(b[i])


KINDS: Final = (
    "mul_ mul_by_itself mul_view_ add_view_ sub_shifted_ div_ pow_ scale_one slice number "
    "number_where swap put add_at reverse new cumsum exp_ reciprocal_"
).split()


def _drawn(rng: random.Random) -> list[Step]:
    return [
        (
            rng.choice(KINDS),
            rng.randrange(3),
            rng.randrange(3),
            rng.randrange(1, N),
            rng.randrange(N),
        )
        for _ in range(rng.randint(4, 9))
    ]


def _run(lib: Lib, steps: list[Step], a: Vec) -> Vec:
    buffers = lib.start(a)
    for step in steps:
        _take(lib, a, buffers, step)
    first, second, third = buffers
    return lib.total(first * second) + lib.total(third * third)


def _one(x: vt.Tensor) -> vt.Tensor:
    return vt.ones_like(x)


# Each makes of a function of a number its derivative.
DERIVATIVES: Final[dict[str, Callable[[Function], Function]]] = {
    "grad": FUNC.grad,
    "vjp": lambda f: lambda a: FUNC.vjp(f, a)[1](_one(a))[0],
    "jvp": lambda f: lambda a: FUNC.jvp(f, (a,), (_one(a),))[1],
    "jacrev": FUNC.jacrev,
    "jacfwd": FUNC.jacfwd,
    "linearize": lambda f: lambda a: FUNC.linearize(f, a)[1](_one(a)),
    "functional.jacobian": lambda f: lambda a: FUNCTIONAL.jacobian(f, a, create_graph=True),
    "functional.jvp": lambda f: lambda a: FUNCTIONAL.jvp(f, a, create_graph=True)[1],
    "functional.vjp": lambda f: lambda a: FUNCTIONAL.vjp(f, a, create_graph=True)[1],
}


def _check(steps: list[Step], at: float, nestings: list[tuple[str, ...]]) -> None:
    expected = _run(OfJets, steps, Jet.variable(at))
    for nesting in nestings:
        f: Function = lambda a: _run(OfTensors, steps, a)  # noqa: E731  # it is replaced below
        for name in nesting:
            f = DERIVATIVES[name](f)
        order = len(nesting)
        np.testing.assert_allclose(
            f(vt.tensor(at, dtype=vt.float64)).item(),
            expected.derivative(order),
            rtol=1e-8,
            atol=1e-9,
            err_msg=f"{nesting} of {steps} at {at}",
        )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_every_pair_of_transforms_gives_the_second_derivative(seed: int) -> None:
    rng = random.Random(seed)
    nestings = [tuple(pair) for pair in itertools.product(DERIVATIVES, repeat=2)]
    rng.shuffle(nestings)
    for part in range(3):  # every pair once, each third with a program of its own
        _check(_drawn(rng), rng.uniform(-0.9, 0.9), nestings[part::3])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_triples_of_transforms_give_the_third_derivative(seed: int) -> None:
    rng = random.Random(100 + seed)
    for _ in range(4):
        nestings = [tuple(rng.choices([*DERIVATIVES], k=ORDER)) for _ in range(12)]
        _check(_drawn(rng), rng.uniform(-0.9, 0.9), nestings)


@pytest.mark.parametrize(
    "nestings",
    [
        [(name,) for name in DERIVATIVES],
        pytest.param(
            [("jvp", "grad"), ("grad", "jvp"), ("grad", "jvp", "jvp")], marks=pytest.mark.slow
        ),
    ],
)
def test_every_kind_of_step_alone(nestings: list[tuple[str, ...]]) -> None:
    for kind in KINDS:
        for i, j in ((0, 0), (0, 1), (1, 0), (2, 2)):
            step = (kind, i, j, 2, 3)
            _check([step, step], 0.4, nestings)

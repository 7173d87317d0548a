"""Jacobians, Hessians and transforms against PyTorch's, on random functions that write in place.

A function is a list of steps on vectors of four elements, which runs in either library. PyTorch
refuses some of them, because its check of saved values goes by the whole storage: these are left
out, and most must remain.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad
import vtgrad.func
from vtgrad.utils.pytree import tree_leaves

torch = pytest.importorskip("torch")

N: Final = 4
PROGRAMS: Final = 60
KINDS: Final = "mul tanh mix cumsum matrix buffer clone add_ view".split()

# Modules, tensors and functions of either library.
Lib = Any
Vec = Any
Step = tuple[str, int, int, int]


def _draw(rng: random.Random, inputs: int) -> list[Step]:
    """Draw the steps of a function: a kind, the numbers of two values, and an index."""
    steps: list[Step] = []
    made = inputs
    own: list[int] = []
    for _ in range(rng.randint(3, 9)):
        kind = rng.choice(KINDS)
        if kind in ("add_", "view"):
            if not own:
                continue
            steps.append((kind, rng.choice(own), rng.randrange(made), rng.randrange(1, N)))
            continue
        steps.append((kind, rng.randrange(made), rng.randrange(made), rng.randrange(1, N)))
        if kind in ("buffer", "clone"):
            own.append(made)
        made += 1
    return steps


def _run(lib: Lib, steps: list[Step], inputs: tuple[Vec, ...]) -> Vec:
    v = list(inputs)
    for kind, a, b, i in steps:
        if kind == "mul":
            v.append(v[a] * v[b])
        elif kind == "tanh":
            v.append(v[a].tanh() + v[b].sin())
        elif kind == "mix":
            v.append(v[a] * 0.5 - v[b] * 2.0)
        elif kind == "cumsum":
            v.append(v[a].cumsum(0) * v[b].sum())
        elif kind == "matrix":
            matrix = lib.outer(v[a], v[b].tanh())
            matrix.diagonal().add_(v[b])
            v.append(matrix @ v[a].tanh())
        elif kind == "buffer":
            buffer = lib.zeros(N, dtype=lib.float64)
            buffer[:i] = v[a][:i] * v[b][N - i :]
            buffer[i] = v[a][0] ** 2
            v.append(buffer)
        elif kind == "clone":
            v.append(v[a].clone())
        elif kind == "add_":
            v[a].add_(v[b].clone() * v[b].clone())
        else:
            v[a][i:].mul_(v[b][: N - i].clone())
    return v[-1].tanh() * v[0]


def _function(lib: Lib, steps: list[Step]) -> Callable[..., Vec]:
    return lambda *inputs: _run(lib, steps, inputs)


def _number(lib: Lib, steps: list[Step]) -> Callable[..., Vec]:
    return lambda *inputs: (_run(lib, steps, inputs) ** 2).sum()


def _answers(lib: Lib, functional: Lib, func: Lib, steps: list[Step], data: list[Any]) -> list[Any]:
    x, y, u, v, w = (lib.tensor(values, dtype=lib.float64) for values in data)
    f, s = _function(lib, steps), _number(lib, steps)
    out, pull = func.vjp(f, x, y)
    # PyTorch's linearize is wrong for functions that write in place: it folds what was written.
    push = func.linearize(f, x, y)[1] if lib is vtgrad else lambda *t: func.jvp(f, (x, y), t)[1]
    return [
        functional.jacobian(f, (x, y)),
        functional.vjp(f, (x, y), u),
        functional.jvp(f, (x, y), (v, w)),
        functional.hessian(s, (x, y)),
        functional.vhp(s, (x, y), (v, w)),
        functional.hvp(s, (x, y), (v, w)),
        out,
        pull(u),
        push(v, w),
        func.grad_and_value(s, argnums=(0, 1))(x, y),
        func.jacrev(f, argnums=(1, 0))(x, y),
        func.hessian(s, argnums=(0, 1))(x, y),
        func.grad(lambda a: (func.grad(s)(a * y, y) * f(a, y)).sum())(x),
    ]


def _numbers(answers: list[Any]) -> list[Any]:
    leaves: list[Any] = tree_leaves(answers)
    return [np.asarray(leaf.tolist()) for leaf in leaves]


@pytest.mark.filterwarnings("ignore")
def test_random_functions_have_the_derivatives_that_pytorch_finds() -> None:
    rng = random.Random(20261123)
    compared = 0
    for nr in range(PROGRAMS):
        steps = _draw(rng, 2)
        data = [[rng.uniform(-1, 1) for _ in range(N)] for _ in range(5)]
        try:
            theirs = _answers(torch, torch.autograd.functional, torch.func, steps, data)
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                continue
            raise
        ours = _answers(vtgrad, vtgrad.autograd.functional, vtgrad.func, steps, data)
        compared += 1
        expected, found = _numbers(theirs), _numbers(ours)
        assert len(expected) == len(found)
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            np.testing.assert_allclose(other, one, 1e-9, 1e-12, err_msg=f"{nr} {place} {steps}")
    assert compared > PROGRAMS * 0.6

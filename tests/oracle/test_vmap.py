"""`vmap` and transforms inside and outside of it against PyTorch's, on random programs.

``VTGRAD_ORACLE_PROGRAMS`` says how many programs (a thirtieth of them; 100 if it is not set).
PyTorch refuses some, because its check of saved values goes by the whole storage, or because it has
no rule for what was written: these are left out here, and most must remain.
`tests/vmap/test_random_programs.py` compares all of them with a loop over the samples.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import vtgrad
import vtgrad.func
from tests.vmap.programs import Data, Step, draw, function_of
from vtgrad.errors import VtgradError
from vtgrad.utils.pytree import tree_leaves

torch = pytest.importorskip("torch")

PROGRAMS: Final = int(os.environ.get("VTGRAD_ORACLE_PROGRAMS", "3000")) // 30

# Modules, tensors and functions of either library.
Lib = Any
Value = Any


def _answers(lib: Lib, func: Lib, steps: list[Step], data: Data) -> list[Any]:
    f = function_of(lib, func, steps)
    batched = func.vmap(f, in_dims=data.dims, out_dims=data.out_dim)
    given = data.tensors(lib)
    leaves = data.tensors(lib, leaves=True)
    wanted = [x for x in leaves if x.requires_grad]
    total = (batched(*leaves) ** 2).sum()
    first = lib.autograd.grad(total, wanted, allow_unused=True)

    def number(*args: Value) -> Value:
        return f(*args).sum()

    def inside(transformed: Callable[..., Value]) -> Value:
        return func.vmap(transformed, in_dims=data.dims)(*data.tensors(lib))

    x = given[0]
    return [
        batched(*given),
        [lib.zeros_like(x) if g is None else g for x, g in zip(wanted, first, strict=True)],
        inside(func.grad(number, argnums=(0, 4))),
        inside(func.jacrev(f)),
        inside(func.jacfwd(f, argnums=1)),
        func.jvp(lambda a: batched(a, *given[1:]), (x,), (lib.ones_like(x) * 0.3,))[1],
        func.grad(lambda a: batched(a, *given[1:]).sum())(x),
    ]


def _numbers(answers: list[Any]) -> list[Any]:
    leaves: list[Any] = tree_leaves(answers)
    return [np.asarray(leaf.tolist()) for leaf in leaves]


def _theirs(steps: list[Step], data: Data) -> list[Any] | None:
    """What PyTorch answers; None where it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _answers(torch, torch.func, steps, data)
    except RuntimeError:
        return None


@pytest.mark.filterwarnings("ignore")
def test_random_programs_give_what_pytorch_gives() -> None:
    rng = random.Random(20261124)
    compared = 0
    for nr in range(PROGRAMS):
        steps, data = draw(rng), Data.draw(rng)
        theirs = _theirs(steps, data)
        try:
            ours = _answers(vtgrad, vtgrad.func, steps, data)
        except VtgradError:
            assert theirs is None, f"refused here only: {nr} {data.dims} {steps}"
            continue
        if theirs is None:
            continue
        compared += 1
        expected, found = _numbers(theirs), _numbers(ours)
        assert len(expected) == len(found)
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            told = f"{nr} {place} {data.dims} {data.out_dim} {steps}"
            np.testing.assert_allclose(other, one, 1e-8, 1e-10, err_msg=told)
    assert compared > PROGRAMS * 0.5

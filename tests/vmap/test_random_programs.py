"""Random programs for a batch against a loop over the samples.

`tests/oracle/test_vmap.py` compares the same programs with PyTorch. What breaks it: a rule that
mixes up samples, or dimensions, together with views, writes, indices and transforms.
"""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
import vtgrad.func
from tests.vmap.programs import BATCH, Data, Step, draw, function_of
from vtgrad.errors import BatchedWriteError, StaleSavedError, VtgradError
from vtgrad.utils.pytree import tree_leaves

PROGRAMS = 80
# The programs are those by which `test_planted_faults.py` finds faults.
SEED = 7


def sample(tensors: list[vt.Tensor], data: Data, nr: int) -> list[vt.Tensor]:
    return [
        x if dim is None else x.select(dim, nr) for x, dim in zip(tensors, data.dims, strict=True)
    ]


def one_by_one(function: Callable[..., Any], data: Data) -> list[Any]:
    """The results for each sample, stacked."""
    rows = [tree_leaves(function(*sample(data.tensors(vt), data, nr))) for nr in range(BATCH)]
    return [vt.stack(list(parts)).detach().numpy() for parts in zip(*rows, strict=True)]


def together(function: Callable[..., Any], data: Data) -> list[Any]:
    found = vt.vmap(function, in_dims=data.dims, out_dims=data.out_dim)(*data.tensors(vt))
    leaves = [x for x in tree_leaves(found) if isinstance(x, vt.Tensor)]
    return [np.moveaxis(x.detach().numpy(), data.out_dim, 0) for x in leaves]


def outer_gradients(function: Callable[..., Any], data: Data, *, in_batch: bool) -> list[Any]:
    """The gradients of the sum over all samples, by what has samples and what has none."""
    leaves = data.tensors(vt, leaves=True)
    if in_batch:
        found: Any = vt.vmap(function, in_dims=data.dims)(*leaves)
        total = (found**2).sum()
    else:
        rows = [(function(*sample(leaves, data, nr)) ** 2).sum() for nr in range(BATCH)]
        total = vt.stack(rows).sum()
    wanted = [x for x in leaves if x.requires_grad]
    gradients = vt.autograd.grad(total, wanted, materialize_grads=True)
    return [g.numpy() for g in gradients]


def check(steps: list[Step], data: Data) -> bool:
    """Compare a program in several ways; whether it was not refused."""
    program = function_of(vt, vt.func, steps)

    def number(*args: vt.Tensor) -> vt.Tensor:
        total: vt.Tensor = program(*args).sum()
        return total

    ways: list[Callable[..., Any]] = [
        program,
        vt.func.grad(number, argnums=(0, 1, 4)),
        vt.func.jacrev(program),
        vt.func.jacfwd(program, argnums=1),
    ]
    told = f"{data.dims} {steps}"
    for way in ways:
        try:
            expected = one_by_one(way, data)
        except VtgradError as error:
            with pytest.raises(type(error)):
                together(way, data)
            return False
        try:
            found = together(way, data)
        except BatchedWriteError:
            # It writes samples of one argument into another one, which has none.
            assert None in data.dims, told
            return False
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-8, 1e-10, err_msg=told)
    try:
        expected = outer_gradients(program, data, in_batch=False)
    except StaleSavedError:
        with pytest.raises(StaleSavedError):
            outer_gradients(program, data, in_batch=True)
        return False
    found = outer_gradients(program, data, in_batch=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-8, 1e-10, err_msg=told)
    return True


@pytest.mark.slow
def test_random_programs_give_what_a_loop_gives() -> None:
    rng = random.Random(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = sum(check(draw(rng), Data.draw(rng)) for _ in range(PROGRAMS))
    assert compared > PROGRAMS * 0.7

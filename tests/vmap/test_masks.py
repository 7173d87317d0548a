"""Assignments to masks that differ from sample to sample.

What breaks them: the mask of another sample, dimensions that the mask does not cover, a value that
belongs to a sample.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import BatchedTensorError, BatchedWriteError, OutOfRangeError

func: Any = vt.func
X = vt.from_numpy(np.random.default_rng(0).normal(size=(3, 2, 4)))


def clamped(x: vt.Tensor) -> vt.Tensor:
    x = x.clone()
    x[x > 0.5] = 0.0
    return x


def by_columns(x: vt.Tensor) -> vt.Tensor:
    x = x.clone()
    x[:, x[0] < 0] = x.sum()
    return x


def by_rows(x: vt.Tensor) -> vt.Tensor:
    x = x.clone()
    x[x[:, 0] > 0] = x[1, 1]
    return x


def through_a_view(x: vt.Tensor) -> vt.Tensor:
    x = x * 2
    y = x.t()[1:]
    y[y > 0] = x[0, 0]
    return x


def added(x: vt.Tensor) -> vt.Tensor:
    return x.index_put((x > 0,), x.sum().reshape(1), accumulate=True)


FUNCTIONS = [clamped, by_columns, by_rows, through_a_view, added]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_one_value_is_written_where_the_mask_of_each_sample_is_true(
    f: Callable[[vt.Tensor], vt.Tensor],
) -> None:
    def gradient(x: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = func.grad(lambda y: (f(y) * x).sum())(x)
        return found

    def tangent(x: vt.Tensor) -> vt.Tensor:
        found: vt.Tensor = func.jvp(f, (x,), (x,))[1]
        return found

    for g in (f, gradient, tangent):
        expected = [g(x).numpy() for x in X]
        np.testing.assert_allclose(func.vmap(g)(X).numpy(), expected)


def test_what_cannot_be_written_to_a_mask_of_a_sample() -> None:
    def several(x: vt.Tensor) -> vt.Tensor:
        x = x.clone()
        x[x > 0] = vt.ones(3, dtype=vt.float64)
        return x

    with pytest.raises(BatchedTensorError, match="writing several values to a mask"):
        func.vmap(several)(X)
    with pytest.raises(BatchedTensorError, match="indexing with a mask"):
        func.vmap(lambda x: x[x > 0])(X)

    def unfitting(x: vt.Tensor) -> vt.Tensor:
        x[x[0] > 0] = 1.0
        return x

    with pytest.raises(OutOfRangeError, match="its size 4 in dimension 0 meets dimension 0 of"):
        func.vmap(unfitting)(X)
    captured = vt.zeros(2, 4)

    def into_captured(x: vt.Tensor) -> vt.Tensor:
        captured[x > 0] = 1.0
        return x

    with pytest.raises(BatchedWriteError):
        func.vmap(into_captured)(X)
    assert not captured.any()

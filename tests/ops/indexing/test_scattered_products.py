"""Derivatives of products of `scatter_reduce`, of any order, in linear time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import vtgrad as vt


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_derivatives_beside_zeros(include_self: bool, dim: int) -> None:
    """Targets of no, one and several zeros, of one factor, and of none."""
    index = vt.tensor([[0, 2, 2], [0, 2, 0], [3, 0, 2]])
    x = vt.tensor(
        [[1.5, 0.0, -0.5, 2.0], [0.7, 1.2, 0.0, 0.0], [0.0, -1.1, 0.4, 0.9], [3.0, 0.6, 0.8, 1.3]],
        dtype=vt.float64,
        requires_grad=True,
    )
    source = vt.tensor(
        [[0.0, 2.0, 0.0], [0.5, 0.0, 1.5], [-2.0, 0.3, 0.9]], dtype=vt.float64, requires_grad=True
    )

    def function(x: vt.Tensor, source: vt.Tensor) -> vt.Tensor:
        return x.scatter_reduce(dim, index, source, "prod", include_self=include_self)

    def gradients(x: vt.Tensor, source: vt.Tensor) -> tuple[vt.Tensor, ...]:
        weights = vt.arange(1.0, 17.0, dtype=vt.float64).view(4, 4)
        y = (function(x, source) * weights).sum()
        return vt.autograd.grad(y, (x, source), create_graph=True)

    assert vt.autograd.gradcheck(function, (x, source))
    assert vt.autograd.gradgradcheck(function, (x, source))
    # The third one: the second derivative of the first.
    assert vt.autograd.gradgradcheck(gradients, (x, source))
    # The recorded way and the plain one.
    plain = vt.autograd.grad(function(x, source).sum(), (x, source))
    recorded = vt.autograd.grad(function(x, source).sum(), (x, source), create_graph=True)
    for a, b in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-14)


def test_each_factor_gets_the_product_of_the_others() -> None:
    x = vt.tensor([2.0, 0.0, 5.0], dtype=vt.float64, requires_grad=True)
    source = vt.tensor([3.0, 7.0, 0.0, 11.0], dtype=vt.float64, requires_grad=True)
    y = x.scatter_reduce(0, vt.tensor([0, 1, 0, 1]), source, "prod")
    assert y.tolist() == [0.0, 0.0, 5.0]
    of_x, of_source = vt.autograd.grad(y.sum(), (x, source), create_graph=True)
    assert of_x.tolist() == [0.0, 77.0, 1.0]
    assert of_source.tolist() == [0.0, 0.0, 6.0, 0.0]
    (second,) = vt.autograd.grad(of_source[2], source, create_graph=True)
    assert second.tolist() == [2.0, 0.0, 0.0, 0.0]


def test_memory_does_not_grow_with_targets_times_factors() -> None:
    """A table of 2,000 targets by 2,000 factors of one of them takes 32 MB."""
    x = vt.ones(2000, dtype=vt.float64, requires_grad=True)
    source = vt.linspace(0.9, 1.1, 2000, dtype=vt.float64, requires_grad=True)
    index = vt.zeros(2000, dtype=vt.int64)
    tracemalloc.start()
    try:
        y = x.scatter_reduce(0, index, source, "prod")
        (first,) = vt.autograd.grad(y.sum(), source, create_graph=True)
        vt.autograd.grad(first.sum(), (x, source))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4e6

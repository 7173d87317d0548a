"""Derivatives of products of `scatter_reduce`, of any order, in linear time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.ops.kernels.indexing.factor_tables import FactorTables


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


def _both(
    x: list[float], index: list[int], source: list[float], include_self: bool, dtype: vt.dtype
) -> list[tuple[vt.Tensor, vt.Tensor]]:
    """The gradients of the sum, by the plain way and by the recorded one."""
    own = vt.tensor(x, dtype=dtype, requires_grad=True)
    values = vt.tensor(source, dtype=dtype, requires_grad=True)
    y = own.scatter_reduce(0, vt.tensor(index), values, "prod", include_self=include_self)
    found = []
    for recorded in (False, True):
        grads = vt.autograd.grad(y.sum(), (own, values), retain_graph=True, create_graph=recorded)
        found.append((grads[0].detach(), grads[1].detach()))
    return found


def test_infinities_and_nans_count_for_their_own_element_only() -> None:
    """The factors of an element never meet those of its neighbours."""
    inf, nan = float("inf"), float("nan")
    for value in (inf, nan):
        for of_x, of_source in _both(
            [2.0, value, 5.0, 7.0], [0, 3, 0], [value, 3.0, 4.0], True, vt.float64
        ):
            np.testing.assert_array_equal(of_x.numpy(), [4 * value, 1.0, 1.0, 3.0])
            np.testing.assert_array_equal(of_source.numpy(), [8.0, 7.0, 2 * value])
    for of_x, of_source in _both([9.0, 1.0], [0, 0], [-inf, 0.0], False, vt.float64):
        np.testing.assert_array_equal(of_x.numpy(), [0.0, 1.0])
        np.testing.assert_array_equal(of_source.numpy(), [0.0, -inf])


def test_a_product_that_over_or_underflows_has_gradients() -> None:
    for of_x, of_source in _both([2.0, 1.0], [0, 0], [1e-160, 1e-200], True, vt.float64):
        np.testing.assert_allclose(of_x.numpy(), [0.0, 1.0], rtol=0, atol=0)
        np.testing.assert_allclose(of_source.numpy(), [2e-200, 2e-160], rtol=1e-14)
    for of_x, of_source in _both([1e200, 0.0], [0, 0, 1], [1e200, 1e-200, 3.0], True, vt.float64):
        np.testing.assert_allclose(of_x.numpy(), [1.0, 3.0], rtol=1e-14)
        np.testing.assert_allclose(of_source.numpy(), [1.0, np.inf, 0.0], rtol=1e-14)
    for of_x, of_source in _both([300.0], [0, 0], [400.0, 0.25], True, vt.float16):
        assert of_x.tolist() == [100.0]
        assert of_source.tolist() == [75.0, np.inf]


def test_tables_of_factors_hold_each_of_them_once() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        count = int(generator.integers(1, 9))
        positions = generator.integers(0, count, int(generator.integers(1, 40)))
        replaced = generator.random(count) < 0.3
        tables = FactorTables.of(positions, replaced)
        flat = np.concatenate([*[rows.reshape(-1) for rows in tables.rows], [-1]])
        numbers = np.arange(1, 1 + count)
        assert flat[tables.of_elements].tolist() == np.where(replaced, -1, numbers).tolist()
        assert flat[tables.of_values].tolist() == list(range(1 + count, 1 + count + positions.size))
        assert flat.size - 1 < 2 * (count + positions.size)
        for rows, elements in zip(tables.rows, tables.elements, strict=True):
            owners = np.concatenate([[-1], np.arange(count), positions])[rows]
            assert ((owners == elements[:, np.newaxis]) | (rows == 0)).all()

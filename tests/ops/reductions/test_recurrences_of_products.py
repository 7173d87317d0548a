"""Derivatives of products to the third order, beside zeros and infinities, in linear time."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.ops.generated import functional as F
from vtgrad.storage.arrays import Array

FACTORS = {
    "no zero, and a product that underflows": [1e-120, -1e-110, 1e-105],
    "one zero": [2.0, -3.0, 0.0, 5.0, 0.5],
    "one zero at the start": [0.0, -3.0, 4.0, 5.0, 0.5],
    "one zero at the end": [2.0, -3.0, 4.0, 5.0, 0.0],
    "two zeros": [2.0, 0.0, 4.0, 0.0, 0.5],
    "three zeros": [0.0, 0.0, 4.0, 0.0, 0.5],
    "four zeros": [0.0, 0.0, 4.0, 0.0, 0.0],
    "a zero beside large and small": [1e140, 1e150, 0.0, 1e-150, 1e-140, 1.0],
    "parts that overflow": [*[1e100] * 4, 0.0, *[1e-100] * 4],
    "two elements": [0.0, 0.0],
    "one element": [0.0],
}


def derivatives(function: Callable[[vt.Tensor], vt.Tensor], x: vt.Tensor) -> list[Array]:
    """The first three derivatives of a function with one result, all elements of them."""
    x = x.clone().requires_grad_()
    found: list[Array] = []
    (first,) = vt.autograd.grad(function(x), x, create_graph=True)
    found.append(first.detach().numpy())
    second: list[vt.Tensor] = []
    third: list[vt.Tensor] = []
    for i in range(len(x)):
        if not first.requires_grad:
            second.append(vt.zeros_like(x))
        else:
            (row,) = vt.autograd.grad(
                first[i], x, create_graph=True, allow_unused=True, materialize_grads=True
            )
            assert row is not None
            second.append(row)
        for j in range(len(x)):
            if not second[i].requires_grad:
                third.append(vt.zeros_like(x))
            else:
                (column,) = vt.autograd.grad(
                    second[i][j], x, retain_graph=True, allow_unused=True, materialize_grads=True
                )
                assert column is not None
                third.append(column)
    n = len(x)
    found.append(vt.stack(second).detach().numpy())
    found.append(vt.stack(third).reshape(n, n, n).numpy())
    return found


def expected(x: list[float], order: int, ends: list[float]) -> Array:
    """By leaving factors out, of the sum of ``ends[j]`` times the product up to `j`."""
    n = len(x)
    table = np.zeros((n,) * order)
    for places in itertools.product(range(n), repeat=order):
        if len(set(places)) == order:
            table[places] = sum(
                weight * math.prod(Fraction(v) for k, v in enumerate(x[: j + 1]) if k not in places)
                for j, weight in enumerate(map(Fraction, ends))
                if weight and j >= max(places)
            )
    return table


@pytest.mark.parametrize("name", FACTORS)
def test_three_derivatives_of_a_product(name: str) -> None:
    x = FACTORS[name]
    ends = [0.0] * (len(x) - 1) + [1.0]
    for order, found in enumerate(derivatives(lambda t: t.prod(), vt.tensor(np.array(x))), 1):
        np.testing.assert_allclose(found, expected(x, order, ends), rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(
    "name", [name for name in FACTORS if "large" not in name and "overflow" not in name]
)
def test_three_derivatives_of_running_products(name: str) -> None:
    x = FACTORS[name]
    ends = [1.5, -2.0, 0.5, 3.0, 0.25][: len(x)]
    weights = vt.tensor(np.array(ends))
    found = derivatives(lambda t: (t.cumprod(0) * weights).sum(), vt.tensor(np.array(x)))
    for order, table in enumerate(found, 1):
        np.testing.assert_allclose(table, expected(x, order, ends), rtol=1e-13, atol=1e-300)


def test_second_derivatives_beside_infinities() -> None:
    """Leaving out the infinite factor as well leaves what is finite."""
    x = vt.tensor([2.0, math.inf, 3.0, 5.0], dtype=vt.float64, requires_grad=True)
    (first,) = vt.autograd.grad(x.prod(), x, create_graph=True)
    assert first.tolist() == [math.inf, 30.0, math.inf, math.inf]
    (recorded,) = vt.autograd.grad(first.sum(), x, create_graph=True)
    (second,) = vt.autograd.grad(first.sum(), x)
    for found in (recorded.tolist(), second.tolist()):
        assert found == [math.inf, 15.0 + 10.0 + 6.0, math.inf, math.inf]


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", [vt.float64, vt.complex128])
def test_gradcheck_of_second_derivatives_at_zeros(dim: int, dtype: vt.dtype) -> None:
    x = vt.tensor([[0.7, 0.0, -1.2], [0.0, 0.4, 0.0], [1.1, -0.6, 0.9]], dtype=dtype)
    x.requires_grad_()
    for function in (lambda t: t.prod(dim), lambda t: t.cumprod(dim)):
        assert vt.autograd.gradcheck(function, x, check_forward_ad=True, check_batched_grad=True)
        assert vt.autograd.gradgradcheck(function, x, check_fwd_over_rev=True)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrence_and_its_derivatives(reverse: bool) -> None:
    b = vt.tensor([[0.3, -1.0, 2.0], [0.5, 0.0, 1.5]], dtype=vt.float64, requires_grad=True)
    a = vt.tensor([[9.0, 0.0, -0.5], [7.0, 2.0, 3.0]], dtype=vt.float64, requires_grad=True)
    expected = [[0.3, -1.0, 2.5], [0.5, 1.0, 4.5]] if not reverse else [[0.3, -2.0, 2.0],
                                                                       [9.5, 4.5, 1.5]]  # fmt: skip
    assert F.linear_recurrence(b, a, 1, reverse).tolist() == expected
    for dim in (0, 1):
        function = lambda b, a, dim=dim: F.linear_recurrence(b, a, dim, reverse)  # noqa: E731
        assert vt.autograd.gradcheck(function, (b, a), check_forward_ad=True)
        assert vt.autograd.gradgradcheck(function, (b, a), check_fwd_over_rev=True)


def test_few_and_many_series_have_the_same_bits() -> None:
    generator = np.random.default_rng(3)
    b, a = generator.normal(size=(2, 40, 20))
    many = F.linear_recurrence(vt.tensor(b), vt.tensor(a), 0, False).numpy()
    for column in range(20):
        one = F.linear_recurrence(vt.tensor(b[:, column]), vt.tensor(a[:, column]), 0, False)
        assert one.tolist() == many[:, column].tolist()


@pytest.mark.parametrize("name", ["prod", "cumprod"])
@pytest.mark.parametrize("special", [0.0, math.inf])
def test_memory_of_two_recorded_derivatives_is_linear(name: str, special: float) -> None:
    """At 4,000 elements a table of all pairs takes 128 MB."""
    values = np.linspace(0.5, 1.5, 4000)
    values[7] = special
    x = vt.tensor(values, requires_grad=True)
    tracemalloc.start()
    try:
        y = x.prod() if name == "prod" else x.cumprod(0).sum()
        (first,) = vt.autograd.grad(y, x, create_graph=True)
        (second,) = vt.autograd.grad(first.sum(), x, create_graph=True)
        vt.autograd.grad(second.sum(), x)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8e6

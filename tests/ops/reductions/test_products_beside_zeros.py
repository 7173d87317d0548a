"""Products whose factors are zero, or so large and small that their product leaves the dtype."""

from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.autograd import gradcheck, gradgradcheck
from vtgrad.storage.arrays import Array

Values = list[float]

MIXED = [1e-30, 1e-30, 1e30, 1e30]


def derivatives(
    function: Callable[[vt.Tensor], vt.Tensor], values: vt.types.Data, dtype: vt.dtype
) -> tuple[vt.Tensor, vt.Tensor, vt.Tensor]:
    """The gradient, the same recorded, and that of its sum."""
    x = vt.tensor(values, dtype=dtype, requires_grad=True)
    one = vt.ones((), dtype=dtype)
    (first,) = vt.autograd.grad(function(x).sum(), x, one)
    (recorded,) = vt.autograd.grad(function(x).sum(), x, one, create_graph=True)
    (second,) = vt.autograd.grad(recorded.sum(), x, one)
    return first, recorded, second


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 0, 1e13, 1e13, 1e13, 1e13], [0] * 6),
        ([*MIXED, 0, 2], [0, 0, 0, 0, 2, 0]),
        ([2, 0, *MIXED], [0, 2, 0, 0, 0, 0]),
        ([*MIXED, 1], [1e30, 1e30, 1e-30, 1e-30, 1]),
        ([1e-30, 1e-30, 1e30], [1, 1, 0]),
        ([1e-30, 1e-30], [1e-30, 1e-30]),
        ([1e30, 1e30], [1e30, 1e30]),
        ([0, 1e30, 1e30], [np.inf, 0, 0]),
    ],
)
@pytest.mark.parametrize(("dtype", "power"), [(vt.float32, 1), (vt.float64, 10)])
def test_the_gradient_of_a_product(
    values: Values, expected: Values, dtype: vt.dtype, power: int
) -> None:
    """In double precision the tenth powers of the large and small factors stand for them."""

    def scaled(numbers: Values) -> Array:
        return np.array([x**power if x and abs(np.log10(x)) > 10 else x for x in numbers])

    for function in (vt.prod, lambda x: x.prod(0), lambda x: x.unsqueeze(0).prod(1)):
        first, recorded, _ = derivatives(function, scaled(values).tolist(), dtype)
        for found in (first, recorded.detach()):
            np.testing.assert_allclose(found.numpy(), scaled(expected), rtol=1e-6)
    x = vt.tensor(scaled(values), dtype=dtype)
    if np.isfinite(expected).all():
        tangent = vt.func.jvp(vt.prod, (x,), (vt.ones_like(x),))[1]
        np.testing.assert_allclose(tangent.item(), sum(scaled(expected)), rtol=1e-6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 2, 3, 4], [26, 12, 8, 6]),
        ([0, 0, 3, 4], [12, 12, 0, 0]),
        ([0, 0, 0, 4], [0, 0, 0, 0]),
        ([0, 1e-30, 1e-30, 1e30, 1e30], [2e30, 1e30, 1e30, 1e-30, 1e-30]),
        ([0, 0, *MIXED], [1, 1, 0, 0, 0, 0]),
        ([1e-30, 1e-30, 1e30], [1e30, 1e30, 2e-30]),
    ],
)
def test_the_second_derivative_of_a_product(values: Values, expected: Values) -> None:
    for function in (vt.prod, lambda x: x.prod(0)):
        *_, second = derivatives(function, values, vt.float32)
        np.testing.assert_allclose(second.numpy(), expected, rtol=1e-6)
    x = vt.tensor(values, dtype=vt.float32, requires_grad=True)
    along = vt.func.jvp(vt.func.grad(vt.prod), (x.detach(),), (vt.ones_like(x.detach()),))[1]
    np.testing.assert_allclose(along.numpy(), expected, rtol=1e-6)


def test_infinite_factors_are_multiplied_one_by_one() -> None:
    first, recorded, second = derivatives(vt.prod, [0, np.inf, 2], vt.float64)
    for found in (first, recorded.detach()):
        np.testing.assert_array_equal(found.numpy(), [np.inf, 0, np.nan])
    np.testing.assert_array_equal(second.numpy(), [np.inf, 2, np.inf])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1e-30, 1e-30, 0, 1e30, 1e30], [1, 1e-30, 1, 0, 0]),
        (MIXED, [1e30, 1e30, 1e-30, 1e-30]),
        ([0, 1e-30, 1e-30, 1e30], [1, 0, 0, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [vt.float32, vt.complex64])
def test_the_gradient_of_running_products(
    values: Values, expected: Values, dtype: vt.dtype
) -> None:
    first, recorded, _ = derivatives(lambda x: x.cumprod(0), values, dtype)
    for found in (first, recorded.detach()):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("zeros", [[], [0], [1, 2], [0, 1, 3]])
@pytest.mark.parametrize("dtype", [vt.float64, vt.complex128])
def test_all_derivatives_beside_zeros(dtype: vt.dtype, zeros: list[int]) -> None:
    values = np.array([[0.5, -1.5, 2.0, 1.25], [1.0, 0.75, -2.0, 0.5]]) * (
        1 + 0.5j if dtype == vt.complex128 else 1
    )
    values[0, zeros] = 0
    x = vt.tensor(values, dtype=dtype, requires_grad=True)
    for function in (vt.prod, lambda x: x.prod(1), lambda x: x.prod(0, keepdim=True)):
        assert gradcheck(function, x, check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(
            function, x, check_fwd_over_rev=True, check_batched_grad=True, fast_mode=True
        )

    def third(x: vt.Tensor) -> vt.Tensor:
        (first,) = vt.autograd.grad(x.prod(1).sum(), x, vt.ones((), dtype=dtype), create_graph=True)
        return vt.autograd.grad(first.sum(), x, vt.ones((), dtype=dtype), create_graph=True)[0]

    assert gradcheck(third, x)


def test_the_second_derivative_takes_no_table_of_pairs() -> None:
    """A table would have 10 ** 10 elements."""
    x = vt.ones(100_000, dtype=vt.float64)
    x[7] = 0
    x.requires_grad_()
    (first,) = vt.autograd.grad(x.prod(), x, create_graph=True)
    (second,) = vt.autograd.grad(first[7], x)
    assert second.sum() == 99_999
    assert second[7] == 0


@pytest.mark.parametrize("create_graph", [False, True])
def test_running_products_that_underflow_have_gradients(create_graph: bool) -> None:
    """The third product underflows, so the last one does not depend on the last element."""
    x = vt.tensor([1e-200, 2.0, 1e-200, 1e200], dtype=vt.float64, requires_grad=True)
    (found,) = vt.autograd.grad(x.cumprod(0).sum(), x, create_graph=create_graph)
    np.testing.assert_allclose(found.detach().numpy(), [5.0, 2e-200, 2.0, 0.0], rtol=1e-14)


def test_running_products_behind_a_zero_have_no_gradient_where_they_overflow() -> None:
    x = vt.tensor([0.0, 2.0, 1e200, 1e200], dtype=vt.float64, requires_grad=True)
    (found,) = vt.autograd.grad(x.cumprod(0).sum(), x)
    assert found.tolist() == [np.inf, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_running_products_in_half_precision_are_rounded_once(
    create_graph: bool,
) -> None:
    """3 * 60000 is no half."""
    x = vt.tensor([200.0, 300.0], dtype=vt.float16, requires_grad=True)
    given = vt.full((2,), 3.0, dtype=vt.float16)
    (found,) = vt.autograd.grad(x.cumprod(0), x, given, create_graph=create_graph)
    assert found.tolist() == [903.0, 600.0]

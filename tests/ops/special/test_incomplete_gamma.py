"""Values and derivatives of the incomplete gamma functions.

The reference values were computed with mpmath, with 40 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt

#: Order, argument, lower and upper function; one in each range that is computed in a way of its
#: own, and at their borders.
REFERENCE: list[tuple[float, float, float, float]] = [
    (0.5, 0.25, 0.5204998778130465, 0.4795001221869535),
    (1e-08, 0.5, 0.9999999944022641, 5.597735977099587e-09),
    (0.01, 1.05, 0.9979599184768839, 0.002040081523116111),
    (0.9, 1.1, 0.7079970150031589, 0.2920029849968411),
    (1.0, 0.7, 0.5034146962085905, 0.4965853037914095),
    (2.5, 1.05, 0.1648576993583661, 0.8351423006416339),
    (3.7, 2.0, 0.18627467088905394, 0.8137253291109461),
    (0.3, 5.0, 0.9993486812492816, 0.0006513187507184515),
    (5.0, 5.0, 0.5595067149347875, 0.4404932850652124),
    (12.0, 30.0, 0.9999361229746008, 6.387702539927337e-05),
    (19.5, 20.0, 0.5744405983560632, 0.4255594016439368),
    (25.0, 25.0, 0.5266015314436506, 0.47339846855634937),
    (25.0, 18.5, 0.08607668998566653, 0.9139233100143335),
    (26.32463083323618, 18.44965791459066, 0.04895979219822408, 0.9510402078017759),
    (29.0, 40.0, 0.970620421068815, 0.029379578931185014),
    (150.0, 110.0, 0.00016911572034396043, 0.999830884279656),
    (199.0, 210.0, 0.7850530337029402, 0.21494696629705975),
    (250.0, 240.0, 0.2676500698540158, 0.7323499301459842),
    (1000.0, 1100.0, 0.99894067674607, 0.0010593232539299773),
    (5000.0, 4000.0, 1.5598621812189688e-52, 1.0),
    (40.0, 0.5, 6.844395918288118e-61, 1.0),
    (2.0, 300.0, 1.0, 1.5496082669460162e-128),
]

INF, NAN = math.inf, math.nan


def _double(values: list[float]) -> vt.Tensor:
    return vt.tensor(values, dtype=vt.float64)


def test_values_of_all_ranges() -> None:
    a, x, lower, upper = (list(column) for column in zip(*REFERENCE, strict=True))
    np.testing.assert_allclose(vt.igamma(_double(a), _double(x)).tolist(), lower, rtol=2e-13)
    np.testing.assert_allclose(vt.igammac(_double(a), _double(x)).tolist(), upper, rtol=2e-13)
    single = vt.igamma(_double(a).float(), _double(x).float())
    assert single.dtype is vt.float32
    exact = vt.igamma(_double(a).float().double(), _double(x).float().double())
    assert single.tolist() == exact.float().tolist()


@pytest.mark.parametrize("function", [vt.igamma, vt.igammac])
def test_bits_depend_neither_on_place_nor_on_neighbours(function: Callable[..., vt.Tensor]) -> None:
    # Breaks when few elements are added in another order than many, or when a step that others
    # need changes an element.
    generator = np.random.default_rng(3)
    orders = np.concatenate([[row[0] for row in REFERENCE], generator.uniform(0, 60, 5000)])
    arguments = np.concatenate([[row[1] for row in REFERENCE], generator.uniform(0, 60, 5000)])
    a, x = vt.tensor(orders), vt.tensor(arguments)
    whole = function(a, x).numpy()
    assert np.isfinite(whole).all()
    assert function(a.flip(0), x.flip(0)).numpy()[::-1].tolist() == whole.tolist()
    for start, length in ((0, 1), (3, 1), (7, 2), (0, 22), (500, 64), (900, 65), (1000, 1500)):
        part = slice(start, start + length)
        assert function(a[part], x[part]).tolist() == whole[part].tolist()


def test_far_below_the_order_no_more_digits_are_lost() -> None:
    # Breaks when 1 + x/a - 1 is rounded before its logarithm is taken: five digits go with it.
    orders = [10.0, 12.0, 25.0, 60.0]
    arguments = [2.0**-10, 0.25, 2.0**-10, 2.0**-10]
    lower = [
        2.171960098187852e-37,
        9.880770749612384e-17,
        3.559980358883149e-101,
        2.893414071874513e-263,
    ]
    found = vt.igamma(_double(orders), _double(arguments)).tolist()
    np.testing.assert_allclose(found, lower, rtol=2e-13)


def test_the_order_1_is_the_exponential_and_1_2_the_error_function() -> None:
    x = vt.linspace(0.01, 30, 200, dtype=vt.float64)
    one, half = vt.ones(200, dtype=vt.float64), vt.full((200,), 0.5, dtype=vt.float64)
    np.testing.assert_allclose(vt.igamma(one, x).numpy(), -np.expm1(-x.numpy()), rtol=1e-14)
    np.testing.assert_allclose(vt.igammac(one, x).numpy(), np.exp(-x.numpy()), rtol=1e-14)
    np.testing.assert_allclose(vt.igamma(half, x).numpy(), x.sqrt().erf().numpy(), rtol=5e-14)
    np.testing.assert_allclose(vt.igammac(half, x).numpy(), x.sqrt().erfc().numpy(), rtol=5e-13)


@pytest.mark.parametrize(
    ("a", "x", "lower"),
    [
        (0.0, 1.0, 1.0),
        (1.0, 0.0, 0.0),
        (3.0, -0.0, 0.0),
        (0.0, 0.0, NAN),
        (INF, 1.0, 0.0),
        (INF, 0.0, 0.0),
        (1.0, INF, 1.0),
        (0.0, INF, 1.0),
        (INF, INF, NAN),
        (-1.0, 1.0, NAN),
        (5.0, -1.0, NAN),
        (-INF, 1.0, NAN),
        (NAN, 1.0, NAN),
        (1.0, NAN, NAN),
        (1e300, 1e300, 0.5),
    ],
)
def test_limits(a: float, x: float, lower: float) -> None:
    np.testing.assert_equal(vt.igamma(_double([a]), _double([x])).item(), lower)
    np.testing.assert_equal(vt.igammac(_double([a]), _double([x])).item(), 1 - lower)


@pytest.mark.parametrize("function", [vt.igamma, vt.igammac])
def test_orders_broadcast_and_empty_tensors_stay_empty(function: Callable[..., vt.Tensor]) -> None:
    table = function(_double([1.0, 2.0])[:, None], _double([1.0, 2.0, 3.0]))
    assert table.shape == (2, 3)
    assert function(_double([]), _double([])).shape == (0,)
    assert function(_double([2.0])[0], _double([3.0])[0]).shape == ()


def test_the_gradient_is_the_density() -> None:
    x = vt.tensor([0.5, 2.0, 0.0], dtype=vt.float64, requires_grad=True)
    a = _double([1.0, 3.0, 1.0])
    # exp(-x), x ** 2 * exp(-x) / 2, and 1 where the order is 1 and x is 0.
    expected = [math.exp(-0.5), 2 * math.exp(-2.0), 1.0]
    (g,) = vt.autograd.grad(vt.igamma(a, x).sum(), x)
    np.testing.assert_allclose(g.tolist(), expected, rtol=1e-15)
    (g,) = vt.autograd.grad(vt.igammac(a, x).sum(), x)
    np.testing.assert_allclose(g.tolist(), [-d for d in expected], rtol=1e-15)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_in_place_and_out(name: str) -> None:
    a, x = _double([1.5, 30.0]), _double([2.0, 31.0])
    expected = getattr(vt, name)(a, x).tolist()
    assert getattr(a, name)(x).tolist() == expected
    out = vt.zeros(2, dtype=vt.float64)
    assert getattr(vt, name)(a, x, out=out) is out
    assert out.tolist() == expected
    leaf = x.clone().requires_grad_()
    target = a.clone()
    assert getattr(target, name + "_")(leaf) is target
    assert (target.tolist(), target._version) == (expected, 1)
    target.sum().backward()
    fresh = x.clone().requires_grad_()
    getattr(vt, name)(a, fresh).sum().backward()
    assert leaf.grad is not None
    assert fresh.grad is not None
    assert leaf.grad.tolist() == fresh.grad.tolist()


@pytest.mark.parametrize("function", [vt.igamma, vt.igammac])
def test_there_is_no_gradient_of_the_order(function: Callable[..., vt.Tensor]) -> None:
    a = vt.tensor([1.0, 2.0], requires_grad=True)
    x = vt.tensor([1.0, 2.0], requires_grad=True)
    y = function(a, x)
    with pytest.raises(NotImplementedError, match="order"):
        y.sum().backward()
    assert (a.grad, x.grad) == (None, None)
    # What does not ask for it has the other one.
    (g,) = vt.autograd.grad(function(a, x).sum(), x)
    assert g.shape == (2,)


@pytest.mark.parametrize("dtype", [vt.int64, vt.bool, vt.complex64])
def test_dtypes_that_are_refused(dtype: vt.dtype) -> None:
    with pytest.raises(NotImplementedError):
        vt.igamma(vt.ones(2, dtype=dtype), vt.ones(2, dtype=dtype))

"""Special functions to the last digits: against exact values, identities and Python's own."""

import math
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.errors import OptionValueError
from vtgrad.storage.arrays import Array
from vtgrad.storage.dtypes import DType

GENERATOR = np.random.default_rng(7)
SMALL = 10.0 ** GENERATOR.uniform(-300, -1, 100)
MIDDLE = GENERATOR.uniform(0, 6, 300)
WIDE = 10.0 ** GENERATOR.uniform(-8, 12, 300)
EPS = 4.5e-16


def found(function: Callable[[vt.Tensor], vt.Tensor], values: Array) -> Array:
    """The function's values in double precision."""
    return function(vt.tensor(values, dtype=vt.float64)).numpy()


def each(function: Callable[[float], float], values: Array) -> Array:
    """The values of a function of Python's."""
    return np.array([function(x) for x in values.tolist()])


def test_error_function_is_pythons() -> None:
    values = np.concatenate([SMALL, MIDDLE])
    values = np.concatenate([values, -values])
    np.testing.assert_allclose(found(vt.erf, values), each(math.erf, values), rtol=EPS)


def test_complement_is_pythons_until_it_vanishes() -> None:
    values = np.concatenate([SMALL, MIDDLE, -MIDDLE, GENERATOR.uniform(6, 26, 300)])
    np.testing.assert_allclose(found(vt.erfc, values), each(math.erfc, values), rtol=1e-15)
    assert found(vt.erfc, np.array([27.5, 1e10, np.inf, -np.inf])).tolist() == [0, 0, 0, 2]


def test_inverse_error_function_inverts() -> None:
    values = np.concatenate([SMALL, GENERATOR.uniform(0, 0.9, 200)])
    np.testing.assert_allclose(found(vt.erf, found(vt.erfinv, values)), values, rtol=1e-15)
    # Near 1 the complement is what can be told apart.
    gaps = 2.0 ** -np.arange(2, 53)
    np.testing.assert_allclose(found(vt.erfc, found(vt.erfinv, 1 - gaps)), gaps, rtol=3e-14)
    special = found(vt.erfinv, np.array([1, -1, 1.5, -2, np.nan, -0.0]))
    assert special[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(special[2:5]).all()
    assert np.signbit(special[5])


def test_logarithm_of_gamma_is_pythons() -> None:
    values = np.concatenate([SMALL, MIDDLE, WIDE])
    # Python's is not exact where it is small; see the next test.
    np.testing.assert_allclose(
        found(vt.lgamma, values), each(math.lgamma, values), rtol=2e-15, atol=5e-15
    )
    # Between the poles the logarithm has zeros, where the terms of the reflection cancel.
    below = -GENERATOR.uniform(0, 30, 200)
    np.testing.assert_allclose(
        found(vt.lgamma, below), each(math.lgamma, below), rtol=1e-14, atol=1e-14
    )
    assert found(vt.lgamma, np.array([0.0, -1.0, -7.0, np.inf, 1.0, 2.0])).tolist() == [
        *[np.inf] * 4,
        0,
        0,
    ]


def test_logarithm_of_gamma_is_finite_beside_the_pole_at_zero() -> None:
    values = np.array([-1e-300, -1e-308, -1e-310, -4.6e-320, -5e-324, 5e-324])
    np.testing.assert_allclose(found(vt.lgamma, values), each(math.lgamma, values), rtol=1e-15)


def test_logarithm_of_gamma_is_exact_around_its_zeros() -> None:
    """By the first three terms of its Taylor series."""
    d = 2.0 ** -np.arange(18, 50)
    d = np.concatenate([d, -d])
    euler, square, cube = 0.57721566490153286061, math.pi**2 / 12, 1.2020569031595942854 / 3
    np.testing.assert_allclose(
        found(vt.lgamma, 1 + d), d * (-euler + d * (square - d * cube)), rtol=1e-15
    )
    np.testing.assert_allclose(
        found(vt.lgamma, 2 + d),
        d * ((1 - euler) + d * ((square - 0.5) - d * (cube - 1 / 3))),
        rtol=1e-15,
    )


def test_logarithm_of_gamma_counts_factorials() -> None:
    whole = np.arange(1, 171)
    logs = np.array([math.log(math.factorial(n - 1)) for n in whole.tolist()])
    np.testing.assert_allclose(found(vt.lgamma, whole), logs, rtol=1e-15)


def test_digamma_at_whole_and_half_numbers() -> None:
    """Sums of unit fractions, and Gauss's values."""
    euler = 0.57721566490153286061
    whole = np.arange(1, 30)
    sums = np.array([math.fsum([-euler, *(1 / k for k in range(1, n))]) for n in whole.tolist()])
    np.testing.assert_allclose(found(vt.digamma, whole), sums, rtol=2e-15)
    known = {
        0.5: -euler - 2 * math.log(2),
        0.25: -euler - math.pi / 2 - 3 * math.log(2),
        0.75: -euler + math.pi / 2 - 3 * math.log(2),
    }
    values = np.array(list(known))
    np.testing.assert_allclose(found(vt.digamma, values), list(known.values()), rtol=1e-15)
    # One reflection to negative values: digamma(1 - x) - digamma(x) = pi / tan(pi * x).
    difference = found(vt.digamma, 1 - values - 3) - found(vt.digamma, values + 3)
    np.testing.assert_allclose(difference, math.pi / np.tan(math.pi * values), atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_polygamma_obeys_its_recurrence(n: int) -> None:
    """One step up takes one term of the series away, on both sides of 0."""
    values = np.concatenate([MIDDLE[:100] + 0.01, -MIDDLE[:100] - 0.01])
    term = (-1.0) ** n * math.factorial(n) * values ** (-n - 1.0)
    here = found(lambda x: vt.polygamma(n, x), values)
    above = found(lambda x: vt.polygamma(n, x), values + 1)
    scale = np.maximum(np.maximum(np.abs(term), np.abs(here)), np.abs(above))
    assert (np.abs(above - here - term) <= 5e-14 * scale).all()


def test_polygamma_has_zetas_values() -> None:
    one = np.ones(1)
    assert found(lambda x: vt.polygamma(1, x), one)[0] == pytest.approx(math.pi**2 / 6, rel=EPS)
    assert found(lambda x: vt.polygamma(3, x), one)[0] == pytest.approx(math.pi**4 / 15, rel=EPS)
    apery = 1.2020569031595942854
    assert found(lambda x: vt.polygamma(2, x), one)[0] == pytest.approx(-2 * apery, rel=EPS)
    assert np.isinf(found(lambda x: vt.polygamma(1, x), np.array([0.0, -1.0, -4.0]))).all()


@pytest.mark.parametrize("size", [49, 4096])
def test_polygamma_of_a_high_order_takes_little_memory_and_no_other_bits(size: int) -> None:
    values = GENERATOR.uniform(0.5, 6, size)
    found(lambda x: vt.polygamma(170, x), values[:1])  # makes constants
    tracemalloc.start()
    try:
        together = found(lambda x: vt.polygamma(170, x), values)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 176 terms of each element at once would take 6 MB for each step of their formula.
    assert peak < 1e6
    alone = [found(lambda x: vt.polygamma(170, x), values[n : n + 1]).item() for n in range(49)]
    assert together[:49].tolist() == alone


def test_polygamma_takes_no_negative_order_and_mvlgamma_no_dimension_zero() -> None:
    x = vt.ones(2)
    with pytest.raises(OptionValueError, match="order 0"):
        vt.polygamma(-1, x)
    with pytest.raises(OptionValueError, match="dimension"):
        x.mvlgamma_(0)
    assert x._version == 0


def test_bessel_functions_have_known_values_and_a_wronskian() -> None:
    """Abramowitz and Stegun's table, and i0 * i1' - i0' * i1 by differentiating twice."""
    values = np.array([1.0, 2.0, 10.0])
    known = [1.2660658777520083356, 2.2795853023360672674, 2815.7166284662544715]
    np.testing.assert_allclose(found(vt.i0, values), known, rtol=1e-15)
    known = [0.56515910399248502721, 1.5906368546373290634, 2670.9883037012546543]
    x = vt.tensor(values, requires_grad=True)
    y = vt.i0(x)
    (slope,) = vt.autograd.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(slope.detach().numpy(), known, rtol=1e-15)
    # The differential equation: x * y'' + y' = x * y.
    (curvature,) = vt.autograd.grad(slope.sum(), x)
    rest = (x * curvature + slope - x * y).detach().numpy()
    assert (np.abs(rest) <= 1e-14 * (x * y).detach().numpy()).all()
    # Where the series change over.
    assert found(vt.i0, np.array([1e16, 1e308, -1.7e308])).tolist() == [np.inf] * 3
    close = found(vt.i0, np.array([20.0, np.nextafter(20.0, 21)]))
    assert close[1] == pytest.approx(close[0], rel=1e-14)


@pytest.mark.parametrize("dtype", [vt.float16, vt.float32])
def test_narrow_values_are_rounded_once(dtype: DType) -> None:
    for function in (vt.erf, vt.erfc, vt.lgamma, vt.digamma, vt.i0):
        x = vt.tensor([0.3, 1.7, 4.2], dtype=dtype)
        assert function(x).tolist() == function(x.double()).to(dtype).tolist()
        assert function(x).dtype is dtype


def test_sinc_is_smooth_at_zero() -> None:
    """Its second derivative there is -pi ** 2 / 3, where a quotient would have none."""
    x = vt.tensor([0.0, 1e-9, 1e-3], dtype=vt.float64, requires_grad=True)
    (slope,) = vt.autograd.grad(vt.sinc(x).sum(), x, create_graph=True)
    (curvature,) = vt.autograd.grad(slope.sum(), x, create_graph=True)
    (third,) = vt.autograd.grad(curvature.sum(), x)
    t = math.pi * x.detach().numpy()
    np.testing.assert_allclose(slope.detach().numpy(), math.pi * (-t / 3 + t**3 / 30), rtol=1e-12)
    np.testing.assert_allclose(
        curvature.detach().numpy(), math.pi**2 * (-1 / 3 + t**2 / 10), rtol=1e-9
    )
    np.testing.assert_allclose(third.numpy(), math.pi**3 * t / 5, rtol=1e-5)

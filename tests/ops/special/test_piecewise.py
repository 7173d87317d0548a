"""Special functions from tables: bits that depend on nothing else, digits near zeros, no cliffs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import vtgrad as vt
from vtgrad.ops.generated import functional as F
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.storage.arrays import Array

GENERATOR = np.random.default_rng(11)
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 5e-324, 1e-160, 1e300]
# More than a block, with every range of the functions beside every other.
VALUES = np.concatenate(
    [
        SPECIAL,
        GENERATOR.uniform(-1, 1, 1500),
        GENERATOR.uniform(-30, 30, 2500),
        10.0 ** GENERATOR.uniform(-300, 300, 1000),
    ]
)
UNARY: dict[str, Callable[[vt.Tensor], vt.Tensor]] = {
    "erf": vt.erf,
    "erfc": vt.erfc,
    "erfinv": vt.erfinv,
    "lgamma": vt.lgamma,
    "digamma": vt.digamma,
    "trigamma": lambda x: vt.polygamma(1, x),
    "polygamma(4)": lambda x: vt.polygamma(4, x),
    "i0": vt.i0,
    "i1": F.special_i1,
}


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays of doubles are the same, bit by bit; of nan the sign is free."""
    missing = np.isnan(a)
    return bool(
        (missing == np.isnan(b)).all()
        and (a[~missing].view(np.int64) == b[~missing].view(np.int64)).all()
    )


@pytest.mark.parametrize("name", UNARY)
def test_bits_depend_neither_on_place_nor_on_neighbours(name: str) -> None:
    # Breaks with a branch on all values that changes an element, or with blocks that overlap.
    function = UNARY[name]
    whole = function(vt.tensor(VALUES)).numpy()
    assert same_bits(function(vt.tensor(VALUES[::-1].copy())).numpy()[::-1], whole)
    assert same_bits(function(vt.tensor(VALUES)[3::7]).numpy(), whole[3::7])
    assert same_bits(function(vt.tensor(VALUES[:5000]).view(50, 100).t()).numpy().T.ravel(),
                     whole[:5000])  # fmt: skip
    for start, length in ((0, 1), (5, 3), (12, 16), (13, 17), (1500, 64), (4090, 9)):
        part = slice(start, start + length)
        assert same_bits(function(vt.tensor(VALUES[part].copy())).numpy(), whole[part])
    one_by_one = [function(vt.tensor(value, dtype=vt.float64)).item() for value in VALUES[:200]]
    assert same_bits(np.array(one_by_one), whole[:200])


@pytest.mark.parametrize("name", UNARY)
def test_values_that_are_not_negated_yet(name: str) -> None:
    """The imaginary part of a conjugate, and a dense view of negatives."""
    function, values = UNARY[name], vt.tensor(VALUES[12:2000])
    negated = function(-values).numpy()
    assert same_bits(function(F._neg_view(values)).numpy(), negated)
    conjugate = vt.complex(values, values).conj()
    assert conjugate.imag.is_neg()
    assert same_bits(function(conjugate.imag).numpy(), negated)


@pytest.mark.parametrize("function", [vt.igamma, vt.igammac])
def test_bits_of_incomplete_gamma_functions_are_their_own(
    function: Callable[..., vt.Tensor],
) -> None:
    # Breaks when an element of the continued fraction goes on while others converge.
    orders, x = GENERATOR.uniform(0.01, 60, (2, 600))
    x[:200] *= 0.02
    whole = function(vt.tensor(orders), vt.tensor(x)).numpy()
    for nr in range(0, 600, 7):
        alone = function(vt.tensor(orders[nr : nr + 1]), vt.tensor(x[nr : nr + 1])).numpy()
        assert same_bits(alone, whole[nr : nr + 1])


def test_digamma_keeps_its_digits_around_its_zero() -> None:
    # The zero is 1.46163214496836234126; the slope there 0.96767224544762.
    x = np.array([1.46163214496836234126, 1.4616, 1.47, 1.45])
    known = [
        -9.24126552172942752e-17,
        -3.11062512303416497e-05,
        8.06648901136486844e-03,
        -1.13164225864458877e-02,
    ]
    found = vt.digamma(vt.tensor(x)).numpy()
    np.testing.assert_allclose(found[1:], known[1:], rtol=3e-15)
    # One bit of the argument is worth more than the value.
    np.testing.assert_allclose(found[0], known[0], rtol=1e-3)


def test_logarithm_of_gamma_is_zero_at_one_and_two() -> None:
    assert vt.lgamma(vt.tensor([1.0, 2.0], dtype=vt.float64)).tolist() == [0.0, 0.0]


def test_inverse_error_function_of_tiny_values() -> None:
    """Whose squares are subnormal, or 0."""
    p = np.array([1e-8, 1e-140, 1e-154, 3e-162, 1e-200, 1e-300, -1e-300])
    found = vt.erfinv(vt.tensor(p)).numpy()
    np.testing.assert_allclose(found, p * math.sqrt(math.pi) / 2, rtol=5e-16)
    least = vt.erfinv(vt.tensor([5e-324, -5e-324], dtype=vt.float64)).tolist()
    assert least == [5e-324, -5e-324]


def test_complement_of_the_error_function_ends_in_subnormal_numbers() -> None:
    x = np.array([26.5, 26.6, 26.8, 27.0, 27.2, 27.3])
    known = np.array([math.erfc(value) for value in x])
    found = vt.erfc(vt.tensor(x)).numpy()
    # The last digit of a subnormal number is 5e-324.
    np.testing.assert_allclose(found, known, rtol=1e-15, atol=5e-324)


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma", "i0"])
@pytest.mark.parametrize("dtype", [vt.float64, vt.float32, vt.float16])
def test_empty_and_0d_tensors(name: str, dtype: vt.dtype) -> None:
    function = UNARY[name]
    assert function(vt.zeros((0, 3), dtype=dtype)).shape == (0, 3)
    one = function(vt.tensor(0.75, dtype=dtype))
    assert (one.shape, one.dtype) == ((), dtype)
    assert one.item() == function(vt.tensor([0.75], dtype=dtype)).item()


def test_a_piecewise_polynomial_is_its_taylor_series() -> None:
    """The cube, around multiples of 1/4 from 1 to 3: three terms and what is left are exact."""
    r = np.arange(4, 13) / 4
    table = Piecewise(4, 2, [r**3, 3 * r**2, 3 * r, np.ones_like(r), np.zeros_like(r)])
    x = np.array([1.0, 1.125, 1.7, 2.6, 3.1])
    np.testing.assert_allclose(table(x), x**3, rtol=3e-16)
    # With the argument moved by one, whose digits are all kept.
    np.testing.assert_allclose(table.moved(4)(x - 1), x**3, rtol=1e-15)
    # Beyond the ends the coefficients are those of the end; and nan stays.
    assert table(np.array([7.0, 0.5])).tolist() == [27.0, 1.0]
    assert np.isnan(table(np.array([math.nan]))).all()


def test_the_highest_power_becomes_the_nearest_polynomial() -> None:
    """Of x ** 2 on -1/2 to 1/2 that is 1/8, half of the largest value."""
    table = Piecewise(0, 0, [np.ones(2), np.zeros(2), np.ones(2)])
    assert table.powers[0].tolist() == [1.125, 1.125]
    assert len(table.powers) == 2

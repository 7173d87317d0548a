"""The check passes right gradients and fails wrong ones."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from vtgrad.demo.gradient_check import central_differences, check_gradient

FloatArray = NDArray[np.float64]
POINT = np.array([2.0, 3.0])


def _product(point: FloatArray) -> float:
    return float(point[0] ** 2 * point[1])


def test_differences_of_a_quadratic_are_exact() -> None:
    # x**2 * y at (2, 3): slopes 12 and 4; central differences have no error in degree two.
    estimate = central_differences(_product, POINT, 0.5)
    assert estimate.tolist() == [12.0, 4.0]


def test_right_gradient_passes() -> None:
    check = check_gradient(_product, np.array([12.0, 4.0]), POINT)
    assert check.passed
    assert check.error < 1e-9


@pytest.mark.parametrize("wrong", [[4.0, 12.0], [-12.0, -4.0], [12.0, 4.001], [0.0, 0.0]])
def test_wrong_gradient_fails(wrong: list[float]) -> None:
    assert not check_gradient(_product, np.array(wrong), POINT).passed


def test_error_is_relative_to_the_largest_entry() -> None:
    check = check_gradient(_product, np.array([12.0, 4.6]), POINT)
    assert check.error == pytest.approx(0.05)


@pytest.mark.parametrize("gradient", [[math.nan, 4.0], [12.0, math.nan]])
def test_nan_in_the_gradient_never_passes(gradient: list[float]) -> None:
    assert not check_gradient(_product, np.array(gradient), POINT).passed


def test_nan_in_the_differences_never_passes() -> None:
    check = check_gradient(lambda point: math.nan, np.array([0.0, 0.0]), POINT)
    assert not check.passed

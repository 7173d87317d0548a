"""Derivatives in which squares would leave the dtype or lose digits, and the quotient does not."""

import math
from collections.abc import Callable

import pytest

import vtgrad as vt

Op = Callable[..., vt.Tensor]


def slopes(function: Op, *values: complex, dtype: vt.dtype) -> list[complex]:
    """The derivatives of a function of one or two numbers."""
    inputs = [vt.tensor(x, dtype=dtype, requires_grad=True) for x in values]
    return [g.item() for g in vt.autograd.grad(function(*inputs), inputs)]


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [
        (vt.float16, (1e-3, 2e-3, 300.0)),
        (vt.float32, (1e-25, 1e25)),
        (vt.float64, (1e-200, 1e200)),
    ],
)
def test_the_angle_of_points_near_and_far(dtype: vt.dtype, sizes: tuple[float, ...]) -> None:
    for r in sizes:
        expected = [pytest.approx(0.4 / r, rel=0.01), pytest.approx(-0.2 / r, rel=0.01)]
        assert slopes(vt.atan2, r, 2 * r, dtype=dtype) == expected


def test_the_angle_of_the_origin_is_flat() -> None:
    y, x = (vt.zeros((), requires_grad=True) for _ in "yx")
    first = vt.autograd.grad(vt.atan2(y, x), (y, x), create_graph=True)
    assert [g.item() for g in first] == [0, 0]
    assert [g.item() for g in vt.autograd.grad(first, (y, x), [vt.ones(())] * 2)] == [0, 0]


def test_the_angle_of_small_and_large_complex_numbers() -> None:
    for r in (1e-25, 1e25):
        (found,) = slopes(vt.angle, r * (1 + 1j), dtype=vt.complex64)
        assert found * r == pytest.approx(-0.5 + 0.5j)


@pytest.mark.parametrize(
    ("dtype", "far"), [(vt.float16, 300.0), (vt.float32, 1e25), (vt.float64, 1e200)]
)
def test_inverse_functions_far_from_zero(dtype: vt.dtype, far: float) -> None:
    for x in (far, -far):
        assert slopes(vt.asinh, x, dtype=dtype) == [pytest.approx(1 / far, rel=2e-3)]
    assert slopes(vt.acosh, far, dtype=dtype) == [pytest.approx(1 / far, rel=2e-3)]
    # A quotient of two: by the divisor it is -1 / far.
    (_, by_divisor) = slopes(lambda a, b: vt.addcdiv(b * 0, a, b), far, far, dtype=dtype)
    assert by_divisor == pytest.approx(-1 / far, rel=2e-3)


def test_the_inverse_tangent_far_from_zero_in_half_precision() -> None:
    assert slopes(vt.atan, 300.0, dtype=vt.float16) == [pytest.approx(300.0**-2, rel=0.01)]
    assert slopes(vt.atan, 0.5, dtype=vt.float16) == [pytest.approx(0.8, rel=2e-3)]


@pytest.mark.parametrize("distance", [2.0**-7, 2.0**-17, 2.0**-22])
def test_inverse_functions_near_their_ends_keep_their_digits(distance: float) -> None:
    """In single precision, in which ``1 - distance`` is a number and its square is not."""
    x = 1 - distance + 2.0**-23
    root = math.sqrt((1 - x) * (1 + x))
    for sign in (1, -1):
        assert slopes(vt.asin, sign * x, dtype=vt.float32) == [pytest.approx(1 / root, rel=5e-7)]
        assert slopes(vt.acos, sign * x, dtype=vt.float32) == [pytest.approx(-1 / root, rel=5e-7)]
        expected = pytest.approx(1 / root**2, rel=5e-7)
        assert slopes(vt.atanh, sign * x, dtype=vt.float32) == [expected]
    x = 1 + distance
    expected = pytest.approx(1 / math.sqrt(distance * (x + 1)), rel=5e-7)
    assert slopes(vt.acosh, x, dtype=vt.float32) == [expected]


def test_second_derivatives_at_the_ends_are_infinite() -> None:
    """As the limits from inside; not nan, from infinity by zero."""
    for function, sign in ((vt.asin, 1), (vt.acos, -1), (vt.atanh, 1)):
        x = vt.tensor([1.0, -1.0], requires_grad=True)
        (slope,) = vt.autograd.grad(function(x).sum(), x, create_graph=True)
        (found,) = vt.autograd.grad(slope.sum(), x)
        assert found.tolist() == [sign * math.inf, -sign * math.inf]

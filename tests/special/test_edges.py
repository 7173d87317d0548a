"""Values of `vtgrad.special` at infinities, at zeros and poles, and where others overflow."""

import numpy as np
import pytest

import vtgrad as vt
from vtgrad import special

INF, NAN = float("inf"), float("nan")


def values(name: str, *operands: object) -> list[float]:
    given = [vt.tensor(x, dtype=vt.float64) if isinstance(x, list) else x for x in operands]
    found = getattr(special, name)(*given).tolist()
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("airy_ai", [-INF, INF, -1e300, 200.0], [0.0, 0.0, 0.0, 0.0]),
        ("bessel_j0", [-INF, INF], [0.0, 0.0]),
        ("bessel_j1", [-INF, INF, 0.0, 5e-324], [0.0, 0.0, 0.0, 0.0]),
        ("bessel_y0", [-1.0, 0.0, INF], [NAN, -INF, 0.0]),
        ("bessel_y1", [-1.0, 0.0, INF], [NAN, -INF, 0.0]),
        ("entr", [-INF, -1.0, 0.0, 1.0, INF], [-INF, -INF, 0.0, 0.0, -INF]),
        ("erfcx", [-INF, -27.0, 0.0, INF], [INF, INF, 1.0, 0.0]),
        ("i0e", [-INF, 0.0, INF], [0.0, 1.0, 0.0]),
        ("i1e", [-INF, 0.0, INF], [0.0, 0.0, 0.0]),
        ("log_erfc", [-INF, 0.0, INF], [np.log(2), 0.0, -INF]),
        ("log_ndtr", [-INF, 0.0, INF], [-INF, -np.log(2), 0.0]),
        ("modified_bessel_k0", [-1.0, 0.0, INF, 800.0], [NAN, INF, 0.0, 0.0]),
        ("modified_bessel_k1", [-1.0, 0.0, INF, 800.0], [NAN, INF, 0.0, 0.0]),
        ("ndtr", [-INF, -40.0, 0.0, 40.0, INF], [0.0, 0.0, 0.5, 1.0, 1.0]),
        ("log_ndtr", [-1.5e154], [-1.125e308]),
        ("bessel_y0", [5e-324], [-473.9990734230043]),
        ("bessel_y1", [5e-324, 8e-309], [-INF, -2 / np.pi / 8e-309]),
        ("modified_bessel_k1", [8e-309], [1.25e308]),
        ("ndtri", [-0.1, -1e-300, 0.0, 0.5, 1.0, 1.1], [NAN, NAN, -INF, 0.0, INF, NAN]),
        ("scaled_modified_bessel_k0", [-1.0, 0.0, INF], [NAN, INF, 0.0]),
        ("scaled_modified_bessel_k1", [-1.0, 0.0, INF], [NAN, INF, 0.0]),
        ("spherical_bessel_j0", [-INF, 0.0, INF], [0.0, 1.0, 0.0]),
    ],
)
def test_limits(name: str, given: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(values(name, given), expected, atol=1e-70)


def test_odd_functions_keep_the_sign_of_zero() -> None:
    for name in ("bessel_j1", "i1", "i1e"):
        found = np.array(values(name, [-0.0, 0.0]))
        assert np.signbit(found).tolist() == [True, False]


def test_zeta_at_its_poles_and_beyond() -> None:
    places = [-INF, -3.0, -0.5, 0.0, 0.5, 1.0, 2.0, INF]
    assert values("zeta", 0.5, places) == pytest.approx([NAN] * 8, nan_ok=True)
    assert values("zeta", 1, places) == [INF] * 8
    third = values("zeta", 3, places)
    assert third[1] == third[3] == INF
    # The sum over halves of odd numbers, two of which have opposite signs.
    assert third[2] == pytest.approx(third[4] - 8)
    assert third[7] == 0
    assert np.isnan(values("zeta", 2.5, [-0.5])).all()
    assert values("zeta", INF, [0.5, 1.0, 2.0]) == [INF, 1, 0]


def test_xlog1py_is_nothing_where_its_factor_is() -> None:
    found = values("xlog1py", [0.0, 0.0, 0.0, 1.0], [-2.0, INF, NAN, -1.0])
    np.testing.assert_array_equal(found, [0, 0, NAN, -INF])
    x = vt.tensor([0.0, 0.0], requires_grad=True)
    (slope,) = vt.autograd.grad(special.xlog1py(x, vt.tensor([-1.0, 1.0])).sum(), x)
    np.testing.assert_allclose(slope.numpy(), [0, np.log(2)], rtol=1e-6)


def test_entropy_is_steep_at_zero() -> None:
    x = vt.tensor([0.0, -1.0, 1.0], requires_grad=True)
    (slope,) = vt.autograd.grad(special.entr(x).sum(), x)
    np.testing.assert_array_equal(slope.numpy(), [INF, NAN, -1])


def test_degrees_are_cut_off_and_negative_ones_give_zero() -> None:
    degrees = vt.tensor([-1.0, -0.5, 0.9, 2.9, NAN], dtype=vt.float64)
    found = special.chebyshev_polynomial_t(0.5, degrees).tolist()
    np.testing.assert_array_equal(found, [0, 1, 1, -0.5, NAN])


def test_polynomials_of_infinite_and_vast_arguments() -> None:
    x = [-INF, INF, 1e300, -1e200, NAN]
    np.testing.assert_array_equal(values("hermite_polynomial_h", x, 0), [1] * 5)
    np.testing.assert_array_equal(
        values("hermite_polynomial_h", x, 1), [-INF, INF, 2e300, -2e200, NAN]
    )
    np.testing.assert_array_equal(values("hermite_polynomial_h", x, 3), [-INF, INF, INF, -INF, NAN])
    np.testing.assert_array_equal(
        values("laguerre_polynomial_l", x, 3), [INF, -INF, -INF, INF, NAN]
    )
    leaf = vt.tensor([INF, 3.0], dtype=vt.float64, requires_grad=True)
    (slope,) = vt.autograd.grad(special.hermite_polynomial_h(leaf, 1).sum(), leaf)
    assert slope.tolist() == [2, 2]


def test_polynomials_are_finite_up_to_the_largest_float() -> None:
    # H of degree 254 at 0 is -254! / 127!, which is about -1.8e290.
    found = values("hermite_polynomial_h", [0.0, 0.0], 254)
    assert found[0] == pytest.approx(-float(np.prod(np.arange(128.0, 255.0))), rel=1e-12)


def test_high_degrees_between_the_ends_keep_all_digits() -> None:
    angle = 0.7
    found = values("chebyshev_polynomial_t", [float(np.cos(angle))], 3000)
    exact = np.cos(3000 * np.arccos(np.longdouble(np.cos(angle))))
    assert found[0] == pytest.approx(float(exact), abs=1e-12)


def test_values_beyond_the_dtype_give_no_warning() -> None:
    with np.errstate(all="raise"):
        assert special.erfcx(vt.tensor([-10.0])).tolist() == [INF]
        assert special.zeta(vt.tensor([30.0]), vt.tensor([40.0])).tolist() == [0]
        assert special.entr(vt.tensor([60000.0], dtype=vt.float16)).tolist() == [-INF]

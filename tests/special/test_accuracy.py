"""Values of `vtgrad.special` beside those of mpmath, in units of the last place.

Where a function goes through 0 the unit is that of its magnitude around: a float next to a zero
that is no float has no digits to compare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

import mpmath as mp
import numpy as np
import pytest

import vtgrad as vt
from vtgrad import special

# Of what is said in the docstrings and on the page of special functions: at most.
ALLOWED: Final = 8
DIGITS: Final = 45

Reference = Callable[[Any], Any]


@pytest.fixture(autouse=True)
def precision() -> Iterator[None]:
    with mp.workdps(DIGITS):
        yield


def random() -> np.random.Generator:
    return np.random.default_rng(20)


def between(low: float, high: float, count: int = 60) -> list[float]:
    found: list[float] = random().uniform(low, high, count).tolist()
    return found


def powers(low: float, high: float, count: int = 30) -> list[float]:
    """Numbers whose decimal logarithms are between two."""
    found: list[float] = (10.0 ** random().uniform(low, high, count)).tolist()
    return found


def errors(
    function: Callable[[vt.Tensor], vt.Tensor],
    reference: Reference,
    places: list[float],
    least: Callable[[float], float] = lambda x: 0.0,
) -> list[float]:
    """The error at each place, in units of the value or of a least magnitude."""
    found = function(vt.tensor(places, dtype=vt.float64)).tolist()
    assert isinstance(found, list)
    listed = []
    for x, value in zip(places, found, strict=True):
        exact = reference(mp.mpf(x))
        unit = np.spacing(max(abs(float(exact)), least(x)))
        listed.append(float(abs(mp.mpf(value) - exact) / mp.mpf(float(unit))))
    return listed


def normal(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def erfcx(x: Any) -> Any:
    if x > 100:
        inverse = 1 / (2 * x * x)
        terms = [mp.mpf(1)]
        for n in range(1, 16):
            terms.append(-terms[-1] * (2 * n - 1) * inverse)
        return sum(terms) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def log_ndtr(x: Any) -> Any:
    return mp.log(normal(x)) if x < 0 else mp.log1p(-normal(-x))


def log_erfc(x: Any) -> Any:
    return mp.log(mp.erfc(x)) if x > 0.1 else mp.log1p(-mp.erf(x))


def entr(x: Any) -> Any:
    return -x * mp.log(x)


def besselk(n: int, scaled: bool, x: Any) -> Any:
    return mp.besselk(n, x) * (mp.exp(x) if scaled else 1)


def half_of_wave(x: float) -> float:
    """Half of the amplitude of Bessel functions of order 0 and 1."""
    return min(1.0, float(np.sqrt(2 / np.pi / max(x, 1e-9)))) / 2


def half_of_airy(x: float) -> float:
    return float(min(0.4, abs(x) ** -0.25 / np.sqrt(np.pi))) / 2 if x < 0 else 0.0


TAILS: Final = [*between(-26, 30), *between(-2, 2), *powers(-12, 7)]
POSITIVE: Final = [*between(0, 30), *between(0, 2), *powers(-9, 6), 1.0, 20.0, 20.0001]
VALUES: Final[dict[str, tuple[Reference, list[float], Callable[[float], float]]]] = {
    "erfcx": (erfcx, TAILS, lambda x: 0.0),
    "log_erfc": (log_erfc, [*between(-9, 25), *between(-1, 1), *powers(-9, 2)], lambda x: 0.0),
    "ndtr": (normal, [*between(-38, 38), *between(-2, 2), -38.4], lambda x: 0.0),
    "log_ndtr": (
        log_ndtr,
        [*between(-38, 38), *between(-2, 2), *[-x for x in powers(0, 3)]],
        lambda x: 0.0,
    ),
    "entr": (entr, [*between(0, 0.9), *between(1.1, 9), *powers(-300, -1)], lambda x: 0.0),
    "bessel_j0": (lambda x: mp.besselj(0, x), POSITIVE, half_of_wave),
    "bessel_j1": (
        lambda x: mp.besselj(1, x),
        POSITIVE,
        lambda x: half_of_wave(x) if x > 2 else 0.0,
    ),
    "bessel_y0": (lambda x: mp.bessely(0, x), POSITIVE, half_of_wave),
    "bessel_y1": (lambda x: mp.bessely(1, x), POSITIVE, half_of_wave),
    "spherical_bessel_j0": (
        lambda x: mp.sin(x) / x,
        POSITIVE,
        lambda x: min(1.0, 1 / x) / 2,
    ),
    "i0e": (
        lambda x: mp.besseli(0, x) * mp.exp(-x),
        [*between(0, 40), *powers(-9, 2)],
        lambda x: 0.0,
    ),
    "i1e": (
        lambda x: mp.besseli(1, x) * mp.exp(-x),
        [*between(0, 40), *powers(-9, 2)],
        lambda x: 0.0,
    ),
    "i1": (lambda x: mp.besseli(1, x), [*between(0, 40), *powers(-9, 2)], lambda x: 0.0),
    **{
        f"{scaled}modified_bessel_k{n}": (
            functools.partial(besselk, n, scaled != ""),
            [x for x in POSITIVE if x < 700][::5],
            lambda x: 0.0,
        )
        for n in (0, 1)
        for scaled in ("scaled_", "")
    },
    "sinc": (
        lambda x: mp.sinpi(x) / (mp.pi * x),
        [*between(-1, 1), *between(-30, 30), *powers(-300, 15), 30.25, 2.0**53 - 1],
        lambda x: 0.0,
    ),
    "airy_ai": (
        mp.airyai,
        [*between(-100, 100), *between(-11, 11), *powers(-9, 1), *[-x for x in powers(1, 9)]],
        half_of_airy,
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_mpmath(name: str) -> None:
    reference, places, least = VALUES[name]
    found = errors(getattr(special, name), reference, places, least)
    assert max(found) <= ALLOWED, places[int(np.argmax(found))]


def test_quantiles_are_those_of_mpmath() -> None:
    probabilities = [*between(0, 1), *powers(-300, -1), 5e-324, 0.25, 0.2499, 1 - 2.0**-50]

    def quantile(p: Any) -> Any:
        """Newton's method for the logarithm of the smaller tail."""
        small = min(p, 1 - p)
        y = mp.mpf(special.ndtri(vt.tensor(float(p), dtype=vt.float64)).item())
        y = -abs(y)
        for _ in range(3):
            y -= (mp.log(normal(y)) - mp.log(small)) * normal(y) / mp.npdf(y)
        return y if p < 0.5 else -y

    assert max(errors(special.ndtri, quantile, probabilities)) <= ALLOWED


# Orders, and the ratios of the arguments to them: one of each way to compute, and of their borders.
ORDERS: Final = [
    (powers(-3, 0, 30), powers(-1, 2, 30)),
    (between(1, 10, 30), between(0.02, 20, 30)),
    (between(10, 200, 30), between(0.02, 4, 30)),
    ([*between(20, 400, 29), 100.0], [*between(0.69, 1.31, 29), 0.2]),
    (powers(3, 4, 30), [1 + x for x in between(-0.02, 0.02, 30)]),
]


def _always(value: Any, _: Any) -> Any:
    return value


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("orders", "ratios"), ORDERS)
def test_incomplete_gamma_functions_are_those_of_mpmath(
    orders: list[float], ratios: list[float], upper: bool
) -> None:
    # Breaks when an exponent of 100 is rounded before the exponential is taken.
    function = special.gammaincc if upper else special.gammainc
    for a, ratio in zip(orders, ratios, strict=True):
        ends = (a * ratio, mp.inf) if upper else (0, a * ratio)
        exact = mp.gammainc(a, *ends, regularized=True)
        if exact > 1e-300:
            call = functools.partial(function, vt.tensor(a, dtype=vt.float64))
            [found] = errors(call, functools.partial(_always, exact), [a * ratio])
            assert found <= ALLOWED, (a, ratio)


def test_incomplete_gamma_functions_have_their_digits_where_the_uniform_expansion_begins() -> None:
    # Breaks when it begins at 20.
    for a in between(20, 32, 20):
        for ratio in (0.71, 0.715, 0.73):
            exact = mp.gammainc(a, 0, a * ratio, regularized=True)
            call = functools.partial(special.gammainc, vt.tensor(a, dtype=vt.float64))
            [found] = errors(call, functools.partial(_always, exact), [a * ratio])
            assert found <= ALLOWED, (a, ratio)


@pytest.mark.parametrize("dtype", [vt.float32, vt.float64])
def test_incomplete_gamma_functions_of_huge_numbers_are_their_limits(dtype: vt.dtype) -> None:
    orders = vt.tensor([1e-30, 0.5, 1.5, 4, 9.9, 30], dtype=dtype)[:, None]
    places = vt.tensor([800, 1400, 2000, 1e10, 1e35, vt.finfo(dtype).max], dtype=dtype)
    assert (special.gammainc(orders, places) == 1).all()
    assert (special.gammaincc(orders, places[2:]) == 0).all()


def test_the_slope_of_sinc_keeps_its_digits_far_from_0() -> None:
    def slope(x: vt.Tensor) -> vt.Tensor:
        leaf = x.requires_grad_()
        return vt.autograd.grad(special.sinc(leaf).sum(), leaf)[0]

    def exact(x: Any) -> Any:
        return (mp.cospi(x) - mp.sinpi(x) / (mp.pi * x)) / x

    # Between the zeros, which are close to the halves.
    places = [n + part for n in (-31, 7, 30, 1e6, 2.0**40) for part in (0.0, 0.25, 0.75)]
    assert max(errors(slope, exact, places)) <= 4 * ALLOWED


def hurwitz(s: Any, q: Any) -> Any:
    """The Euler-Maclaurin formula with many terms; mpmath's own loses digits of large orders."""
    count = 40
    z = q + count
    total = sum((q + k) ** -s for k in range(count)) + z ** (1 - s) / (s - 1) + z**-s / 2
    rising = s
    for j in range(1, 18):
        total += mp.bernoulli(2 * j) / mp.factorial(2 * j) * rising * z ** (-s - 2 * j + 1)
        rising *= (s + 2 * j - 1) * (s + 2 * j)
    return total


@pytest.mark.parametrize(
    ("order", "places"),
    [
        (1.001, between(0.1, 50, 12)),
        (2.0, between(0.1, 1e6, 12)),
        (3.7, between(0.1, 50, 12)),
        (27.6, between(0.5, 300, 12)),
        (51.6, between(1, 60, 12)),
        (900.0, between(0.9, 1.9, 12)),
    ],
)
def test_zeta_is_that_of_the_formula(order: float, places: list[float]) -> None:
    reference = functools.partial(hurwitz, mp.mpf(order))
    assert max(errors(lambda q: special.zeta(order, q), reference, places)) <= ALLOWED


def test_zeta_between_poles_is_that_of_mpmath() -> None:
    found = errors(
        lambda q: special.zeta(3, q), lambda q: mp.zeta(3, q), between(-9, 0, 12), lambda q: 1.0
    )
    assert max(found) <= ALLOWED


def _degree_by_degree(name: str, n: int, x: Any) -> Any:
    """A polynomial by its recurrence, in as many digits as mpmath has."""
    if name.startswith("shifted_"):
        return _degree_by_degree(name.removeprefix("shifted_"), n, 2 * x - 1)
    first = {"t": x, "u": 2 * x, "v": 2 * x - 1, "w": 2 * x + 1, "h": 2 * x, "he": x}
    first |= {"l": 1 - x, "p": x}
    kind = name.rpartition("_")[2]
    before, now = mp.mpf(1), first[kind]
    if n == 0:
        return before
    for m in range(1, n):
        if kind == "h":
            later = 2 * x * now - 2 * m * before
        elif kind == "he":
            later = x * now - m * before
        elif kind == "l":
            later = ((2 * m + 1 - x) * now - m * before) / (m + 1)
        elif kind == "p":
            later = ((2 * m + 1) * x * now - m * before) / (m + 1)
        else:
            later = 2 * x * now - before
        before, now = now, later
    return now


def _of_degree(name: str, n: int, x: vt.Tensor) -> vt.Tensor:
    found: vt.Tensor = getattr(special, name)(x, n)
    return found


POLYNOMIALS: Final = [name for name in special.__all__ if "polynomial" in name]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_are_rounded_once(name: str) -> None:
    places = [*between(-1, 1, 8), *between(-40, 40, 8), 1.0, -1.0, 1 - 2.0**-40]
    for n in (1, 2, 7, 60):
        reference = functools.partial(_degree_by_degree, name, n)
        found = errors(functools.partial(_of_degree, name, n), reference, places)
        assert max(e for e, x in zip(found, places, strict=True) if reference(mp.mpf(x))) <= 0.51


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_slopes_of_polynomials_are_rounded_once(name: str) -> None:
    places = between(-1, 1, 8)

    def slope(x: vt.Tensor) -> vt.Tensor:
        leaf = x.requires_grad_()
        return vt.autograd.grad(getattr(special, name)(leaf, 9).sum(), leaf)[0]

    reference = functools.partial(_degree_by_degree, name, 9)
    found = errors(slope, lambda x: mp.diff(reference, x), places)
    assert max(found) <= 0.51


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_agree_with_a_second_source(name: str) -> None:
    # That the recurrences of this file are right, by mpmath's own functions.
    kind, x = name.rpartition("_")[2], mp.mpf("0.3125")
    t = 2 * x - 1 if name.startswith("shifted_") else x
    expected = {
        "t": lambda: mp.chebyt(5, t),
        "u": lambda: mp.chebyu(5, t),
        "v": lambda: mp.chebyu(5, t) - mp.chebyu(4, t),
        "w": lambda: mp.chebyu(5, t) + mp.chebyu(4, t),
        "h": lambda: mp.hermite(5, t),
        "he": lambda: mp.hermite(5, t / mp.sqrt(2)) / mp.sqrt(2) ** 5,
        "l": lambda: mp.laguerre(5, 0, t),
        "p": lambda: mp.legendre(5, t),
    }[kind]()
    assert mp.almosteq(_degree_by_degree(name, 5, x), expected, 1e-25)
    found = getattr(special, name)(vt.tensor(0.3125, dtype=vt.float64), 5).item()
    assert found == float(expected)


# DLMF 10.29.3, of functions times an exponential.
SLOPES: Final[dict[str, Reference]] = {
    "i0e": lambda x: mp.exp(-x) * (mp.besseli(1, x) - mp.besseli(0, x)),
    "i1e": lambda x: mp.exp(-x) * (mp.besseli(0, x) - mp.besseli(1, x) * (1 + 1 / x)),
    "scaled_modified_bessel_k0": lambda x: mp.exp(x) * (mp.besselk(0, x) - mp.besselk(1, x)),
    "scaled_modified_bessel_k1": lambda x: (
        mp.exp(x) * (mp.besselk(1, x) * (1 - 1 / x) - mp.besselk(0, x))
    ),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_scaled_functions_keep_their_digits(name: str) -> None:
    # That of i1e has a zero at 1.545.
    places = [0.1, 1.0, *between(2.5, 40, 9), 200.0]

    def slope(x: vt.Tensor) -> vt.Tensor:
        leaf = x.requires_grad_()
        return vt.autograd.grad(getattr(special, name)(leaf).sum(), leaf)[0]

    def exact(x: Any) -> Any:
        with mp.workdps(DIGITS + 10):
            return SLOPES[name](x)

    assert max(errors(slope, exact, places)) <= 4 * ALLOWED


def test_derivatives_are_exact_in_tails_where_their_formulas_would_cancel() -> None:
    x = vt.tensor([30.0, 1e3, 1e6, -3.0], dtype=vt.float64, requires_grad=True)
    (slope,) = vt.autograd.grad(special.erfcx(x).sum(), x)

    def exact(t: Any) -> Any:
        if t < 100:
            return 2 * t * erfcx(t) - 2 / mp.sqrt(mp.pi)
        terms = [mp.mpf(1)]
        for n in range(1, 12):
            terms.append(-terms[-1] * (2 * n + 1) / (2 * t * t))
        return -sum(terms) / (t * t * mp.sqrt(mp.pi))

    expected = [float(exact(mp.mpf(t))) for t in x.detach().tolist()]
    np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["log_ndtr", "log_erfc"])
def test_second_derivatives_of_logarithms_end_at_both_sides(name: str) -> None:
    places = [-1e8, -300.0, -40.0, -3.0, -0.1, 0.0, 0.2, 3.0, 40.0, 300.0, 1e8]
    x = vt.tensor(places, dtype=vt.float64, requires_grad=True)
    (slope,) = vt.autograd.grad(getattr(special, name)(x).sum(), x, create_graph=True)
    (found,) = vt.autograd.grad(slope.sum(), x)

    def exact(t: Any) -> Any:
        # That of log_erfc is the second one of log_ndtr, stretched.
        t = t if name == "log_ndtr" else -mp.sqrt(2) * t
        if t < -1e4:
            return -1 + 1 / t**2 - 6 / t**4
        density = mp.npdf(t) / normal(t)
        return -density * (t + density)

    stretched = 1 if name == "log_ndtr" else 2
    expected = [stretched * float(exact(mp.mpf(t))) for t in places]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_polygamma_keeps_its_digits_beside_poles(order: int) -> None:
    places = [-1e-20, -1e-8, -1e-3, 1e-8, -0.3, -1.0001, -0.9999, -7.5]
    listed = errors(lambda x: special.polygamma(order, x), lambda x: mp.polygamma(order, x), places)
    assert max(listed) <= ALLOWED

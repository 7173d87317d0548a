"""Derivatives of the Faddeeva function, and of Voigt's profile, which is a part of it.

Note [Derivatives of the Faddeeva function]

With ``w`` for the function, ``w' = 2 i / sqrt(pi) - 2 z w`` and ``w'' = -2 w - 2 z w'``, and so on
(DLMF 7.10). For large z the two terms differ in their last digits only. There the asymptotic series
is derived term by term (DLMF 7.12.1 with DLMF 7.5.1): ::

    w ~ i / sqrt(pi) * sum of (1/2)_k z**(-2 k - 1)

in the upper half of the plane; below it ``w(z) = 2 exp(-z**2) - w(-z)``. Between the two w is ::

    i / pi * integral of exp(-t**2) / (z - t) = sum over equal steps h + 2 exp(-z**2) q
    q = 1 / (1 - exp(-2 pi i (z - start) / h))

with an error of ``exp(-(pi / h)**2)`` for z whose imaginary part is less than ``pi / h`` (F. Matta
and A. Reichel, "Uniform computation of the error function and other related functions", 1971). The
sum and the term of the pole are derived, the latter by ``q' = -2 pi i / h (q**2 - q)``.

Voigt's profile is the real part of ``g = w(u) / (sigma sqrt(2 pi))`` with ``u = (x + i gamma) /
(sigma sqrt(2))``. It is a convolution with a normal distribution, so it obeys the equation of heat:
the derivative by sigma is sigma times the second by x. That by gamma is i times that by x, as g is
analytic. So all derivatives are derivatives of g by its complex argument. Where sigma is 0, g is
``i / (pi (x + i gamma))``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.special.elementwise import Elementwise
from vtgrad.special.scipy_function import scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["FADDEEVA_SLOPE", "VOIGT_SLOPE"]

# Up to this absolute value differences lose few digits.
_NEAR: Final = 1.5
_NEAR_AXIS: Final = 0.5
_STEP: Final = 0.4375
_STEPS: Final = 15
# From this absolute value on the asymptotic series has all digits.
_FAR: Final = 7.0
_TERMS: Final = 38
# From here on ``exp(-x**2)`` is 0.
_UNDERFLOW: Final = 28.0


def _slope(n: Array, z: Array) -> Array:
    return _faddeeva(_order(n), z)


def _voigt(n: Array, zeta: Array, sigma: Array) -> Array:
    order, width = _order(n), sigma.real * sqrt(2)
    flat = width == 0
    safe = np.where(flat, 1, width)
    result: Array = _faddeeva(order, zeta / safe) / (safe ** (order + 1) * sqrt(pi))
    at = zeta[flat]
    result[flat] = 1j / pi * _rising(1, order) * (-1) ** order / at ** (order + 1)
    return result


def _order(n: Array) -> int:
    """The order of a derivative, which is one for all elements."""
    return int(n[0].real) if n.size else 1


def _faddeeva(order: int, z: Array) -> Array:
    """A derivative; see Note [Derivatives of the Faddeeva function]."""
    result: Array = making.asarray(scipy_special("wofz").wofz(z))
    if not order:
        return result
    size = np.abs(z)
    near = ~((size >= _NEAR) | (np.abs(z.imag) >= _NEAR_AXIS))
    result[near] = _by_recurrence(order, z[near], result[near])
    # By the real axis the series lacks the normal distribution, which is the real part there.
    by_axis = (np.abs(z.imag) < 1) & (size < _UNDERFLOW)
    summed = ((size < _FAR) | by_axis) & ~near
    for zone, derivative in (summed, _by_sum), (~near & ~summed, _of_large):
        if zone.any():
            result[zone] = _above(order, z[zone], derivative)
    result[(np.isinf(z.real) | np.isinf(z.imag)) & ~(z.imag < 0)] = 0
    return result


def _by_recurrence(order: int, z: Array, value: Array) -> Array:
    before, found = value, -2 * z * value + 2j / sqrt(pi)
    for k in range(1, order):
        before, found = found, -2 * z * found - 2 * k * before
    return found


def _above(order: int, z: Array, derivative: Callable[[int, Array], Array]) -> Array:
    """A derivative in the whole plane by that in the upper half."""
    below = z.imag < 0
    result = derivative(order, np.where(below, -z, z))
    if below.any():
        result[below] = 2 * _of_gauss(order, z[below]) - (-1) ** order * result[below]
    return result


def _by_sum(order: int, z: Array) -> Array:
    """The sum over equal steps, and what the pole adds to it; from the second on by recurrence."""
    steps = z.real / _STEP
    # The places of the sum keep away from the pole.
    start = np.where(np.abs(steps - np.round(steps)) < 0.25, _STEP / 2, 0.0)
    # Whole steps change nothing, and their sine would.
    phase = z - start
    phase -= np.round(phase.real / _STEP) * _STEP
    first: Array = making.zeros(z.shape, z.dtype)
    second: Array = making.zeros(z.shape, z.dtype)
    for k in range(_STEPS + 1):
        # The places t and -t together, so that small real and imaginary parts keep their digits.
        t = start + k * _STEP
        inverse = 1 / ((z - t) * (z + t))
        term = 2 * np.exp(-t * t) * inverse * inverse
        if not k:
            # There is only one place at 0.
            term = np.where(start == 0, term / 2, term)
        first -= term * (z * z + t * t)
        second += 2 * term * inverse * z * (z * z + 3 * t * t)
    first, second = 1j * _STEP / pi * first, 1j * _STEP / pi * second
    rate = -2j * pi / _STEP
    q = 1 / (1 - np.exp(rate * phase))
    slope = rate * (q * q - q)
    gauss = 2 * np.exp(-z * z)
    before: Array = first + gauss * (slope - 2 * z * q)
    if order == 1:
        return before
    bent = rate * slope * (2 * q - 1)
    found: Array = second + gauss * (bent - 4 * z * slope + (4 * z * z - 2) * q)
    for k in range(2, order):
        before, found = found, -2 * z * found - 2 * k * before
    return found


def _of_large(order: int, z: Array) -> Array:
    inverse = 1 / (z * z)
    total = making.zeros(z.shape, z.dtype)
    for k in reversed(range(_TERMS)):
        # Horner's rule; the factor is the quotient of two coefficients.
        total = _coefficient(k, order) + total * inverse * (k + 0.5)
    series: Array = 1j / sqrt(pi) * (-1) ** order * total / z ** (order + 1)
    return series


def _coefficient(k: int, order: int) -> float:
    """The factor that deriving ``z**(-2 k - 1)`` gives, but for the sign."""
    return _rising(2 * k + 1, order)


def _rising(start: int, count: int) -> float:
    found = 1.0
    for k in range(count):
        found *= start + k
    return found


def _of_gauss(order: int, z: Array) -> Array:
    """A derivative of ``exp(-z**2)``."""
    before: Array = np.exp(-z * z)
    found: Array = -2 * z * before
    for k in range(1, order):
        before, found = found, -2 * z * found - 2 * k * before
    return found


FADDEEVA_SLOPE: Final[Elementwise] = Elementwise(
    "faddeeva_slope",
    _slope,
    takes_complex=True,
    n=None,
    z=lambda n, z: FADDEEVA_SLOPE(n + 1, z),
)
VOIGT_SLOPE: Final[Elementwise] = Elementwise(
    "voigt_slope",
    _voigt,
    takes_complex=True,
    n=None,
    zeta=lambda n, zeta, sigma: VOIGT_SLOPE(n + 1, zeta, sigma),
    sigma=lambda n, zeta, sigma: sigma * VOIGT_SLOPE(n + 2, zeta, sigma),
)

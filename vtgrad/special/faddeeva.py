"""Derivatives of the Faddeeva function, and of Voigt's profile, which is a part of it.

Note [Derivatives of the Faddeeva function]

With ``w`` for the function, ``w' = 2 i / sqrt(pi) - 2 z w`` and ``w'' = -2 w - 2 z w'``, and so on
(DLMF 7.10). For large z the two terms differ in their last digits only. There the asymptotic series
is derived term by term (DLMF 7.12.1 with DLMF 7.5.1): ::

    w ~ i / sqrt(pi) * sum of (1/2)_k z**(-2 k - 1)

in the upper half of the plane; below it ``w(z) = 2 exp(-z**2) - w(-z)``.

Voigt's profile is the real part of ``g = w(u) / (sigma sqrt(2 pi))`` with ``u = (x + i gamma) /
(sigma sqrt(2))``. It is a convolution with a normal distribution, so it obeys the equation of heat:
the derivative by sigma is sigma times the second by x. That by gamma is i times that by x, as g is
analytic. So all derivatives are derivatives of g by its complex argument. Where sigma is 0, g is
``i / (pi (x + i gamma))``.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.special.elementwise import Elementwise
from vtgrad.special.scipy_function import scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array

__all__ = ["FADDEEVA_SLOPE", "VOIGT_SLOPE"]

# From this absolute value on the asymptotic series has all digits.
_FAR: Final = 6.5
_TERMS: Final = 36


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
    special = scipy_special("wofz")
    result: Array = np.asarray(special.wofz(z))
    if not order:
        return result
    far = np.abs(z) >= _FAR
    near = z[~far]
    before, found = result[~far], -2 * near * result[~far] + 2j / sqrt(pi)
    for k in range(1, order):
        before, found = found, -2 * near * found - 2 * k * before
    result[~far] = found
    result[far] = _of_large(order, z[far])
    return result


def _of_large(order: int, z: Array) -> Array:
    below = z.imag < 0
    above = np.where(below, -z, z)
    inverse = 1 / (above * above)
    total = making.zeros(z.shape, z.dtype)
    for k in reversed(range(_TERMS)):
        # Horner's rule; the factor is the quotient of two coefficients.
        total = _coefficient(k, order) + total * inverse * (k + 0.5)
    series: Array = 1j / sqrt(pi) * (-1) ** order * total / above ** (order + 1)
    if not below.any():
        return series
    down = z[below]
    series[below] = 2 * _of_gauss(order, down) - (-1) ** order * series[below]
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

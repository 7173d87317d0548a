"""Derivatives of the scaled modified Bessel functions.

Note [Slopes of scaled Bessel functions]

``exp(-x) I(x)`` is flat for large x, where ``I`` and its derivative agree in most digits. Debye's
expansions (DLMF 10.41.3 to 10.41.6) have both as series in ``1 / R``, ``R = sqrt(v**2 + x**2)``,
whose coefficients are polynomials of ``v**2 / R**2``. With U and V for the two series ::

    I' / I - 1 = R / x * (V - U) / U + v**2 / (x (R + x))

in which the difference is taken term by term. Those of K have alternating signs. They hold for all
orders, the small ones too, as soon as R is large.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.kernels.modified_bessel import scaled_i0_slope, scaled_i1_slope
from vtgrad.special.scipy_function import scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["IVE_SLOPE", "KVE_SLOPE"]

# From this R on the expansions have all digits.
_FAR: Final = 20.0
_TERMS: Final = 24

Polynomial = dict[int, Fraction]


@made_once
def _coefficients() -> list[tuple[list[float], list[float]]]:
    """Of each power of ``1 / R``: the polynomials of U and of V - U (DLMF 10.41.9 and 10.41.10)."""
    u: Polynomial = {0: Fraction(1)}
    rows = []
    for k in range(1, _TERMS + 1):
        slope = {n - 1: n * c for n, c in u.items() if n}
        low = _sum({n + 1: c / 2 for n, c in u.items()}, {n + 2: c for n, c in slope.items()})
        difference = _sum({n: -c for n, c in low.items()}, {n + 2: c for n, c in low.items()})
        integrand = _sum(u, {n + 2: -5 * c for n, c in u.items()})
        u = _sum(
            {n + 2: c / 2 for n, c in slope.items()},
            {n + 4: -c / 2 for n, c in slope.items()},
            {n + 1: c / 8 / (n + 1) for n, c in integrand.items()},
        )
        rows.append((_row(u, k), _row(difference, k)))
    return rows


def _sum(*parts: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for n, c in part.items():
            total[n] = total.get(n, Fraction(0)) + c
    return total


def _row(polynomial: Polynomial, k: int) -> list[float]:
    """The coefficients of p**k, p**(k + 2), and so on."""
    return [float(polynomial.get(n, 0)) for n in range(k, 3 * k + 1, 2)]


def _relative_slope(v: Array, x: Array, sign: int) -> Array:
    """The derivative of a scaled function as a part of its value."""
    large = np.hypot(v, x)
    square = (v / large) ** 2
    of_u, of_difference = making.ones(x.shape), making.zeros(x.shape)
    power = making.ones(x.shape)
    for for_u, for_difference in _coefficients():
        power = power * (sign / large)
        of_u += power * np.polyval(for_u[::-1], square)
        of_difference += power * np.polyval(for_difference[::-1], square)
    result: Array = large / x * of_difference / of_u + v / (large + x) * (v / x)
    return sign * result


def _ive_slope(v: Array, x: Array) -> Array:
    ive = scipy_special("ive").ive
    result: Array = (ive(v - 1, x) + ive(v + 1, x)) / 2 - np.sign(x) * ive(v, x)
    far = (np.hypot(v, x) >= _FAR) & (x > 0) & (v >= 0) & np.isfinite(x)
    result[far] = ive(v[far], x[far]) * _relative_slope(v[far], x[far], 1)
    # SciPy's scaled function of negative order is nan at 0.
    origin = x == 0
    iv, w = scipy_special("ive").iv, v[origin]
    result[origin] = (iv(w - 1, 0.0) + iv(w + 1, 0.0)) / 2
    for order, slope in enumerate((scaled_i0_slope, scaled_i1_slope)):
        at = (v == order) & ~far & ~origin
        result[at] = slope(x[at])
    return result


def _kve_slope(v: Array, z: Array) -> Array:
    kve, order = scipy_special("kve").kve, v.real
    result: Array = kve(order, z) - (kve(order - 1, z) + kve(order + 1, z)) / 2
    if z.dtype.kind == "f":
        far = (np.hypot(v, z) >= _FAR) & (z > 0) & np.isfinite(z)
        result[far] = kve(v[far], z[far]) * _relative_slope(np.abs(v[far]), z[far], -1)
    return result


IVE_SLOPE: Final[Elementwise] = Elementwise(
    "ive_slope",
    _ive_slope,
    v=None,
    z=lambda v, z: (IVE_SLOPE(v - 1, z) + IVE_SLOPE(v + 1, z)) / 2 - F.sign(z) * IVE_SLOPE(v, z),
)
KVE_SLOPE: Final[Elementwise] = Elementwise(
    "kve_slope",
    _kve_slope,
    takes_complex=True,
    v=None,
    z=lambda v, z: KVE_SLOPE(v, z) - (KVE_SLOPE(v - 1, z) + KVE_SLOPE(v + 1, z)) / 2,
)

"""The error function, its complement and its inverse.

Note [How the error function is computed]
Up to a magnitude of 1 `erf` is computed by its Maclaurin series. Beyond, it follows from
``erfc(x)``. The function ``(1 + 2x) exp(x * x) erfc(x)`` has little curvature: one Chebyshev series
in ``(x - 3.75) / (x + 3.75)`` gives it from 0 to infinity (M. M. Shepherd and J. G. Laframboise,
"Chebyshev approximation of (1 + 2x) exp(x**2) erfc x in 0 <= x < infinity", Mathematics of
Computation 36, 1981). The coefficients here are that series computed to 20 digits.
"""

from __future__ import annotations

from math import factorial, pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.series import chebyshev, in_double, polynomial
from vtgrad.storage.arrays import Array

__all__ = ["erf", "erfc", "erfinv"]


_SLOPE: Final = 2 / sqrt(pi)
_MACLAURIN: Final = [_SLOPE * (-1) ** n / (factorial(n) * (2 * n + 1)) for n in range(19)]
_SCALED_COMPLEMENT: Final = (
    1.1775789345674017541,
    -0.0045900545806464773309,
    -0.084249133366517915584,
    0.059209939998191890498,
    -0.026658668435305752277,
    0.0090749976707052650939,
    -0.0024131635404176081909,
    0.00049077583652580863229,
    -0.000069169733025012063671,
    4.1390279860730101675e-6,
    7.7403830661984906686e-7,
    -2.1886401049234395661e-7,
    1.0764999465670910377e-8,
    4.5219598112182868979e-9,
    -7.7544002088313511065e-10,
    -6.3180883408866844944e-11,
    2.8687950109306698981e-11,
    1.945586854577734723e-13,
    -9.6546967484334389059e-13,
    3.2525481481487398415e-14,
    3.3478119482868053878e-14,
    -1.8645628804193131015e-15,
    -1.2507950530688647085e-15,
    7.418235256624043463e-17,
    5.0681489047961113168e-17,
)


def erf(input: Array, *, out: Array | None = None) -> Array:
    """The integral of ``2 / sqrt(pi) * exp(-t * t)`` from 0.

    See Note [How the error function is computed].
    """
    return in_double("erf", _erf, input, out)


def erfc(input: Array, *, out: Array | None = None) -> Array:
    """``1 - erf(input)``, accurate also where the difference is tiny."""
    return in_double("erfc", _erfc, input, out)


def erfinv(input: Array, *, out: Array | None = None) -> Array:
    """The value whose error function is `input`; nan outside of -1 to 1.

    Halley's method improves an approximation in elementary functions (S. Winitzki, "A handy
    approximation for the error function and its inverse", 2008).
    """
    return in_double("erfinv", _erfinv, input, out)


def _erf(x: Array) -> Array:
    result: Array = np.copysign(1 - _complement(np.abs(x)), x)
    near = np.abs(x) < 1
    small = x[near]
    result[near] = small * polynomial(_MACLAURIN, small * small)
    return result


def _erfc(x: Array) -> Array:
    tail = _complement(np.abs(x))
    result: Array = np.where(x < 0, 2 - tail, tail)
    near = (x > -1) & (x < 0.5)
    small = x[near]
    result[near] = 1 - small * polynomial(_MACLAURIN, small * small)
    return result


def _complement(x: Array) -> Array:
    """``erfc`` of values that are not negative."""
    # Beyond this the result is less than the smallest floating number.
    x = np.minimum(x, 30.0)
    scaled = chebyshev(_SCALED_COMPLEMENT, (x - 3.75) / (x + 3.75)) / (1 + 2 * x)
    # The square of a number with many digits is rounded, and the exponential magnifies the error.
    short = np.trunc(x * 16) / 16
    result: Array = np.exp(-short * short) * np.exp((short - x) * (short + x)) * scaled
    return result


def _erfinv(y: Array) -> Array:
    w = np.abs(y)
    inside = w < 1
    result: Array = np.where(w == 1, np.inf, np.nan)
    p = w[inside]
    log = np.log1p(-p) + np.log1p(p)
    middle = 2 / (pi * 0.147) + log / 2
    x = np.sqrt(-log / 0.147 / (np.sqrt(middle * middle - log / 0.147) + middle))
    central = p < 0.5
    for _ in range(3):
        missing = np.where(central, _erf(x) - p, (1 - p) - _erfc(x))
        step = missing / (_SLOPE * np.exp(-x * x))
        x = x - step / (1 + x * step)
    result[inside] = x
    signed: Array = np.copysign(result, y)
    return signed

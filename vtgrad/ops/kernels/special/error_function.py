"""The error function, its complement and its inverse.

Note [How the error function is computed]
All three are piecewise polynomials. The tables start from Python's own values of `erf` and `erfc`
at the multiples of the step; the other Taylor coefficients follow from differential equations. What
is tabulated:

- `erf` itself up to 6, beyond which it rounds to 1;
- ``exp(x * x - r * r) * erfc(x)``, where `r` is the nearest multiple of the step. It is `erfc` but
  for a factor whose exponent is small and hardly rounded. Coefficients are 2 ** 64 times as large,
  so that they have all digits where the result is subnormal;
- `erfinv` as a function of ``sqrt(-log(1 - p * p))``. That is smooth from 0 to 1, where `erfinv` is
  infinite, and so does it without a branch.
"""

from __future__ import annotations

import math
from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special import quick_ufuncs as quick
from vtgrad.ops.kernels.special.fixed_point import ONE, exponential, fixed, root, times
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import (
    in_double,
    is_within,
    largest,
)
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import constant, made_once

__all__ = ["erf", "erfc", "erfinv"]


_SLOPE: Final = 2 / sqrt(pi)
# In units of `fixed_point`.
_PI: Final = 314159265358979323846264338327950288419716939937511 * ONE // 10**50
# The steps of the tables are two to the power of minus these.
_ERF_BITS: Final = 7
_ERFC_BITS: Final = 7
_ERFINV_BITS: Final = 6
_DEGREE: Final = 6
# Beyond these `erf` rounds to 1, and `erfc` to 0.
_ONE: Final = constant(6.0)
_VANISHED: Final = constant(27.5)
_SCALE: Final = 2.0**64
_UNSCALED: Final = constant(1 / _SCALE)
_UNIT: Final = constant(1.0)
# Up to this magnitude ``1 - p * p`` keeps enough digits.
_CENTRAL: Final = 0.9
# Squares of this size are subnormal.
_LEAST: Final = constant(1e-300)


def erf(input: Array, *, out: Array | None = None) -> Array:
    """The integral of ``2 / sqrt(pi) * exp(-t * t)`` from 0.

    See Note [How the error function is computed].
    """
    return in_double("erf", _erf, input, out)


def erfc(input: Array, *, out: Array | None = None) -> Array:
    """``1 - erf(input)``, accurate also where the difference is tiny."""
    return in_double("erfc", _erfc, input, out)


def erfinv(input: Array, *, out: Array | None = None) -> Array:
    """The value whose error function is `input`; nan outside of -1 to 1."""
    return in_double("erfinv", _erfinv, input, out)


def _erf(x: Array) -> Array:
    size = quick.absolute(x)
    quick.minimum(size, _ONE, out=size)
    total = _erf_table()(size)
    return quick.copysign(total, x, total)


def _erfc(x: Array) -> Array:
    size = quick.absolute(x)
    quick.minimum(size, _VANISHED, out=size)
    scaled, distance = _erfc_table().with_distance(size)
    # x * x - r * r is the distance times the sum of both, which is 2 * x less the distance.
    quick.add(size, size, size)
    quick.subtract(distance, size, size)
    quick.multiply(size, distance, size)
    quick.exp(size, size)
    quick.multiply(size, scaled, size)
    quick.multiply(size, _UNSCALED, size)
    # 2 less that for negative values: 0 or 2, and the value with the sign.
    quick.copysign(_UNIT, x, scaled)
    quick.multiply(size, scaled, size)
    quick.subtract(_UNIT, scaled, scaled)
    return quick.add(size, scaled, size)


def _erfinv(p: Array) -> Array:
    size = quick.absolute(p)
    log = quick.multiply(p, p)
    # Without the least of all squares, which are rounded, to none: those are improved below.
    quick.subtract(_LEAST, log, log)
    quick.log1p(log, log)
    quick.negative(log, log)
    # Not so for nan too.
    central = is_within(size, 0.0, _CENTRAL) or largest(size) <= _CENTRAL
    if not central:
        high = size[size > _CENTRAL]
        # 1 - p is exact, and so is the logarithm almost.
        log[size > _CENTRAL] = -np.log((1 - high) * (1 + high))
    quick.sqrt(log, log)
    # The root is more than p but for rounding. For tiny p it is p, and what was computed is nan.
    quick.fmax(log, size, out=log)
    total = _erfinv_table()(log)
    if not central:
        total[size == 1] = np.inf
        total[size > 1] = np.nan
    return quick.copysign(total, p, total)


# -- tables ---------------------------------------------------------------------------------


def _multiples(bits: int, end: float) -> Array:
    r: Array = making.arange(int(end * 2**bits) + 1) / 2**bits
    return r


@made_once
def _erf_table() -> Piecewise:
    r = _multiples(_ERF_BITS, float(_ONE))
    rows = [making.array([math.erf(value) for value in r.tolist()]), _SLOPE * np.exp(-r * r)]
    # From f'' = -2 * x * f'.
    for k in range(1, _DEGREE):
        before = 2 * (k - 1) * rows[k - 1] if k > 1 else making.zeros_like(r)
        rows.append((-2 * r * k * rows[k] - before) / (k * (k + 1)))
    return Piecewise(0, _ERF_BITS, rows)


@made_once
def _erfc_table() -> Piecewise:
    r = _multiples(_ERFC_BITS, float(_VANISHED))
    # r * r has few digits. Where the exponential is subnormal, part of the scale is in it.
    large = r > 6
    density = np.exp(np.where(large, 44 - r * r, -r * r)) * np.where(
        large, _SCALE * math.exp(-44), _SCALE
    )
    near = making.array([math.erfc(value) for value in r.tolist()]) * _SCALE
    rows = [np.where(r > 26, density * _asymptotic(np.maximum(r, 1)), near)]
    # From f' = 2 * x * f - 2 / sqrt(pi), of the scaled function.
    rows.append(2 * r * rows[0] - _SLOPE * density)
    for k in range(1, _DEGREE):
        rows.append((2 * r * rows[k] + 2 * rows[k - 1]) / (k + 1))
    return Piecewise(0, _ERFC_BITS, rows)


def _asymptotic(x: Array) -> Array:
    """``exp(x * x) * erfc(x)`` for large x (DLMF 7.12.1)."""
    inverse = 1 / (2 * x * x)
    total: Array = making.ones_like(x)
    for n in range(7, 0, -1):
        total = 1 - (2 * n - 1) * inverse * total
    return total / (x * sqrt(pi))


@made_once
def _erfinv_table() -> Piecewise:
    r = _multiples(_ERFINV_BITS, 6.05)
    values = making.array([_inverse_at(value) for value in r.tolist()])
    slopes = sqrt(pi) / 2 * np.exp(values * values - r * r)
    slopes[1:] *= r[1:] / np.sqrt(-np.expm1(-r[1:] * r[1:]))
    # y'' = y' * (2 * y * y' - 2 * x + g), with g = 1 / x - x / (exp(x * x) - 1).
    g = _gap(r)
    rows, first = [values, slopes], [slopes]
    for k in range(_DEGREE):
        rest = [2 * _coefficient(rows, first, j) + g[j] for j in range(k + 1)]
        rest[0] = rest[0] - 2 * r
        if k > 0:
            rest[1] = rest[1] - 2
        first.append(_coefficient(first, rest, k) / (k + 1))
        rows.append(first[k + 1] / (k + 2))
    return Piecewise(0, _ERFINV_BITS, rows)


def _coefficient(a: list[Array], b: list[Array], k: int) -> Array:
    """The coefficient of power `k` of a product of series."""
    total: Array = np.add.reduce([a[j] * b[k - j] for j in range(k + 1)], 0)
    return total


def _gap(r: Array) -> list[Array]:
    """The Taylor coefficients of ``1 / x - x / (exp(x * x) - 1)``, at 0 by Bernoulli's numbers."""
    x = np.where(r == 0, 1, r)
    powers = [np.expm1(x * x), 2 * x * np.exp(x * x)]
    exponential = [np.exp(x * x), powers[1]]
    for k in range(1, _DEGREE):
        exponential.append((2 * x * exponential[k] + 2 * exponential[k - 1]) / (k + 1))
        powers.append(exponential[k + 1])
    quotient: list[Array] = []
    for k in range(_DEGREE):
        rest = x if k == 0 else making.full_like(x, k == 1)
        for j in range(1, k + 1):
            rest = rest - powers[j] * quotient[k - j]
        quotient.append(rest / powers[0])
    at_zero = (0, 1 / 2, 0, -1 / 12, 0, 0)
    return [np.where(r == 0, at_zero[k], (-1 / x) ** k / x - quotient[k]) for k in range(_DEGREE)]


def _inverse_at(r: float) -> float:
    """``erfinv(sqrt(1 - exp(-r * r)))``, correctly rounded but for rare cases.

    Newton's method from an approximation of S. Winitzki ("A handy approximation for the error
    function and its inverse", 2008).
    """
    if r == 0:
        return 0.0
    log = r * r
    middle = 2 / (pi * 0.147) - log / 2
    y = sqrt(log / 0.147 / (sqrt(middle * middle + log / 0.147) + middle))
    rest = math.exp(-log) / (1 + sqrt(-math.expm1(-log)))
    for _ in range(4):
        y += (math.erfc(y) - rest) / (_SLOPE * math.exp(-y * y))
    exact = fixed(y)
    square = times(exact, exact)
    # The series of erf with positive terms (DLMF 7.6.2), which is multiplied by a density.
    term = total = exact
    n = 1
    while term:
        term = times(2 * square, term) // (2 * n + 1)
        total += term
        n += 1
    density = 2 * exponential(-square) * ONE // root(_PI)
    target = root(ONE - exponential(-fixed(r * r)))
    return (exact + (target - times(density, total)) * ONE // density) / ONE

"""Kernels of the error function's relatives: scaled, as logarithms, and of the normal distribution.

Note [How the relatives of the error function are computed]

`erfcx` is ``exp(x * x) * erfc(x)``. From 0 to 8 it is a piecewise polynomial, made from its
differential equation ``y' = 2 * x * y - 2 / sqrt(pi)`` (Note [Solutions as tables]); beyond, its
asymptotic series (DLMF 7.12.1) in powers of ``1 / (x * x)``; below 0 it is ``2 * exp(x * x)`` less
its value at ``-x``.

The others follow from it, so that they are exact in the tails too: the distribution function `ndtr`
of a negative x is ``exp(-x * x / 2) * erfcx(-x / sqrt(2)) / 2``. There the square is a pair (Note
[Pairs]), because the exponential would magnify its rounding error by the exponent.

`ndtri` is `erfinv` for probabilities from 1/4 on, as ``2 * p - 1`` is exact there. For smaller ones
Newton's method finds where the logarithm of `ndtr` is that of p, in three steps from an
approximation with three digits (M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions",
1964, 26.2.23).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.error_function import erf, erfinv
from vtgrad.ops.kernels.special.exact_parts import square
from vtgrad.ops.kernels.special.fixed_point import ONE, root
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import fill_at, polynomial
from vtgrad.special.kernels.equations import decimal, derivative, solution
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["erfcx", "erfcx_slope", "log_erfc", "log_ndtr", "ndtr", "ndtri"]

_LARGE: Final = 8.0
_BITS: Final = 6
_PI: Final = decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640629")
# Beyond this the exponential of a square is infinite, or zero.
_OVER: Final = 40.0
_STEPS: Final = 3
# Abramowitz and Stegun 26.2.23.
_QUANTILE: Final = ((2.515517, 0.802853, 0.010328), (1.0, 1.432788, 0.189269, 0.001308))


def erfcx(x: Array) -> Array:
    """``exp(x * x) * erfc(x)``."""
    size = np.abs(x)
    result = _tables()[0](np.minimum(size, _LARGE))
    fill_at(size > _LARGE, result, _of_large, size)
    fill_at(x < 0, result, _reflected, size, result)
    result[np.isnan(x)] = np.nan
    return result


def _of_large(x: Array) -> Array:
    inverse = 1 / x
    scaled = inverse * _LARGE
    result: Array = polynomial(_tails()[0], scaled * scaled) * inverse
    return result


def erfcx_slope(x: Array) -> Array:
    """The derivative of `erfcx`, where ``2 * x * erfcx(x) - 2 / sqrt(pi)`` would cancel."""
    size = np.abs(x)
    result = _tables()[1](np.minimum(size, _LARGE))
    fill_at(size > _LARGE, result, _slope_of_large, size)
    fill_at(x < 0, result, _slope_reflected, size, result)
    result[np.isnan(x)] = np.nan
    return result


def _slope_of_large(x: Array) -> Array:
    inverse = 1 / x
    scaled = inverse * _LARGE
    result: Array = polynomial(_tails()[1], scaled * scaled) * (inverse * inverse)
    return result


def _slope_reflected(size: Array, value: Array) -> Array:
    """The derivative at ``-size``."""
    high, low = square(np.minimum(size, _OVER))
    half = np.exp(high / 2)
    result: Array = value - 4 * size * half * half * (1 + low)
    return result


def _reflected(size: Array, value: Array) -> Array:
    """What `erfcx` is at ``-size``."""
    high, low = square(np.minimum(size, _OVER))
    half = np.exp(high / 2)
    result: Array = 2 * half * half * (1 + low) - value
    return result


def ndtr(x: Array) -> Array:
    """The distribution function of the normal distribution."""
    size = np.minimum(np.abs(x), _OVER)
    tail = _tail_probability(size)
    return np.where(x > 0, 1 - tail, np.where(np.isnan(x), np.nan, tail))


def _tail_probability(size: Array) -> Array:
    """``ndtr(-size)`` for a size up to `_OVER`."""
    high, low = square(size)
    # In two factors, of which only the last product may be subnormal.
    quarter = np.exp(high / -4)
    result: Array = quarter * (erfcx(size * sqrt(0.5)) * 0.5 * (1 - low / 2)) * quarter
    return result


def log_ndtr(x: Array) -> Array:
    """The logarithm of `ndtr`."""
    tail = _tail_probability(np.minimum(np.abs(x), _OVER))
    result = np.log1p(np.negative(tail))
    low = x < 0
    fill_at(low, result, np.log, tail)
    fill_at(x < -1, result, _log_ndtr_of_low, x)
    result[np.isnan(x)] = np.nan
    return result


def _log_ndtr_of_low(x: Array) -> Array:
    result: Array = np.log(erfcx(x * -sqrt(0.5)) * 0.5) - x * (x / 2)
    return result


def log_erfc(x: Array) -> Array:
    """The logarithm of ``erfc(x)``."""
    result = np.log1p(np.negative(erf(x)))
    fill_at(x > 0.5, result, _log_erfc_of_high, x)
    return result


def _log_erfc_of_high(x: Array) -> Array:
    result: Array = np.log(erfcx(x)) - x * x
    return result


def ndtri(p: Array) -> Array:
    """The inverse of `ndtr`; nan outside of 0 to 1."""
    result: Array = erfinv(2 * p - 1) * sqrt(2)
    fill_at((p > 0) & (p < 0.25), result, _ndtri_of_low, p)
    # What is slightly less rounds to -1 above.
    result[p < 0] = np.nan
    return result


def _ndtri_of_low(p: Array) -> Array:
    target = np.log(p)
    size = np.sqrt(-2 * target)
    y: Array = polynomial(_QUANTILE[0], size) / polynomial(_QUANTILE[1], size) - size
    for _ in range(_STEPS):
        scaled = erfcx(y * -sqrt(0.5))
        rest = np.log(scaled * 0.5) - y * y / 2 - target
        # The slope of the logarithm is the density over the probability.
        y = np.minimum(y - rest * scaled * sqrt(pi / 2), 0)
    return y


# -- tables ---------------------------------------------------------------------------------


@made_once
def _tables() -> tuple[Piecewise, Piecewise]:
    """`erfcx` and its derivative up to `_LARGE`."""
    slope = 2 * ONE * ONE // root(_PI)

    def recurrence(n: int, c: list[int], k: int) -> int:
        if k == 1:
            return (2 * n * c[0] >> _BITS) - slope
        return ((2 * n * c[k - 1] >> _BITS) + 2 * c[k - 2]) // k

    rows = solution(recurrence, [ONE], 0, int(_LARGE * 2**_BITS), _BITS)
    return Piecewise(0, _BITS, rows[:8]), Piecewise(0, _BITS, derivative(rows))


@made_once
def _tails() -> tuple[list[Array], list[Array]]:
    """``x * erfcx(x)``, and ``x * x`` times the derivative, in powers of ``(_LARGE / x) ** 2``."""
    found = [1 / sqrt(pi)]
    for n in range(1, 21):
        found.append(-found[-1] * (2 * n - 1) / (2 * _LARGE * _LARGE))
    slopes = [-(2 * n + 1) * c for n, c in enumerate(found)]
    return [making.asarray(c) for c in found], [making.asarray(c) for c in slopes]

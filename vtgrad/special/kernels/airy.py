"""Kernels of Airy's function and of its derivative.

Note [How Airy's function is computed]

From -10 to 10 both are piecewise polynomials, made from the differential equation ``y'' = x * y``
(Note [Solutions as tables]). Beyond are the asymptotic expansions (DLMF 9.7.5, 9.7.6, 9.7.9 and
9.7.10), in powers of ``zeta = 2 / 3 * abs(x) ** (3 / 2)``. Its exponential, or its sine and cosine,
would magnify its rounding error by its size: so it is a pair (Note [Pairs]).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Final

import numpy as np

from vtgrad.ops.kernels.special.exact_parts import Pair, quotient, square_root, times
from vtgrad.ops.kernels.special.piecewise import Piecewise
from vtgrad.ops.kernels.special.series import fill_at, polynomial
from vtgrad.special.kernels.equations import decimal, derivative, solution
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lasting_arrays import made_once

__all__ = ["airy_ai", "airy_ai_prime"]

_LARGE: Final = 10
_BITS: Final = 6
# From here on the expansions have their leading terms only, and powers might overflow.
_FAR: Final = 1e100
_ZETA: Final = 2 / 3 * _LARGE**1.5
# DLMF 9.2.3 and 9.2.4.
_AT_ZERO: Final = (
    decimal("0.35502805388781723926006318600418317639797917419917724058332651030081004245"),
    decimal("-0.25881940379280679840518356018920396347909113835493458221000181385610277267"),
)


def airy_ai(x: Array) -> Array:
    """Airy's function."""
    return _of_order(0, x)


def airy_ai_prime(x: Array) -> Array:
    """Its derivative."""
    return _of_order(1, x)


def _of_order(order: int, x: Array) -> Array:
    result = _tables()[order](np.maximum(np.minimum(x, _LARGE), -_LARGE))
    fill_at(x > _LARGE, result, lambda part: _decaying(order, part), x)
    fill_at(x < -_LARGE, result, lambda part: _oscillating(order, -part), x)
    return result


def _zeta(x: Array) -> tuple[Pair, Array]:
    """The pair of zeta, and the root of x."""
    root = square_root(x)
    zeta = quotient(times((2 * x, making.zeros_like(x)), root), 3.0)
    return zeta, root[0]


def _decaying(order: int, x: Array) -> Array:
    x = np.minimum(x, _FAR)
    (high, low), root = _zeta(x)
    total = polynomial(_expansions()[order], -_ZETA / high)
    # In two factors, of which only the last product may be subnormal.
    half = np.exp(high / -2)
    size = np.sqrt(root) if order else 1 / np.sqrt(root)
    scale = (-0.5 if order else 0.5) / sqrt(pi)
    found: Array = half * ((1 - low) * total * size * scale) * half
    return found


def _oscillating(order: int, x: Array) -> Array:
    """The functions at ``-x``."""
    # The magnitude is right at any distance, the phase not.
    root = np.sqrt(x)
    (high, low), _ = _zeta(np.minimum(x, _FAR))
    coefficients = _expansions()[order]
    inverse = _ZETA / high
    square = -inverse * inverse
    p = polynomial(coefficients[::2], square)
    q = polynomial(coefficients[1::2], square) * inverse
    sine, cosine = np.sin(high), np.cos(high)
    sine_low, cosine_low = np.sin(low), np.cos(low)
    sine, cosine = sine * cosine_low + cosine * sine_low, cosine * cosine_low - sine * sine_low
    # The cosine and the sine of zeta less a quarter of pi, times the root of 2.
    c, s = cosine + sine, sine - cosine
    scale = 1 / sqrt(2 * pi)
    if order:
        slope = (s * p - c * q) * np.sqrt(root) * scale
        return np.where(root == np.inf, np.nan, slope)
    value = (c * p + s * q) / np.sqrt(root) * scale
    return np.where(root == np.inf, 0.0, value)


# -- tables ---------------------------------------------------------------------------------


@made_once
def _tables() -> tuple[Piecewise, Piecewise]:
    """The function and its derivative from ``-_LARGE`` to `_LARGE`."""
    end = _LARGE << _BITS
    up = solution(_recurrence, _AT_ZERO, 0, end, _BITS)
    down = solution(_recurrence, _AT_ZERO, 0, -end, _BITS)
    rows = [np.concatenate([a[:-1], b]) for a, b in zip(down, up, strict=True)]
    return Piecewise(-end, _BITS, rows[:8]), Piecewise(-end, _BITS, derivative(rows))


def _recurrence(n: int, c: list[int], count: int) -> int:
    rest = n * c[count - 2] >> _BITS
    if count >= 3:
        rest += c[count - 3]
    return rest // (count * (count - 1))


@made_once
def _expansions() -> tuple[list[Array], list[Array]]:
    """The coefficients u and v of DLMF 9.7.2, for powers of ``_ZETA / zeta``."""
    u, v = [1.0], [1.0]
    for k in range(1, 40):
        factor = (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / ((2 * k - 1) * 216 * k * _ZETA)
        u.append(u[-1] * factor)
        v.append(u[-1] * (6 * k + 1) / (1 - 6 * k))
        if u[-1] < 1e-18:
            break
    return [making.asarray(c) for c in u], [making.asarray(c) for c in v]

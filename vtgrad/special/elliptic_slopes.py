"""Derivatives of elliptic integrals by their parameter.

Note [Derivatives of elliptic integrals]

With ``s = sin(phi)`` and ``c = cos(phi)`` the incomplete integrals of the first and the second
kind, derived n times by the parameter m, are ::

    (1/2)_n    s**(2 n + 1) / 2   integral of (t + c**2)**-1/2 (t + d)**(-1/2 - n) (t + 1)**-1/2
    (-1/2)_n   s**(2 n + 1) / 2   integral of (t + c**2)**-1/2 (t + d)**(1/2 - n)  (t + 1)**-3/2

over t from 0 on, where ``d = 1 - m s**2``. (Substitute ``sin(theta)**2 = s**2 / (1 + t)`` in DLMF
19.2.4 and 19.2.5.) These lose nothing where m is small, as the formulas with both integrals do
(DLMF 19.4). For n = 1 they are Carlson's integral R_D (DLMF 19.16.5), which SciPy has. The others
are sums over ``t = exp(u)`` at equal steps of u, which converge exponentially. The complete
integrals are those of a right angle. Beyond it, each half turn adds two complete integrals.
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Final

import numpy as np

from vtgrad.ops.generated import functional as F
from vtgrad.special.elementwise import Elementwise
from vtgrad.special.scipy_function import scipy_special
from vtgrad.storage import making
from vtgrad.storage.arrays import Array
from vtgrad.storage.lazy_array import resolved
from vtgrad.tensor.tensor import Tensor

__all__ = ["COMPLETE_FIRST", "COMPLETE_SECOND", "FIRST_KIND", "SECOND_KIND"]

# The step of u, and how many powers of e are left away on both sides.
_STEP: Final = 0.25
_LEFT_AWAY: Final = 38.0
# Beyond this power of e there are no floats.
_FAR: Final = 700.0


def _integral(x: Array, y: Array, z: float, powers: tuple[float, float, float]) -> Array:
    """The integral of ``(t + x)**-a (t + y)**-b (t + z)**-c`` over t from 0 on."""
    a, b, c = powers
    total = making.zeros(x.shape)
    known = (y > 0) & np.isfinite(x) & np.isfinite(y)
    if known.any():
        p, q = x[known], y[known]
        # Where x is zero, the integrand has half the power at the left.
        least = np.log(np.minimum(np.minimum(q, z), np.where(p > 0, p, z)))
        most = np.log(np.maximum(q, z))
        # Each element has steps of its own, so that none of them depends on the others.
        first = np.floor(np.maximum(least - _LEFT_AWAY / (1 - a), -_FAR) / _STEP)
        last = np.ceil(np.minimum(most + _LEFT_AWAY / (a + b + c - 1), _FAR) / _STEP)
        found = making.zeros(p.shape)
        for k in range(int((last - first).max()) + 1):
            t = np.exp((first + k) * _STEP)
            part = t * (t + p) ** -a * (t + q) ** -b * (t + z) ** -c
            found += np.where(first + k <= last, part, 0)
        total[known] = found * _STEP
    total[y == 0] = np.inf
    total[~((y >= 0) & np.isfinite(x) & np.isfinite(y))] = np.nan
    return total


def _first(n: int, cosine: Array, sine: Array, d: Array) -> Array:
    if n == 1:
        found = scipy_special("ellipk").elliprd(cosine * cosine, 1, d) / 6
    else:
        found = _integral(cosine * cosine, d, 1.0, (0.5, 0.5 + n, 0.5)) / 2 * _rising(0.5, n)
    result: Array = sine ** (2 * n + 1) * found
    return result


def _second(n: int, cosine: Array, sine: Array, d: Array) -> Array:
    if n == 1:
        found = scipy_special("ellipe").elliprd(cosine * cosine, d, 1) / -6
    else:
        found = _integral(cosine * cosine, d, 1.0, (0.5, n - 0.5, 1.5)) / 2 * _rising(-0.5, n)
    result: Array = sine ** (2 * n + 1) * found
    return result


def _rising(start: float, n: int) -> float:
    found = 1.0
    for k in range(n):
        found *= start + k
    return found


def _order(n: Array) -> int:
    """The order of a derivative, which is one for all elements."""
    return int(n[0]) if n.size else 1


def _complete_first(n: Array, p: Array) -> Array:
    zero = making.zeros(p.shape)
    return _first(_order(n), zero, zero + 1, p)


def _complete_second(n: Array, p: Array) -> Array:
    zero = making.zeros(p.shape)
    return _second(_order(n), zero, zero + 1, p)


def _first_kind(n: Array, phi: Array, m: Array) -> Array:
    turns, cosine, sine, d = _parts(phi, m)
    found = _first(_order(n), cosine, sine, d)
    return _with_turns(found, turns, lambda at: _complete_first(n[at], 1 - m[at]))


def _second_kind(n: Array, phi: Array, m: Array) -> Array:
    turns, cosine, sine, d = _parts(phi, m)
    found = _second(_order(n), cosine, sine, d)
    return _with_turns(found, turns, lambda at: _complete_second(n[at], 1 - m[at]))


def _parts(phi: Array, m: Array) -> tuple[Array, Array, Array, Array]:
    turns = np.round(phi / pi)
    cosine, sine = np.cos(phi), np.sin(phi)
    sign = np.where(turns % 2 == 0, 1.0, -1.0)
    # The same as 1 - m s**2, without loss where m is close to 1.
    return turns, cosine, sine * sign, (1 - m) + m * (cosine * cosine)


def _with_turns(found: Array, turns: Array, complete: Callable[[Array], Array]) -> Array:
    beyond = turns != 0
    if beyond.any():
        found[beyond] += 2 * turns[beyond] * complete(beyond)
    return found


def _first_by_angle(n: Tensor, phi: Tensor, m: Tensor) -> Tensor:
    square, rest = F.square(F.sin(phi)), (1 - m) + m * F.square(F.cos(phi))
    return _pochhammer(0.5, n) * square**n * rest ** (-0.5 - n)


def _second_by_angle(n: Tensor, phi: Tensor, m: Tensor) -> Tensor:
    square, rest = F.square(F.sin(phi)), (1 - m) + m * F.square(F.cos(phi))
    return _pochhammer(-0.5, n) * square**n * rest ** (0.5 - n)


def _pochhammer(start: float, n: Tensor) -> float:
    return _rising(start, int(resolved(n._impl.array).reshape(-1)[0]))


COMPLETE_FIRST: Final[Elementwise] = Elementwise(
    "complete_first", _complete_first, n=None, p=lambda n, p: -COMPLETE_FIRST(n + 1, p)
)
COMPLETE_SECOND: Final[Elementwise] = Elementwise(
    "complete_second", _complete_second, n=None, p=lambda n, p: -COMPLETE_SECOND(n + 1, p)
)
FIRST_KIND: Final[Elementwise] = Elementwise(
    "first_kind",
    _first_kind,
    n=None,
    phi=_first_by_angle,
    m=lambda n, phi, m: FIRST_KIND(n + 1, phi, m),
)
SECOND_KIND: Final[Elementwise] = Elementwise(
    "second_kind",
    _second_kind,
    n=None,
    phi=_second_by_angle,
    m=lambda n, phi, m: SECOND_KIND(n + 1, phi, m),
)

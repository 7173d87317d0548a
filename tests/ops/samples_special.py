"""Samples of special functions, and of operators on the parts of floating values."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array

from .sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    POSITIVE,
    SECOND_COMPLEX,
    SMALL,
    VECTOR,
    WHOLE,
    Expected,
    Samples,
    array,
    sample,
)

__all__ = ["SPECIAL"]

DIVISORS: Final = array([[6, 15, 4], [21, 9, -6]], "int64")
# Orders of incomplete gamma functions, which have no gradient.
ORDERS: Final = array([[1, 2, 5], [3, 1, 4]], "int64")
WITH_GAPS: Final = array([[0.3, np.nan, 2.4], [np.inf, -0.6, -np.inf]])
COMPLEX_WITH_GAPS: Final = array(
    [0.3 + 0.8j, complex(0.5, np.nan), complex(np.inf, -0.6)], "complex128"
)
ODDITIES: Final = array([0.5, np.nan, np.inf, -np.inf, -0.0])
FRACTIONS: Final = array([[0.35, 0.7, 0.15], [0.25, 0.6, 0.95]])


def _each(function: Callable[[float], float]) -> Callable[[Array], object]:
    return lambda x: np.vectorize(function)(x)


def _igammac(order: Array, x: Array) -> Array:
    """Of whole orders a finite sum (DLMF 8.4.10)."""
    total: Array = sum(
        np.where(k < order, x**k / math.factorial(k), 0) for k in range(int(order.max()))
    ) * np.exp(-x)
    return total


def _igamma(order: Array, x: Array) -> object:
    return 1 - _igammac(order, x)


def _mvlgamma(x: Array, p: int) -> object:
    log = _each(math.lgamma)
    return p * (p - 1) / 4 * math.log(math.pi) + sum(np.asarray(log(x - j / 2)) for j in range(p))


def _logit(x: Array) -> object:
    return np.log(x / (1 - x))


def _limited_logit(x: Array, eps: float) -> object:
    return _logit(np.clip(x, eps, 1 - eps))


def _xlogy(x: Array, y: Array) -> object:
    return x * np.log(y)


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Mapping[str, tuple[Expected, list[Array]]]] = {
    "asinh": (np.arcsinh, [MATRIX, COMPLEX]),
    "acosh": (np.arccosh, [POSITIVE + 1, COMPLEX]),
    "atanh": (np.arctanh, [SMALL, COMPLEX]),
    "deg2rad": (np.deg2rad, [MATRIX * 30]),
    "rad2deg": (np.rad2deg, [MATRIX]),
    "sinc": (np.sinc, [MATRIX, MATRIX / 10, COMPLEX]),
    "signbit": (np.signbit, [ODDITIES, MATRIX]),
    "isposinf": (np.isposinf, [ODDITIES]),
    "isneginf": (np.isneginf, [ODDITIES]),
    "isreal": (np.isreal, [MATRIX, COMPLEX]),
    "angle": (np.angle, [MATRIX, COMPLEX]),
    "frexp": (np.frexp, [MATRIX]),
    "erf": (_each(math.erf), [MATRIX, MATRIX * 2]),
    "erfc": (_each(math.erfc), [MATRIX, POSITIVE * 3]),
    "erfinv": (None, [SMALL]),
    "lgamma": (_each(math.lgamma), [POSITIVE, MATRIX * 3, POSITIVE * 20]),
    "digamma": (None, [POSITIVE, MATRIX]),
    "i0": (np.i0, [MATRIX, MATRIX * 12]),
    "special_i1": (None, [MATRIX, MATRIX * 12]),
    "finite_parts": (np.isfinite, [MATRIX]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Mapping[str, tuple[Callable[..., object], list[tuple[object, object]]]]] = {
    "copysign_tensor": (np.copysign, [(MATRIX, OTHER), (MATRIX, -VECTOR)]),
    "copysign_number": (np.copysign, [(MATRIX, -2.5)]),
    "complex": (lambda re, im: re + 1j * im, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "polar": (lambda r, a: r * np.exp(1j * a), [(MATRIX, OTHER), (VECTOR, MATRIX)]),
    "nextafter": (np.nextafter, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "ldexp": (
        lambda a, b: a * 2.0**b,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, WHOLE), (COMPLEX, SECOND_COMPLEX)],
    ),
    "heaviside_values": (np.heaviside, [(MATRIX, OTHER), (MATRIX * 0, VECTOR)]),
    "gcd": (np.gcd, [(WHOLE * 6, DIVISORS)]),
    "lcm": (np.lcm, [(WHOLE, DIVISORS)]),
    "hypot": (np.hypot, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "xlogy_tensors": (_xlogy, [(MATRIX, POSITIVE), (VECTOR, POSITIVE)]),
    "xlogy_of_number": (_xlogy, [(2.5, POSITIVE)]),
    "xlogy_number": (_xlogy, [(MATRIX, 2.5)]),
    "logaddexp": (np.logaddexp, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "logaddexp2": (np.logaddexp2, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "igamma": (_igamma, [(ORDERS, POSITIVE), (ORDERS, POSITIVE[0])]),
    "igammac": (_igammac, [(ORDERS, POSITIVE), (ORDERS, POSITIVE[0])]),
    "isclose": (np.isclose, [(MATRIX, OTHER), (MATRIX, MATRIX + 1e-9), (WHOLE, WHOLE)]),
    "fmax": (np.fmax, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "fmin": (np.fmin, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
}

SPECIAL: Final[Samples] = {
    **{name: [sample(function, x) for x in arrays] for name, (function, arrays) in _UNARY.items()},
    **{
        name: [sample(function, a, b) for a, b in pairs]
        for name, (function, pairs) in _BINARY.items()
    },
    "logit": [sample(_logit, FRACTIONS), sample(_limited_logit, FRACTIONS, eps=0.2)],
    "polygamma_of": [
        sample(None, POSITIVE, 0),
        sample(None, POSITIVE, 1),
        sample(None, MATRIX, 2),
    ],
    "mvlgamma": [sample(_mvlgamma, POSITIVE + 1, 1), sample(_mvlgamma, POSITIVE + 1, 3)],
    "nan_to_num": [
        sample(np.nan_to_num, WITH_GAPS, posinf=2.5, neginf=-2.5),
        sample(np.nan_to_num, COMPLEX_WITH_GAPS, nan=0.5, posinf=2.5),
    ],
}

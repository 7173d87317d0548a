"""Samples of the operators in the table `special`."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    POSITIVE,
    SMALL,
    VECTOR,
    Binary,
    Samples,
    Unary,
    array,
    binary_samples,
    sample,
    unary_samples,
)
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

# Orders of incomplete gamma functions, which have no gradient.
ORDERS: Final = array([[1, 2, 5], [3, 1, 4]], "int64")
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
_UNARY: Final[Unary] = {
    "sinc": (np.sinc, [MATRIX, MATRIX / 10, COMPLEX]),
    "erf": (_each(math.erf), [MATRIX, MATRIX * 2]),
    "erfc": (_each(math.erfc), [MATRIX, POSITIVE * 3]),
    "erfinv": (None, [SMALL]),
    "lgamma": (_each(math.lgamma), [POSITIVE, MATRIX * 3, POSITIVE * 20]),
    "digamma": (None, [POSITIVE, MATRIX]),
    "i0": (np.i0, [MATRIX, MATRIX * 12]),
    "special_i1": (None, [MATRIX, MATRIX * 12]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "xlogy_Tensor": (_xlogy, [(MATRIX, POSITIVE), (VECTOR, POSITIVE)]),
    "xlogy_Scalar_Self": (_xlogy, [(2.5, POSITIVE)]),
    "xlogy_Scalar_Other": (_xlogy, [(MATRIX, 2.5)]),
    "igamma": (_igamma, [(ORDERS, POSITIVE), (ORDERS, POSITIVE[0])]),
    "igammac": (_igammac, [(ORDERS, POSITIVE), (ORDERS, POSITIVE[0])]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    "logit": [sample(_logit, FRACTIONS), sample(_limited_logit, FRACTIONS, eps=0.2)],
    "polygamma_of": [
        sample(None, POSITIVE, 0),
        sample(None, POSITIVE, 1),
        sample(None, MATRIX, 2),
    ],
    "mvlgamma": [sample(_mvlgamma, POSITIVE + 1, 1), sample(_mvlgamma, POSITIVE + 1, 3)],
}

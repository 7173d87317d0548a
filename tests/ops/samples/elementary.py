"""Samples of the operators in the table `elementary`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    POSITIVE,
    SECOND_COMPLEX,
    SMALL,
    VECTOR,
    Binary,
    Samples,
    Unary,
    binary_samples,
    sample,
    unary_samples,
)
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]


def _exp2(z: Array) -> object:
    return np.power(2.0, z)


def _sigmoid(z: Array) -> object:
    return 1 / (1 + np.exp(-z))


def _frac(z: Array) -> object:
    return z - np.trunc(z)


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "exp": (np.exp, [MATRIX, COMPLEX]),
    "exp2": (_exp2, [MATRIX, COMPLEX]),
    "expm1": (np.expm1, [MATRIX, COMPLEX]),
    "log": (np.log, [POSITIVE, COMPLEX]),
    "log2": (np.log2, [POSITIVE, COMPLEX]),
    "log10": (np.log10, [POSITIVE, COMPLEX]),
    "log1p": (np.log1p, [POSITIVE, COMPLEX]),
    "sigmoid": (_sigmoid, [MATRIX, COMPLEX]),
    "sin": (np.sin, [MATRIX, COMPLEX]),
    "cos": (np.cos, [MATRIX, COMPLEX]),
    "tan": (np.tan, [SMALL, COMPLEX]),
    "asin": (np.arcsin, [SMALL, COMPLEX]),
    "acos": (np.arccos, [SMALL, COMPLEX]),
    "atan": (np.arctan, [MATRIX, COMPLEX]),
    "sinh": (np.sinh, [MATRIX, COMPLEX]),
    "cosh": (np.cosh, [MATRIX, COMPLEX]),
    "tanh": (np.tanh, [MATRIX, COMPLEX]),
    "floor": (np.floor, [MATRIX]),
    "ceil": (np.ceil, [MATRIX]),
    "trunc": (np.trunc, [MATRIX]),
    "round_default": (np.round, [MATRIX]),
    "frac": (_frac, [MATRIX]),
    "asinh": (np.arcsinh, [MATRIX, COMPLEX]),
    "acosh": (np.arccosh, [POSITIVE + 1, COMPLEX]),
    "atanh": (np.arctanh, [SMALL, COMPLEX]),
    "deg2rad": (np.deg2rad, [MATRIX * 30]),
    "rad2deg": (np.rad2deg, [MATRIX]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "atan2": (np.arctan2, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "logaddexp": (np.logaddexp, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "logaddexp2": (np.logaddexp2, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
}


def _share(x: Array, y: Array, scale: float) -> object:
    return 1 / (1 + np.exp(scale * (y - x)))


SAMPLES: Final[Samples] = {
    "one_minus_square": [sample(lambda x: 1 - x * x, MATRIX), sample(lambda x: 1 - x * x, COMPLEX)],
    "share_of_two": [
        sample(_share, MATRIX, OTHER, 1.0),
        sample(_share, MATRIX, VECTOR, 0.6931471805599453),
        sample(_share, COMPLEX, SECOND_COMPLEX, 1.0),
    ],
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    "round_decimals": [
        sample(lambda x, decimals: np.round(x, decimals), MATRIX * 1.037, decimals=1),
        sample(lambda x, decimals: np.round(x, decimals), MATRIX * 31.07, decimals=-1),
    ],
}

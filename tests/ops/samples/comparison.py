"""Samples of the operators in the table `comparison`."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tests.ops.sample import (
    MASK,
    MATRIX,
    OTHER,
    POSITIVE,
    SMALL,
    VECTOR,
    WHOLE,
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

ODDITIES: Final = array([0.5, np.nan, np.inf, -np.inf, -0.0])

_COMPARISONS: Final[Mapping[str, Callable[..., object]]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _comparisons() -> Samples:
    found: Samples = {}
    for name, function in _COMPARISONS.items():
        found[name] = [sample(function, MATRIX, OTHER), sample(function, WHOLE, 2)]
        found[f"{name}_Scalar"] = [sample(function, MATRIX, 0.25)]
        found[f"{name}_Tensor"] = [sample(function, MATRIX, OTHER)]
    return found


def _clamp(x: Array, min: Any = None, max: Any = None) -> object:
    return np.clip(x, min, max)


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "relu": (lambda x: np.maximum(x, 0), [MATRIX, WHOLE]),
    "isnan": (np.isnan, [ODDITIES]),
    "isinf": (np.isinf, [ODDITIES]),
    "isfinite": (np.isfinite, [ODDITIES]),
    "isposinf": (np.isposinf, [ODDITIES]),
    "isneginf": (np.isneginf, [ODDITIES]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "maximum": (np.maximum, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "minimum": (np.minimum, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "isclose": (np.isclose, [(MATRIX, OTHER), (MATRIX, MATRIX + 1e-9), (WHOLE, WHOLE)]),
    "fmax": (np.fmax, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "fmin": (np.fmin, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    **_comparisons(),
    "halved_where": [
        sample(lambda x, c: np.where(c, x / 2, x), MATRIX, MASK),
        sample(lambda x, c: np.where(c, x / 2, x), MATRIX.T, MASK.T),
    ],
    "threshold_backward": [sample(lambda g, x, t: g * (x > t), MATRIX, OTHER, 0.5)],
    "clamp_Tensor": [
        sample(_clamp, MATRIX, min=SMALL, max=POSITIVE),
        sample(_clamp, MATRIX, min=SMALL),
        sample(_clamp, MATRIX, max=SMALL),
    ],
    "clamp_default": [
        sample(_clamp, MATRIX, -0.5, 1.0),
        sample(_clamp, MATRIX, max=0.5),
        sample(_clamp, WHOLE, -1, 3),
    ],
    "clamp_min_default": [sample(np.maximum, MATRIX, 0.5)],
    "clamp_min_Tensor": [sample(np.maximum, MATRIX, OTHER)],
    "clamp_max_default": [sample(np.minimum, MATRIX, 0.5)],
    "clamp_max_Tensor": [sample(np.minimum, MATRIX, OTHER)],
    "where_self": [
        sample(np.where, MASK, MATRIX, OTHER),
        sample(np.where, MASK, VECTOR, 2.5),
    ],
    "has_power_of_zero": [sample(lambda x: (x.real > 0) | (x == 0), MATRIX)],
}

"""Samples of the elementwise operators."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from vtgrad.storage.arrays import Array

from .sample import (
    COMPLEX,
    MASK,
    MATRIX,
    OTHER,
    POSITIVE,
    SECOND_COMPLEX,
    SMALL,
    THIRD,
    VECTOR,
    WHOLE,
    Sample,
    Samples,
    array,
    sample,
)

__all__ = ["POINTWISE"]

HALVES: Final = array([[3, 1, 2], [7, 6, 4]], "int64")
SHIFTS: Final = array([[0, 1, 2], [3, 1, 0]], "int64")
ODDITIES: Final = array([0.5, np.nan, np.inf, -np.inf, -0.0])


def _sign(z: Array) -> object:
    return z / np.abs(z)


def _exp2(z: Array) -> object:
    return np.power(2.0, z)


def _rsqrt(z: Array) -> object:
    return 1 / np.sqrt(z)


def _sigmoid(z: Array) -> object:
    return 1 / (1 + np.exp(-z))


def _frac(z: Array) -> object:
    return z - np.trunc(z)


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Mapping[str, tuple[Callable[..., object], list[Array]]]] = {
    "sqrt": (np.sqrt, [POSITIVE, COMPLEX]),
    "rsqrt": (_rsqrt, [POSITIVE, COMPLEX]),
    "reciprocal": (lambda z: 1 / z, [MATRIX, COMPLEX]),
    "neg": (np.negative, [MATRIX, COMPLEX, WHOLE]),
    "abs": (np.abs, [MATRIX, COMPLEX, WHOLE]),
    "sign": (np.sign, [MATRIX, WHOLE]),
    "sgn": (_sign, [MATRIX, COMPLEX]),
    "_conj_physical": (np.conj, [COMPLEX]),
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
    "round_whole": (np.round, [MATRIX]),
    "frac": (_frac, [MATRIX]),
    "relu": (lambda x: np.maximum(x, 0), [MATRIX, WHOLE]),
    "isnan": (np.isnan, [ODDITIES]),
    "isinf": (np.isinf, [ODDITIES]),
    "isfinite": (np.isfinite, [ODDITIES]),
    "logical_not": (np.logical_not, [MATRIX, MASK]),
    "bitwise_not": (np.invert, [WHOLE, MASK]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Mapping[str, tuple[Callable[..., object], list[tuple[object, object]]]]] = {
    "mul": (
        np.multiply,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, 2.5), (COMPLEX, SECOND_COMPLEX)],
    ),
    "true_divide": (
        np.divide,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, 2.5), (COMPLEX, SECOND_COMPLEX)],
    ),
    "floor_quotient": (np.floor_divide, [(MATRIX, OTHER), (WHOLE, 2)]),
    "remainder_number": (np.remainder, [(MATRIX, 0.7), (WHOLE, 3)]),
    "remainder_tensor": (np.remainder, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "remainder_of_number": (np.remainder, [(2.3, OTHER)]),
    "fmod_number": (np.fmod, [(MATRIX, 0.7), (WHOLE, 3)]),
    "fmod_tensor": (np.fmod, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "pow_number": (np.power, [(POSITIVE, 1.5), (MATRIX, 3), (COMPLEX, 2), (COMPLEX, 0.5)]),
    "pow_tensor": (np.power, [(POSITIVE, OTHER), (POSITIVE, VECTOR), (COMPLEX, SECOND_COMPLEX)]),
    "pow_of_number": (np.power, [(2.5, OTHER), (0.5, COMPLEX), (-2.5, COMPLEX)]),
    "atan2": (np.arctan2, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "maximum": (np.maximum, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "minimum": (np.minimum, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "logical_and": (np.logical_and, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "logical_or": (np.logical_or, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "logical_xor": (np.logical_xor, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "bitwise_and": (np.bitwise_and, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_or": (np.bitwise_or, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_xor": (np.bitwise_xor, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_left_shift": (np.left_shift, [(WHOLE, SHIFTS), (WHOLE, 2)]),
    "bitwise_right_shift": (np.right_shift, [(WHOLE, SHIFTS), (WHOLE, 1)]),
}

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
        found[f"{name}_number"] = [sample(function, MATRIX, 0.25)]
        found[f"{name}_tensor"] = [sample(function, MATRIX, OTHER)]
    return found


def _clamp(x: Array, min: Any = None, max: Any = None) -> object:
    return np.clip(x, min, max)


def _others() -> Samples:
    scaled: list[Sample] = [sample(lambda a, b, alpha: a + alpha * b, MATRIX, OTHER, alpha=0.5)]
    differences = [sample(lambda a, b, alpha: a - alpha * b, MATRIX, OTHER, alpha=0.5)]
    return {
        "add": [
            sample(np.add, MATRIX, OTHER),
            sample(np.add, MATRIX, VECTOR),
            sample(np.add, MATRIX, 2.5),
            sample(np.add, COMPLEX, SECOND_COMPLEX),
            *scaled,
        ],
        "sub": [
            sample(np.subtract, MATRIX, OTHER),
            sample(np.subtract, MATRIX, VECTOR),
            sample(np.subtract, MATRIX, 2.5),
            sample(np.subtract, COMPLEX, SECOND_COMPLEX),
            *differences,
        ],
        "rsub_tensor": [sample(lambda a, b, alpha=1: b - alpha * a, MATRIX, OTHER, alpha=0.5)],
        "rsub_number": [sample(lambda a, b, alpha=1: b - alpha * a, MATRIX, 2.5, alpha=3)],
        "div_rounded": [
            sample(
                lambda a, b, rounding_mode: np.floor(a / b), MATRIX, OTHER, rounding_mode="floor"
            ),
            sample(lambda a, b, rounding_mode: np.trunc(a / b), MATRIX, 0.7, rounding_mode="trunc"),
            sample(lambda a, b, rounding_mode: a / b, MATRIX, VECTOR, rounding_mode=None),
        ],
        "lerp_number": [sample(lambda a, b, w: a + w * (b - a), MATRIX, OTHER, 0.3)],
        "lerp_tensor": [
            sample(lambda a, b, w: a + w * (b - a), MATRIX, OTHER, THIRD),
            sample(lambda a, b, w: a + w * (b - a), MATRIX, VECTOR, SMALL),
        ],
        "addcmul": [
            sample(lambda a, b, c, value: a + value * b * c, MATRIX, OTHER, THIRD, value=0.5),
            sample(lambda a, b, c: a + b * c, MATRIX, VECTOR, THIRD),
            sample(lambda a, b, c: a + b * c, COMPLEX, SECOND_COMPLEX, COMPLEX),
        ],
        "addcdiv": [
            sample(lambda a, b, c, value: a + value * b / c, MATRIX, OTHER, THIRD, value=0.5),
            sample(lambda a, b, c: a + b / c, MATRIX, THIRD, VECTOR),
            sample(lambda a, b, c: a + b / c, COMPLEX, COMPLEX, SECOND_COMPLEX),
        ],
        "round_decimals": [
            sample(lambda x, decimals: np.round(x, decimals), MATRIX * 1.037, decimals=1),
            sample(lambda x, decimals: np.round(x, decimals), MATRIX * 31.07, decimals=-1),
        ],
        "halved_where": [
            sample(lambda x, c: np.where(c, x / 2, x), MATRIX, MASK),
            sample(lambda x, c: np.where(c, x / 2, x), MATRIX.T, MASK.T),
        ],
        "threshold_backward": [sample(lambda g, x, t: g * (x > t), MATRIX, OTHER, 0.5)],
        "clamp_tensors": [
            sample(_clamp, MATRIX, min=SMALL, max=POSITIVE),
            sample(_clamp, MATRIX, min=SMALL),
            sample(_clamp, MATRIX, max=SMALL),
        ],
        "clamp_numbers": [
            sample(_clamp, MATRIX, -0.5, 1.0),
            sample(_clamp, MATRIX, max=0.5),
            sample(_clamp, WHOLE, -1, 3),
        ],
        "clamp_min_number": [sample(np.maximum, MATRIX, 0.5)],
        "clamp_min_tensor": [sample(np.maximum, MATRIX, OTHER)],
        "clamp_max_number": [sample(np.minimum, MATRIX, 0.5)],
        "clamp_max_tensor": [sample(np.minimum, MATRIX, OTHER)],
        "where_between": [
            sample(np.where, MASK, MATRIX, OTHER),
            sample(np.where, MASK, VECTOR, 2.5),
        ],
        "has_power_of_zero": [sample(lambda x: (x.real > 0) | (x == 0), MATRIX)],
        "to_dtype": [
            sample(lambda x, dtype: x.astype(dtype), MATRIX, np.dtype("complex128")),
            sample(lambda x, dtype: x.astype(dtype), WHOLE, np.dtype("float64")),
        ],
        "sum_to_size": [
            sample(lambda x, size: x.sum(0), MATRIX, (3,)),
            sample(lambda x, size: x.sum(1, keepdims=True), MATRIX, (2, 1)),
        ],
        "expand_to": [
            sample(np.broadcast_to, VECTOR, (2, 3)),
        ],
    }


POINTWISE: Final[Samples] = {
    **{name: [sample(function, x) for x in arrays] for name, (function, arrays) in _UNARY.items()},
    **{
        name: [sample(function, a, b) for a, b in pairs]
        for name, (function, pairs) in _BINARY.items()
    },
    **_comparisons(),
    **_others(),
}

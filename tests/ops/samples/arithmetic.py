"""Samples of the operators in the table `arithmetic`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    POSITIVE,
    SECOND_COMPLEX,
    SMALL,
    THIRD,
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

DIVISORS: Final = array([[6, 15, 4], [21, 9, -6]], "int64")


def _sign(z: Array) -> object:
    return z / np.abs(z)


def _rsqrt(z: Array) -> object:
    return 1 / np.sqrt(z)


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "sqrt": (np.sqrt, [POSITIVE, COMPLEX]),
    "rsqrt": (_rsqrt, [POSITIVE, COMPLEX]),
    "reciprocal": (lambda z: 1 / z, [MATRIX, COMPLEX]),
    "neg": (np.negative, [MATRIX, COMPLEX, WHOLE]),
    "abs": (np.abs, [MATRIX, COMPLEX, WHOLE]),
    "sign": (np.sign, [MATRIX, WHOLE]),
    "sgn": (_sign, [MATRIX, COMPLEX]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "mul": (
        np.multiply,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, 2.5), (COMPLEX, SECOND_COMPLEX)],
    ),
    "true_divide": (
        np.divide,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, 2.5), (COMPLEX, SECOND_COMPLEX)],
    ),
    "floor_divide": (np.floor_divide, [(MATRIX, OTHER), (WHOLE, 2)]),
    "remainder_Scalar": (np.remainder, [(MATRIX, 0.7), (WHOLE, 3)]),
    "remainder_Tensor": (np.remainder, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "remainder_Scalar_Tensor": (np.remainder, [(2.3, OTHER)]),
    "fmod_Scalar": (np.fmod, [(MATRIX, 0.7), (WHOLE, 3)]),
    "fmod_Tensor": (np.fmod, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "pow_Tensor_Scalar": (np.power, [(POSITIVE, 1.5), (MATRIX, 3), (COMPLEX, 2), (COMPLEX, 0.5)]),
    "pow_Tensor_Tensor": (
        np.power,
        [(POSITIVE, OTHER), (POSITIVE, VECTOR), (COMPLEX, SECOND_COMPLEX)],
    ),
    "pow_Scalar": (np.power, [(2.5, OTHER), (0.5, COMPLEX), (-2.5, COMPLEX)]),
    "gcd": (np.gcd, [(WHOLE * 6, DIVISORS)]),
    "lcm": (np.lcm, [(WHOLE, DIVISORS)]),
    "hypot": (np.hypot, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    "add": [
        sample(np.add, MATRIX, OTHER),
        sample(np.add, MATRIX, VECTOR),
        sample(np.add, MATRIX, 2.5),
        sample(np.add, COMPLEX, SECOND_COMPLEX),
        sample(lambda a, b, alpha: a + alpha * b, MATRIX, OTHER, alpha=0.5),
    ],
    "sub": [
        sample(np.subtract, MATRIX, OTHER),
        sample(np.subtract, MATRIX, VECTOR),
        sample(np.subtract, MATRIX, 2.5),
        sample(np.subtract, COMPLEX, SECOND_COMPLEX),
        sample(lambda a, b, alpha: a - alpha * b, MATRIX, OTHER, alpha=0.5),
    ],
    "rsub_Tensor": [sample(lambda a, b, alpha=1: b - alpha * a, MATRIX, OTHER, alpha=0.5)],
    "rsub_Scalar": [sample(lambda a, b, alpha=1: b - alpha * a, MATRIX, 2.5, alpha=3)],
    "div_Tensor_mode": [
        sample(lambda a, b, rounding_mode: np.floor(a / b), MATRIX, OTHER, rounding_mode="floor"),
        sample(lambda a, b, rounding_mode: np.trunc(a / b), MATRIX, 0.7, rounding_mode="trunc"),
        sample(lambda a, b, rounding_mode: a / b, MATRIX, VECTOR, rounding_mode=None),
    ],
    "lerp_Scalar": [sample(lambda a, b, w: a + w * (b - a), MATRIX, OTHER, 0.3)],
    "lerp_Tensor": [
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
}

"""Samples of the operators in the table `logic`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    MASK,
    MATRIX,
    OTHER,
    WHOLE,
    Binary,
    Samples,
    Unary,
    array,
    binary_samples,
    unary_samples,
)

__all__ = ["SAMPLES"]

HALVES: Final = array([[3, 1, 2], [7, 6, 4]], "int64")
SHIFTS: Final = array([[0, 1, 2], [3, 1, 0]], "int64")


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "logical_not": (np.logical_not, [MATRIX, MASK]),
    "bitwise_not": (np.invert, [WHOLE, MASK]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "logical_and": (np.logical_and, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "logical_or": (np.logical_or, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "logical_xor": (np.logical_xor, [(MATRIX, OTHER), (WHOLE, MASK)]),
    "bitwise_and": (np.bitwise_and, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_or": (np.bitwise_or, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_xor": (np.bitwise_xor, [(WHOLE, HALVES), (WHOLE, 6)]),
    "bitwise_left_shift": (np.left_shift, [(WHOLE, SHIFTS), (WHOLE, 2)]),
    "bitwise_right_shift": (np.right_shift, [(WHOLE, SHIFTS), (WHOLE, 1)]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
}

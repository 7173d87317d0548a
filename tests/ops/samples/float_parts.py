"""Samples of the operators in the table `float_parts`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    SECOND_COMPLEX,
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

__all__ = ["SAMPLES"]

WITH_GAPS: Final = array([[0.3, np.nan, 2.4], [np.inf, -0.6, -np.inf]])
COMPLEX_WITH_GAPS: Final = array(
    [0.3 + 0.8j, complex(0.5, np.nan), complex(np.inf, -0.6)], "complex128"
)
ODDITIES: Final = array([0.5, np.nan, np.inf, -np.inf, -0.0])


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "signbit": (np.signbit, [ODDITIES, MATRIX]),
    "frexp": (np.frexp, [MATRIX]),
    "finite_parts": (np.isfinite, [MATRIX]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "copysign_Tensor": (np.copysign, [(MATRIX, OTHER), (MATRIX, -VECTOR)]),
    "copysign_Scalar": (np.copysign, [(MATRIX, -2.5)]),
    "nextafter": (np.nextafter, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "ldexp": (
        lambda a, b: a * 2.0**b,
        [(MATRIX, OTHER), (MATRIX, VECTOR), (MATRIX, WHOLE), (COMPLEX, SECOND_COMPLEX)],
    ),
    "heaviside": (np.heaviside, [(MATRIX, OTHER), (MATRIX * 0, VECTOR)]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    "nan_to_num": [
        sample(np.nan_to_num, WITH_GAPS, posinf=2.5, neginf=-2.5),
        sample(np.nan_to_num, COMPLEX_WITH_GAPS, nan=0.5, posinf=2.5),
    ],
}

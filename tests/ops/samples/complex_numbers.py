"""Samples of the operators in the table `complex_numbers`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
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

PAIRS: Final = array([[[0.3, 0.8], [-1.7, 0.2], [1.1, -0.6]]])


# Operator, the same in NumPy, and the arrays to try.
_UNARY: Final[Unary] = {
    "_conj_physical": (np.conj, [COMPLEX]),
    "isreal": (np.isreal, [MATRIX, COMPLEX]),
    "angle": (np.angle, [MATRIX, COMPLEX]),
}

# Operator, the same in NumPy, and pairs of operands to try.
_BINARY: Final[Binary] = {
    "complex": (lambda re, im: re + 1j * im, [(MATRIX, OTHER), (MATRIX, VECTOR)]),
    "polar": (lambda r, a: r * np.exp(1j * a), [(MATRIX, OTHER), (VECTOR, MATRIX)]),
}

SAMPLES: Final[Samples] = {
    **unary_samples(_UNARY),
    **binary_samples(_BINARY),
    "conj_view": [sample(np.conj, COMPLEX)],
    "_neg_view": [sample(np.negative, x) for x in (MATRIX, COMPLEX, WHOLE)],
    "view_as_real": [sample(lambda x: np.stack([x.real, x.imag], -1), COMPLEX)],
    "view_as_complex": [sample(lambda x: x[..., 0] + 1j * x[..., 1], PAIRS)],
}

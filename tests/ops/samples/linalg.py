"""Samples of the operators in the table `linalg`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    SECOND_COMPLEX,
    SQUARE,
    VECTOR,
    WHOLE,
    Samples,
    array,
    sample,
)
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

CUBE: Final = array(np.sin(np.arange(1.0, 13.0) * 1.7).reshape(2, 2, 3))
BATCH: Final = array(np.cos(np.arange(1.0, 13.0) * 2.3).reshape(2, 3, 2))


def _sum_of_products(a: Array, b: Array, c: Array, beta: float, alpha: float) -> object:
    return beta * a + alpha * (b @ c)


SAMPLES: Final[Samples] = {
    "mm": [sample(np.matmul, MATRIX, SQUARE), sample(np.matmul, COMPLEX, SECOND_COMPLEX)],
    "mv": [sample(np.matmul, MATRIX, VECTOR)],
    "bmm": [sample(np.matmul, CUBE, BATCH)],
    "dot": [
        sample(np.dot, VECTOR, array([0.4, 2.2, -0.3])),
        sample(np.dot, array(COMPLEX[0], "complex128"), array(SECOND_COMPLEX[0], "complex128")),
    ],
    "addmv": [
        sample(lambda a, b, c: a + b @ c, array([0.5, -1.5]), MATRIX, VECTOR),
        sample(_sum_of_products, array([0.5, -1.5]), MATRIX, VECTOR, beta=0.5, alpha=2),
    ],
    "addr": [
        sample(lambda a, b, c: a + np.outer(b, c), MATRIX, array([0.5, -1.5]), VECTOR),
        sample(
            lambda a, b, c, beta, alpha: beta * a + alpha * np.outer(b, c),
            MATRIX,
            array([0.5, -1.5]),
            VECTOR,
            beta=0.5,
            alpha=2,
        ),
    ],
    "baddbmm": [
        sample(lambda a, b, c: a + b @ c, CUBE @ BATCH + 1, CUBE, BATCH),
        sample(_sum_of_products, CUBE @ BATCH + 1, CUBE, BATCH, beta=0.5, alpha=2),
    ],
    "addbmm": [
        sample(lambda a, b, c: a + (b @ c).sum(0), (CUBE @ BATCH)[0] + 1, CUBE, BATCH),
        sample(
            lambda a, b, c, beta, alpha: beta * a + alpha * (b @ c).sum(0),
            (CUBE @ BATCH)[0] + 1,
            CUBE,
            BATCH,
            beta=0.5,
            alpha=2,
        ),
    ],
    "vdot": [
        sample(np.vdot, VECTOR, array([0.4, 2.2, -0.3])),
        sample(np.vdot, array(COMPLEX[0], "complex128"), array(SECOND_COMPLEX[0], "complex128")),
    ],
    "trace": [
        sample(np.trace, SQUARE),
        sample(np.trace, MATRIX),
        sample(np.trace, COMPLEX),
        sample(np.trace, WHOLE),
    ],
    "linalg_cross": [
        sample(lambda a, b: np.cross(a, b), MATRIX, OTHER),
        sample(lambda a, b, d: np.cross(a, b, axis=0), SQUARE, SQUARE.T, 0),
        sample(lambda a, b: np.cross(a, b), SQUARE[:1], OTHER),
    ],
    "addmm": [
        sample(lambda a, b, c: a + b @ c, MATRIX, OTHER, SQUARE),
        sample(
            lambda a, b, c, beta, alpha: beta * a + alpha * (b @ c),
            MATRIX,
            OTHER,
            SQUARE,
            beta=0.5,
            alpha=2,
        ),
        sample(lambda a, b, c: a + b @ c, COMPLEX, SECOND_COMPLEX, COMPLEX),
    ],
}

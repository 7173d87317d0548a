"""Samples of the operators in the table `linalg`."""

from typing import Final

import numpy as np

from tests.ops.sample import (
    COMPLEX,
    MATRIX,
    OTHER,
    SECOND_COMPLEX,
    SMALL,
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
# Regular matrices, one and a stack.
REGULAR: Final = array([[1.3, -0.7, 0.4], [0.6, 1.6, -0.8], [0.5, 0.9, -1.2]])
REGULAR_STACK: Final = array([[[1.3, -0.7], [0.6, 1.6]], [[-0.5, 0.9], [1.2, 0.4]]])
COMPLEX_STACK: Final = array(REGULAR_STACK * (1 - 0.4j) + 0.3j * np.eye(2), "complex128")
SINGULAR: Final = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
RANK_ONE: Final = array(np.outer([1.0, -2.0, 0.5], [0.4, 1.5, -1.0]))
# The Hermitian matrices with these lower triangles are positive definite; also if the elements are
# moved by one or two places, as tests of batches do.
POSITIVE: Final = array([[1.0, 1.5], [2.0, 8.0]])
POSITIVE_STACK: Final = array([POSITIVE, POSITIVE * 1.1 + 0.1])
POSITIVE_COMPLEX: Final = array(POSITIVE * [[1 + 0.2j, 1 - 0.3j], [1 - 0.2j, 1]], "complex128")


def _cofactors(x: Array) -> Array:
    """By the determinants of minors."""
    size = x.shape[-1]
    found = np.empty_like(x)
    for i in range(size):
        for j in range(size):
            minor = np.delete(np.delete(x, i, -2), j, -1)
            found[..., i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return found


def _inverse_gaps(x: Array, values_only: bool = False) -> Array:
    del values_only
    gaps = x[..., None, :] - x[..., None]
    found: Array = np.zeros_like(gaps)
    np.divide(1, gaps, out=found, where=gaps != 0)
    return found


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
    "linalg_inv": [
        sample(np.linalg.inv, REGULAR),
        sample(np.linalg.inv, REGULAR_STACK),
        sample(np.linalg.inv, COMPLEX),
        sample(np.linalg.inv, COMPLEX_STACK),
    ],
    "linalg_solve": [
        sample(np.linalg.solve, REGULAR, SQUARE[:, :2]),
        sample(np.linalg.solve, REGULAR, VECTOR),
        sample(lambda a, b: np.linalg.solve(a, b[..., None])[..., 0], REGULAR_STACK, SMALL[:, :2]),
        sample(np.linalg.solve, REGULAR_STACK, MATRIX[:, :1]),
        sample(np.linalg.solve, REGULAR_STACK[0], BATCH.swapaxes(1, 2)),
        sample(np.linalg.solve, COMPLEX, SECOND_COMPLEX),
    ],
    "linalg_slogdet": [
        sample(lambda a: tuple(np.linalg.slogdet(a)), x)
        for x in (REGULAR, REGULAR_STACK, COMPLEX, COMPLEX_STACK)
    ],
    "linalg_det": [
        sample(np.linalg.det, x)
        for x in (REGULAR, REGULAR_STACK, COMPLEX, COMPLEX_STACK, SINGULAR, RANK_ONE)
    ],
    "linalg_cofactors": [
        sample(_cofactors, x)
        for x in (REGULAR, REGULAR_STACK, COMPLEX, COMPLEX_STACK, SINGULAR, RANK_ONE)
    ],
    "linalg_cofactors_along": [
        sample(None, REGULAR, SQUARE),
        sample(None, REGULAR_STACK, REGULAR_STACK + 1),
        sample(None, COMPLEX, SECOND_COMPLEX),
        sample(None, RANK_ONE, SQUARE),
    ],
    "linalg_cholesky": [
        sample(np.linalg.cholesky, x) for x in (POSITIVE, POSITIVE_STACK, POSITIVE_COMPLEX)
    ],
    "linalg_eigh": [sample(lambda a: tuple(np.linalg.eigh(a)), x) for x in (SQUARE, REGULAR_STACK)],
    "linalg_half_lower": [
        sample(lambda a: (np.tril(a) + np.tril(a, -1)) / 2, x)
        for x in (SQUARE, REGULAR_STACK, COMPLEX, SQUARE.T)
    ],
    "linalg_inverse_gaps": [
        sample(_inverse_gaps, VECTOR),
        sample(_inverse_gaps, MATRIX),
        sample(_inverse_gaps, VECTOR, True),
    ],
    "linalg_qr": [
        sample(lambda a: tuple(np.linalg.qr(a)), x)
        for x in (REGULAR, REGULAR_STACK, COMPLEX, MATRIX, MATRIX.T, CUBE, BATCH)
    ],
    "linalg_svd": [
        sample(lambda a: tuple(np.linalg.svd(a, full_matrices=False)), x)
        for x in (REGULAR, REGULAR_STACK, MATRIX, MATRIX.T, CUBE, BATCH)
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

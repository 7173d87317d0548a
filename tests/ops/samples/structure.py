"""Samples of the operators in the table `structure`."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tests.ops.sample import COMPLEX, MATRIX, SQUARE, VECTOR, Samples, array, sample
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

CUBE: Final = array(np.sin(np.arange(1.0, 25.0) * 1.7).reshape(2, 3, 4))
PAIRS: Final = array([[0.25, -0.75], [1.75, 0.45]])


def _diagonals(x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    count = x.shape[-1] + abs(offset)
    result = np.zeros((*x.shape[:-1], count, count))
    row, column = max(-offset, 0), max(offset, 0)
    for k in range(x.shape[-1]):
        result[..., row + k, column + k] = x[..., k]
    return np.moveaxis(result, (-2, -1), (dim1, dim2))


def _blocks(tensors: Sequence[Array]) -> Array:
    blocks = [np.atleast_2d(x) for x in tensors]
    rows = [
        np.hstack(
            [x if k == nr else np.zeros((x.shape[0], y.shape[1])) for k, y in enumerate(blocks)]
        )
        for nr, x in enumerate(blocks)
    ]
    return np.vstack(rows)


SAMPLES: Final[Samples] = {
    "repeat_tiles": [sample(np.tile, MATRIX, (2, 1, 3)), sample(np.tile, VECTOR, (2, 2))],
    "roll": [
        sample(lambda x, n, d: np.roll(x, n, d), MATRIX, 1, 1),
        sample(lambda x, n, d: np.roll(x, n, d), MATRIX, (1, -2), (0, 1)),
        sample(np.roll, MATRIX, 2),
    ],
    "flip_dims": [sample(np.flip, MATRIX, (0,)), sample(np.flip, CUBE, (0, -1))],
    "tril": [sample(np.tril, SQUARE), sample(np.tril, MATRIX, 1), sample(np.tril, CUBE, -1)],
    "triu": [sample(np.triu, SQUARE), sample(np.triu, MATRIX, 1), sample(np.triu, CUBE, -1)],
    "diag_embed": [
        sample(_diagonals, VECTOR),
        sample(_diagonals, MATRIX, 1),
        sample(_diagonals, MATRIX, -2, 0, 2),
    ],
    "rot90_turns": [
        sample(np.rot90, MATRIX, 1, (0, 1)),
        sample(np.rot90, MATRIX, -5, (-1, 0)),
        sample(np.rot90, SQUARE, 2, (0, 1)),
        sample(np.rot90, MATRIX, 0, (0, 1)),
    ],
    "block_diagonal": [sample(_blocks, [MATRIX, VECTOR, PAIRS])],
    "constant_pad": [
        sample(lambda x, w, v: np.pad(x, ((0, 0), (1, 2)), constant_values=v), MATRIX, (1, 2), 9.0),
        sample(lambda x, w: np.pad(x[1:, :-1], ((0, 3), (2, 0))), MATRIX, (2, -1, -1, 3)),
        sample(lambda x, w: np.pad(x, ((0, 0), (0, 1))), COMPLEX, (0, 1)),
    ],
    "counted_indices": [
        sample(lambda n: np.array([0, 0, 2]), array([2, 0, 1], "int64")),
        sample(lambda n, output_size: np.array([0, 1]), array([1, 1], "int64"), output_size=2),
    ],
}

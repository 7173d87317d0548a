"""Samples of the operators in the table `cumulative`."""

from typing import Final

import numpy as np

from tests.ops.sample import COMPLEX, MATRIX, OTHER, SECOND_COMPLEX, WHOLE, Samples, array, sample
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

WITH_ZERO: Final = array([[0.5, 0.0, -1.5], [2.0, 1.25, 0.75]])


def _last_indices(x: Array, axis: int, sign: int) -> object:
    rows = np.moveaxis(sign * x, axis, 0)
    best = [
        [max(range(n + 1), key=lambda i: (row[i], i)) for n in range(len(row))] for row in rows.T
    ]
    return np.moveaxis(np.array(best).T, 0, axis)


def _running_average(x: Array, logits: Array, axis: int) -> object:
    weights = np.exp(logits)
    return np.cumsum(weights * x, axis) / np.cumsum(weights, axis)


def _running_average_backward(g: Array, logits: Array, axis: int) -> object:
    weights = np.exp(logits.conj())
    later = np.flip(np.cumsum(np.flip(g / np.cumsum(weights, axis), axis), axis), axis)
    return weights * later


SAMPLES: Final[Samples] = {
    "cumsum_dim": [
        sample(np.cumsum, MATRIX, 1),
        sample(np.cumsum, COMPLEX, 0),
        sample(np.cumsum, WHOLE, 1),
    ],
    "cumprod_dim": [
        sample(np.cumprod, MATRIX, 1),
        sample(np.cumprod, WITH_ZERO, 1),
        sample(np.cumprod, COMPLEX, 0),
    ],
    "cummax_dim": [
        sample(lambda x, d: (np.maximum.accumulate(x, 1), _last_indices(x, 1, 1)), MATRIX, 1),
        sample(lambda x, d: (np.maximum.accumulate(x, 0), _last_indices(x, 0, 1)), MATRIX, 0),
    ],
    "cummin_dim": [
        sample(lambda x, d: (np.minimum.accumulate(x, 1), _last_indices(x, 1, -1)), MATRIX, 1),
        sample(lambda x, d: (np.minimum.accumulate(x, 0), _last_indices(x, 0, -1)), MATRIX, -2),
    ],
    "logcumsumexp_dim": [
        sample(lambda x, d: np.log(np.cumsum(np.exp(x), 1)), MATRIX, 1),
        sample(lambda x, d: np.log(np.cumsum(np.exp(x), 0)), MATRIX, 0),
        sample(lambda x, d: np.log(np.cumsum(np.exp(x), 1)), COMPLEX, 1),
        sample(lambda x, d: np.log(np.cumsum(np.exp(x), 0)), COMPLEX[0], 0),
    ],
    "running_average": [
        sample(_running_average, MATRIX, OTHER, 1),
        sample(_running_average, MATRIX, OTHER, 0),
        sample(_running_average, COMPLEX, SECOND_COMPLEX, 1),
    ],
    "running_average_backward": [
        sample(_running_average_backward, MATRIX, OTHER, 1),
        sample(_running_average_backward, MATRIX, OTHER, 0),
        sample(_running_average_backward, COMPLEX, SECOND_COMPLEX, 1),
    ],
}

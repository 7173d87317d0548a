"""Samples of the operators in the table `sorting`."""

from typing import Final

import numpy as np

from tests.ops.sample import MATRIX, POSITIVE, VECTOR, Samples, sample
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]


def _sorted(x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    order = np.argsort(-x if descending else x, dim, kind="stable")
    return np.take_along_axis(x, order, dim), order


def _topk(x: Array, count: int, dim: int = -1) -> tuple[Array, Array]:
    values, order = _sorted(x, dim, True)
    return values[:, :count], order[:, :count]


SAMPLES: Final[Samples] = {
    "sort_dim": [sample(_sorted, MATRIX), sample(_sorted, POSITIVE, 0, True)],
    "sort_stable": [
        sample(lambda x, d, down, stable: _sorted(x, d, down), MATRIX, 1, True, stable=True),
    ],
    "argsort_stable": [
        sample(lambda x, d, down, stable: _sorted(x, d, down)[1], MATRIX, 1, True, stable=True)
    ],
    "search_rows": [
        sample(
            lambda rows, values, right: np.stack(
                [np.searchsorted(*pair) for pair in zip(rows, values, strict=True)]
            ),
            np.sort(MATRIX, 1),
            MATRIX[:, :2],
            False,
        ),
        sample(
            lambda row, values, right: np.searchsorted(row, values), np.sort(VECTOR), MATRIX, False
        ),
    ],
    "topk_dim": [sample(_topk, MATRIX, 2)],
}

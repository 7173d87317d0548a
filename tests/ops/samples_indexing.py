"""Samples of operators that read or write at indices."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from vtgrad.storage.arrays import Array

from .sample import CHOICE, MASK, MATRIX, OTHER, SQUARE, VECTOR, Samples, array, sample

__all__ = ["INDEXING"]

# Each row names places of its own; none twice, so that nothing is overwritten by luck.
COLUMNS: Final = array([[2, 0], [1, 2]], "int64")
PAIRS: Final = array([[0.25, -0.75], [1.75, 0.45]])
REPEATED: Final = array([1, 0, 1], "int64")
FLAT: Final = array([[4, 0], [4, 2]], "int64")
ROWS: Final = array([1, 0, 1], "int64")


def _scattered(x: Array, dim: int, index: Array, src: Array | float) -> Array:
    result = x.copy()
    np.put_along_axis(result, index, src, dim)
    return result


def _scatter_added(x: Array, dim: int, index: Array, src: Array) -> Array:
    result = x.copy()
    for row in range(index.shape[0]):
        for column in range(index.shape[1]):
            result[row, index[row, column]] += src[row, column]
    return result


def _index_added(x: Array, dim: int, index: Array, source: Array, alpha: float = 1) -> Array:
    result = x.copy()
    for nr, place in enumerate(index):
        result[:, place] += alpha * source[:, nr]
    return result


def _index_stored(x: Array, dim: int, index: Array, source: Array | float) -> Array:
    result = x.copy()
    result[:, index] = source
    return result


def _masked(x: Array, mask: Array, value: Array | float) -> Array:
    return np.where(mask, value, x)


def _spread(values: Array, sizes: Sequence[int], places: object) -> Array:
    result = np.zeros(sizes)
    np.add.at(result, places, values)  # type: ignore[arg-type]  # any index
    return result


def _put(
    x: Array, indices: Sequence[Array], places: object, values: Array, accumulate: bool = False
) -> Array:
    result = x.copy()
    if accumulate:
        np.add.at(result.T, indices[0], values.T)
    else:
        result[:, indices[0]] = values
    return result


INDEXING: Final[Samples] = {
    "gather": [
        sample(lambda x, d, i: np.take_along_axis(x, i, 1), MATRIX, 1, COLUMNS),
        sample(lambda x, d, i: np.take_along_axis(x, i, 0), SQUARE, 0, array([[0, 2, 2]], "int64")),
    ],
    "scatter_src": [sample(_scattered, MATRIX, 1, COLUMNS, PAIRS)],
    "scatter_value": [sample(_scattered, MATRIX, 1, COLUMNS, 2.5)],
    "scatter_add": [
        sample(_scatter_added, MATRIX, 1, COLUMNS, PAIRS),
        sample(_scatter_added, MATRIX, 1, array([[1, 1], [0, 0]], "int64"), PAIRS),
    ],
    "scatter_overwritten": [
        # Both of the first row go to column 1, so that the first of them is lost.
        sample(
            lambda i, n, d: np.array([[True, False], [False, False]]),
            array([[1, 1], [0, 2]], "int64"),
            (2, 3),
            1,
        ),
    ],
    "index_select": [
        sample(lambda x, d, i: x[:, i], MATRIX, 1, CHOICE),
        sample(lambda x, d, i: x[i], MATRIX, 0, REPEATED),
    ],
    "index_add": [
        sample(_index_added, MATRIX, 1, CHOICE, PAIRS),
        sample(_index_added, MATRIX, 1, REPEATED, OTHER, alpha=0.5),
    ],
    "index_copy": [sample(_index_stored, MATRIX, 1, CHOICE, PAIRS)],
    "index_fill_number": [sample(_index_stored, MATRIX, 1, CHOICE, 2.5)],
    "index_fill_tensor": [sample(_index_stored, MATRIX, 1, CHOICE, array(2.5))],
    "index_mask": [
        sample(lambda i, n, d: np.array([[True, False, True]] * 2), CHOICE, (2, 3), 1),
    ],
    "index_copy_overwritten": [sample(None, REPEATED, (2, 3), 1, 3)],
    "take": [sample(np.take, MATRIX, FLAT)],
    "take_spread": [
        sample(lambda v, n, i: _spread(v.ravel(), (6,), i.ravel()).reshape(n), PAIRS, (2, 3), FLAT)
    ],
    "masked_select": [
        sample(lambda x, m: x[m], MATRIX, MASK),
        sample(
            lambda x, m: x[np.broadcast_to(m, x.shape)], MATRIX, array([True, False, True], "bool")
        ),
    ],
    "masked_spread": [sample(lambda v, n, m: _spread(v, n, m), VECTOR, (2, 3), MASK)],
    "masked_fill_number": [sample(_masked, MATRIX, MASK, 2.5)],
    "masked_fill_tensor": [sample(_masked, MATRIX, MASK, array(2.5))],
    "index_at": [
        sample(lambda x, i, p: x[i[0]], MATRIX, [ROWS], (0,)),
        sample(lambda x, i, p: x[i[0], i[1]], MATRIX, [ROWS, array([2, 2, 0], "int64")], (0, 1)),
        sample(lambda x, i, p: x[i[0]], MATRIX, [MASK], (0,)),
    ],
    "index_spread": [
        sample(lambda v, n, i, p: _spread(v, n, i[0]), SQUARE, (2, 3), [ROWS], (0,)),
    ],
    "index_put_at": [
        sample(_put, MATRIX, [CHOICE], (1,), PAIRS),
        sample(_put, MATRIX, [REPEATED], (1,), OTHER, True),
    ],
    "index_put_overwritten": [sample(None, [REPEATED], (0,), (2,))],
}

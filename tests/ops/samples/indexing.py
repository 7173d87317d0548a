"""Samples of the operators in the table `indexing`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from tests.ops.sample import CHOICE, MASK, MATRIX, OTHER, SQUARE, VECTOR, Samples, array, sample
from vtgrad.storage.arrays import Array

__all__ = ["SAMPLES"]

WITH_ZERO: Final = array([[0.5, 0.0, -1.5], [2.0, 1.25, 0.75]])
# Each row names indices of its own; none twice, so that nothing is overwritten by luck.
COLUMNS: Final = array([[2, 0], [1, 2]], "int64")
PAIRS: Final = array([[0.25, -0.75], [1.75, 0.45]])
REPEATED: Final = array([1, 0, 1], "int64")
FLAT: Final = array([[4, 0], [4, 2]], "int64")
ROWS: Final = array([1, 0, 1], "int64")
MEETING_COLUMNS: Final = array([[2, 0], [1, 1]], "int64")
TWICE: Final = array([[0, 1, 1], [1, 1, 0]], "int64")
ZEROS: Final = array([[0.0, 1.5, -0.5], [0.0, 2.0, 0.75]])
SIGNED_PLACES: Final = array([[4, 0], [-1, 2]], "int64")
TOGETHER: Final = array([4, 0, 4], "int64")
FEW: Final = array([1.25, -0.5, 2.5, 0.35])

_MERGE: Final[Mapping[str, Callable[..., Any]]] = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
}


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
    for nr, column in enumerate(index):
        result[:, column] += alpha * source[:, nr]
    return result


def _index_stored(x: Array, dim: int, index: Array, source: Array | float) -> Array:
    result = x.copy()
    result[:, index] = source
    return result


def _masked(x: Array, mask: Array, value: Array | float) -> Array:
    return np.where(mask, value, x)


def _spread(values: Array, sizes: Sequence[int], positions: object) -> Array:
    result = np.zeros(sizes)
    np.add.at(result, positions, values)  # type: ignore[arg-type]  # any index
    return result


def _put(
    x: Array, indices: Sequence[Array], positions: object, values: Array, accumulate: bool = False
) -> Array:
    result = x.copy()
    if accumulate:
        np.add.at(result.T, indices[0], values.T)
    else:
        result[:, indices[0]] = values
    return result


def _put_flat(x: Array, index: Array, values: Array, accumulate: bool = False) -> Array:
    result = x.copy().reshape(-1)
    for element, value in zip(index.ravel(), values.ravel(), strict=True):
        result[element] = value + (result[element] if accumulate else 0)
    return result.reshape(x.shape)


def _masked_scattered(x: Array, mask: Array, source: Array) -> Array:
    result = np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape)))
    chosen = np.broadcast_to(mask, result.shape)
    result[chosen] = source.ravel()[: np.count_nonzero(chosen)]
    return result


def _scatter_reduced(
    x: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    result = x.copy()
    for element in np.ndindex(x.shape):
        merged = [
            src[at]
            for at in np.ndindex(index.shape)
            if tuple(index[at] if d == dim % x.ndim else n for d, n in enumerate(at)) == element
        ]
        if merged:
            result[element] = _MERGE[reduce]([x[element]] * include_self + merged)
    return result


def _scatter_merged(x: Array, dim: int, index: Array, src: Array | float, how: str) -> Array:
    merge = "sum" if how == "add" else "prod"
    return _scatter_reduced(x, dim, index, np.broadcast_to(src, index.shape), merge)


def _index_reduced(
    x: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    shape = [1] * x.ndim
    shape[dim] = index.size
    each = np.broadcast_to(index.reshape(shape), source.shape)
    return _scatter_reduced(x, dim, each, source, reduce, include_self=include_self)


SAMPLES: Final[Samples] = {
    "nonzero_rows": [sample(np.argwhere, MASK), sample(np.argwhere, WITH_ZERO)],
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
    "index_fill_int_Scalar": [sample(_index_stored, MATRIX, 1, CHOICE, 2.5)],
    "index_fill_int_Tensor": [sample(_index_stored, MATRIX, 1, CHOICE, array(2.5))],
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
    "masked_fill_Scalar": [sample(_masked, MATRIX, MASK, 2.5)],
    "masked_fill_Tensor": [sample(_masked, MATRIX, MASK, array(2.5))],
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
    "put": [
        sample(_put_flat, MATRIX, SIGNED_PLACES, FEW.reshape(2, 2)),
        sample(_put_flat, MATRIX, SIGNED_PLACES, FEW),
        sample(_put_flat, MATRIX, TOGETHER, VECTOR),
        sample(_put_flat, MATRIX, TOGETHER, VECTOR, True),
    ],
    "put_overwritten": [
        sample(lambda i, n: np.array([True, False, False]), array([4, 0, -2], "int64"), 6)
    ],
    "masked_scatter": [
        sample(_masked_scattered, MATRIX, MASK, FEW),
        sample(_masked_scattered, MATRIX, MASK, VECTOR),
        sample(_masked_scattered, VECTOR, MASK, SQUARE),
    ],
    "scatter_reduce": [
        *[
            sample(_scatter_reduced, x, dim, TWICE, OTHER, how, include_self=include_self)
            for how in _MERGE
            for x, dim in ((MATRIX, 0), (SQUARE, 1))
            for include_self in (True, False)
        ],
        sample(_scatter_reduced, MATRIX, 1, MEETING_COLUMNS, PAIRS, "prod"),
        # One zero at some indices, and two at others.
        sample(_scatter_reduced, ZEROS, 1, TWICE, ZEROS, "prod"),
        sample(_scatter_reduced, ZEROS, 1, TWICE, ZEROS, "prod", include_self=False),
        # Only the leading part of the source is used.
        sample(_scatter_reduced, SQUARE, 1, MEETING_COLUMNS, OTHER, "prod"),
        sample(_scatter_reduced, SQUARE, 1, MEETING_COLUMNS, OTHER, "amax"),
        sample(_scatter_reduced, SQUARE, 1, MEETING_COLUMNS, OTHER, "mean"),
    ],
    "scatter_reduced": [
        sample(_scatter_merged, MATRIX, 1, TWICE, OTHER, "add"),
        sample(_scatter_merged, MATRIX, 1, TWICE, OTHER, "multiply"),
        sample(_scatter_merged, MATRIX, 1, TWICE, 2.5, "multiply"),
    ],
    "index_reduce": [
        *[
            sample(
                _index_reduced, MATRIX, 1, array([0, 2, 0], "int64"), OTHER, how, include_self=own
            )
            for how in _MERGE
            if how != "sum"
            for own in (True, False)
        ],
        sample(_index_reduced, MATRIX, 1, CHOICE, PAIRS, "prod"),
        sample(_index_reduced, MATRIX, -1, CHOICE, PAIRS, "amin"),
        sample(_index_reduced, ZEROS, 0, array([1, 1], "int64"), ZEROS, "prod"),
    ],
    "repeated_index": [
        sample(lambda i, n, d: np.array([[2, 0], [2, 0]]), CHOICE, (2, 2), 1),
    ],
}

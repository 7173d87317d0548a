"""Samples of operators that cut, build around, and merge."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from vtgrad.storage.arrays import Array

from .sample import CHOICE, MASK, MATRIX, OTHER, SQUARE, VECTOR, Samples, array, sample

__all__ = ["STRUCTURE"]

COLUMNS: Final = array([[2, 0], [1, 1]], "int64")
PAIRS: Final = array([[0.25, -0.75], [1.75, 0.45]])
TWICE: Final = array([[0, 1, 1], [1, 1, 0]], "int64")
ZEROS: Final = array([[0.0, 1.5, -0.5], [0.0, 2.0, 0.75]])
FLAT: Final = array([[4, 0], [-1, 2]], "int64")
TOGETHER: Final = array([4, 0, 4], "int64")
FEW: Final = array([1.25, -0.5, 2.5, 0.35])

_MERGE: Final[Mapping[str, Callable[..., Any]]] = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
}


def _put(x: Array, index: Array, values: Array, accumulate: bool = False) -> Array:
    result = x.copy().reshape(-1)
    for place, value in zip(index.ravel(), values.ravel(), strict=True):
        result[place] = value + (result[place] if accumulate else 0)
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
    for place in np.ndindex(x.shape):
        merged = [
            src[at]
            for at in np.ndindex(index.shape)
            if tuple(index[at] if d == dim % x.ndim else n for d, n in enumerate(at)) == place
        ]
        if merged:
            result[place] = _MERGE[reduce]([x[place]] * include_self + merged)
    return result


def _scattered(x: Array, dim: int, index: Array, src: Array | float, how: str) -> Array:
    merge = "sum" if how == "add" else "prod"
    return _scatter_reduced(x, dim, index, np.broadcast_to(src, index.shape), merge)


def _index_reduced(
    x: Array, dim: int, index: Array, source: Array, reduce: str, *, include_self: bool = True
) -> Array:
    shape = [1] * x.ndim
    shape[dim] = index.size
    each = np.broadcast_to(index.reshape(shape), source.shape)
    return _scatter_reduced(x, dim, each, source, reduce, include_self=include_self)


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


STRUCTURE: Final[Samples] = {
    "unsafe_split_equal": [sample(lambda x, n, d: (x[:, :2], x[:, 2:]), MATRIX, 2, 1)],
    "unsafe_split_with_sizes": [
        sample(lambda x, n, d: (x[:, :1], x[:, 1:3]), MATRIX, [1, 2], 1),
    ],
    "narrow_copy": [
        sample(lambda x, d, a, n: x[:, 1:3], MATRIX, 1, 1, 2),
        sample(lambda x, d, a, n: x[1:], MATRIX, -2, -1, 1),
    ],
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
    "counted_indices": [
        sample(lambda n: np.array([0, 0, 2]), array([2, 0, 1], "int64")),
        sample(lambda n, output_size: np.array([0, 1]), array([1, 1], "int64"), output_size=2),
    ],
    "put": [
        sample(_put, MATRIX, FLAT, FEW.reshape(2, 2)),
        sample(_put, MATRIX, FLAT, FEW),
        sample(_put, MATRIX, TOGETHER, VECTOR),
        sample(_put, MATRIX, TOGETHER, VECTOR, True),
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
        sample(_scatter_reduced, MATRIX, 1, COLUMNS, PAIRS, "prod"),
        # One zero at some places, and two at others.
        sample(_scatter_reduced, ZEROS, 1, TWICE, ZEROS, "prod"),
        sample(_scatter_reduced, ZEROS, 1, TWICE, ZEROS, "prod", include_self=False),
        # Only the leading part of the source is used.
        sample(_scatter_reduced, SQUARE, 1, COLUMNS, OTHER, "prod"),
        sample(_scatter_reduced, SQUARE, 1, COLUMNS, OTHER, "amax"),
        sample(_scatter_reduced, SQUARE, 1, COLUMNS, OTHER, "mean"),
    ],
    "scatter_reduced": [
        sample(_scattered, MATRIX, 1, TWICE, OTHER, "add"),
        sample(_scattered, MATRIX, 1, TWICE, OTHER, "multiply"),
        sample(_scattered, MATRIX, 1, TWICE, 2.5, "multiply"),
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
